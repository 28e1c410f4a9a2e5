"""The record of a chunk is read back exactly, and no new attribute can be forgotten."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare.plan import Options
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import UsageError
from stickler_cli.core.rules import KEPT, encoded
from stickler_cli.documents.document_pair import DocumentPair, Fingerprint
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.metrics import Measure, measures_of
from stickler_cli.records.codec import decode
from stickler_cli.records.run_reading import chunk_record, read_chunk
from stickler_cli.runs.chunk import ChunkResult, empty_result, evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested, parse_groupings, validation_of
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.confidence.confidences import Confidences
from stickler_cli.score.detail import Detail, Histogram
from stickler_cli.score.errors.causes import Causes
from stickler_cli.score.errors.error_rows import Error, columns_of_record, error_record
from stickler_cli.score.errors.marks import Mark, MarkedError
from stickler_cli.score.evaluation import Evaluation, Results
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.ledger import Ledger

SCHEMA = {
    "type": "object",
    "required": ["a"],
    "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}
GTS = [
    {"a": "x", "n": 10**30, "items": [{"b": 1}, {"b": 2}], "other": 1},
    {"a": "é", "map": {"k": 1.5, "l": 0.1}},
    {"a": "only truth"},
    {"a": "z"},
]
PREDS = [
    '{"a": "y", "n": 1, "items": [{"b": 1}, {"b": 3}], "more": [0.1], "n": 2}',
    '{"n": "no integer", "map": {"k": {"_value": 1.25, "_confidence": 0.5, "_page": 1}}}',
    "no JSON",
    "[1]",
    '{"a": "only prediction"}',
]
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
UNKNOWN = frozenset({"conditions", "rows", "semantics", "n_unnamed"})
"""Attributes that only a run adds, or that exist only in runs without rows."""


@pytest.fixture
def chunk(tmp_path: Path) -> ChunkResult:
    """The result of a chunk in which no attribute is empty."""
    (tmp_path / "gt.jsonl").write_text("\n".join(map(json.dumps, GTS)))
    (tmp_path / "pred.jsonl").write_text("\ufeff" + "\n".join(PREDS))
    pairs = open_pairs(str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl"))
    requested = OutputsRequested(
        document_lines=True,
        non_match_lines=True,
        value_lines=True,
        first_non_matches=50,
        accounts=True,
        document=True,
        detail=True,
        intervals=IntervalSettings(level=0.9),
        fingerprints=True,
    )
    validation = validation_of("both", SCHEMA)
    plan = compile_schema(SCHEMA)
    unwrapper = Unwrapper(plan.root)
    job = Job(
        plan,
        Options(),
        requested=requested,
        validation=validation,
        unwrapper=unwrapper,
        metrics=measures_of(["anls_star"]),
        marks={"line 1": {MarkedError("line 1", "a", "FD"): Mark("neither")}},
    )
    chunk = evaluate_chunk(job, pairs.refs())
    by_a = replace(job, by=parse_groupings(["a"], None))
    grouped = DocumentPair("grouped", {"a": "Ärzte"}, {"a": "y"})
    chunk.evaluation.merge(evaluate_chunk(by_a, [grouped]).evaluation)
    return chunk


def again(
    chunk: ChunkResult, change: Callable[[dict], object] = lambda record: None
) -> ChunkResult:
    record = json.loads(json_line(chunk_record(chunk)))
    change(record)
    return read_chunk(ChunkResult, record, "journal")


def test_every_part_of_a_chunk_is_used_here_and_comes_back(chunk):
    restored = again(chunk)
    for attribute in fields(ChunkResult):
        if attribute.name in UNKNOWN:
            continue
        value = getattr(chunk, attribute.name)
        assert value, f"{attribute.name} is nothing here, so that nothing is tested of it"
        assert getattr(restored, attribute.name) == value, attribute.name


def test_every_part_of_an_evaluation_is_used_here_and_comes_back(chunk):
    restored = again(chunk).evaluation
    for attribute in fields(Evaluation):
        if attribute.name in UNKNOWN:
            continue
        value = getattr(chunk.evaluation, attribute.name)
        default = (
            attribute.default
            if attribute.default_factory is MISSING
            else attribute.default_factory()
        )
        assert value != default, (
            f"{attribute.name} is nothing here, so that nothing is tested of it"
        )
        assert comparable(getattr(restored, attribute.name)) == comparable(value), attribute.name


def comparable(value: object) -> object:  # noqa: PLR0911 (one return for each type)
    """Return the content of a value in a form that can be compared; problems are sorted."""
    match value:
        case Ledger():
            return value.sums, value.hashes, value.blocks and [*value.blocks.records()]
        case list() | Confidences():
            return sorted(value.records() if isinstance(value, Confidences) else value, key=str)
        case Results():
            return {
                attribute.name: comparable(getattr(value, attribute.name))
                for attribute in fields(value)
            }
        case Measure():
            return value.figures, value.state
        case Causes():
            return value.view()
        case dict():
            return {key: comparable(child) for key, child in value.items()}
    return value


KEEPING = Job(
    compile_schema(SCHEMA),
    Options(),
    requested=OutputsRequested(accounts=True),
    metrics=measures_of(["anls_star"]),
)


def test_a_restored_evaluation_adds_up_as_the_first_one_did(chunk):
    twice, restored_twice = (
        empty_result(KEEPING).evaluation,
        empty_result(KEEPING).evaluation,
    )
    for _ in range(2):
        twice.merge(chunk.evaluation)
        restored_twice.merge(again(chunk).evaluation)
    assert json_line(restored_twice.to_dict()) == json_line(twice.to_dict())


def test_a_chunk_of_little_comes_back_too():
    chunk = ChunkResult(ids=["a"], fingerprints=[None])
    assert again(chunk) == chunk


def make_value(kind: Any, place: str = "") -> Any:  # noqa: PLR0911 - a type a line
    """Return some value of a type; in a dataclass, no field has its default."""
    inner = get_args(kind)
    if isinstance(kind, type) and hasattr(kind, "_fields"):  # a named tuple
        return kind(*map(make_value, get_type_hints(kind).values()))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        attributes = {
            attribute.name: attribute
            for attribute in fields(kind)
            if attribute.metadata.get(KEPT, True)
        }
        values = {name: make_value(hints[name], f"{place}.{name}") for name in attributes}
        for name, attribute in attributes.items():
            assert values[name] != attribute.default, f"{place}.{name} is as by default"
        return kind(**values)
    if inner and get_origin(kind) in (UnionType, Union):
        return make_value(
            next(inner_kind for inner_kind in inner if inner_kind is not NoneType), place
        )
    if inner and get_origin(kind) is tuple:
        inner = inner[:1] if inner[-1] is ... else inner
        return tuple(make_value(inner_kind, place) for inner_kind in inner)
    if get_origin(kind) is list:
        return [make_value(inner[0], place)] * 2
    if inner and issubclass(get_origin(kind), Mapping):
        return {make_value(inner[0], place): make_value(inner[1], place)}
    if issubclass(kind, Enum):
        return list(kind)[-1]
    if kind is bool:
        return place.rsplit(".", maxsplit=1)[-1] not in ("complete", "knows_errors", "knows_values")
    return {str: place, bytes: b"\xc3\xa4", int: 3, float: 0.7, Any: [1.5]}[kind]


def reached(kind: Any) -> Iterator[type]:
    """Yield all dataclasses inside a type, except those inside an `Evaluation`."""
    if kind is Evaluation:
        return
    if is_dataclass(kind):
        yield kind
    inner_kinds = get_type_hints(kind).values() if is_dataclass(kind) else get_args(kind)
    for inner_kind in inner_kinds:
        yield from reached(inner_kind)


PARTS = sorted({*reached(ChunkResult)} - {ChunkResult}, key=lambda kind: kind.__name__)


def test_the_types_of_a_result_are_found():
    assert {Detail, Histogram, Fingerprint} <= set(PARTS)


@pytest.mark.parametrize("kind", PARTS)
def test_every_field_of_every_part_of_a_result_comes_back(kind):
    value = make_value(kind, kind.__name__)
    assert decode(kind, json.loads(json_line(encoded(value)))) == value


@given(
    st.builds(
        Error,
        path=st.just("a[0]"),
        field=st.just("a"),
        gt=json_values,
        pred=json_values,
        similarity=st.none() | st.floats(0, 1),
        values=st.none() | st.integers(0),
    )
)
def test_every_error_comes_back(error):
    assert decode(Error, json.loads(json_line(encoded(error)))) == error
    record = json.loads(json_line(error_record(error)))
    assert error_record(decode(Error, columns_of_record(record))) == error_record(error)


def test_a_result_that_is_read_tells_the_same_reasons(chunk):
    judged = chunk.first_non_matches[0]._replace(differing=(), judge="another company")
    chunk.first_non_matches[0] = judged
    restored, *_ = again(chunk).first_non_matches
    assert restored.explanation == judged.explanation
    assert restored.explanation.endswith("another company")


def set_outcome(record: dict) -> None:
    record["first_non_matches"][0][3] = 7


def set_class(record: dict) -> None:
    record["first_non_matches"][0][4] = "XX"


def set_field(record: dict) -> None:
    record["first_non_matches"][0][2] = "a["


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.pop("ids"), 'the key "ids" is missing'),
        (lambda record: record.update(evaluation=3), "the value is 3, expected an object"),
        (lambda record: record.update(evaluation={"format": "x"}), "format"),
        (
            lambda record: record["evaluation"].update(per_document=[1]),
            "/per_document/0.*an object",
        ),
        (lambda record: record["fingerprints"][0].update(pred=1), "/fingerprints/0/pred.*a string"),
        (lambda record: record.update(document=[]), "/document"),
        (set_outcome, "/first_non_matches/0/3.*one of FD, FA, FN"),
        (set_class, "/first_non_matches/0/4.*one of missed_item"),
        (set_field, "/first_non_matches/0/2.*the path of a field"),
    ],
)
def test_what_is_no_such_record_is_refused_with_its_place(chunk, change, message):
    with pytest.raises(UsageError, match=message):
        again(chunk, change)
