"""Whether two programs found the same: a ratio of unlike results says nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

OUTCOMES: Final = ("tp", "fd", "fa", "fn", "tn")

SCORE_WITHIN: Final = 1e-9
"""How near two mean scores must be: they are sums of floats in different orders."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a program found."""

    documents: int
    score: float
    """Mean of the documents' overall scores, in [0, 1]."""
    counts: Mapping[str, tuple[int, ...]]
    """TP, FD, FA, FN and TN by path, `line_items.amount`; the whole is at ``""``."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what floor.py and reference.py print."""
        counts = {path: tuple(count) for path, count in value["counts"].items()}
        return cls(value["documents"], value["score"], counts)

    @classmethod
    def from_run(cls, run: Mapping[str, Any]) -> Self:
        """Read what `stickler eval --format json` prints."""
        counts = dict(_counts(run["confusion_matrix"], ""))
        return cls(run["documents"]["evaluated"], run["overall_score"], counts)


def _counts(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield path, tuple(node["overall"][outcome] for outcome in OUTCOMES)
    for name, field in node.get("fields", {}).items():
        yield from _counts(field, f"{path}.{name}" if path else name)


def disagreements(ours: Result, theirs: Result) -> list[str]:
    """Say in what two results differ, a sentence each; nothing if they agree.

    A path that one of them lacks counts as zeros there.
    """
    found = []
    if ours.documents != theirs.documents:
        found.append(f"{ours.documents} documents against {theirs.documents}")
    if not abs(ours.score - theirs.score) <= SCORE_WITHIN:  # so that NaN disagrees
        found.append(f"score {ours.score!r} against {theirs.score!r}")
    nothing = (0,) * len(OUTCOMES)
    for path in sorted(ours.counts.keys() | theirs.counts.keys()):
        one, other = ours.counts.get(path, nothing), theirs.counts.get(path, nothing)
        if one != other:
            where = path or "the whole"
            found.append(f"{where}: {_told(one)} against {_told(other)}")
    return found


def _told(counts: tuple[int, ...]) -> str:
    pairs = zip(OUTCOMES, counts, strict=True)
    return " ".join(f"{outcome}={count}" for outcome, count in pairs)
