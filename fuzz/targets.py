"""Targets of the fuzzer: functions that take any bytes and must not raise.

They do not import the fuzzer, so that tests can run them without it.
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
"""Documents that are compared with each schema that compiles, valid or not."""

OPEN: Final = Job(
    compile_schema({"type": "object"}),
    Options(),
    requested=OutputsRequested(document_lines=True, non_match_lines=True, accounts=True),
)
"""A job with the schema `{"type": "object"}`, so that values decide how they are compared."""


MOST_STEPS: Final = 10_000
"""Maximum number of steps for each pair of bytes, one of each document; the bytes of the schema
count in both."""

BASE_MEMORY: Final = 30_000_000
"""Memory that every comparison may take, in bytes."""
MOST_BYTES: Final = 10
"""Maximum memory for each pair of bytes, in addition to `BASE_MEMORY`."""

FILES: Final = {
    "schema.json": '{"type": "object", "properties": {"a": {"type": "string"}}}',
    "gt/1.json": '{"a": "x"}',
    "pred/1.json": '{"a": "y", "b": 1}',
    "gt.jsonl": '{"a": "x"}\n{"a": "y"}\n',
    "pred.jsonl": '{"a": "x"}\n',
}
"""Files in the directory in which a command runs."""

Side: TypeAlias = JsonDocument | Problem | None


class BrokenRuleError(Exception):
    """A target found a bug: a rule that must always hold does not."""


def compile_any(data: bytes) -> None:
    """Compile a schema and compare documents with it; an error must list its problems."""
    schema = parse_json(data, "fuzz.json")
    if not isinstance(schema, dict):
        return
    try:
        plan = compile_schema(schema, "fuzz.json")
    except SchemaError as error:
        if not error.problems:
            raise BrokenRuleError("the error has no problem") from error
        return
    _compare_samples(plan)


def _compare_samples(plan: Plan) -> None:
    """Compare each pair of samples; the results must be JSON."""
    pairs = list(product(SAMPLES, SAMPLES))
    with room_for_depth():
        table = compare(plan, [gt for gt, _ in pairs], [pred for _, pred in pairs])
        for pair in range(len(pairs)):
            compared = batch_of_unit(tree_of(table, pair))
            json.dumps([counts_view(compared), document_view(compared, 0)])


def read_any(data: bytes) -> None:
    """Read a document in all ways, and compare it with itself and with other documents."""
    reading = read_text(data, "fuzz.json")
    hinted = read_text(data, "fuzz.json", wrapping="hinted").value
    unwrapped = read_text(data, "fuzz.json", line=3, wrapping="taken").value
    value = reading.value
    if not all(isinstance(document, dict | Problem) for document in (value, hinted, unwrapped)):
        raise BrokenRuleError("neither a document nor a problem")
    if isinstance(value, dict):
        if not value == hinted == unwrapped:
            raise BrokenRuleError("the document differs if other text around it is allowed")
        _check_against_json(data, value)
    _evaluate(value, unwrapped)


def _check_against_json(data: bytes, value: JsonDocument) -> None:
    """Check a document against what the standard library reads, with exact integers."""
    with room_for_depth():
        if json.loads(data.removeprefix(BOM)) != value:
            raise BrokenRuleError("the standard library reads another document")


def _evaluate(gt: Side, pred: Side) -> None:
    """Evaluate two documents with each other and with samples; all lines must be JSON."""
    sides: list[tuple[Side, Side]] = [(gt, pred), (gt, {}), (SAMPLES[1], pred), (pred, SAMPLES[2])]
    pairs = [DocumentPair(str(number), *side) for number, side in enumerate(sides)]
    result = evaluate_chunk(OPEN, pairs)
    for line in (result.document_lines + result.non_match_lines).splitlines():
        json.loads(line)


def compare_any(data: bytes) -> None:
    """Compare two documents; steps and memory are limited by the product of their sizes."""
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
    max_steps = MOST_STEPS * (size + n) * (size + m)
    room = BASE_MEMORY + MOST_BYTES * (size + n) * (size + m)
    tracemalloc.start()
    with room_for_depth():
        try:
            compare(plan, [gt], [pred], Options(work_limit=max_steps / STEPS_OF_UNIT))
        except WorkLimitError as error:
            raise BrokenRuleError(f"more than {max_steps:,} steps") from error
        except ComparisonError:
            return  # a comparator may reject values
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    if peak > room:
        raise BrokenRuleError(f"{peak:,} bytes of memory, more than {room:,}")


def run_any(data: bytes) -> None:
    """Run a command with any arguments in a directory of few files; no internal error may occur."""
    words = parse_json(data, "fuzz.json")
    if not isinstance(words, list):
        return
    arguments = [word for word in words if isinstance(word, str) and not _is_unsafe(word)]
    directory_before = Path.cwd()
    output = TextIOWrapper(BytesIO(), "utf-8")
    with TemporaryDirectory() as folder, redirect_stdout(output), redirect_stderr(output):
        for name, text in FILES.items():
            file = Path(folder) / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        os.chdir(folder)
        try:
            code = main(arguments)
        finally:
            os.chdir(directory_before)
    output.seek(0)
    text = output.read()
    if code not in [*ExitCode] or "internal error (" in text:
        raise BrokenRuleError(f"exit code {code}: {text}")


def _is_unsafe(argument: str) -> bool:
    """Return whether an argument leaves the directory, or starts processes or uses a terminal."""
    return bool(re.search(r"[/\\~\x00]|\.\.|^-j|--jobs|--memory|--doc.*time|--progress", argument))


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "schema": compile_any,
    "document": read_any,
    "comparison": compare_any,
    "command": run_any,
}
"""Targets by name; the directory of this name has the seeds of the target."""
