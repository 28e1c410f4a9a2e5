"""A run has the same result for any number of processes, however large the values are."""

import sys

import pytest
from hypothesis import given, settings

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import empty_result
from stickler_cli.runs.evaluate import chunk_results
from stickler_cli.runs.executors import executor
from stickler_cli.runs.job import Job, OutputsRequested, Workers
from stickler_cli.runs.process import Interruption
from stickler_cli.schema.compiler import compile_schema
from .strategies import Scope, cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

JOBS = (1, 2, "auto")
ALL_LINES = OutputsRequested(document_lines=True, non_match_lines=True, accounts=True)
LARGE = 40_000
"""Number of letters in a large text. Its comparison takes 0.8 ms of work (20 steps a letter), more
than the 0.5 ms that a run compares at once in these tests."""
SMALL_AT_ONCE = 0.0005

COMPARATORS = [
    ("ANLSStarComparator", {}),
    ("BBoxIoUComparator", {}),
    ("CaseInsensitiveComparator", {}),
    ("CodeComparator", {"language": "sql"}),
    ("DateComparator", {}),
    ("DateComparator", {"compare_time": True, "dayfirst": True}),
    ("EnumComparator", {}),
    ("ExactComparator", {}),
    ("ExactComparator", {"only_separators": True}),
    ("FuzzyComparator", {}),
    ("FuzzyComparator", {"method": "token_sort_ratio", "same_digits": True}),
    ("LevenshteinComparator", {}),
    ("LevenshteinComparator", {"same_digits": True, "same_words": True}),
    ("NormalizedComparator", {"same_digits": True}),
    ("NumericComparator", {}),
    ("NumericComparator", {"unit": "same", "decimal": "auto"}),
    ("NumericComparator", {"unit": "same", "decimal": "money"}),
    ("PhoneComparator", {"digits_only": True}),
    ("StructuredModelComparator", {}),
    ("TimeComparator", {}),
]


def lines_by_jobs(job, pairs):
    """Return, for each number of processes, the lines of documents and the lines of errors."""
    lines = {}
    for jobs in JOBS:
        total = empty_result(job)
        workers = Workers(jobs)
        for chunk in chunk_results(job, iter(pairs), workers, interruption=Interruption()):
            total.document_lines += chunk.document_lines
            total.non_match_lines += chunk.non_match_lines
        lines[jobs] = total.document_lines, total.non_match_lines
    return lines


def schema_of(name, config):
    leaf = {
        "type": "string",
        "x-aws-stickler-comparator": name,
        "x-aws-stickler-comparator-config": config,
    }
    return {
        "type": "object",
        "properties": {"a": leaf, "b": leaf, "l": {"type": "array", "items": leaf}},
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "config"), COMPARATORS)
def test_large_values_have_one_result_for_any_number_of_processes(name, config, monkeypatch):
    monkeypatch.setattr(executor, "AT_ONCE", SMALL_AT_ONCE)
    plan = compile_schema(schema_of(name, config))
    large = "x 1" * (LARGE // 3)
    sides = [
        ({"a": "y", "b": "1"}, {"a": "z", "b": "1"}),
        ({"a": large}, {"a": "a"}),
        ({"a": "a"}, {"a": large}),
        ({"a": large, "b": large}, {"a": large[1:], "b": large}),
        ({"l": [large, "1"]}, {"l": ["1", "x"]}),
    ]
    pairs = [DocumentPair(str(number), *side) for number, side in enumerate(sides)]
    with pytest.raises(TooMuchAtOnceError):
        compare(plan, *([side] for side in sides[1]), Options(work_at_once=SMALL_AT_ONCE))

    lines = lines_by_jobs(Job(plan, Options(work_limit=0.2), requested=ALL_LINES), pairs)

    assert lines[1] == lines[2] == lines["auto"]
    assert lines[1][0].count(b'"evaluated"') >= 3  # texts of a letter take little work
    assert b"TooMuchAtOnce" not in lines[1][0]


@pytest.mark.slow
@given(cases(Scope(wrong=True), sides=2))
@settings(max_examples=6)
def test_work_that_is_too_much_at_once_at_any_place_changes_no_result(case):
    pairs = [
        DocumentPair(str(number), *side)
        for number, side in enumerate(zip(case.gts, case.preds, strict=True))
    ]
    job = Job(case.plan, case.options, requested=ALL_LINES)
    with pytest.MonkeyPatch.context() as patch:
        for at_once in (0.0, 0.0001):  # nothing at all, and a few calls
            patch.setattr(executor, "AT_ONCE", at_once)
            lines = lines_by_jobs(job, pairs)

            assert lines[1] == lines[2] == lines["auto"]
