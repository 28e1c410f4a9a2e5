"""Values of a table that match although they differ."""

from stickler_cli.comparators import ExactComparator, FuzzyComparator, NumericComparator
from stickler_cli.compare.close_values import find_close_values
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import record_pairs
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.core.match_differences import MatchDifference
from .nodes import DEFAULTS, a_list, an_object, text

FORD = MatchDifference("other letters", "ford", "fjord")


def a_name(**rest):
    comparator = FuzzyComparator(method="token_sort_ratio", same_words=True)
    return LeafNode(threshold=0.85, comparator=comparator, **rest)


def find_all(node, gts, preds):
    """Return a dict from (document, ground-truth value) to the kind of difference."""
    table = record_pairs(node, Columns(gts, preds), DEFAULTS)
    return {
        (int(batch.document[position]), gt): difference
        for batch, close in find_close_values(table)
        for (position, difference), gt in zip(close.items(), batch.gt_values([*close]), strict=True)
    }


def test_matches_that_differ_are_told_with_their_documents():
    node = an_object(a=a_name(), b=a_name(), c=text(0.5))
    gts = [
        {"a": "Ford Motors", "b": "Anna Smith", "c": "abcd"},
        {"a": "Ford Motors", "b": "Ford Motors"},
        {"a": "Ford Motors", "b": None},
    ]
    preds = [
        {"a": "Fjord Motors", "b": "Smith, Anna", "c": "abce"},
        {"a": "Volvo Trucks", "b": "Fjord Motors"},
        {"a": "ford motors", "b": None},
    ]

    assert find_all(node, gts, preds) == {(0, "Ford Motors"): FORD, (1, "Ford Motors"): FORD}


def test_items_of_lists_are_told():
    node = a_list(a_name())

    assert find_all(node, [["Ford Motors", "Anna Smith"]], [["Anna Smith", "Fjord Motors"]]) == {
        (0, "Ford Motors"): FORD
    }


def test_values_that_an_alias_makes_the_same_do_not_differ():
    node = a_name(reading={"Ford Motors": "F", "Fjord Motors": "F"}.get)

    assert find_all(node, ["Ford Motors"], ["Fjord Motors"]) == {}


def test_codes_are_told_only_where_their_comparison_was_inferred():
    stated = LeafNode(threshold=1.0, comparator=ExactComparator())
    inferred = LeafNode(threshold=1.0, comparator=ExactComparator(), threshold_source="inferred")

    assert find_all(stated, ["CO"], ["Co"]) == {}
    assert find_all(inferred, ["CO"], ["Co"]) == {
        (0, "CO"): MatchDifference("other capitals", "CO", "Co")
    }


def test_comparators_of_ones_own_and_those_that_tell_nothing_are_left_out():
    class Own(FuzzyComparator):
        """A comparator that is not part of the package."""

    node = LeafNode(threshold=0.8, comparator=Own(same_words=True))
    number = LeafNode(threshold=1.0, comparator=NumericComparator(tolerance=1))

    assert find_all(node, ["Ford Motors"], ["Fjord Motors"]) == {}
    assert find_all(number, [1], [2]) == {}


def test_a_table_without_matches_has_none():
    assert find_all(a_name(), ["Ford Motors"], ["Volvo Trucks"]) == {}
