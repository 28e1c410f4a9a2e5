"""Plan nodes for the tests of this directory, made without a schema."""

import numpy as np

from stickler_cli.comparators import ExactComparator, LevenshteinComparator, NumericComparator
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import record_pairs
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Mode, Options
from stickler_cli.compare.tree import tree_of

DEFAULTS = Options()


def text(threshold=0.5, **rest):
    return LeafNode(threshold=threshold, comparator=LevenshteinComparator(), **rest)


def number(threshold=0.5, **rest):
    return LeafNode(threshold=threshold, comparator=NumericComparator(), **rest)


def exact(threshold=1.0, **rest):
    return LeafNode(threshold=threshold, comparator=ExactComparator(), **rest)


def an_object(*, threshold=0.7, match_threshold=0.7, extra_keys=None, **nodes):
    fields = tuple(Field(name, node) for name, node in nodes.items())
    return ObjectNode(
        threshold=threshold, match_threshold=match_threshold, fields=fields, **(extra_keys or {})
    )


def a_list(items, threshold=0.5, **rest):
    return ListNode(threshold=threshold, items=items, **rest)


def anything(**rest):
    leaves = {"string": text(), "number": number(), "integer": number(), "boolean": exact()}
    settings = {"threshold": 0.5, "object_threshold": 0.7, "match_threshold": 0.7, **rest}
    return OpenNode(**{"leaves": leaves, **settings})


def compared(node, gt, pred, options=DEFAULTS):
    """Return the comparison of two values, either of which may be absent."""
    return tree_of(record_pairs(node, Columns([gt], [pred]), options), 0, options)


def compared_together(node, gts, preds, options=DEFAULTS):
    """Return the comparisons of several pairs of values, which are compared together."""
    units = record_pairs(node, Columns(gts, preds), options)
    return [tree_of(units, pair, options) for pair in range(len(gts))]


def alike(node, gt, pred, options=DEFAULTS):
    """Return the similarity by which two values are paired as list items.

    The similarity must equal the one in the values' comparison.
    """
    (comparison,) = table(node, [gt], [pred], options)
    assert compared(node, gt, pred, options).similarity == comparison[0]
    return comparison[0]


def table(node, gts, preds, options=DEFAULTS):
    """Return the similarity of each ground truth with each prediction, as for pairing list items.

    There is a row for each ground truth.
    """
    return all_pairs(node, gts, preds, options).similarity.reshape(len(gts), len(preds)).tolist()


def all_pairs(node, gts, preds, options):
    gt = np.repeat(np.arange(len(gts)), len(preds))
    pred = np.tile(np.arange(len(preds)), len(gts))
    return node.similarity(Columns(gts, preds), gt, pred, options, Mode.PAIRING)


def figures(comparison):
    """Return all figures of a leaf."""
    return (
        comparison.shape,
        comparison.gt,
        comparison.pred,
        comparison.outcome,
        comparison.similarity,
        comparison.score,
        comparison.threshold,
    )


def pairs_of(comparison):
    """Return the units of a list as (position in gt, position in pred, outcome)."""
    return [
        (element.gt_index, element.pred_index, element.outcome.name) for element in comparison.items
    ]
