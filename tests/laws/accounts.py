"""Read comparisons and their counts for the laws."""

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.sums import COUNTING_MODES, FieldTallies, Tally, sum_counts
from tests.score.batches import comparison_view


def compare(plan, gt, pred, options=None):
    """Compare two documents."""
    return tree_of(engine.compare(plan, [gt], [pred], options), 0)


class Node:
    """The sums of a field, and of the fields below it."""

    def __init__(self, sums, path=()):
        """Take those of all fields."""
        self.tally, self.counts = sums.tally(path), sums.tally(path).counts
        child_paths = [path_ for path_ in sums if path_ and path_[:-1] == path]
        self.fields = {child_path[-1]: Node(sums, child_path) for child_path in child_paths}
        for mode in COUNTING_MODES:
            setattr(self, mode, [*self.counts(mode)])


def sums(batch):
    """Return the sums of some documents."""
    return FieldTallies({(): Tally()}) if batch.counts is None else sum_counts(batch.counts)


def tally(comparison):
    """Count one document."""
    return tally_of(batch_of_unit(comparison))


def tally_of(batch):
    """Count some documents."""
    return Node(sums(batch))


def non_matches(comparison):
    """List the errors of one document."""
    return batch_of_unit(comparison).errors(0)


def view(comparison):
    """Return what results say of one document."""
    return comparison_view(batch_of_unit(comparison))


def units(comparison):
    """Go through everything that a comparison accounts for."""
    yield comparison
    for child in (*comparison.fields, *comparison.items, *comparison.sides):
        yield from units(child)


NAMES = ("shape", "gt", "pred", "outcome", "similarity", "score", "threshold", "reason")


def values_of(comparison):
    """Return all that a comparison has, to be held against another."""
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
    """Return the counts of a tally, without scores."""
    return {
        "counts": (node.overall, node.aggregate, node.leaves),
        **{name: outline(child) for name, child in node.fields.items()},
    }


def swapped(node):
    """Return the counts of a tally with FA for FN."""
    return {
        "counts": tuple(
            [tp, fd, fn, fa, tn]
            for tp, fd, fa, fn, tn in (node.overall, node.aggregate, node.leaves)
        ),
        **{name: swapped(child) for name, child in node.fields.items()},
    }
