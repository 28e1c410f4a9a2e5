"""`stickler audit`: its options and its help."""

from collections.abc import Iterator, Sequence
from typing import Final

from stickler_cli.core.option import option
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.settings.deciding import (
    SOME,
    DecidingOptions,
    DocumentOptions,
    IntervalOptions,
    SchemaOptions,
)
from stickler_cli.settings.running import (
    EngineOptions,
    ModelOptions,
    StudyOptions,
    WorkOptions,
    written_gold,
)
from stickler_cli.studies.study import Study


class AuditSettings(
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

    names: tuple[str, ...] = option(
        (),
        "The annotated schema, the ground truth, and predictions of several systems, or labels of "
        "several people.",
        "SCHEMA GT RUN...",
        argument=True,
        in_file="none",
    )
    draw: int | None = option(
        None,
        "Write N places to look at instead, as lines of JSON, or as CSV to a file .csv: put in a "
        "verdict, and give them to --verdicts.",
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
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless this holds, such as wrong.upper<=0.02, agreement>=0.9 or "
        "items.amount.agreement>=0.9. Repeatable.",
        "EXPR",
        in_file="none",
        panel="gates",
    )

    @property
    def schema(self) -> str:
        """The schema.

        Raises:
            UsageError: there are too few arguments, or a run is named twice.
        """
        if len(self.names) < 4 or len({*self.names}) < len(self.names):
            found = " ".join(self.names) or "nothing"
            raise UsageError([Problem("stickler audit", f"given: {found}", "SCHEMA GT RUN RUN...")])
        return self.names[0]

    @property
    def runs(self) -> Sequence[str]:
        """The predictions."""
        return self.names[2:]

    def inputs(self) -> Iterator[tuple[str, str]]:
        """Yield the files that are read, as messages call them."""
        names = ("the schema", "GT", *("RUN" for _ in self.runs))
        yield from zip(names, (self.schema, *self.names[1:]), strict=True)
        if self.verdicts:
            yield "--verdicts", self.verdicts


AUDIT: Final = Study(
    AuditSettings,
    "studies.audit.record:AuditReport",
    """Say which labels look wrong, and estimate how many are.

    Several runs beside each other: places where runs say the same other thing than the ground
    truth are suspects, and how far runs agree is told by field. What is wrong is found by people:
    --draw has the places to look at, and --verdicts makes estimates of what they say.
    """,
    """
  stickler audit schema.json gt/ a/ b/ c/ -o audit.html
  stickler audit schema.json gt/ a/ b/ c/ --draw 200 -o places.jsonl
  stickler audit schema.json gt/ a/ b/ c/ --verdicts p.csv --gate 'wrong<=0.02'""",
    gate="a gate failed, and nothing else",
    incomplete="some documents could not be evaluated (wins over 1)",
    lines="draw",
)
