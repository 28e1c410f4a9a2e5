"""Time comparisons of a single document in Python, with this project and with stickler-eval."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks import targets
from benchmarks.documents import Record
from benchmarks.processes import run
from benchmarks.report import Report, format_ratio
from benchmarks.sets import BILL, SETS, pairs

PROGRAM: Final = Path(__file__).with_name("one_document_timed.py")

Document = tuple[Any, Record, Record]
"""A document as (schema, ground truth, prediction)."""

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
        repeat: how often each library is timed, in turns; the shortest time counts.
        seed: seed of the documents.
        data: a directory with schema.json, gt/ and pred*/, whose document of median size replaces
            the short invoice.
        reference: a Python that has stickler-eval; None to time this project only.
        rounds: number of rounds of calls in a process; a round takes about 20 ms.
    """
    documents = _documents(seed, data)
    programs = {"stickler_cli": sys.executable} | ({"stickler": reference} if reference else {})
    timings: dict[str, list[Any]] = {library: [] for library in programs}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "documents.json")
        file.write_text(json.dumps(documents), "utf-8")
        for _ in range(repeat):
            for library, python in programs.items():
                command = [python, str(PROGRAM), library, str(file), str(rounds)]
                timings[library].append(json.loads(run(command).output))
    least = {
        (library, call, name): min(milliseconds[call][name] for milliseconds in several)
        for library, several in timings.items()
        for call in several[0]
        for name in several[0][call]
    }
    rows, records = [], []
    figures: dict[str, float] = {
        targets.COMPARE_WITH: least["stickler_cli", "compare_with", MIDDLE],
        targets.EVALUATE: least["stickler_cli", "evaluate", MIDDLE],
    }
    for (library, call, name), ours in least.items():
        if library == "stickler_cli":
            theirs = least.get(("stickler", call, name))
            times_faster = None if theirs is None else theirs / ours
            if times_faster is not None:
                figures[targets.one_document_target(name)] = times_faster
            reference_cells = (
                ["-", "-"]
                if theirs is None
                else [f"{theirs:.3f} ms", format_ratio(times_faster or 0)]
            )
            rows.append([f"{call}, {name}", f"{ours:.3f} ms", *reference_cells])
            records.append({"call": call, "document": name, "ours": ours, "theirs": theirs})
    origin = (
        "The documents come from the generator."
        if data is None
        else f"The {MIDDLE} comes from given data, the other documents from the generator."
    )
    return Report(
        title="One document",
        columns=("call", "ours", "stickler-eval", "times faster"),
        rows=rows,
        record=records,
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
    """Return the document of a directory whose ground truth has the median size.

    Its prediction is from the first directory that has one.
    """
    files = sorted((data / "gt").iterdir(), key=lambda file: (file.stat().st_size, file.name))
    median = files[len(files) // 2]
    predicted = (place / median.name for place in sorted(data.glob("pred*")))
    pred = next(file for file in predicted if file.exists())
    return tuple(json.loads(file.read_bytes()) for file in (data / "schema.json", median, pred))
