"""What one comparison costs a program that makes one at a time, beside stickler-eval."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks import targets
from benchmarks.documents import Record
from benchmarks.processes import run
from benchmarks.report import Report, ratio
from benchmarks.sets import BILL, SETS, pairs

PROGRAM: Final = Path(__file__).with_name("one_document_timed.py")

Document = tuple[Any, Record, Record]
"""Schema, ground truth, prediction."""

FLAT, MIDDLE, LONG = "flat, 8 texts", "short invoice", "50 items"


def measure(
    repeat: int,
    seed: int,
    data: Path | None = None,
    reference: str | None = None,
    *,
    rounds: int = 40,
) -> Report:
    """Time `compare_with` and `evaluate` on documents of three sizes.

    Args:
        repeat: how often each library is timed, in turns; the least counts.
        seed: of the documents.
        data: a directory with schema.json, gt/ and pred*/, of which the median document is taken in
            place of a short invoice.
        reference: a Python that has stickler-eval.
        rounds: of each call in a process, each of some 20 ms.
    """
    documents = _documents(seed, data)
    programs = {"stickler_cli": sys.executable} | ({"stickler": reference} if reference else {})
    took: dict[str, list[Any]] = {library: [] for library in programs}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "documents.json")
        file.write_text(json.dumps(documents), "utf-8")
        for _ in range(repeat):
            for library, python in programs.items():
                command = [python, str(PROGRAM), library, str(file), str(rounds)]
                took[library].append(json.loads(run(command).output))
    best = {
        (library, call, name): min(one[call][name] for one in several)
        for library, several in took.items()
        for call in several[0]
        for name in several[0][call]
    }
    rows, records = [], []
    figures: dict[str, float] = {
        targets.COMPARE_WITH: best["stickler_cli", "compare_with", MIDDLE],
        targets.EVALUATE: best["stickler_cli", "evaluate", MIDDLE],
    }
    for (library, call, name), ours in best.items():
        if library == "stickler_cli":
            theirs = best.get(("stickler", call, name))
            times = None if theirs is None else theirs / ours
            if times is not None:
                figures[targets.one_document_target(name)] = times
            shown = ["-", "-"] if theirs is None else [f"{theirs:.3f} ms", ratio(times or 0)]
            rows.append([f"{call}, {name}", f"{ours:.3f} ms", *shown])
            records.append({"call": call, "document": name, "ours": ours, "theirs": theirs})
    origin = (
        "The documents come from the generator."
        if data is None
        else f"The {MIDDLE} comes from given data, the other documents from the generator."
    )
    return Report(
        "One document",
        ("call", "ours", "stickler-eval", "times faster"),
        rows,
        records,
        notes=(
            (
                f"{origin} Times are the least processor time over all rounds of one call with"
                " all counts and errors; models are made before."
            ),
        ),
        figures=figures,
    )


def _documents(seed: int, data: Path | None) -> dict[str, Document]:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in "abcdefgh"}}
    gt: Record = {name: f"value {name}" for name in "abcdefgh"}
    (bill,) = pairs(BILL, 1, seed)
    (long,) = pairs(SETS["invoices-50"], 1, seed)
    return {
        FLAT: (schema, gt, {**gt, "c": "vale c", "h": None}),
        MIDDLE: (BILL.schema, *bill) if data is None else _median_document(data),
        LONG: (SETS["invoices-50"].schema, *long),
    }


def _median_document(data: Path) -> Document:
    """Read the ground truth of median size, with the first of its predictions."""
    files = sorted((data / "gt").iterdir(), key=lambda file: (file.stat().st_size, file.name))
    median = files[len(files) // 2]
    predicted = (place / median.name for place in sorted(data.glob("pred*")))
    pred = next(file for file in predicted if file.exists())
    return tuple(json.loads(file.read_bytes()) for file in (data / "schema.json", median, pred))
