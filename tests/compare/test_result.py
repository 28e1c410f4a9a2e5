import pickle
from pathlib import Path

from stickler_cli.compare.result import ERRORS, SEMANTICS, Outcome
from stickler_cli.core.problems import ComparisonError


def test_an_error_survives_pickling():
    error = ComparisonError("it broke", ("a", "b"))

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 # made here

    assert (copy.cause, copy.path, str(copy)) == (error.cause, error.path, str(error))


def test_the_five_outcomes_are_positions_in_a_list_of_counts():
    assert [outcome.name for outcome in Outcome] == ["TP", "FD", "FA", "FN", "TN"]
    assert list(Outcome) == [0, 1, 2, 3, 4]


def test_three_outcomes_are_errors():
    assert {Outcome.FD, Outcome.FA, Outcome.FN} == ERRORS


def test_the_page_on_semantics_says_which_version_it_is():
    page = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")

    assert f"This is version {SEMANTICS} of the semantics" in page
