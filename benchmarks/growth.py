"""Measure the time and memory of long lists.

If lists grow tenfold, a matrix of the similarities of all pairs grows a hundredfold.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.memory import format_megabytes, measure_peak
from benchmarks.processes import median_seconds, run_in_turns
from benchmarks.report import Report, format_ratio
from benchmarks.sets import DocumentSet, Written, free_texts, invoices, write


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """A length of lists that is measured, with the number of documents."""

    name: str
    items: int
    make: DocumentSet
    documents: int
    """Number of timed documents; 0 if only memory is measured."""


_SHORT, _LONGER, _LONG = 500, 3_000, 5_000
LENGTHS: Final = (
    Length(name="identifier", items=_SHORT, make=invoices(_SHORT), documents=60),
    Length(name="identifier", items=_LONGER, make=invoices(_LONGER), documents=10),
    Length(name="identifier", items=_LONG, make=invoices(_LONG), documents=6),
    Length(name="free text", items=_SHORT, make=free_texts(_SHORT), documents=4),
    Length(name="free text", items=_LONG, make=free_texts(_LONG), documents=0),
)


def measure(repeat: int, seed: int) -> Report:
    """Measure the seconds for each document with long lists, without start-up.

    These are (seconds for n documents - seconds for 1 document) / (n - 1).
    """
    with tempfile.TemporaryDirectory() as directory:
        commands, peaks, counts = {}, {}, {}
        for length in LENGTHS:
            single = _written(length, Path(directory), 1, seed)
            peaks[length] = measure_peak(programs.evaluation(single))
            if length.documents:
                counts[length] = length.documents
                several = _written(length, Path(directory), counts[length], seed)
                for count, written in ((1, single), (counts[length], several)):
                    commands[f"{length.name}/{length.items}/{count}"] = programs.evaluation(written)
        finished = run_in_turns(commands, repeat, warm_up=repeat > 1)
    seconds = {}
    for length, count in counts.items():
        seconds_of_several, seconds_of_one = (
            median_seconds(finished[f"{length.name}/{length.items}/{n}"]) for n in (count, 1)
        )
        seconds[length] = (seconds_of_several - seconds_of_one) / (count - 1)
    base = {length.name: seconds[length] for length in LENGTHS if length.items == _SHORT}
    rows, records = [], []
    for length in LENGTHS:
        seconds_each = seconds.get(length)
        growth = None if seconds_each is None else seconds_each / base[length.name]
        rows.append(
            [
                f"{length.name}, {length.items:,}",
                "-" if seconds_each is None else f"{seconds_each * 1000:.1f} ms",
                "-" if growth is None else format_ratio(growth),
                format_megabytes(peaks[length]),
            ]
        )
        records.append(
            {
                "items": length.items,
                "list": length.name,
                "seconds": seconds_each,
                "ratio": growth,
                "peak": peaks[length],
            }
        )
    *_, with_identifier, _, free_text = LENGTHS
    return Report(
        title="Growth",
        columns=("items of a list", "a document", f"against {_SHORT:,}", "peak of memory"),
        rows=rows,
        record=records,
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
