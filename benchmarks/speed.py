"""Whole runs side by side: stickler-eval, this project, and the floor under it."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks import programs
from benchmarks.agreement import disagreements
from benchmarks.processes import ProcessError, in_turns, median_seconds, run
from benchmarks.report import Report, ratio
from benchmarks.sets import DocumentSet, write

_TOLD: Final = 3
"""How many disagreements of a set are named."""

COLUMNS: Final = (
    "set",
    "documents",
    "ours",
    "as JSON",
    "floor",
    "ours / floor",
    "two workers",
    "reference, a document",
    "reference / ours",
)


@dataclass(frozen=True, slots=True)
class Timed:
    """What the programs took for one set, in seconds for a whole process."""

    name: str
    documents: int
    ours: float
    as_json: float
    """Once, with an account of each document and intervals of each field."""
    floor: float
    two_workers: float
    reference: float | None
    """None where stickler-eval did not run."""
    reference_documents: int
    disagreements: Sequence[str]
    """With the floor or with stickler-eval; no ratio holds if there are any."""

    @property
    def to_floor(self) -> float:
        """How many times the floor this project takes."""
        return self.ours / self.floor

    @property
    def to_reference(self) -> float | None:
        """How many times as long stickler-eval takes for a document."""
        if self.reference is None:
            return None
        return self.reference / self.reference_documents / (self.ours / self.documents)

    @property
    def by_two(self) -> float:
        """How many times faster two workers are than one process."""
        return self.ours / self.two_workers


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure."""

    seed: int = 0
    repeat: int = 3
    share: float = 1.0
    """Of each set's documents."""
    reference_python: str | None = None
    """The Python that has stickler-eval; None leaves it out."""
    reference_timeout: float = 300.0

    def count(self, documents: int) -> int:
        """Give how many of so many documents to take; of some at least one."""
        return min(documents, max(1, round(documents * self.share)))


def measure(documents: DocumentSet, settings: Settings) -> Timed:
    """Time the programs on one set, and see whether they agree."""
    count = settings.count(documents.documents)
    with tempfile.TemporaryDirectory() as directory:
        written = write(documents, Path(directory), count, settings.seed)
        commands = {
            "ours": programs.ours(written),
            "floor": programs.floor(written),
            "two workers": programs.ours(written, jobs=2),
        }
        finished = in_turns(commands, settings.repeat)
        in_full = run(programs.ours_as_json(written))
        by_two = run(programs.ours_as_json(written, jobs=2))
    others = {"floor": finished["floor"][-1].output, "two workers": by_two.output}
    ours = programs.result_of(in_full.output)
    differing = [
        f"{name}: {sentence}"
        for name, output in others.items()
        for sentence in disagreements(ours, programs.result_of(output))
    ]
    seconds = {name: median_seconds(runs) for name, runs in finished.items()}
    reference_count = settings.count(documents.reference_documents)
    reference = None
    if settings.reference_python is not None and reference_count:
        reference, more = _reference(documents, reference_count, settings)
        differing += more
    return Timed(
        documents.name,
        count,
        seconds["ours"],
        in_full.seconds,
        seconds["floor"],
        seconds["two workers"],
        reference,
        reference_count,
        differing,
    )


def _reference(
    documents: DocumentSet, count: int, settings: Settings
) -> tuple[float | None, Sequence[str]]:
    """Time stickler-eval on the first documents of a set; give what it found otherwise, too.

    None for the seconds where it failed.
    """
    python = settings.reference_python or ""
    with tempfile.TemporaryDirectory() as directory:
        written = write(documents, Path(directory), count, settings.seed)
        ours = run(programs.ours_as_json(written))
        try:
            theirs = run(programs.reference(python, written), timeout=settings.reference_timeout)
        except ProcessError as error:
            return None, [str(error)]
    found = disagreements(programs.result_of(ours.output), programs.result_of(theirs.output))
    return theirs.seconds, [f"reference: {sentence}" for sentence in found]


def report(timed: Sequence[Timed]) -> Report:
    """Tell the times and ratios; of a set on which programs disagree, that instead."""
    return Report(
        "Speed",
        COLUMNS,
        [_row(one) for one in timed],
        [
            asdict(one)
            | (
                {}
                if one.disagreements
                else {
                    "ours_to_floor": one.to_floor,
                    "reference_to_ours": one.to_reference,
                    "two_workers_speedup": one.by_two,
                }
            )
            for one in timed
        ],
        notes=(
            (
                "Seconds for whole processes, from files to result (medians, in turns)."
                " stickler-eval gets the first documents of each set, once, and its ratio is of"
                " seconds a document."
            ),
        ),
        failures=[
            f"{one.name}: {sentence}" for one in timed for sentence in one.disagreements[:_TOLD]
        ],
    )


def _row(one: Timed) -> list[str]:
    agree = not one.disagreements
    nothing = "-"
    return [
        one.name,
        str(one.documents),
        f"{one.ours:.2f} s",
        f"{one.as_json:.2f} s",
        f"{one.floor:.2f} s",
        ratio(one.to_floor) if agree else "disagree",
        ratio(one.by_two) if agree else "disagree",
        nothing if one.reference is None else f"{one.reference / one.reference_documents:.3f} s",
        nothing if one.to_reference is None else ratio(one.to_reference) if agree else "disagree",
    ]
