"""Whole runs side by side: stickler-eval, this project, and the floors under it."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import orjson

from benchmarks import native, programs, targets
from benchmarks.agreement import disagreements
from benchmarks.processes import (
    ProcessError,
    in_turns,
    median_processor_seconds,
    median_seconds,
    run,
)
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
    "by processor time",
    "native floor",
    "auto / ours",
    "intervals",
    "stickler-eval",
    "of which timed",
    "stickler-eval / ours",
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What stickler-eval took for the first documents of a set."""

    seconds: float
    """For the whole process."""
    comparing: float
    """Of these, for the documents; the others do not grow with their number."""
    documents: int

    def scaled(self, documents: int) -> float:
        """Give the seconds that so many documents would take."""
        return self.seconds - self.comparing + self.comparing * documents / self.documents


@dataclass(frozen=True, slots=True)
class Timed:
    """What the programs took for one set, in seconds for a whole process."""

    name: str
    documents: int
    ours: float
    as_json: float
    """Once, with an account of each document and intervals of each field."""
    floor: float
    native: float | None
    """None where nothing compiles it."""
    auto: float
    """With as many processes as the program finds fit."""
    ours_processor: float
    floor_processor: float
    without_intervals_processor: float
    """Seconds of processor time."""
    reference: Reference | None
    """None where stickler-eval did not run."""
    disagreements: Sequence[str]
    """With a floor or with stickler-eval; no ratio holds if there are any."""

    @property
    def to_floor(self) -> float:
        """How many times the floor this project takes."""
        return self.ours / self.floor

    @property
    def to_floor_by_processor(self) -> float:
        """The same in processor time."""
        return self.ours_processor / self.floor_processor

    @property
    def to_reference(self) -> float | None:
        """How many times as long stickler-eval takes for the same documents."""
        if self.reference is None:
            return None
        return self.reference.scaled(self.documents) / self.ours

    @property
    def auto_to_one(self) -> float:
        """How many times as long `--jobs auto` takes as one process."""
        return self.auto / self.ours

    @property
    def intervals(self) -> float:
        """The share of intervals in a run, in percent of its processor time."""
        return 100 * max(0.0, 1 - self.without_intervals_processor / self.ours_processor)


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure."""

    seed: int = 0
    repeat: int = 3
    share: float = 1.0
    """Of each set's documents."""
    every_reference: bool = True
    """Whether stickler-eval runs on all sets; else on those only that have a target for it."""
    reference_python: str | None = None
    """The Python that has stickler-eval; None leaves it out."""
    reference_timeout: float = 300.0
    native_floor: Path | None = None
    """The compiled program; None leaves it out."""

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
            "auto": programs.ours(written, jobs="auto"),
            "without intervals": programs.ours(written, "--ci", "none"),
        }
        if settings.native_floor is not None:
            commands["native floor"] = native.command(settings.native_floor, written)
        finished = in_turns(commands, settings.repeat, warm_up=settings.repeat > 1)
        in_full = run(programs.ours_as_json(written))
        by_two = run(programs.ours_as_json(written, jobs="2"))
    others = {name: finished[name][-1].output for name in finished if "floor" in name}
    ours = programs.result_of(in_full.output)
    differing = [
        f"{name}: {sentence}"
        for name, output in {**others, "two processes": by_two.output}.items()
        for sentence in disagreements(ours, programs.result_of(output))
    ]
    reference = None
    reference_count = settings.count(documents.reference_documents)
    wanted = settings.every_reference or targets.has_target(documents.name)
    if settings.reference_python is not None and reference_count and wanted:
        reference, more = _reference(documents, reference_count, settings)
        differing += more
    seconds = {program: median_seconds(runs) for program, runs in finished.items()}
    processor = {program: median_processor_seconds(runs) for program, runs in finished.items()}
    return Timed(
        documents.name,
        count,
        seconds["ours"],
        in_full.seconds,
        seconds["floor"],
        seconds.get("native floor"),
        seconds["auto"],
        processor["ours"],
        processor["floor"],
        processor["without intervals"],
        reference,
        differing,
    )


def _reference(
    documents: DocumentSet, count: int, settings: Settings
) -> tuple[Reference | None, Sequence[str]]:
    """Time stickler-eval on the first documents of a set; give what it found otherwise, too.

    None for the times where it failed.
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
    comparing = float(orjson.loads(theirs.output)["comparing"])
    reference = Reference(theirs.seconds, comparing, count)
    return reference, [f"reference: {sentence}" for sentence in found]


def report(timed: Sequence[Timed]) -> Report:
    """Tell the times and ratios; of a set on which programs disagree, that instead."""
    return Report(
        "Speed",
        COLUMNS,
        [_row(one) for one in timed],
        [_record(one) for one in timed],
        notes=(
            (
                "Times are medians of whole processes that ran alternately, from reading files to"
                " printing results. stickler-eval runs once on the first documents of each set; its"
                ' loading time counts once, and the rest is scaled to all documents. "Intervals"'
                ' is their share of the processor time of "ours". The native floor computes'
                " neither intervals nor classes of errors."
            ),
        ),
        failures=[
            f"{one.name}: {sentence}" for one in timed for sentence in one.disagreements[:_TOLD]
        ],
        figures=_figures([one for one in timed if not one.disagreements]),
    )


def _figures(timed: Sequence[Timed]) -> dict[str, float]:
    figures = {targets.floor_target(one.name): one.to_floor for one in timed}
    for one in timed:
        if one.to_reference is not None:
            figures[targets.reference_target(one.name)] = one.to_reference
        if one.native is not None:
            figures[targets.native_target(one.name)] = one.ours / one.native
    if timed:
        figures[targets.AUTO] = max(one.auto_to_one for one in timed)
        figures[targets.INTERVALS] = max(one.intervals for one in timed)
    return figures


def _record(one: Timed) -> dict[str, object]:
    ratios: dict[str, object] = {
        "ours_to_floor": one.to_floor,
        "ours_to_floor_by_processor": one.to_floor_by_processor,
        "reference_to_ours": one.to_reference,
        "auto_to_ours": one.auto_to_one,
        "intervals_percent": one.intervals,
    }
    return asdict(one) | ({} if one.disagreements else ratios)


def _row(one: Timed) -> list[str]:
    def checked(value: float | None) -> str:
        if value is None:
            return "-"
        return "disagree" if one.disagreements else ratio(value)

    whole = one.reference and one.reference.scaled(one.documents)
    return [
        one.name,
        f"{one.documents:,}",
        f"{one.ours:.2f} s",
        f"{one.as_json:.2f} s",
        f"{one.floor:.2f} s",
        checked(one.to_floor),
        checked(one.to_floor_by_processor),
        "-" if one.native is None else f"{one.native:.3f} s",
        checked(one.auto_to_one),
        f"{one.intervals:.0f} %",
        "-" if whole is None else f"{whole:,.0f} s",
        "-" if one.reference is None else f"{one.reference.documents:,}",
        checked(one.to_reference),
    ]
