"""Time whole runs of stickler-eval, of this project, and of the floors (minimal programs)."""

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
    median_processor_seconds,
    median_seconds,
    run,
    run_in_turns,
)
from benchmarks.report import Report, format_ratio
from benchmarks.sets import DocumentSet, write

_MAX_LISTED: Final = 3
"""Maximum number of disagreements that are listed for each set."""

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
    """Times of stickler-eval for the first documents of a set."""

    seconds: float
    """Seconds of the whole process."""
    comparing: float
    """Seconds that the documents took. The rest of `seconds`, such as imports, does not grow with
    the number of documents."""
    documents: int

    def scaled(self, documents: int) -> float:
        """Return the estimated seconds of the whole process for another number of documents."""
        return self.seconds - self.comparing + self.comparing * documents / self.documents


@dataclass(frozen=True, slots=True)
class SetTimes:
    """Times of the programs for one set, in seconds of a whole process."""

    name: str
    documents: int
    ours: float
    as_json: float
    """Time of a single run that also writes rows of documents and intervals of fields."""
    floor: float
    native: float | None
    """Time of the compiled floor; None if there is no compiler."""
    auto: float
    """Time with the number of processes that `--jobs auto` chooses."""
    ours_processor: float
    floor_processor: float
    without_intervals_processor: float
    """Seconds of processor time of a run without confidence intervals."""
    reference: Reference | None
    """Times of stickler-eval; None if it did not run."""
    disagreements: Sequence[str]
    """Differences between the results of this project and those of a floor or of stickler-eval. If
    there are any, ratios of times are not reported."""

    @property
    def to_floor(self) -> float:
        """Time of this project divided by that of the floor."""
        return self.ours / self.floor

    @property
    def to_floor_by_processor(self) -> float:
        """Processor time of this project divided by that of the floor."""
        return self.ours_processor / self.floor_processor

    @property
    def to_reference(self) -> float | None:
        """Time of stickler-eval for the same documents, divided by that of this project."""
        if self.reference is None:
            return None
        return self.reference.scaled(self.documents) / self.ours

    @property
    def auto_to_one(self) -> float:
        """Time with `--jobs auto` divided by that of one process."""
        return self.auto / self.ours

    @property
    def intervals(self) -> float:
        """Share of the processor time of a run that confidence intervals take, in percent."""
        return 100 * max(0.0, 1 - self.without_intervals_processor / self.ours_processor)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the measurement."""

    seed: int = 0
    repeat: int = 3
    share: float = 1.0
    """Share of the documents of each set that is used, in (0, 1]."""
    every_reference: bool = True
    """Whether stickler-eval runs on all sets, or only on those with a target for it."""
    reference_python: str | None = None
    """Python that has stickler-eval; None if stickler-eval is not timed."""
    reference_timeout: float = 300.0
    native_floor: Path | None = None
    """Path of the compiled floor; None if it is not timed."""

    def count(self, documents: int) -> int:
        """Return the number of documents to use; at least one if there are any."""
        return min(documents, max(1, round(documents * self.share)))


def measure(documents: DocumentSet, settings: Settings) -> SetTimes:
    """Time the programs on one set, and check that they agree."""
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
        finished = run_in_turns(commands, settings.repeat, warm_up=settings.repeat > 1)
        in_full = run(programs.ours_as_json(written))
        by_two = run(programs.ours_as_json(written, jobs="2"))
    floor_outputs = {name: finished[name][-1].output for name in finished if "floor" in name}
    ours = programs.read_result(in_full.output)
    differing = [
        f"{name}: {sentence}"
        for name, output in {**floor_outputs, "two processes": by_two.output}.items()
        for sentence in disagreements(ours, programs.read_result(output))
    ]
    reference = None
    reference_count = settings.count(documents.reference_documents)
    wanted = settings.every_reference or targets.has_target(documents.name)
    if settings.reference_python is not None and reference_count and wanted:
        reference, reference_disagreements = _reference(documents, reference_count, settings)
        differing += reference_disagreements
    seconds = {program: median_seconds(runs) for program, runs in finished.items()}
    processor = {program: median_processor_seconds(runs) for program, runs in finished.items()}
    return SetTimes(
        name=documents.name,
        documents=count,
        ours=seconds["ours"],
        as_json=in_full.seconds,
        floor=seconds["floor"],
        native=seconds.get("native floor"),
        auto=seconds["auto"],
        ours_processor=processor["ours"],
        floor_processor=processor["floor"],
        without_intervals_processor=processor["without intervals"],
        reference=reference,
        disagreements=differing,
    )


def _reference(
    documents: DocumentSet, count: int, settings: Settings
) -> tuple[Reference | None, Sequence[str]]:
    """Time stickler-eval on the first `count` documents of a set, and compare the results.

    Return (times, sentences about differences). The times are None if stickler-eval failed.
    """
    python = settings.reference_python or ""
    with tempfile.TemporaryDirectory() as directory:
        written = write(documents, Path(directory), count, settings.seed)
        ours = run(programs.ours_as_json(written))
        try:
            theirs = run(programs.reference(python, written), timeout=settings.reference_timeout)
        except ProcessError as error:
            return None, [str(error)]
    sentences = disagreements(
        programs.read_result(ours.output), programs.read_result(theirs.output)
    )
    comparing = float(orjson.loads(theirs.output)["comparing"])
    reference = Reference(theirs.seconds, comparing, count)
    return reference, [f"reference: {sentence}" for sentence in sentences]


def report(timed: Sequence[SetTimes]) -> Report:
    """Report times and ratios; a set on which programs disagree has no ratios."""
    return Report(
        title="Speed",
        columns=COLUMNS,
        rows=[_render_row(row) for row in timed],
        record=[_make_record(row) for row in timed],
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
            f"{row.name}: {sentence}"
            for row in timed
            for sentence in row.disagreements[:_MAX_LISTED]
        ],
        figures=_collect_figures([row for row in timed if not row.disagreements]),
    )


def _collect_figures(timed: Sequence[SetTimes]) -> dict[str, float]:
    figures = {targets.floor_target(row.name): row.to_floor for row in timed}
    for row in timed:
        if row.to_reference is not None:
            figures[targets.reference_target(row.name)] = row.to_reference
        if row.native is not None:
            figures[targets.native_target(row.name)] = row.ours / row.native
    if timed:
        figures[targets.AUTO] = max(row.auto_to_one for row in timed)
        figures[targets.INTERVALS] = max(row.intervals for row in timed)
    return figures


def _make_record(row: SetTimes) -> dict[str, object]:
    ratios: dict[str, object] = {
        "ours_to_floor": row.to_floor,
        "ours_to_floor_by_processor": row.to_floor_by_processor,
        "reference_to_ours": row.to_reference,
        "auto_to_ours": row.auto_to_one,
        "intervals_percent": row.intervals,
    }
    return asdict(row) | ({} if row.disagreements else ratios)


def _render_row(row: SetTimes) -> list[str]:
    def render_ratio(value: float | None) -> str:
        if value is None:
            return "-"
        return "disagree" if row.disagreements else format_ratio(value)

    reference_seconds = row.reference and row.reference.scaled(row.documents)
    return [
        row.name,
        f"{row.documents:,}",
        f"{row.ours:.2f} s",
        f"{row.as_json:.2f} s",
        f"{row.floor:.2f} s",
        render_ratio(row.to_floor),
        render_ratio(row.to_floor_by_processor),
        "-" if row.native is None else f"{row.native:.3f} s",
        render_ratio(row.auto_to_one),
        f"{row.intervals:.0f} %",
        "-" if reference_seconds is None else f"{reference_seconds:,.0f} s",
        "-" if row.reference is None else f"{row.reference.documents:,}",
        render_ratio(row.to_reference),
    ]
