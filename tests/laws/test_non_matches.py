"""Each error is listed once, with a path that leads to its values."""

from collections import Counter

from hypothesis import given

from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import parse_field_path
from .accounts import compare, non_matches, tally, view
from .strategies import Scope, cases

ANYTHING = Scope(wrong=True)


def value_at(document, path):
    """Return the value at a path of a document; a single value counts as a list of one item."""
    for step in path:
        if isinstance(document, list) or not isinstance(step, int):
            document = document[step]
        else:
            assert step == 0
    return document


@given(cases(ANYTHING))
def test_a_path_leads_to_the_values_that_are_listed(case):
    for entry in non_matches(compare(case.plan, case.gt, case.pred, case.options)):
        path = parse_field_path(entry.path)
        assert parse_field_path(entry.field) == tuple(
            step for step in path if isinstance(step, str)
        )
        if entry.outcome == "FA":
            assert entry.gt is None
            assert entry.pred == value_at(case.pred, path)
        else:
            assert entry.gt == value_at(case.gt, path)
            assert (entry.pred is None) == (entry.outcome == "FN")


@given(cases(Scope(wrong=True, aggregate=False)))
def test_the_list_holds_what_the_aggregate_counts(case):
    """And an entry for each nested object below its threshold, beside those of its fields, and for
    each value in what failed as a whole."""
    comparison = compare(case.plan, case.gt, case.pred, case.options)
    listed = Counter(
        Outcome[entry.outcome]
        for entry in non_matches(comparison)
        if entry.inside is None and not is_broken_down(entry)
    )

    aggregate = tally(comparison).aggregate
    assert {outcome: aggregate[outcome] for outcome in listed} == listed
    assert sum(listed.values()) == sum(aggregate[Outcome.FD : Outcome.TN])


def is_broken_down(entry):
    """Return whether an error is an object, in a field, that both sides have.

    Its fields are errors of their own.
    """
    both_objects = isinstance(entry.gt, dict) and isinstance(entry.pred, dict)
    return both_objects and isinstance(parse_field_path(entry.path)[-1], str)


@given(cases(ANYTHING))
def test_only_a_false_discovery_has_a_similarity_and_it_is_below_the_threshold(case):
    for entry in non_matches(compare(case.plan, case.gt, case.pred, case.options)):
        if entry.outcome == "FD":
            if entry.reason.endswith("have nothing in common"):  # a threshold of 0
                assert entry.similarity == 0
            else:
                assert entry.reason.startswith("below threshold (")
        else:
            assert entry.similarity is None


@given(cases(ANYTHING))
def test_all_fields_match_if_there_is_nothing_to_list(case):
    result = view(compare(case.plan, case.gt, case.pred, case.options))

    assert result["all_fields_matched"] == (result["non_matches"] == [])
