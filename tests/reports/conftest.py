"""Fixtures: runs of small documents and of fixtures/, and comparison of outputs with snapshots.

Snapshots are only written with `STICKLER_WRITE_SNAPSHOTS=1 pytest tests/reports`, which writes all
of them. Look at the difference before you keep them.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.score.sums import RateRule
from stickler_cli.settings.deciding import RunOptions

ROOT = Path(__file__).parents[2]
WRITE = "STICKLER_WRITE_SNAPSHOTS"

Json = Any

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
ORDER = {
    "type": "object",
    "x-aws-stickler-model-name": "Order",
    "properties": {
        "id": EXACT,
        "total": {"type": "number", "x-aws-stickler-weight": 2},
        "customer": {"type": "object", "properties": {"name": EXACT, "city": EXACT}},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": EXACT, "qty": {"type": "integer"}}},
        },
        "rates": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}
RIGHT = {
    "id": "A-1",
    "total": 10,
    "customer": {"name": "Ada", "city": "Ulm"},
    "lines": [{"sku": "mouse", "qty": 1}, {"sku": "lamp", "qty": 2}],
    "rates": {"standard": 19},
}
ORDERS = (
    DocumentPair("a", RIGHT, RIGHT),
    DocumentPair(
        "b",
        {
            "id": "B-2",
            "total": 20,
            "customer": {"name": "Bo", "city": "Rome"},
            "lines": [{"sku": "pen", "qty": 3}],
            "clerk": "Cy",
        },
        {"id": "B-2", "total": 21, "customer": {"name": "Bo", "city": "Oslo"}, "note": "rush"},
    ),
    DocumentPair("c", {"id": "C-3", "total": 30}, None),
    DocumentPair("d", None, {"id": "D-4"}),
)
ORDER_GATES = ("f1>=0.7", "leaves:lines.sku.recall>=0.7", "rates.score>0.9")


@pytest.fixture
def run_of() -> Callable[..., Run]:
    """Return a function that evaluates documents in this process, and returns the run."""

    def build(
        schema: Json = ORDER,
        pairs: Iterable[DocumentPair] = ORDERS,
        gates: Iterable[str] = (),
        *,
        file: str = "order.json",
        source: bytes = b"",
        single: bool = False,
        detailed: bool = False,
        intervals: bool = False,
        **options: Any,
    ) -> Run:
        plan = compile_schema(schema, file)
        chosen = RunOptions(**{**DEFAULTS, **options})
        requested = OutputsRequested(
            accounts=detailed,
            detail=detailed,
            document=single,
            intervals=IntervalSettings() if intervals else None,
        )
        options_of_run = Options(chosen.pairing_floor, chosen.extra_fields)
        job, documents = Job(plan, options_of_run, chosen.missing, requested), list(pairs)
        chunk = evaluate_chunk(job, documents)
        evaluation = chunk.evaluation
        rule = RateRule(chosen.recall_with_fd, chosen.counting)
        digest = hashlib.sha256(source).hexdigest()
        return Run(
            evaluation,
            SchemaSignature(file, f"sha256:{digest}", plan.model_name, None),
            chosen,
            [*field_listing(plan)],
            [judge_gate(parse_gate(gate), evaluation, rule) for gate in gates],
            document=evaluate_chunk(job, documents[:1]).document if single else None,
            detail=chunk.detail,
        )

    return build


DEFAULTS: dict[str, Any] = {
    "pairing_floor": 0.2,
    "recall_with_fd": False,
    "extra_fields": "fa",
    "missing": "fn",
    "strict": False,
}


@pytest.fixture
def orders(run_of: Callable[..., Run]) -> Run:
    """A run of four orders: one right, one with each kind of error, one missing, one unmatched."""
    return run_of(gates=ORDER_GATES)


@pytest.fixture
def fixture_run(run_of: Callable[..., Run]) -> Callable[..., Run]:
    """Return a function that evaluates a set in fixtures/, given its name, and returns the run."""

    def build(name: str, *, detailed: bool = False) -> Run:
        schema = ROOT / "schemas" / f"{name}.json"
        source = schema.read_bytes()
        folder = ROOT / "fixtures" / name
        pairs = open_pairs(str(folder / "gt"), str(folder / "pred"))
        file = f"schemas/{name}.json"
        return run_of(json.loads(source), pairs, file=file, source=source, detailed=detailed)

    return build


@pytest.fixture
def errors_of() -> Callable[..., tuple[Error, ...]]:
    """Return a function that returns the errors of documents."""

    def build(schema: Json = ORDER, pairs: Iterable[DocumentPair] = ORDERS) -> tuple[Error, ...]:
        job = Job(
            compile_schema(schema), Options(), requested=OutputsRequested(first_non_matches=10_000)
        )
        return tuple(evaluate_chunk(job, pairs).first_non_matches)

    return build


@pytest.fixture
def same_as() -> Callable[[str, Path], None]:
    """Return a function that compares a text with a snapshot, or writes the snapshot on request."""

    def check(text: str, file: Path) -> None:
        if os.environ.get(WRITE):
            file.write_text(text, encoding="utf-8", newline="\n")
            pytest.skip(f"wrote {file.name}")
        expected = file.read_bytes().decode()
        assert text == expected, f"if this is intended, run with {WRITE}=1 and look at the diff"

    return check
