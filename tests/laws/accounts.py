"""What the laws ask of a comparison and of its counts."""

from stickler_cli.compare.result import ListComparison, MismatchComparison, ObjectComparison


def units(comparison):
    """Go through everything that a comparison accounts for."""
    yield comparison
    match comparison:
        case ObjectComparison():
            inside = [entry.comparison for entry in comparison.fields]
        case ListComparison():
            inside = [element.comparison for element in comparison.elements]
        case MismatchComparison():
            inside = [comparison.missed, comparison.invented]
        case _:
            inside = []
    for part in inside:
        yield from units(part)


def outline(node):
    """Give the counts of a tally, without scores."""
    return {
        "counts": (node.overall, node.aggregate, node.leaves),
        **{name: outline(child) for name, child in node.fields.items()},
    }


def swapped(node):
    """Give the counts of a tally with FA for FN."""
    return {
        "counts": tuple(
            [tp, fd, fn, fa, tn]
            for tp, fd, fa, fn, tn in (node.overall, node.aggregate, node.leaves)
        ),
        **{name: swapped(child) for name, child in node.fields.items()},
    }
