"""Texts of problems, and suggestions of what the user meant."""

import json
import pickle

import pytest

from stickler_cli.core import problems
from stickler_cli.core.problems import (
    ComparisonError,
    Problem,
    SticklerError,
    UnavailableError,
    UsageError,
    WorkLimitError,
    import_extra,
    import_pyarrow,
    nearest,
    nearest_choices,
    nearest_pair,
    require,
    require_pyarrow,
)


@pytest.mark.parametrize(
    ("problem", "worded"),
    [
        (
            Problem("a.json", "the file is not JSON", line=2, column=7),
            "a.json:2:7: the file is not JSON",
        ),
        (
            Problem("a.jsonl", "the line is empty", "JSON", line=3),
            "a.jsonl:3:1: the line is empty, expected JSON",
        ),
        (
            Problem("a.json", "the value is 0", pointer="/a/0", line=3),
            "a.json#/a/0: the value is 0",
        ),
        (Problem("a.json", "the value is 0", pointer=""), "a.json#: the value is 0"),
        (Problem("", "the value is 0", pointer=""), "the value is 0"),
        (Problem("", "the value is 0", pointer="/a"), "#/a: the value is 0"),
        (
            Problem(
                source="--seed",
                found="the value is 'x'",
                expected="a whole number of at least 0",
                hint="leave out --seed to use 0",
            ),
            (
                "--seed: the value is 'x', expected a whole number of at least 0; "
                "leave out --seed to use 0"
            ),
        ),
        (
            Problem("runs/a", "another run is using this directory", hint="wait for its end"),
            "runs/a: another run is using this directory; wait for its end",
        ),
        (Problem("", "there are no documents"), "there are no documents"),
    ],
)
def test_a_problem_is_told_with_its_place(problem: Problem, worded: str):
    assert str(problem) == worded


def test_a_comparison_that_failed_is_told_with_the_field_as_seen_from_the_document():
    cause = "comparator ExactComparator failed when it compared 1 with 2: LookupError: no unit"
    error = ComparisonError(cause)
    assert str(error) == cause
    assert str(error.below("b.c").below("a")) == f'in field a["b.c"], {cause}'


def test_too_much_work_is_told_with_the_field_that_costs_most():
    finding = "comparing this document takes more work than --work-limit 0.5 allows"
    assert str(WorkLimitError(0.5, ())) == finding
    assert str(WorkLimitError(0.5, ("a", "b"))) == f"{finding}; most of the work is in field a.b"


@pytest.mark.parametrize(
    "error",
    [
        UsageError([Problem("a.json", "it is 0", line=3), Problem("", "and more")]),
        ComparisonError("it failed", ("a",)),
        WorkLimitError(20, ("a",)),
    ],
)
def test_an_error_can_be_sent_to_another_process(error: SticklerError):
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own

    assert type(sent) is type(error)
    assert sent.problems == error.problems
    assert str(sent) == "\n".join(map(str, error.problems))


def test_a_module_that_is_there_is_required_in_silence():
    require("json", "A report", "reports")
    assert import_extra("json", "A report", "reports") is json
    require("importlib.metadata", "A report", "reports")


def test_pyarrow_is_imported_where_it_is_there():
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no Parquet")
    assert import_pyarrow(module="pyarrow.parquet").__name__ == "pyarrow.parquet"


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part", "json.no_such_part"])
def test_a_module_that_is_not_there_is_told_with_what_to_install(module: str):
    with pytest.raises(UnavailableError) as missing:
        require(module, "A report", "reports", "run.html")

    assert str(missing.value) == (
        f"run.html: A report needs {module}, which is not installed; "
        "in a checkout of stickler, run pip install '.[reports]'"
    )


def test_parquet_and_arrow_need_the_extra_parquet(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(problems, "find_spec", lambda name: None)

    with pytest.raises(UnavailableError) as missing:
        require_pyarrow()
    assert str(missing.value) == (
        "Parquet needs pyarrow, which is not installed; "
        "in a checkout of stickler, run pip install '.[parquet]'"
    )
    with pytest.raises(UnavailableError, match=r"^a table of Arrow needs pyarrow"):
        require_pyarrow("a table of Arrow")


COMPARATORS = ["ExactComparator", "FuzzyComparator", "LevenshteinComparator"]


@pytest.mark.parametrize(
    ("word", "choices", "choice"),
    [
        ("LevenshtienComparator", COMPARATORS, "LevenshteinComparator"),
        ("levenshteincomparator", COMPARATORS, "LevenshteinComparator"),
        ("Exact", COMPARATORS, "ExactComparator"),
        ("Fuzy", COMPARATORS, "FuzzyComparator"),
        ("Nope", COMPARATORS, None),
        ("", COMPARATORS, None),
        ("x" * 1000, COMPARATORS, None),
        ("Tolerance", ["tolerance_mode", "tolerance"], "tolerance"),  # whole before beginning
        ("a", [], None),
    ],
)
def test_the_nearest_choice_is_found_by_case_beginning_and_likeness(word, choices, choice):
    assert nearest(word, choices) == choice


@pytest.mark.parametrize(
    ("at_least", "near"),
    [
        # Of "abcd", "abcx" shares three letters of four, and "axyz" one.
        (0.0, ["abcx", "axyz"]),
        (0.5, ["abcx"]),
        (0.8, []),
    ],
)
def test_choices_that_are_near_enough_are_ranked(at_least, near):
    assert nearest_choices("abcd", ["axyz", "abcx"], 2, at_least) == near


def test_a_beginning_counts_unless_whole_words_are_asked_for():
    assert nearest("al", ["alpha"]) == "alpha"
    assert nearest("al", ["alpha"], beginnings=False) is None  # 2 * 2 letters of 7


def test_the_nearest_pair_of_two_lists_is_the_first_of_the_most_alike():
    assert nearest_pair(["q", "abc", "abd"], ["xyz", "abcd", "abdd"]) == ("abc", "abcd")
    assert nearest_pair(["q"], ["x", "y"]) == ("q", "x")
    assert nearest_pair([], ["x"]) is None
    assert nearest_pair(["x"], []) is None
