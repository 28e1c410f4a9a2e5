"""Functions that compare documents for the laws, and read the results."""

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.sums import COUNTING_MODES, FieldTallies, Tally, sum_counts
from tests.score.batches import comparison_view


def compare(plan, gt, pred, options=None):
    """Compare two documents, and return the tree of their units."""
    return tree_of(engine.compare(plan, [gt], [pred], options), 0)


class Node:
    """The sums of a field or of whole documents, with the sums of the fields inside it."""

    def __init__(self, sums, path=()):
        """Take the sums of all fields, and the path of this one."""
        self.tally, self.counts = sums.tally(path), sums.tally(path).counts
        child_paths = [path_ for path_ in sums if path_ and path_[:-1] == path]
        self.fields = {child_path[-1]: Node(sums, child_path) for child_path in child_paths}
        for mode in COUNTING_MODES:
            setattr(self, mode, [*self.counts(mode)])


def sums(batch):
    """Return the sums over the documents of a batch, by field."""
    return FieldTallies({(): Tally()}) if batch.counts is None else sum_counts(batch.counts)


def tally(comparison):
    """Return the counts of one document, as a tree of fields."""
    return tally_of(batch_of_unit(comparison))


def tally_of(batch):
    """Return the counts over the documents of a batch, as a tree of fields."""
    return Node(sums(batch))


def non_matches(comparison):
    """Return the errors of one document."""
    return batch_of_unit(comparison).errors(0)


def view(comparison):
    """Return the results of one document as JSON values."""
    return comparison_view(batch_of_unit(comparison))


def units(comparison):
    """Yield a unit and all units inside it."""
    yield comparison
    for child in (*comparison.fields, *comparison.items, *comparison.sides):
        yield from units(child)


NAMES = ("shape", "gt", "pred", "outcome", "similarity", "score", "threshold", "reason")


def values_of(comparison):
    """Return all values and figures of a comparison, so that two comparisons can be compared."""
    return (
        [getattr(comparison, name) for name in (*NAMES, "extra_keys", "undeclared_keys")],
        [
            (field.name, field.weight, field.in_aggregate, values_of(field))
            for field in comparison.fields
        ],
        [
            (item.gt_index, item.pred_index, item.outcome, item.threshold, values_of(item))
            for item in comparison.items
        ],
    )


def outline(node):
    """Return the counts of a field and of all fields inside it, without scores."""
    return {
        "counts": (node.overall, node.aggregate, node.leaves),
        **{name: outline(child) for name, child in node.fields.items()},
    }


def swapped(node):
    """Return the same counts as `outline`, but with FA and FN exchanged."""
    return {
        "counts": tuple(
            [tp, fd, fn, fa, tn]
            for tp, fd, fa, fn, tn in (node.overall, node.aggregate, node.leaves)
        ),
        **{name: swapped(child) for name, child in node.fields.items()},
    }
