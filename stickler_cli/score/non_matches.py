"""Every error of documents, where it is and why: a fold of their account."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.locations import Path, field_path
from .error_classes import ErrorClass, Places, classify
from .units import Unit, documents_units
from .walk import Visit

NON_MATCH_TYPES: Final = {
    Outcome.FD: "false_discovery",
    Outcome.FA: "false_alarm",
    Outcome.FN: "false_negative",
}


def below_threshold(similarity: float, threshold: float) -> str:
    """Say that a similarity is below its threshold, with digits enough to see it.

    >>> below_threshold(0.41312, 0.7), below_threshold(0.69999, 0.7)
    ('below threshold (0.413 < 0.7)', 'below threshold (0.69999 < 0.7)')
    """
    digits = 3
    while round(similarity, digits) >= threshold and digits < 12:
        digits += 1
    return f"below threshold ({similarity:.{digits}f} < {threshold:g})"


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
    error_class: ErrorClass
    differing: tuple[str, ...] = ()
    """Of a pair of list items, the fields that differ."""
    judge: str = ""
    """What a judge says of the pair; text that a model wrote."""

    @property
    def reason(self) -> str:
        """Why it is an error."""
        if self.similarity is None or self.threshold is None:
            side = "ground truth" if self.outcome is Outcome.FN else "prediction"
            return f"unmatched {side}"
        if self.similarity >= self.threshold:
            return f"{kind_of(self.gt)} and {kind_of(self.pred)} have nothing in common"
        reason = below_threshold(self.similarity, self.threshold)
        if self.gt == self.pred:
            return f"{reason}: equal as written, but not what the comparator reads"
        return reason

    @property
    def explanation(self) -> str:
        """Return the reason, and the fields in which two list items differ, or a judge's reason."""
        if not self.differing:
            return f"{self.reason}: {self.judge}" if self.judge else self.reason
        names = ", ".join(field_path((name,)) for name in self.differing)
        return f"{self.reason}: {names} {'differs' if len(self.differing) == 1 else 'differ'}"

    def view(self) -> dict[str, object]:
        """Return the entry as results show it."""
        view: dict[str, object] = {
            "field_path": field_path(self.path),
            "non_match_type": NON_MATCH_TYPES[self.outcome],
            "class": self.error_class.value,
            "ground_truth_value": self.gt,
            "prediction_value": self.pred,
        }
        if self.similarity is not None:
            view["similarity_score"] = self.similarity
        view["details"] = {
            "reason": self.reason,
            **({"differing_fields": list(self.differing)} if self.differing else {}),
            **({"judge": self.judge} if self.judge else {}),
        }
        return view


def errors_of(
    visits: Iterable[Visit], truths: Sequence[JsonValue]
) -> list[list[tuple[Unit, ErrorClass]]]:
    """Return the errors of documents, whose ground truths are given; of each in schema order.

    An item or object that one side lacks is one entry and carries the whole value; so does a
    pair of list items below its threshold. A nested object that is an error has an entry of its
    own beside those of its fields.
    """
    found = []
    by_document = documents_units(visits, len(truths), wrong_only=True)
    for truth, units in zip(truths, by_document, strict=True):
        places = Places(truth)
        paths = (unit.gt_path or unit.pred_path or () for unit in units)
        found.append(
            [
                (unit, classify(unit.outcome, path, unit.gt, unit.pred, places))
                for unit, path in zip(units, paths, strict=True)
            ]
        )
    return found


def non_match(unit: Unit, error_class: ErrorClass) -> NonMatch:
    """Return an error with all that is said of it."""
    place = unit.path, unit.outcome, unit.gt, unit.pred
    if unit.outcome is not Outcome.FD:
        return NonMatch(*place, None, None, error_class)
    judged = unit.similarity, unit.threshold
    return NonMatch(*place, *judged, error_class, unit.differing, unit.judge)
