"""Notes on close matches: values that count as right although they differ from the truth.

The notes are in reports. `stickler eval` also writes them to standard error.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from stickler_cli.core.figures import join_some, number_of
from stickler_cli.core.json_values import cut_end
from stickler_cli.core.locations import field_path
from stickler_cli.core.match_differences import DIFFERENCES, REMEDIES, DifferenceKind
from stickler_cli.score.close_matches import CloseExample, CloseMatches, CloseValues
from stickler_cli.score.evaluation import Evaluation

MAX_NAMED_FIELDS: Final = 3
"""Maximum number of fields that a note names for each kind of difference."""
MAX_SHOWN_EXAMPLES: Final = 2
MAX_SHOWN_LETTERS: Final = 40
"""Maximum length of a text in an example. With it, a note needs two or three lines of 80 columns.
"""


def describe_close_matches(evaluation: Evaluation) -> list[str]:
    """Return sentences on values that count as right although they differ from the ground truth.

    The list is empty if there are no such values. The first sentence states their number. Each
    other sentence is about one kind of difference. It names the fields, shows examples, and says
    which setting would make values with this difference wrong.
    """
    values_by_difference: defaultdict[DifferenceKind, list[tuple[str, CloseValues]]] = defaultdict(
        list
    )
    for (path, difference), values in evaluation.fold(CloseMatches).by_field.items():
        name = field_path(path) or "documents"
        values_by_difference[difference].append((name, values))
    sentences = [
        _describe_difference(difference, values_by_difference[difference])
        for difference in DIFFERENCES
        if difference in values_by_difference
    ]
    if not sentences:
        return []
    total = sum(
        values.count for by_field in values_by_difference.values() for _, values in by_field
    )
    summary = (
        f"{number_of(total, 'value')} counted as right although not exactly equal to the ground "
        "truth; --values FILE lists these values"
    )
    return [summary, *sentences]


def _describe_difference(
    difference: DifferenceKind, by_field: list[tuple[str, CloseValues]]
) -> str:
    """Return a sentence on the values with one kind of difference.

    The sentence names the fields, shows examples, and says which setting would make such values
    wrong. `by_field` has pairs of a field's name and its values with this difference.
    """
    by_field.sort(key=lambda entry: (-entry[1].count, entry[0]))
    total = sum(values.count for _, values in by_field)
    n_fields = len(by_field)
    names = [f"{name} ({values.count:,})" if n_fields > 1 else name for name, values in by_field]
    fields = join_some(names, MAX_NAMED_FIELDS)
    examples = _select_examples([values for _, values in by_field])
    shown_examples = ", ".join(map(_show_example, examples))
    aim = f"to count {'it' if total == 1 else 'them'} as wrong"
    if difference == "day or month first":
        aim = "to accept only one of the two orders"
    phrase = _PHRASES.get(difference, difference)
    return (
        f"{number_of(total, 'value')} counted as right despite {phrase}, in {fields}: "
        f"{shown_examples}; {aim}, {REMEDIES[difference]}"
    )


_PHRASES: Final[dict[DifferenceKind, str]] = {
    "another word": "a different word",
    "other letters": "different letters in a word",
    "a word more or less": "a word added or missing",
    "a sign more or less": "a sign added or missing",
    "another order": "words in another order",
    "another number": "a different number",
    "no currency or unit": "a currency or unit added or missing",
    "thousands or decimals": "a separator that may mean thousands or decimals",
    "day or month first": "a date that may begin with the day or the month",
    "other capitals": "different upper and lower case",
    "other separators": "different separators",
    "small overlap": "a small overlap of boxes",
}
"""Maps a kind of difference to the words for it in a note. A kind whose own name is clear in a
sentence is not in the dict."""


def _select_examples(values_by_field: Sequence[CloseValues]) -> list[CloseExample]:
    """Choose examples with different texts, from as many fields as possible."""
    rounds = zip_longest(*(values.examples for values in values_by_field))
    examples = [example for examples in rounds for example in examples if example is not None]
    example_by_texts: dict[tuple[str, str], CloseExample] = {}
    for example in examples:
        example_by_texts.setdefault((example.gt, example.pred), example)
    return [*example_by_texts.values()][:MAX_SHOWN_EXAMPLES]


def _show_example(example: CloseExample) -> str:
    gt, pred = (repr(cut_end(text, MAX_SHOWN_LETTERS)) for text in (example.gt, example.pred))
    if not example.pred:
        change = f"{gt} missing"
    elif not example.gt:
        change = f"{pred} added"
    else:
        change = f"{gt} predicted as {pred}"
    return f"{change} in {example.document}"
