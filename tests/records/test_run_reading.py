"""Runs and evaluations are read back exactly, or refused with the place of the problem."""

import copy
import json
import math

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import brief, json_line
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.records.run_reading import read_evaluation, read_sums
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import FORMAT, RUN_FORMAT, Conditions, Evaluation
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.sums import FieldTallies, Tally
from stickler_cli.settings.deciding import DecidingOptions

SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}
PAIRS = (
    DocumentPair("one", {"a": 1, "note": 1}, {"a": 1, "extra": 2, "b": "x"}),
    DocumentPair("two \ud800", {"b": "abc"}, {"b": "abd"}),
    DocumentPair("gone", {"a": 1}, None),
)
CONDITIONS = Conditions(
    DecidingOptions(recall_with_fd=True),
    (FieldInfo(("a",), "leaf", "NumericComparator", 0.7, 1.0),),
)


@pytest.fixture
def evaluation() -> Evaluation:
    job = Job(compile_schema(SCHEMA), Options(), requested=OutputsRequested(accounts=True))
    evaluation = evaluate_chunk(job, PAIRS).evaluation
    evaluation.conditions = CONDITIONS
    return evaluation


def record_with(evaluation, path, value):
    record = copy.deepcopy(evaluation.to_dict())
    *steps, last = path
    node = record
    for step in steps:
        node = node[step]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return json.loads(json.dumps(record))


def test_an_evaluation_is_read_back_exactly(evaluation):
    restored = read_evaluation(json.loads(json_line(evaluation.to_dict())))

    assert restored == evaluation
    assert restored.tally == evaluation.tally
    assert restored.conditions == evaluation.conditions
    assert json_line(restored.to_dict()) == json_line(evaluation.to_dict())


def test_sums_are_kept_whatever_their_size():
    # A mean of 1.0 over 2**70 documents: a sum of 2**130, which no JSON number of a program holds.
    evaluation = Evaluation()
    evaluation.tally.n_scored, evaluation.tally.score_sum = 2**70, 2**130
    record = json.loads(json.dumps(evaluation.to_dict()))

    assert record["score_sum"] == str(2**130)
    assert read_evaluation(record).overall_score == 1.0


def test_fields_are_read_however_deep_they_are():
    deep = Tally()
    deep.cell[0] = deep.moments[0][0] = 1
    sums = FieldTallies({("a",) * 300: deep}).sort_parents_first()

    sums_read = read_sums(Evaluation(ledger=Ledger(sums)).to_dict()["confusion_matrix"])
    assert sums_read == sums


NODE = ("confusion_matrix", "fields", "a")
COUNT = "a whole number of at least 0"
EXACT_SUM = "a whole number of at least 0, as a string of up to 100 digits"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("format",), [], f'"{FORMAT}" or "{RUN_FORMAT}"'),
        (("score_sum",), "-1", EXACT_SUM),
        (("score_sum",), 7, EXACT_SUM),
        (("score_sum",), "1" * 101, EXACT_SUM),
        ((*NODE, "overall", "tp"), -1, COUNT),
        ((*NODE, "overall", "tp"), True, COUNT),
        ((*NODE, "overall", "tp"), 1.0, COUNT),
        (NODE, 1, "an object"),
        ((*NODE, "fields"), [], "an object"),
        (("documents",), 1, "an object"),
        (("documents", "total"), 0, "a number at least as large as the sum of the other counts"),
        (("problems",), 1, "an array"),
        (("problems", 0, "status"), "lost", f"one of {', '.join(Status)}"),
        (("undeclared_keys", 0, "field"), "a[0]", "a field path without list indexes"),
        (("undeclared_keys", 0, "field"), "a..b", "a field path"),
        (("undeclared_keys", 0, "field"), 1, "a string"),
        (("options", "recall_with_fd"), 1, "true or false"),
        (("options", "missing"), 1, "one of fn, skip, error"),
        (("fields", 0, "weight"), True, "a number"),
        (("fields", 0, "weight"), math.inf, "a number"),
        (("fields", 0, "weight"), 10**400, "a number"),
        (("per_document",), {}, "an array"),
        (("per_document", 0, "score"), 2, "a number in [0, 1]"),
        (("per_document", 0, "fields", "a"), {"hits": 3}, "counts of a field in the run format"),
    ],
)
def test_what_is_no_evaluation_is_refused_with_its_place(evaluation, path, value, expected):
    with pytest.raises(UsageError) as caught:
        read_evaluation(record_with(evaluation, path, value), "e.json")

    place = f"e.json#{json_pointer(path)}"
    assert str(caught.value) == f"{place}: the value is {brief(value)}, expected {expected}"


ADVICE = "; another version of stickler wrote this run: evaluate again"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("format", "stickler-run/2", f'"{FORMAT}" or "{RUN_FORMAT}"'),
        ("format", "stickler-evaluation/12", f'"{FORMAT}" or "{RUN_FORMAT}"'),
        ("semantics", 3, "1"),
    ],
)
def test_the_advice_on_a_file_of_another_version_is_to_evaluate_again(
    evaluation, key, value, expected
):
    with pytest.raises(UsageError) as caught:
        read_evaluation(record_with(evaluation, (key,), value), "e.json")

    place = f"e.json#/{key}"
    message = f"{place}: the value is {brief(value)}, expected {expected}{ADVICE}"
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        (
            ("format",),
            f', expected a result of stickler with the "format" {FORMAT} or {RUN_FORMAT}',
        ),
        (("semantics",), ADVICE),
        (("score_sum",), ""),
        ((*NODE, "documents"), ""),
        ((*NODE, "score_sums"), ""),
        ((*NODE, "weight"), ""),
        (("options",), ""),
        (("options", "missing"), ""),
        (("options", "lenient_json"), ""),
        (("documents", "lenient"), ""),
        (("never_present",), None),
    ],
)
def test_what_an_evaluation_needs_is_missed_where_it_should_be(evaluation, path, hint):
    record = record_with(evaluation, path, None)
    if hint is None:
        assert read_evaluation(record, "e.json").tally == evaluation.tally
        return
    with pytest.raises(UsageError) as caught:
        read_evaluation(record, "e.json")

    *place, name = path
    quoted = f'"{name}"'
    assert (
        str(caught.value)
        == f"e.json#{json_pointer(tuple(place))}: the key {quoted} is missing{hint}"
    )


def test_keys_of_a_later_version_and_what_follows_from_others_are_not_looked_at(evaluation):
    record = record_with(evaluation, ("surprise",), 1)
    record["overall_score"] = record["confusion_matrix"]["overall"]["derived"] = "x"

    assert read_evaluation(record) == evaluation


def places_of(value, place=()):
    """Yield the path of each value in a record; in lists, only the first entry is visited."""
    if place:
        yield place
    items = [*enumerate(value)][:1] if isinstance(value, list) else []
    for step, child in value.items() if isinstance(value, dict) else items:
        yield from places_of(child, (*place, step))


WRONG = (None, [], {}, "x", -1, 0.5, 10**30)


@pytest.mark.slow
def test_values_of_wrong_types_are_refused_or_do_no_harm(evaluation):
    """Whatever stands in a run file: an error with its place, or a run that can be written."""
    record = json.loads(json_line(evaluation.to_dict()))
    places = {place[:1] + place[-3:]: place for place in places_of(record)}
    assert len(places) > 150
    refused = 0
    for place in places.values():
        *steps, last = place
        node = record
        for step in steps:
            node = node[step]
        right = node[last]
        for wrong in WRONG:
            node[last] = wrong
            try:
                read_evaluation(record).to_dict()
            except UsageError:
                refused += 1
        node[last] = right
    assert refused > len(places)
