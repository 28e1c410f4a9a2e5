"""What ten times as many items in a list cost: the matrix alone grows a hundredfold."""

import tempfile
from pathlib import Path
from typing import Final

from benchmarks import programs
from benchmarks.processes import in_turns, median_seconds
from benchmarks.report import Report, ratio
from benchmarks.sets import invoices, write

_COUNTS: Final = {100: 200, 1000: 6}
"""Documents by the number of items, so that both take a second or more."""


def measure(repeat: int, seed: int) -> Report:
    """Compare seconds a document, net of start-up: n documents less one, over n - 1."""
    with tempfile.TemporaryDirectory() as directory:
        commands = {}
        for items, documents in _COUNTS.items():
            for count in (1, documents):
                place = Path(directory, f"{items}-{count}")
                written = write(invoices(items), place, count, seed)
                commands[f"{items}/{count}"] = programs.ours(written)
        finished = in_turns(commands, repeat)
    each = {}
    for items, count in _COUNTS.items():
        many, one = (median_seconds(finished[f"{items}/{n}"]) for n in (count, 1))
        each[items] = (many - one) / (count - 1)
    few, many = each
    times = each[many] / each[few]
    return Report(
        "Scaling",
        ("items", "a document", "ratio"),
        [
            [f"{few:,}", f"{each[few] * 1000:.1f} ms", ""],
            [f"{many:,}", f"{each[many] * 1000:.1f} ms", ratio(times)],
        ],
        {"seconds": each, "ratio": times},
        notes=("Seconds for one more document, net of start-up.",),
    )
