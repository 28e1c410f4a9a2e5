"""Rows of errors, as many as a page lists, and of values, as many as `leaves` counts."""

import json
import random
from zlib import crc32

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.runs.chunk import evaluate_chunk, unwrapped
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors import error_rows
from stickler_cli.score.errors.causes import ErrorTrait, cause_key
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error, KeptErrors, encode_error

GROUP = ("a",), ErrorClass.OTHER
SOME, MANY, KINDS = 2, 5, 4


def kind(number):
    return ErrorTrait(("a",), (), f"{number}", "?")


def error(document, position, number):
    """Give an error; a number of None is one that repeats another one."""
    cause = "" if number is None else cause_key(*GROUP, None) + cause_key(*GROUP, kind(number))
    path = f"a[{position}]"
    return Error(document, path, "a", "FD", GROUP[1], "x" * (position % 3), "?", cause=cause)


def line(document, position, number):
    return encode_error(error(document, position, number).displayed)


def documents(count, kinds):
    """Draw documents: score, id, and the kinds of their errors."""
    draw = random.Random(count + kinds)  # noqa: S311 - no secret
    told = [*range(kinds), *range(kinds), None]
    names = [f"d{at}" for at in range(count - 1)] + ["\ud800"]
    return [
        (draw.choice([0.0, 0.25, 0.5]), name, draw.choices(told, k=draw.randrange(1, 5)))
        for name in names
    ]


def kept(some, limits):
    """Keep the errors of documents as a run does that sees a few at a time."""
    found = KeptErrors(*limits)
    for at, (score, name, numbers) in enumerate(some):
        found.add((score, name), [error(name, *each) for each in enumerate(numbers)])
        if at % 3 == 2:
            found.settle()
    found.settle()
    return found


def of_all(some, most, most_bytes):
    """Give the lines that are kept of whole documents, the bound, and the samples, by sorting."""
    taken, size, bound, whole = 0, 0, None, {name: [] for _, name, _ in some}
    for score, name, numbers in sorted(some, key=lambda it: it[:2]):
        for at in range(len(numbers)):
            text = line(name, at, numbers[at])
            if bound is None and (taken == most or size + len(text) > most_bytes):
                bound = score, name
            if bound is None:
                taken, size = taken + 1, size + len(text)
                whole[name].append(text)
    group = cause_key(*GROUP, None)
    by_key = {}
    for _, name, numbers in some:
        for at, number in enumerate(numbers):
            text = f"{at} {name}".encode("utf-8", "surrogatepass")
            entry = crc32(text), name, at, line(name, at, number)
            if number is not None:
                for key in (cause_key(*GROUP, kind(number)), ""):
                    by_key.setdefault(key, []).append(entry)
    samples = {
        (group, key): sorted(by_key[key])[: SOME if key else MANY]
        for key in sorted(by_key)[: KINDS + 1]
    }
    return whole, bound, samples


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(error_rows, "SAMPLE_SIZE", SOME)
    monkeypatch.setattr(error_rows, "GROUP_SAMPLE_SIZE", MANY)
    monkeypatch.setattr(error_rows, "MAX_TRAITS", KINDS)


@pytest.mark.parametrize("cut", [0, 7, 30, 53, 60])
@pytest.mark.parametrize("kinds", [1, KINDS, KINDS + 1, 3 * KINDS])
@pytest.mark.parametrize("limits", [(999, 99999), (0, 99999), (31, 99999), (999, 0), (999, 4000)])
def test_any_parts_come_to_the_lowest_scores_and_the_same_samples(cut, kinds, limits):
    some = documents(60, kinds)
    found = kept(some[:cut], limits)
    found.merge(kept(some[cut:], limits))
    whole, bound, samples = of_all(some, *limits)

    assert (found.total, found.bound) == (sum(len(it) for *_, it in some), bound)
    assert found.samples == samples
    assert bool(found.last_sampled) == (kinds > KINDS)
    lines = [*found.lines()]
    listed = [text for errors in whole.values() for text in errors]
    assert lines[: len(listed)] == listed
    if bound is None:
        assert lines == listed
    else:
        others = {text for sample in samples.values() for *_, text in sample}
        assert sorted(lines) == sorted({*listed, *others})


def test_what_is_merged_later_is_held_against_what_was_kept_first():
    first = kept([(0.5, "d", [None] * 3), (0.1, "c", [None])], (3, 9999))
    assert first.bound == (0.5, "d")
    first.merge(kept([(0.2, "e", [None])], (3, 9999)))
    assert [it.document for it in first.rows()] == ["d", "c", "e"]


def test_just_so_many_lines_and_bytes_are_all():
    some = [(0.5, "d", [None] * 3)]
    size = sum(len(line("d", at, None)) for at in range(3))
    assert kept(some, (3, size)).is_complete
    assert not kept(some, (2, size)).is_complete
    assert not kept(some, (3, size - 1)).is_complete
    assert len([*kept([*some, (0.9, "e", [None])], (9, size)).lines()]) == 3


def test_a_cause_that_is_sampled_stays_so_where_others_are_too_many():
    some = documents(60, 3 * KINDS)
    found = kept(some, (0, 0))
    last = max(key for _, key in found.samples)
    (number,) = (it for it in range(3 * KINDS) if cause_key(*GROUP, kind(it)) == last)
    more = [(0.5, f"e{at}", [number]) for at in range(20)]
    for score, name, numbers in more:
        found.add((score, name), [error(name, 0, *numbers)])
    found.settle()
    assert found.samples == of_all([*some, *more], 0, 0)[2]


def test_samples_take_no_more_than_they_may(monkeypatch):
    found = kept(documents(60, 1), (0, 0))
    every = [*found.lines()]
    for count in range(len(every) + 1):
        monkeypatch.setattr(error_rows, "MAX_SAMPLE_BYTES", sum(map(len, every[:count])))
        assert [*found.lines()] == every[:count]


EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
LINE = {"type": "object", "properties": {"sku": EXACT, "tags": {"type": "array", "items": EXACT}}}
PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": EXACT,
            "any": {},
            "maybe": {"anyOf": [{"type": "number"}, {"type": "array", "items": EXACT}]},
            "buyer": {"type": "object", "properties": {"name": EXACT, "city": EXACT}},
            "lines": {"type": "array", "items": LINE},
            "more": {"type": "object", "additionalProperties": EXACT},
        },
    }
)
GT = {
    "id": "a",
    "any": {"x": 1},
    "maybe": 3,
    "buyer": {"name": "Ann", "city": "Ulm"},
    "lines": [{"sku": "p", "tags": ["x", "y"]}, {"sku": "q"}, {"sku": "r", "tags": ["z"]}],
    "more": {"k": "v", "l": "w"},
}
PREDS = {
    "same": GT,
    "wrong": {**GT, "id": "b", "maybe": ["x"], "lines": GT["lines"][::-1], "odd": {"y": 2}},
    "other": {**GT, "buyer": None, "lines": [{"sku": "t", "tags": ["x"]}], "more": {"k": "u"}},
    "kinds": {"id": 5, "any": [1], "buyer": "Ann", "lines": {"sku": "p"}, "more": {"m": None}},
    "nothing": {},
}


def rows_of(pairs, **requested):
    job = Job(PLAN, Options(), requested=OutputsRequested(value_lines=True, **requested))
    chunk = evaluate_chunk(job, pairs)
    return [json.loads(line) for line in chunk.value_lines.splitlines()], chunk.evaluation


@pytest.mark.parametrize("name", PREDS)
@pytest.mark.parametrize("turned", [False, True])
def test_there_are_as_many_rows_as_leaves_count(name, turned):
    gt, pred = (PREDS[name], GT) if turned else (GT, PREDS[name])
    rows, evaluation = rows_of([DocumentPair(name, gt, pred)])

    counts = evaluation.tally.counts("leaves")
    for outcome in ("TP", "FD", "FA", "FN"):
        assert sum(row["outcome"] == outcome for row in rows) == getattr(counts, outcome.lower()), (
            outcome
        )


def test_rows_of_documents_together_are_those_of_each():
    pairs = [DocumentPair(name, GT, pred) for name, pred in PREDS.items()]
    together, _ = rows_of(pairs)

    assert together == [row for pair in pairs for row in rows_of([pair])[0]]


def test_a_row_has_both_values_and_both_places():
    rows, _ = rows_of([DocumentPair("wrong", GT, PREDS["wrong"])])
    by_path = {row["path"]: row for row in rows}

    assert by_path["id"] == {
        "document": "wrong",
        "field": "id",
        "path": "id",
        "prediction_path": None,
        "outcome": "FD",
        "similarity": 0.0,
        "ground_truth_value": "a",
        "prediction_value": "b",
        "confidence": None,
        "difference": None,
    }
    moved = by_path["lines[0].tags[1]"]
    assert (moved["field"], moved["prediction_path"]) == ("lines.tags", "lines[2].tags[1]")
    assert (moved["outcome"], moved["similarity"]) == ("TP", 1.0)
    extra = by_path["odd"]
    assert (extra["outcome"], extra["prediction_value"]) == ("FA", {"y": 2})
    assert extra["similarity"] is None


def test_a_row_has_the_confidence_of_its_prediction():
    pred = {
        "id": {"value": "a", "confidence": 0.9},
        "lines": [
            {"sku": {"value": "p", "confidence": 0.25}, "odd": {"value": 1, "confidence": 0.5}}
        ],
    }
    pair = unwrapped(Unwrapper(PLAN.root), DocumentPair("a", GT, pred))
    job = Job(PLAN, Options(), requested=OutputsRequested(value_lines=True, accounts=True))
    lines = evaluate_chunk(job, [pair]).value_lines.splitlines()
    found = {row["path"]: row["confidence"] for row in map(json.loads, lines)}

    assert {path: it for path, it in found.items() if it is not None} == {
        "id": 0.9,
        "lines[0].sku": 0.25,
        "lines[0].odd": 0.5,
    }
