"""Every error of a comparison, where it is and why: a fold over the Comparison."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.compare.result import (
    ERRORS,
    Comparison,
    ElementComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.json_values import JsonValue
from stickler_cli.locations import Path, field_path

NON_MATCH_TYPES: Final = {
    Outcome.FD: "false_discovery",
    Outcome.FA: "false_alarm",
    Outcome.FN: "false_negative",
}


@dataclass(frozen=True, slots=True)
class NonMatch:
    """One unit that is wrong."""

    path: Path
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    outcome: Outcome
    """FD, FA or FN."""
    gt: JsonValue
    pred: JsonValue
    similarity: float | None
    """For a false discovery only."""
    threshold: float | None
    """What a false discovery did not reach."""

    @property
    def reason(self) -> str:
        """Say why it is an error, with digits enough to see it.

        >>> NonMatch(("a",), Outcome.FD, "x", "y", 0.41312, 0.7).reason
        'below threshold (0.413 < 0.7)'
        """
        if self.similarity is None or self.threshold is None:
            side = "ground truth" if self.outcome is Outcome.FN else "prediction"
            return f"unmatched {side}"
        digits = 3
        while round(self.similarity, digits) >= self.threshold and digits < 12:
            digits += 1
        return f"below threshold ({self.similarity:.{digits}f} < {self.threshold:g})"

    def view(self) -> dict[str, object]:
        """Give the entry as results show it."""
        view: dict[str, object] = {
            "field_path": field_path(self.path),
            "non_match_type": NON_MATCH_TYPES[self.outcome],
            "ground_truth_value": self.gt,
            "prediction_value": self.pred,
        }
        if self.similarity is not None:
            view["similarity_score"] = self.similarity
        view["details"] = {"reason": self.reason}
        return view


def non_matches(comparison: ObjectComparison) -> Iterator[NonMatch]:
    """List the errors of one document, in schema order.

    An item or object that one side lacks is one entry and carries the whole value; so does a
    pair of list items below its threshold. A nested object that is an error has an entry of its
    own beside those of its fields.
    """
    yield from _in_fields(comparison, (), ())


def _in_fields(comparison: ObjectComparison, gt_path: Path, pred_path: Path) -> Iterator[NonMatch]:
    for entry in comparison.fields:
        yield from _in_unit(entry.comparison, (*gt_path, entry.name), (*pred_path, entry.name))
    for name in comparison.extras:
        pred = comparison.pred
        value = pred[name] if isinstance(pred, dict) else None
        yield NonMatch((*pred_path, name), Outcome.FA, None, value, None, None)


def _in_unit(comparison: Comparison, gt_path: Path, pred_path: Path) -> Iterator[NonMatch]:
    if isinstance(comparison, ListComparison):
        for element in comparison.elements:
            yield from _in_element(element, gt_path, pred_path)
        return
    if comparison.outcome in ERRORS:
        yield _entry(comparison, comparison.outcome, comparison.threshold, gt_path, pred_path)
    if isinstance(comparison, ObjectComparison) and comparison.outcome in (
        Outcome.TP,
        Outcome.FD,
    ):
        yield from _in_fields(comparison, gt_path, pred_path)


def _in_element(element: ElementComparison, gt_path: Path, pred_path: Path) -> Iterator[NonMatch]:
    if element.gt_index is not None:
        gt_path = (*gt_path, element.gt_index)
    if element.pred_index is not None:
        pred_path = (*pred_path, element.pred_index)
    inner = element.comparison
    if not element.passed:
        yield _entry(inner, element.outcome, element.threshold, gt_path, pred_path)
    elif isinstance(inner, ListComparison):
        yield from _in_unit(inner, gt_path, pred_path)
    elif isinstance(inner, ObjectComparison):
        yield from _in_fields(inner, gt_path, pred_path)


def _entry(
    comparison: Comparison, outcome: Outcome, threshold: float, gt_path: Path, pred_path: Path
) -> NonMatch:
    path = pred_path if outcome is Outcome.FA else gt_path
    if outcome is not Outcome.FD:
        return NonMatch(path, outcome, comparison.gt, comparison.pred, None, None)
    # A pair of lists counts as an element by its score.
    is_list = isinstance(comparison, ListComparison)
    similarity = comparison.score if is_list else comparison.similarity
    return NonMatch(path, outcome, comparison.gt, comparison.pred, similarity, threshold)
