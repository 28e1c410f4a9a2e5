"""What one comparison costs a program that makes one at a time."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import targets
from benchmarks.documents import Record
from benchmarks.processes import run
from benchmarks.report import Report
from benchmarks.sets import BILL, pairs

CALLS: Final = ("compare_with", "evaluate")


def measure(repeat: int, seed: int, data: Path | None = None, *, least: int = 400) -> Report:
    """Time the calls of Python on short invoices, or on the median document of a directory.

    Args:
        repeat: how often all of them are timed; the median counts.
        seed: of the documents.
        data: a directory with schema.json, gt/ and a directory whose name begins with pred.
        least: calls of each kind, however few documents there are.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "pairs.json")
        if data is None:
            schema, documents = BILL.schema, list(pairs(BILL, BILL.documents, seed))
        else:
            schema = json.loads((data / "schema.json").read_text("utf-8"))
            documents = _median_documents(data)
        file.write_text(json.dumps({"schema": schema, "pairs": documents}), "utf-8")
        numbers = (str(repeat), str(least))
        command = [sys.executable, "-m", "benchmarks.one_document_timed", str(file), *numbers]
        took = json.loads(run(command).output)
    names = {"compare_with": targets.COMPARE_WITH, "evaluate": targets.EVALUATE}
    described = "made up by seed" if data is None else "of the median size in the given data"
    return Report(
        "One document",
        ("call", "milliseconds"),
        [[name, f"{took[name] * 1000:.2f} ms"] for name in CALLS],
        took,
        notes=(
            (
                f"Short invoices {described}: from the parsed values to all results, models of both"
                " sides made anew for each; median of all calls, in turns."
            ),
        ),
        figures={target: took[name] * 1000 for name, target in names.items()},
    )


def _median_documents(data: Path) -> list[tuple[Record, Record]]:
    """Read the ground truth of median size, with each of its predictions."""
    files = sorted((data / "gt").iterdir(), key=lambda file: (file.stat().st_size, file.name))
    median = files[len(files) // 2]
    predicted = [place / median.name for place in sorted(data.glob("pred*"))]
    gt = json.loads(median.read_bytes())
    return [(gt, json.loads(file.read_bytes())) for file in predicted if file.exists()]
