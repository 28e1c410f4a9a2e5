"""What is kept of a chunk comes back exactly; a new part of a result cannot be forgotten."""

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import UsageError
from stickler_cli.documents import DocumentPair, open_pairs
from stickler_cli.runs.chunk import ChunkResult, Job, OutputsRequested, evaluate_chunk
from stickler_cli.runs.chunk_record import chunk_record, read_chunk
from stickler_cli.runs.grouping import parse_groupings
from stickler_cli.runs.validation import validation_of
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.intervals import Bootstrap, IntervalSettings
from stickler_cli.score.parts import Part
from stickler_cli.score.results import Results

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
    '{"n": "no integer", "map": {"k": 1.25}}',
    "no JSON",
    "[1]",
    '{"a": "only prediction"}',
]
UNKNOWN = frozenset({"conditions", "usage"})
"""What a run adds, and what asking took, which is no result."""


@pytest.fixture
def chunk(tmp_path: Path) -> ChunkResult:
    """Something of everything that can be in a result."""
    (tmp_path / "gt.jsonl").write_text("\n".join(map(json.dumps, GTS)))
    (tmp_path / "pred.jsonl").write_text("\ufeff" + "\n".join(PREDS))
    pairs = open_pairs(str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl"))
    requested = OutputsRequested(
        document_lines=True,
        non_match_lines=True,
        first_non_matches=50,
        accounts=True,
        document=True,
        detail=True,
        intervals=IntervalSettings(replicates=50),
        fingerprints=True,
    )
    validation = validation_of("both", SCHEMA)
    job = Job(compile_schema(SCHEMA), Options(), requested=requested, validation=validation)
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
    return read_chunk(Part(record, "journal"))


def test_every_part_of_a_chunk_is_used_here_and_comes_back(chunk):
    restored = again(chunk)
    for part in fields(ChunkResult):
        if part.name in UNKNOWN:
            continue
        value = getattr(chunk, part.name)
        assert value, f"{part.name} is nothing here, so that nothing is tested of it"
        assert getattr(restored, part.name) == value, part.name


def test_every_part_of_an_evaluation_is_used_here_and_comes_back(chunk):
    restored = again(chunk).evaluation
    for part in fields(Evaluation):
        if part.name in UNKNOWN:
            continue
        value = getattr(chunk.evaluation, part.name)
        default = part.default if part.default_factory is MISSING else part.default_factory()
        assert value != default, f"{part.name} is nothing here, so that nothing is tested of it"
        assert comparable(getattr(restored, part.name)) == comparable(value), part.name


def comparable(value: object) -> object:
    """Give what has to be the same: reports sort problems, and add up what they resample."""
    match value:
        case list():
            return sorted(value)
        case Bootstrap():
            return value.settings, value.of("", recall_with_fd=False)
        case Results():
            return {part.name: comparable(getattr(value, part.name)) for part in fields(value)}
        case dict():
            return {key: comparable(part) for key, part in value.items()}
    return value


def test_a_restored_evaluation_adds_up_as_the_first_one_did(chunk):
    twice, restored_twice = (
        OutputsRequested(accounts=True).evaluation(),
        OutputsRequested(accounts=True).evaluation(),
    )
    for _ in range(2):
        twice.merge(chunk.evaluation)
        restored_twice.merge(again(chunk).evaluation)
    assert json_line(restored_twice.to_dict()) == json_line(twice.to_dict())


def test_a_chunk_of_little_comes_back_too():
    chunk = ChunkResult(ids=["a"], fingerprints=[None])
    assert again(chunk) == chunk


def set_outcome(record: dict) -> None:
    record["first_non_matches"][0][1]["outcome"] = "XX"


def set_class(record: dict) -> None:
    record["first_non_matches"][0][1]["error_class"] = "XX"


def set_step(record: dict) -> None:
    record["first_non_matches"][0][1]["path"] = [None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.pop("ids"), "ids is missing"),
        (lambda record: record.update(evaluation=3), "the value is 3, expected an object"),
        (lambda record: record.update(evaluation={"format": "x"}), "format"),
        (lambda record: record["evaluation"].update(accounts=[1]), "/accounts/0.*a string"),
        (lambda record: record.update(fingerprints=[["a", 1, ""]]), "/fingerprints/0/1"),
        (lambda record: record.update(document=[]), "/document"),
        (set_outcome, "/first_non_matches/0/1/outcome.*one of TP, FD"),
        (set_class, "/first_non_matches/0/1/error_class.*one of missed_item"),
        (set_step, "/first_non_matches/0/1/path/0.*a string"),
    ],
)
def test_what_is_no_such_record_is_refused_with_its_place(chunk, change, message):
    with pytest.raises(UsageError, match=message):
        again(chunk, change)
