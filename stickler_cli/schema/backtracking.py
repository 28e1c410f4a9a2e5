"""How long Python's `re` may take: what keeps a pattern of a schema from hanging a run.

`re` tries one way after another to read a text, and there may be more ways than it can ever try.
They are counted here from above, without trying any.
"""

import math
import re
from dataclasses import dataclass
from typing import Final

MOST_STEPS: Final = 10_000_000
"""Steps that a search may take; some tenths of a second."""

_PIECE: Final = re.compile(
    r"""
    (?P<comment>\(\?\#(?:\\.|[^)\\])*\))
    | (?P<look>\(\?(?:<?[=!]|>))
    | (?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z-]*:|[a-zA-Z-]+(?=\))))?)
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<times>(?:[*+?]|\{(?=[\d,])(?P<least>\d*)(?P<comma>,(?P<most>\d*))?\})[?+]?)
    | (?P<one>\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)


_VERBOSE: Final = re.compile(r"\(\?[a-zA-Z]*x")
"""The flag that leaves out blanks and comments: what is counted here is not what is read."""


@dataclass(slots=True)
class _Group:
    """What is known of a group so far."""

    is_look: bool
    """Whether it is left at the first way that it finds: looking around, or atomic."""
    others: float = 0.0
    """Ways of the alternatives before the one at hand."""
    before: float = 1.0
    """Ways of the pieces before the last one."""
    last: float = 1.0
    """Ways of the last piece, which a quantifier may repeat."""
    looks: float = 0.0
    """Steps of looking around, each time the group is tried."""
    last_looks: float = 0.0
    """Those of the last piece."""

    def add(self, ways: float, looks: float = 0.0) -> None:
        self.before *= self.last
        self.looks += self.last_looks
        self.last, self.last_looks = ways, looks

    def repeat(self, least: float, most: float, length: int) -> None:
        """Repeat the last piece; more often than the text is long there is nothing to repeat."""
        choices = min(most, length) - min(least, length) + 1
        self.last = choices * (self.last**most if self.last > 1 else 1.0)
        self.last_looks *= min(most, length + 1)

    @property
    def ways(self) -> float:
        """Ways in which all that there is so far can be read."""
        return self.others + self.before * self.last


def most_steps(pattern: str, length: int) -> float:
    """Give a bound of the steps that `re` takes to search a text of that length; it may be inf.

    >>> most_steps("^a+b", 9), most_steps("a+b", 9), most_steps("(a+)+b", 9)
    (90.0, 900.0, inf)
    """
    if _VERBOSE.search(pattern):
        return math.inf
    groups = [_Group(is_look=False)]
    for piece in _PIECE.finditer(pattern):
        kind, group = piece.lastgroup, groups[-1]
        if kind in {"look", "open"}:
            groups.append(_Group(is_look=kind == "look"))
        elif kind == "close" and len(groups) > 1:
            _close(groups)
        elif kind == "bar":
            group.others += group.before * group.last
            group.before = group.last = 1.0
        elif piece["times"]:
            group.repeat(*_range(piece), length)
        elif kind == "one":
            group.add(1.0)
    whole = groups[0]
    anchored = pattern.startswith(("^", r"\A")) and not whole.others
    starts = 1.0 if anchored else length + 1.0
    return whole.ways * (1 + whole.looks + whole.last_looks) * starts * (length + 1.0)


def _close(groups: list[_Group]) -> None:
    group = groups.pop()
    looks = group.looks + group.last_looks
    if group.is_look:
        groups[-1].add(1.0, group.ways * (1 + looks))
    else:
        groups[-1].add(group.ways, looks)


def _range(piece: re.Match[str]) -> tuple[float, float]:
    """Give how often a quantifier repeats: at least, and at most."""
    sign = piece["times"][0]
    if sign != "{":
        return (1.0 if sign == "+" else 0.0), (1.0 if sign == "?" else math.inf)
    least = float(piece["least"] or 0)
    if not piece["comma"]:
        return least, least
    return least, float(piece["most"] or math.inf)
