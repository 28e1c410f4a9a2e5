"""Show two long values one above the other. Both are cut around their first difference."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from stickler_cli.core.figures import truncate
from stickler_cli.core.sections import Span, Tone

LEAD: Final = 24  # characters shown before the first difference, as context
ELLIPSIS: Final = "…"

DIFFERENCE_TONES: Final[tuple[Tone, Tone]] = ("good", "bad")
"""(Tone of words that only the true value has, tone of words that only the prediction has)."""

_WORDS: Final = re.compile(r"\d[\d.]*\d|\w+|\s+|[^\w\s]")


def cut_around_difference(gt: str, pred: str, width: int) -> tuple[str, str]:
    """Cut both texts to at most `width` columns, so that their first difference remains visible.

    >>> cut_around_difference("a" * 40 + " red car", "a" * 40 + " red cat", 30)
    ('…aaaaaaa red car', '…aaaaaaa red cat')
    """
    if max(len(gt), len(pred)) <= width:
        return truncate(gt, width), truncate(pred, width)
    pairs = enumerate(zip_longest(gt, pred))
    first = next(
        (place for place, (gt_letter, pred_letter) in pairs if gt_letter != pred_letter), 0
    )
    lead = min(LEAD, max(width // 2, 1))
    start = max(first - lead, 0)
    return _cut_from(gt, start, width), _cut_from(pred, start, width)


def _cut_from(text: str, start: int, width: int) -> str:
    return truncate(ELLIPSIS + text[start + 1 :] if start else text, width)


def mark_differences(gt: str, pred: str) -> tuple[list[Span], list[Span]]:
    """Split two texts into spans, and give a tone to the words that only one text has.

    Words that only the true text has are `good`. Words that only the prediction has are `bad`.
    """
    gt_words, pred_words = _WORDS.findall(gt), _WORDS.findall(pred)
    matcher = SequenceMatcher(None, gt_words, pred_words, autojunk=False)
    sides: tuple[list[Span], list[Span]] = ([], [])
    for operation, *bounds in matcher.get_opcodes():
        words = (gt_words[bounds[0] : bounds[1]], pred_words[bounds[2] : bounds[3]])
        for spans, side_words, tone in zip(sides, words, DIFFERENCE_TONES, strict=True):
            if side_words:
                span_tone: Tone = "" if operation == "equal" else tone
                spans.append(Span.of("".join(side_words), span_tone))
    return sides


def value_lines(gt: str, pred: str, width: int, margin: str) -> Iterator[tuple[Span, ...]]:
    """Yield a line with the true value and one with the prediction, cut to the terminal width."""
    labels = [f"{margin}{side:<4}  " for side in ("gt", "pred")]
    texts = cut_around_difference(gt, pred, max(1, width - len(labels[0])))
    for label, spans in zip(labels, mark_differences(*texts), strict=True):
        yield Span(label, "dim"), *spans
