"""What the laws ask of a comparison and of its counts."""

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
        inside = [each for each in sums if each and each[:-1] == path]
        self.fields = {each[-1]: Node(sums, each) for each in inside}
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
    for part in (*comparison.fields, *comparison.items, *comparison.sides):
        yield from units(part)


NAMES = ("shape", "gt", "pred", "outcome", "similarity", "score", "threshold", "reason")


def values_of(comparison):
    """Return all that a comparison has, to be held against another."""
    return (
        [getattr(comparison, name) for name in (*NAMES, "extra_keys", "undeclared_keys")],
        [(it.name, it.weight, it.in_aggregate, values_of(it)) for it in comparison.fields],
        [
            (it.gt_index, it.pred_index, it.outcome, it.threshold, values_of(it))
            for it in comparison.items
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
