"""Answers of studies: a report, and whether it is whole and good enough."""

from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol

from stickler_cli.core.figures import some_of
from stickler_cli.core.sections import Report
from stickler_cli.core.values import dataclass
from stickler_cli.documents.pairs import Pairs
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings.of_commands import EvalSettings

NAMED: Final = 5  # documents that a message names; the record names all


class Desk(Protocol):
    """What a study has the command line do."""

    @property
    def shows_values(self) -> bool:
        """Whether a report is asked for that shows single values."""

    def schema(self) -> LoadedSchema:
        """Return the schema that was named, or the one that the ground truth implies."""

    def run(self, settings: EvalSettings, requested: OutputsRequested) -> Run:
        """Return the run of these documents."""

    def judge(self, run: Run) -> Verdict:
        """Say on standard error what could not be evaluated; return the verdict of the run."""

    def tell(self, text: str) -> None:
        """Say something on standard error, unless that is to be quiet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a study found."""

    report: Any
    """A `Report`, or a `Difference`, which has formats of its own."""
    verdict: Verdict = Verdict.PASSED
    why: Sequence[str] = ()
    """Lines that say why it is another one, for standard error."""


def held_to(report: Report, least: float | None, name: str, value: float | None) -> Answer:
    """Return the answer whose gate asks a figure for a least value, or for nothing."""
    if least is None or (value is not None and value >= least):
        return Answer(report)
    shown = "undefined" if value is None else f"{value!r} < {least!r}"
    return Answer(report, Verdict.FAILED, [f"gate failed: {name} {shown}"])


def notes_of(pairs: Pairs, alone: Collection[str]) -> list[str]:
    """Return what is odd about the sources, and the documents that were left out."""
    left_out = f"without both sides and left out: {some_of(alone, NAMED)}"
    return [*map(str, pairs.problems), *([left_out] if alone else [])]
