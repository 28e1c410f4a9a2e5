"""Whether two programs found the same: a ratio of unlike results says nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

OUTCOMES: Final = ("tp", "fd", "fa", "fn", "tn")

SCORE_WITHIN: Final = 1e-9
"""How near two mean scores must be: they are sums of floats in different orders."""

INTERVALS_WITHIN: Final = 1e-4
"""How near the ends of two intervals must be: this project works percentiles out to four digits."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a program found."""

    documents: int
    score: float
    """Mean of the documents' overall scores, in [0, 1]."""
    counts: Mapping[str, tuple[int, ...]]
    """TP, FD, FA, FN and TN by path, `line_items.amount`; the whole is at ``""``."""

    errors: Mapping[str, int] = field(default_factory=dict)
    """How many errors there are of each class; empty where a program does not tell."""
    intervals: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Both ends, of the rates of the whole and of the mean score; empty likewise."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what the floors and reference.py print."""
        counts = {path: tuple(count) for path, count in value["counts"].items()}
        told = (value.get("errors", {}), value.get("intervals", {}))
        return cls(value["documents"], value["score"], counts, *told)

    @classmethod
    def from_run(cls, run: Mapping[str, Any]) -> Self:
        """Read what `stickler eval --format json` prints."""
        matrix = run["confusion_matrix"]
        intervals = dict(matrix.get("intervals", {}).get("overall", {}))
        if score := (run["intervals"] or {}).get("overall_score"):
            intervals["score"] = score
        return cls(
            run["documents"]["evaluated"],
            run["overall_score"],
            dict(_counts(matrix, "")),
            run["error_classes"]["overall"],
            intervals,
        )


def _counts(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield path, tuple(node["overall"][outcome] for outcome in OUTCOMES)
    for name, inner in node.get("fields", {}).items():
        yield from _counts(inner, f"{path}.{name}" if path else name)


def disagreements(ours: Result, theirs: Result) -> list[str]:
    """Say in what two results differ, a sentence each; nothing if they agree.

    A path that one of them lacks counts as zeros there; classes of errors and intervals are
    compared where both tell them.
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
    if ours.errors and theirs.errors and ours.errors != theirs.errors:
        found.append(f"errors {dict(ours.errors)} against {dict(theirs.errors)}")
    for name in sorted(ours.intervals.keys() & theirs.intervals.keys()):
        ends = zip(ours.intervals[name], theirs.intervals[name], strict=True)
        if not all(abs(one - other) <= INTERVALS_WITHIN for one, other in ends):
            both = f"{ours.intervals[name]} against {theirs.intervals[name]}"
            found.append(f"interval of {name}: {both}")
    return found


def _told(counts: tuple[int, ...]) -> str:
    pairs = zip(OUTCOMES, counts, strict=True)
    return " ".join(f"{outcome}={count}" for outcome, count in pairs)
