"""One sentence about values that count as right although they differ from their ground truth.

Reports have it among their notes; `stickler eval` also writes it to standard error.
"""

from collections import defaultdict
from typing import Final

from stickler_cli.core.figures import join_some, number_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.match_differences import DIFFERENCES, OTHER_WORDS, DifferenceKind
from stickler_cli.score.close_matches import CloseMatches, CloseValues
from stickler_cli.score.evaluation import Evaluation

MAX_NAMED_FIELDS: Final = 3
"""Number of fields that the note names for a difference, those with the most values."""


def describe_close_matches(evaluation: Evaluation) -> str:
    """Describe values that match though they differ, with an example of each; empty if none."""
    values_by_difference: defaultdict[DifferenceKind, list[tuple[str, CloseValues]]] = defaultdict(
        list
    )
    for (path, difference), values in evaluation.fold(CloseMatches).by_field.items():
        name = field_path(path) or "documents"
        values_by_difference[difference].append((name, values))
    clauses = [
        _describe_difference(difference, values_by_difference[difference])
        for difference in DIFFERENCES
        if difference in values_by_difference
    ]
    if not clauses:
        return ""
    total = sum(
        values.count for by_field in values_by_difference.values() for _, values in by_field
    )
    advice = "--values FILE lists them by difference"
    if not OTHER_WORDS.isdisjoint(values_by_difference):
        advice += ', and "same_letters": true in a comparator-config makes other words wrong'
    return (
        f"{number_of(total, 'value')} called right though not equal: {'; '.join(clauses)}; {advice}"
    )


def _describe_difference(
    difference: DifferenceKind, by_field: list[tuple[str, CloseValues]]
) -> str:
    """Return a difference, its fields and one example."""
    by_field.sort(key=lambda entry: (-entry[1].count, entry[0]))
    total = sum(values.count for _, values in by_field)
    names = join_some((f"{name} {values.count:,}" for name, values in by_field), MAX_NAMED_FIELDS)
    example = by_field[0][1].examples[0]
    gt, pred = (repr(text) if text else "nothing" for text in (example.gt, example.pred))
    return f"{total:,} with {difference} ({names}; {gt} / {pred} in {example.document})"
