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
    """Option for the runs that are compared with a ground truth."""

    runs: tuple[str, ...] = option(
        (),
        "Two or more sets of predictions by different systems, or of labels by different people.",
        "RUN RUN...",
        argument=True,
        in_file="none",
        role="input",
    )


class AuditedSchema(SchemaSource):
    """The schema option of the command. If it is left out, a schema is inferred."""

    schema: str = option(
        "",
        (
            "The annotated JSON Schema. If you leave it out, a schema is inferred from the "
            "ground truth."
        ),
        "[SCHEMA]",
        is_path=True,
        argument=True,
        needed=False,
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
        (
            "Instead of a report, write N values for people to check: as JSON Lines, or with "
            "-o as a .csv file or an .html page with buttons. After people have filled in "
            "verdicts, give the file to --verdicts."
        ),
        "N",
        values=SOME,
        in_file="none",
    )
    verdicts: str | None = option(
        None,
        (
            "The file from --draw, after people have filled in their verdicts. The report then "
            "also estimates how much of the ground truth is wrong, and the F1 that each run would "
            "have if the ground truth were right."
        ),
        "FILE",
        is_path=True,
        in_file="none",
        role="input",
    )
    write_gold: str | None = written_gold()
    run_dir: str | None = option(
        None,
        (
            "Save the comparison of each run in a subdirectory of this directory. After an "
            "interruption, the same command continues."
        ),
        "DIR",
        is_path=True,
        in_file="none",
        panel="run",
        role="output",
    )
    gate: tuple[str, ...] = option(
        (),
        (
            "Fail (exit 1) unless this condition is true, such as wrong.upper<=0.02, "
            "agreement>=0.9 or items.amount.agreement>=0.9. Repeatable."
        ),
        "EXPR",
        in_file="none",
        panel="gates",
    )


AUDIT: Final = Study(
    settings=AuditSettings,
    record="studies.audit.record:AuditReport",
    help="""Find labels that look wrong, and estimate how many are.

    Compares several runs with the ground truth and with each other, and reports how far the runs
    agree on each field. A ground-truth value is a suspect if two or more runs agree on another
    value. People decide which values are wrong: --draw writes values for people to check, and
    --verdicts makes estimates from what they found.
    """,
    examples="""
  stickler audit schema.json gt/ a/ b/ c/ -o audit.html
  stickler audit schema.json gt/ a/ b/ c/ --draw 200 -o places.jsonl
  stickler audit schema.json gt/ a/ b/ c/ --verdicts p.csv --gate 'wrong<=0.02'""",
    gate="a gate failed, and there was no other problem",
    incomplete="some documents could not be evaluated, even if a gate also failed",
    lines="draw",
    line_formats=(*LINE_FORMATS, "html"),
)
