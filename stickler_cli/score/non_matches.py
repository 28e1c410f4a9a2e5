"""Every error of documents, where it is and why: a fold of their account."""

from typing import Final

from stickler_cli.compare.account import Account
from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from stickler_cli.score.error_classes import ErrorClass, Places, classify
from stickler_cli.score.units import Unit, documents_units

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
        """Say why it is an error."""
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
        """Give the reason, and the fields in which two list items differ, or a judge's reason."""
        if not self.differing:
            return f"{self.reason}: {self.judge}" if self.judge else self.reason
        names = ", ".join(field_path((name,)) for name in self.differing)
        return f"{self.reason}: {names} {'differs' if len(self.differing) == 1 else 'differ'}"

    def view(self) -> dict[str, object]:
        """Give the entry as results show it."""
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


def non_matches(account: Account, at: Indexes) -> list[list[NonMatch]]:
    """Return the errors of documents, which are pairs of an account; of each in schema order.

    An item or object that one side lacks is one entry and carries the whole value; so does a
    pair of list items below its threshold. A nested object that is an error has an entry of its
    own beside those of its fields.
    """
    found = []
    by_document = documents_units(account, at, wrong_only=True)
    for slot, units in zip(account.gt[at].tolist(), by_document, strict=True):
        places = Places(account.columns.gt[slot])
        found.append([_non_match(unit, places) for unit in units])
    return found


def _non_match(unit: Unit, places: Places) -> NonMatch:
    path = unit.pred_path if unit.outcome is Outcome.FA else unit.gt_path
    below = unit.outcome is Outcome.FD
    return NonMatch(
        path or (),
        unit.outcome,
        unit.gt,
        unit.pred,
        unit.similarity if below else None,
        unit.threshold if below else None,
        classify(unit.outcome, unit.gt_path or unit.pred_path or (), unit.gt, unit.pred, places),
        unit.differing if below else (),
        unit.judge if below else "",
    )
