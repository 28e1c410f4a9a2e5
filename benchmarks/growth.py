"""What long lists cost: a matrix of all pairs grows a hundredfold where the list grows tenfold."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.memory import megabytes, peak
from benchmarks.processes import in_turns, median_seconds
from benchmarks.report import Report, ratio
from benchmarks.sets import DocumentSet, Written, free_texts, invoices, write


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """A list of some length."""

    name: str
    items: int
    make: DocumentSet
    documents: int
    """How many are timed, less one; 0 where only memory is measured."""


_SHORT, _LONGER, _LONG = 500, 3_000, 5_000
LENGTHS: Final = (
    Length("identifier", _SHORT, invoices(_SHORT), 60),
    Length("identifier", _LONGER, invoices(_LONGER), 10),
    Length("identifier", _LONG, invoices(_LONG), 6),
    Length("free text", _SHORT, free_texts(_SHORT), 4),
    Length("free text", _LONG, free_texts(_LONG), 0),
)


def measure(repeat: int, seed: int) -> Report:
    """Compare seconds a document, net of start-up: n documents less one, over n - 1."""
    with tempfile.TemporaryDirectory() as directory:
        commands, peaks, counts = {}, {}, {}
        for length in LENGTHS:
            one = _written(length, Path(directory), 1, seed)
            peaks[length] = peak(programs.evaluation(one))
            if length.documents:
                counts[length] = length.documents
                many = _written(length, Path(directory), counts[length], seed)
                for count, written in ((1, one), (counts[length], many)):
                    commands[f"{length.name}/{length.items}/{count}"] = programs.evaluation(written)
        finished = in_turns(commands, repeat, warm_up=repeat > 1)
    seconds = {}
    for length, count in counts.items():
        more, once = (
            median_seconds(finished[f"{length.name}/{length.items}/{n}"]) for n in (count, 1)
        )
        seconds[length] = (more - once) / (count - 1)
    base = {length.name: seconds[length] for length in LENGTHS if length.items == _SHORT}
    rows, records = [], []
    for length in LENGTHS:
        took = seconds.get(length)
        times = None if took is None else took / base[length.name]
        rows.append(
            [
                f"{length.name}, {length.items:,}",
                "-" if took is None else f"{took * 1000:.1f} ms",
                "-" if times is None else ratio(times),
                megabytes(peaks[length]),
            ]
        )
        records.append(
            {
                "items": length.items,
                "list": length.name,
                "seconds": took,
                "ratio": times,
                "peak": peaks[length],
            }
        )
    *_, with_identifier, _, free_text = LENGTHS
    return Report(
        "Growth",
        ("items of a list", "a document", f"against {_SHORT:,}", "peak of memory"),
        rows,
        records,
        notes=(
            (
                "The time is that of one additional document, without start-up. Memory is that of"
                " a process that compares one document, including start-up."
            ),
        ),
        figures={
            targets.GROWTH: seconds[with_identifier] / base["identifier"],
            targets.IDENTIFIER_MEMORY: peaks[with_identifier] / 1e6,
            targets.TEXT_MEMORY: peaks[free_text] / 1e6,
        },
    )


def _written(length: Length, directory: Path, count: int, seed: int) -> Written:
    place = directory / f"{length.name}-{length.items}-{count}".replace(" ", "-")
    return write(length.make, place, count, seed)
