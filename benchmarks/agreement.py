"""Check that two programs give equal results; otherwise the ratio of their times is meaningless."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

OUTCOMES: Final = ("tp", "fd", "fa", "fn", "tn")

SCORE_WITHIN: Final = 1e-9
"""Largest difference of two mean scores, which are sums of floats in different orders."""

INTERVALS_WITHIN: Final = 1e-4
"""Largest difference of two interval bounds: this project computes percentiles to four digits."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result that a program gives for a set of documents."""

    documents: int
    score: float
    """Mean of the documents' overall scores, in [0, 1]."""
    counts: Mapping[str, tuple[int, ...]]
    """For each path, such as `line_items.amount`, the counts (TP, FD, FA, FN, TN). The path `""`
    has the total."""

    errors: Mapping[str, int] = field(default_factory=dict)
    """Number of errors of each class; empty if a program does not report it."""
    intervals: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Confidence bounds [lower, upper] of each rate in the mode `overall`, and of the mean score;
    empty if a program reports none."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the output of a floor or of reference.py."""
        counts = {path: tuple(count) for path, count in value["counts"].items()}
        return cls(
            documents=value["documents"],
            score=value["score"],
            counts=counts,
            errors=value.get("errors", {}),
            intervals=value.get("intervals", {}),
        )

    @classmethod
    def from_run(cls, run: Mapping[str, Any]) -> Self:
        """Read the output of `stickler eval --format json`."""
        matrix = run["confusion_matrix"]
        intervals = dict(matrix.get("intervals", {}).get("overall", {}))
        if score := (run["intervals"] or {}).get("overall_score"):
            intervals["score"] = score
        return cls(
            documents=run["documents"]["evaluated"],
            score=run["overall_score"],
            counts=dict(_counts(matrix, "")),
            errors=run["error_classes"]["overall"],
            intervals=intervals,
        )


def _counts(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield path, tuple(node["overall"][outcome] for outcome in OUTCOMES)
    for name, inner in node.get("fields", {}).items():
        yield from _counts(inner, f"{path}.{name}" if path else name)


def disagreements(ours: Result, theirs: Result) -> list[str]:
    """Return a sentence for each difference between two results.

    A path that one result lacks counts as zeros there. Error classes and intervals are compared
    only if both results have them.
    """
    sentences = []
    if ours.documents != theirs.documents:
        sentences.append(f"{ours.documents} documents against {theirs.documents}")
    if not abs(ours.score - theirs.score) <= SCORE_WITHIN:  # so that NaN disagrees
        sentences.append(f"score {ours.score!r} against {theirs.score!r}")
    zeros = (0,) * len(OUTCOMES)
    for path in sorted(ours.counts.keys() | theirs.counts.keys()):
        our_counts = ours.counts.get(path, zeros)
        their_counts = theirs.counts.get(path, zeros)
        if our_counts != their_counts:
            where = path or "the whole"
            sentences.append(
                f"{where}: {_format_counts(our_counts)} against {_format_counts(their_counts)}"
            )
    if ours.errors and theirs.errors and ours.errors != theirs.errors:
        sentences.append(f"errors {dict(ours.errors)} against {dict(theirs.errors)}")
    for name in sorted(ours.intervals.keys() & theirs.intervals.keys()):
        our_bounds, their_bounds = ours.intervals[name], theirs.intervals[name]
        bounds = zip(our_bounds, their_bounds, strict=True)
        if not all(abs(our - their) <= INTERVALS_WITHIN for our, their in bounds):
            sentences.append(f"interval of {name}: {our_bounds} against {their_bounds}")
    return sentences


def _format_counts(counts: tuple[int, ...]) -> str:
    pairs = zip(OUTCOMES, counts, strict=True)
    return " ".join(f"{outcome}={count}" for outcome, count in pairs)
