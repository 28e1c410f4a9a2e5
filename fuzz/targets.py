"""What the fuzzer runs: each target takes any bytes, and must not raise.

Functions of their own, so that the tests run them where no fuzzer is installed.
"""

import json
import os
import re
import tracemalloc
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from stickler_cli.cli.app import main
from stickler_cli.cli.console import ExitCode
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.tree import tree_of
from stickler_cli.compare.work import STEPS_OF_UNIT
from stickler_cli.core.json_values import JsonDocument, json_line
from stickler_cli.core.problems import ComparisonError, Problem, SchemaError, WorkLimitError
from stickler_cli.documents.document import read_text
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.reading import BOM, parse_json
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.runs.process import room_for_depth
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.comparison_view import counts_view, document_view

SAMPLES: Final[tuple[JsonDocument, ...]] = (
    {},
    {"a": "x", "b": [1, "2", None], "c": {"d": {"a": True}}},
    {"a": ["x", {"a": "y"}], "b": {"a": 1.5}, "c": "2024-01-02", "n_1": [[{}]]},
)
"""Compared under every schema that compiles, whether they fit it or not."""

OPEN: Final = Job(
    compile_schema({"type": "object"}),
    Options(),
    requested=OutputsRequested(document_lines=True, non_match_lines=True, accounts=True),
)
"""A run that compares by what the documents hold."""


MOST_STEPS: Final = 10_000
"""Steps for each byte of the one document and each of the other, the schema's counted with both."""

OF_ANY: Final = 30_000_000
MOST_BYTES: Final = 10
"""Likewise of memory, beside what any comparison may take."""

FILES: Final = {
    "schema.json": '{"type": "object", "properties": {"a": {"type": "string"}}}',
    "gt/1.json": '{"a": "x"}',
    "pred/1.json": '{"a": "y", "b": 1}',
    "gt.jsonl": '{"a": "x"}\n{"a": "y"}\n',
    "pred.jsonl": '{"a": "x"}\n',
}
"""What a command finds in its folder."""

Side: TypeAlias = JsonDocument | Problem | None


class BrokenRuleError(Exception):
    """Something happened that must never be."""


def compile_any(data: bytes) -> None:
    """Compile a schema and compare by it: there is a plan, or an error that names problems."""
    schema = parse_json(data, "fuzz.json")
    if not isinstance(schema, dict):
        return
    try:
        plan = compile_schema(schema, "fuzz.json")
    except SchemaError as error:
        if not error.problems:
            raise BrokenRuleError("an error without a problem") from error
        return
    _compare_samples(plan)


def _compare_samples(plan: Plan) -> None:
    pairs = list(product(SAMPLES, SAMPLES))
    with room_for_depth():
        table = compare(plan, [gt for gt, _ in pairs], [pred for _, pred in pairs])
        for pair in range(len(pairs)):
            compared = batch_of_unit(tree_of(table, pair))
            json.dumps([counts_view(compared), document_view(compared, 0)])


def read_any(data: bytes) -> None:
    """Read a document in each way there is, and compare it with itself and with others."""
    reading = read_text(data, "fuzz.json")
    hinted = read_text(data, "fuzz.json", wrapping="hinted").value
    taken = read_text(data, "fuzz.json", line=3, wrapping="taken").value
    value = reading.value
    if not all(isinstance(each, dict | Problem) for each in (value, hinted, taken)):
        raise BrokenRuleError("neither a document nor a problem")
    if isinstance(value, dict):
        if not value == hinted == taken:
            raise BrokenRuleError("where other text is allowed, a document reads otherwise")
        _hold_against_json(data, value)
    _evaluate(value, taken)


def _hold_against_json(data: bytes, value: JsonDocument) -> None:
    """Hold a document against what the standard library reads, exact integers included."""
    with room_for_depth():
        if json.loads(data.removeprefix(BOM)) != value:
            raise BrokenRuleError("the standard library reads it otherwise")


def _evaluate(gt: Side, pred: Side) -> None:
    sides: list[tuple[Side, Side]] = [(gt, pred), (gt, {}), (SAMPLES[1], pred), (pred, SAMPLES[2])]
    pairs = [DocumentPair(str(number), *side) for number, side in enumerate(sides)]
    result = evaluate_chunk(OPEN, pairs)
    for line in (result.document_lines + result.non_match_lines).splitlines():
        json.loads(line)


def compare_any(data: bytes) -> None:
    """Compare two documents by a schema: steps and memory go by the product of their sizes."""
    case = parse_json(data, "fuzz.json")
    if not isinstance(case, dict):
        return
    schema, gt, pred = (case.get(name) for name in ("schema", "gt", "pred"))
    if not isinstance(schema, dict) or not isinstance(gt, dict) or not isinstance(pred, dict):
        return
    try:
        plan = compile_schema(schema, "fuzz.json")
    except SchemaError:
        return
    size, n, m = (len(json_line(value)) for value in (schema, gt, pred))
    most = MOST_STEPS * (size + n) * (size + m)
    room = OF_ANY + MOST_BYTES * (size + n) * (size + m)
    tracemalloc.start()
    with room_for_depth():
        try:
            compare(plan, [gt], [pred], Options(work_limit=most / STEPS_OF_UNIT))
        except WorkLimitError as error:
            raise BrokenRuleError(f"more than {most:,} steps") from error
        except ComparisonError:
            return  # of a comparator, on such values
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    if peak > room:
        raise BrokenRuleError(f"{peak:,} bytes of memory, more than {room:,}")


def run_any(data: bytes) -> None:
    """Run a command with any arguments, where only a few files are: it says what is wrong."""
    given = parse_json(data, "fuzz.json")
    if not isinstance(given, list):
        return
    arguments = [part for part in given if isinstance(part, str) and not _is_unsafe(part)]
    before, shown = Path.cwd(), TextIOWrapper(BytesIO(), "utf-8")
    with TemporaryDirectory() as folder, redirect_stdout(shown), redirect_stderr(shown):
        for name, text in FILES.items():
            (place := Path(folder) / name).parent.mkdir(exist_ok=True)
            place.write_text(text)
        os.chdir(folder)
        try:
            code = main(arguments)
        finally:
            os.chdir(before)
    shown.seek(0)
    if code not in [*ExitCode] or "internal error (" in (said := shown.read()):
        raise BrokenRuleError(f"exit code {code}: {said}")


def _is_unsafe(argument: str) -> bool:
    """Return whether an argument leads out of the folder, or has processes or terminals made."""
    return bool(re.search(r"[/\\~\x00]|\.\.|^-j|--jobs|--memory|--doc.*time|--progress", argument))


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "schema": compile_any,
    "document": read_any,
    "comparison": compare_any,
    "command": run_any,
}
"""By name, which is also that of the folder with their seeds."""
