"""`stickler audit`: its options and its help."""

from typing import Final

from stickler_cli.core.option import Settings, option
from stickler_cli.settings.deciding import (
    SOME,
    DecidingOptions,
    DocumentOptions,
    IntervalOptions,
    SchemaOptions,
    SchemaSource,
    TruthSource,
)
from stickler_cli.settings.running import (
    EngineOptions,
    ModelOptions,
    StudyOptions,
    WorkOptions,
    written_gold,
)
from stickler_cli.studies.study import LINE_FORMATS, Study


class RunsSource(Settings):
    """The runs that are compared with a ground truth."""

    runs: tuple[str, ...] = option(
        (),
        "Predictions of several systems, or labels of several people: two or more.",
        "RUN...",
        argument=True,
        in_file="none",
        role="input",
    )


class AuditedSchema(SchemaSource):
    """Option for the schema, which may be left out."""

    schema: str = option(
        "",
        "The annotated JSON Schema. Left out, it is inferred from the ground truth.",
        "[SCHEMA]",
        is_path=True,
        argument=True,
        role="input",
    )


class AuditSettings(
    AuditedSchema,
    TruthSource,
    RunsSource,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    IntervalOptions,
    WorkOptions,
    EngineOptions,
    StudyOptions,
):
    """Settings of `stickler audit`."""

    draw: int | None = option(
        None,
        "Write N places to look at instead, as lines of JSON, to a file .csv or .html as CSV or as "
        "a page with buttons: put in verdicts, and give them to --verdicts.",
        "N",
        values=SOME,
        in_file="none",
    )
    verdicts: str | None = option(
        None,
        "Places that were drawn, with verdicts: also estimate how much of the ground truth is "
        "wrong, and the F1 of each run with a right one.",
        "FILE",
        is_path=True,
        in_file="none",
        role="input",
    )
    write_gold: str | None = written_gold()
    run_dir: str | None = option(
        None,
        "Keep what was compared here, a directory for each run, from which the same command "
        "continues.",
        "DIR",
        is_path=True,
        in_file="none",
        panel="run",
        role="output",
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless this holds, such as wrong.upper<=0.02, agreement>=0.9 or "
        "items.amount.agreement>=0.9. Repeatable.",
        "EXPR",
        in_file="none",
        panel="gates",
    )


AUDIT: Final = Study(
    settings=AuditSettings,
    record="studies.audit.record:AuditReport",
    help="""Say which labels look wrong, and estimate how many are.

    Several runs beside each other: places where runs say the same other thing than the ground
    truth are suspects, and how far runs agree is told by field. What is wrong is found by people:
    --draw has the places to look at, and --verdicts makes estimates of what they say.
    """,
    examples="""
  stickler audit schema.json gt/ a/ b/ c/ -o audit.html
  stickler audit schema.json gt/ a/ b/ c/ --draw 200 -o places.jsonl
  stickler audit schema.json gt/ a/ b/ c/ --verdicts p.csv --gate 'wrong<=0.02'""",
    gate="a gate failed, and nothing else",
    incomplete="some documents could not be evaluated (wins over 1)",
    lines="draw",
    line_formats=(*LINE_FORMATS, "html"),
)
