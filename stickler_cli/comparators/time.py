"""The comparator of times of day, which may be written with 12 or 24 hours."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeAlias

from .base import BaseComparator, Keys, codes_of, text_of

_TIME: Final = re.compile(
    r"(?P<hour>\d{1,2})(?:\s?[:.h]\s?(?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:\.\d+)?)?)?"
    r"\s?(?P<half>[ap]\.?\s?m\.?)?\s?(?:uhr|h|hrs?|hours|o'clock)?\s?(?P<zone>z|[a-z]{2,5}|(?:\+|(?<=:\d\d:\d\d)-)\d\d:?\d\d)?",
    re.ASCII | re.IGNORECASE,
)
_APART: Final = re.compile(r"[-\u2013\u2014]|\b(?:to|until|till|bis|a|à|tot)\b", re.IGNORECASE)
"""Pattern of the word or dash between the two times of a range. Spaces around it are stripped
later, because a pattern with spaces would take quadratic time."""
_HOURS: Final = re.compile(r"[ap]\.?\s?m|uhr|h|o'clock", re.IGNORECASE)
"""Words such as `pm` or `Uhr`. With such a word, a number without minutes is a time: `2 pm`."""

PreparedTime: TypeAlias = tuple[tuple[int, str], ...] | str
"""One time, or the two times of a range, each as (seconds since midnight, time zone). A text that
is not a time is kept as text, casefolded and without spaces."""


class TimeComparator(BaseComparator):
    """Compare times of day and ranges of times: 1.0 if they are equal, 0.0 if not."""

    same_value = True
    columnar: ClassVar[bool] = True
    steps_of_letter = 500

    def __init__(self, threshold: float = 1.0) -> None:
        """Set the threshold in [0, 1] that `binary_compare` uses."""
        super().__init__(threshold)

    def prepare(self, value: Any) -> PreparedTime:
        """Return the time in a text, or both times of a range.

        If the text is no time, return it casefolded and without spaces.
        """
        text = text_of(value).strip()
        ends = [time_of(text)]
        if None in ends:
            ends = [time_of(end) for end in _APART.split(text)]
        times = tuple(end for end in ends if end is not None)
        return times if len(times) == len(ends) else "".join(text.split()).casefold()

    def similarity(self, gt: PreparedTime, pred: PreparedTime) -> float:
        """Return 1.0 if two values are equal, else 0.0.

        Time zones are compared only if both sides have one.
        """
        if isinstance(gt, str) or isinstance(pred, str) or len(gt) != len(pred):
            return float(gt == pred)
        for (gt_second, gt_zone), (pred_second, pred_zone) in zip(gt, pred, strict=True):
            has_other_zone = gt_zone and pred_zone and gt_zone != pred_zone
            if gt_second != pred_second or has_other_zone:
                return 0.0
        return 1.0

    def keys(self, prepared: Sequence[PreparedTime]) -> Keys:
        """Return a code for each time or text.

        Equal times or texts have equal codes; time zones are ignored.
        """
        return codes_of(
            [
                value if isinstance(value, str) else tuple(second for second, _ in value)
                for value in prepared
            ]
        )


def time_of(text: str) -> tuple[int, str] | None:
    """Return (seconds since midnight, time zone) of a text; None if it is not a time.

    The zone is empty if the text has none.

    >>> time_of("2:30 PM"), time_of("14.30 Uhr"), time_of("14"), time_of("25:00")
    ((52200, ''), (52200, ''), None, None)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or not (match["minute"] or _HOURS.search(text)):
        return None
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"][0] in "pP")
    zone = (match["zone"] or "").upper().replace(":", "")
    if zone in {"Z", "UTC", "GMT"}:
        zone = "+0000"
    seconds = hour * 3600 + minute * 60 + second
    return (seconds, zone) if max(minute, second) < 60 and hour < 24 else None
