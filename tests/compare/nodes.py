"""Plan nodes for the tests of this room, without a schema."""

from stickler_cli.comparators import ExactComparator, LevenshteinComparator, NumericComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Options

DEFAULTS = Options()


def text(threshold=0.5, **rest):
    return LeafNode(threshold=threshold, comparator=LevenshteinComparator(), **rest)


def number(threshold=0.5, **rest):
    return LeafNode(threshold=threshold, comparator=NumericComparator(), **rest)


def exact(threshold=1.0, **rest):
    return LeafNode(threshold=threshold, comparator=ExactComparator(), **rest)


def an_object(*, threshold=0.7, match_threshold=0.7, rest=None, **nodes):
    fields = tuple(Field(name, node) for name, node in nodes.items())
    return ObjectNode(
        threshold=threshold, match_threshold=match_threshold, fields=fields, **(rest or {})
    )


def a_list(items, threshold=0.5, **rest):
    return ListNode(threshold=threshold, items=items, **rest)


def anything(**rest):
    leaves = {"string": text(), "number": number(), "integer": number(), "boolean": exact()}
    settings = {"threshold": 0.5, "object_threshold": 0.7, "match_threshold": 0.7, **rest}
    return OpenNode(leaves=leaves, **settings)


def pairs_of(comparison):
    """Give the units of a list as (position in gt, position in pred, outcome)."""
    return [
        (element.gt_index, element.pred_index, element.outcome.name)
        for element in comparison.elements
    ]
