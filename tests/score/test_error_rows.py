"""Rows of errors, as many as a page lists; and rows of values, as many as `leaves` counts."""

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
    """Return an error whose cause is given by `number`; None for an error that repeats another."""
    cause = "" if number is None else cause_key(*GROUP, None) + cause_key(*GROUP, kind(number))
    path = f"a[{position}]"
    return Error(document, path, "a", "FD", GROUP[1], "x" * (position % 3), "?", cause=cause)


def line(document, position, number):
    return encode_error(error(document, position, number).displayed)


def documents(count, kinds):
    """Return `count` random documents as (score, id, numbers of the causes of their errors)."""
    draw = random.Random(count + kinds)  # noqa: S311 - no secret
    numbers = [*range(kinds), *range(kinds), None]
    names = [f"d{index}" for index in range(count - 1)] + ["\ud800"]
    return [
        (draw.choice([0.0, 0.25, 0.5]), name, draw.choices(numbers, k=draw.randrange(1, 5)))
        for name in names
    ]


def keep_errors(documents_kept, limits):
    """Keep the errors of documents, added one after the other as in a run."""
    kept_errors = KeptErrors(*limits)
    for index, (score, name, numbers) in enumerate(documents_kept):
        kept_errors.add((score, name), [error(name, *numbers) for numbers in enumerate(numbers)])
        if index % 3 == 2:
            kept_errors.settle()
    kept_errors.settle()
    return kept_errors


def of_all(scored, max_lines, most_bytes):
    """Compute, by sorting, what `keep_errors` must keep.

    Return the lines by document, the first document that is not kept, and the samples of causes.
    """
    count, size, bound, lines_by_document = 0, 0, None, {name: [] for _, name, _ in scored}
    for score, name, numbers in sorted(scored, key=lambda entry: entry[:2]):
        for index in range(len(numbers)):
            text = line(name, index, numbers[index])
            if bound is None and (count == max_lines or size + len(text) > most_bytes):
                bound = score, name
            if bound is None:
                count, size = count + 1, size + len(text)
                lines_by_document[name].append(text)
    group = cause_key(*GROUP, None)
    by_key = {}
    for _, name, numbers in scored:
        for index, number in enumerate(numbers):
            text = f"{index} {name}".encode("utf-8", "surrogatepass")
            entry = crc32(text), name, index, line(name, index, number)
            if number is not None:
                for key in (cause_key(*GROUP, kind(number)), ""):
                    by_key.setdefault(key, []).append(entry)
    samples = {
        (group, key): sorted(by_key[key])[: SOME if key else MANY]
        for key in sorted(by_key)[: KINDS + 1]
    }
    return lines_by_document, bound, samples


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(error_rows, "SAMPLE_SIZE", SOME)
    monkeypatch.setattr(error_rows, "GROUP_SAMPLE_SIZE", MANY)
    monkeypatch.setattr(error_rows, "MAX_TRAITS", KINDS)


@pytest.mark.parametrize("cut", [0, 7, 30, 53, 60])
@pytest.mark.parametrize("kinds", [1, KINDS, KINDS + 1, 3 * KINDS])
@pytest.mark.parametrize("limits", [(999, 99999), (0, 99999), (31, 99999), (999, 0), (999, 4000)])
def test_any_parts_come_to_the_lowest_scores_and_the_same_samples(cut, kinds, limits):
    scored = documents(60, kinds)
    errors_kept = keep_errors(scored[:cut], limits)
    errors_kept.merge(keep_errors(scored[cut:], limits))
    lines_by_document, bound, samples = of_all(scored, *limits)

    assert (errors_kept.total, errors_kept.bound) == (
        sum(len(numbers_of_document) for *_, numbers_of_document in scored),
        bound,
    )
    assert errors_kept.samples == samples
    assert bool(errors_kept.last_sampled) == (kinds > KINDS)
    lines = [*errors_kept.lines()]
    listed = [text for errors in lines_by_document.values() for text in errors]
    assert lines[: len(listed)] == listed
    if bound is None:
        assert lines == listed
    else:
        other_texts = {text for sample in samples.values() for *_, text in sample}
        assert sorted(lines) == sorted({*listed, *other_texts})


def test_what_is_merged_later_is_held_against_what_was_kept_first():
    first = keep_errors([(0.5, "d", [None] * 3), (0.1, "c", [None])], (3, 9999))
    assert first.bound == (0.5, "d")
    first.merge(keep_errors([(0.2, "e", [None])], (3, 9999)))
    assert [row.document for row in first.rows()] == ["d", "c", "e"]


def test_just_so_many_lines_and_bytes_are_all():
    scored = [(0.5, "d", [None] * 3)]
    size = sum(len(line("d", index, None)) for index in range(3))
    assert keep_errors(scored, (3, size)).is_complete
    assert not keep_errors(scored, (2, size)).is_complete
    assert not keep_errors(scored, (3, size - 1)).is_complete
    assert len([*keep_errors([*scored, (0.9, "e", [None])], (9, size)).lines()]) == 3


def test_a_cause_that_is_sampled_stays_so_where_others_are_too_many():
    scored = documents(60, 3 * KINDS)
    errors_kept = keep_errors(scored, (0, 0))
    last = max(key for _, key in errors_kept.samples)
    (number,) = (
        number_ for number_ in range(3 * KINDS) if cause_key(*GROUP, kind(number_)) == last
    )
    more_documents = [(0.5, f"e{index}", [number]) for index in range(20)]
    for score, name, numbers in more_documents:
        errors_kept.add((score, name), [error(name, 0, *numbers)])
    errors_kept.settle()
    assert errors_kept.samples == of_all([*scored, *more_documents], 0, 0)[2]


def test_samples_take_no_more_than_they_may(monkeypatch):
    errors_kept = keep_errors(documents(60, 1), (0, 0))
    all_lines = [*errors_kept.lines()]
    for count in range(len(all_lines) + 1):
        monkeypatch.setattr(error_rows, "MAX_SAMPLE_BYTES", sum(map(len, all_lines[:count])))
        assert [*errors_kept.lines()] == all_lines[:count]


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
    confidences_by_path = {row["path"]: row["confidence"] for row in map(json.loads, lines)}

    assert {
        path: confidence
        for path, confidence in confidences_by_path.items()
        if confidence is not None
    } == {
        "id": 0.9,
        "lines[0].sku": 0.25,
        "lines[0].odd": 0.5,
    }
