"""If all errors are marked as errors of the ground truth, the corrected ground truth has none."""

from hypothesis import given, settings

from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import field_path
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.errors.marks import Mark, MarkedError, correct_truth, match_marks
from .accounts import compare
from .strategies import Scope, cases

DOCUMENT = "one"
many = settings(max_examples=2 * settings.default.max_examples)


def wrong_units(comparison):
    return [error.unit for error in batch_of_unit(comparison).classified_errors(0)]


def as_list(value):
    return value if isinstance(value, list) else [value]


def marks_on(units):
    """Return a verdict for each unit: its ground truth is wrong."""
    return {
        MarkedError(DOCUMENT, field_path(unit.path), unit.outcome.name): Mark("ground_truth_wrong")
        for unit in units
    }


@many
@given(cases(Scope(wrong=True)))
def test_with_all_errors_marked_there_are_none(case):
    """But where a comparator does not take a value for itself: one that it cannot read,
    so that an item of a list may be left over on both sides.

    Nor where a union has another way for one value than for a list of it: errors are inside.
    """
    units = wrong_units(compare(case.plan, case.gt, case.pred, case.options))
    marks = marks_on(units)
    errors = [*match_marks(units, marks, DOCUMENT)]
    assert len(errors) == len(units)
    better = correct_truth([unit for _, unit in errors], case.gt)
    again = compare(case.plan, better, case.pred, case.options)
    left = [unit for unit in wrong_units(again) if as_list(unit.gt) != as_list(unit.pred)]
    missed = [(unit.path[:-1], repr(unit.gt)) for unit in left if unit.outcome is Outcome.FN]
    invented = [(unit.path[:-1], repr(unit.pred)) for unit in left if unit.outcome is Outcome.FA]
    assert sorted(missed) == sorted(invented)
    assert [unit for unit in left if unit.outcome is Outcome.FD] == []


@given(cases(Scope(wrong=True)))
def test_with_none_marked_the_ground_truth_stays(case):
    assert correct_truth([], case.gt) == case.gt
