"""Every error of documents, where it is and why: a fold of their account."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.result import FA, FN, Outcome
from stickler_cli.core.json_values import JsonValue, kind_of, same_json
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.visit import Visit
from .error_classes import ErrorClass, Places, classify
from .units import Unit, chosen_of, documents_units, plain, values_inside, wrong

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


class WrongUnit(NamedTuple):
    """A unit that is wrong, and what kind of mistake it is."""

    unit: Unit
    error_class: ErrorClass
    differing: tuple[str, ...]
    """Of a pair of list items, the fields that differ."""
    values: int | None
    """How many wrong values are inside it; None of a value."""

    @property
    def is_cause(self) -> bool:
        """Whether values were lost by it, and not by what it is inside of or what is inside it."""
        if self.values is None:
            return self.unit.inside is None
        return bool(self.unit.visit.closed[self.unit.pair])


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
    inside: Path | None = None
    """The path of the entry that it is in, which failed as a whole."""
    values: int | None = None
    """How many wrong values have entries inside it; None of a value."""

    @property
    def reason(self) -> str:
        """Why it is an error."""
        if self.similarity is None or self.threshold is None:
            side = "ground truth" if self.outcome is Outcome.FN else "prediction"
            return f"unmatched {side}"
        if self.similarity >= self.threshold:
            return f"{kind_of(self.gt)} and {kind_of(self.pred)} have nothing in common"
        reason = below_threshold(self.similarity, self.threshold)
        if same_json(self.gt, self.pred):
            return f"{reason}: equal as written, but not what the comparator reads"
        return reason

    @property
    def explanation(self) -> str:
        """Return the reason, and the fields in which two list items differ, or a judge's reason."""
        return explained(self.view())

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
        if self.inside is not None:
            view["inside"] = field_path(self.inside)
        if self.values is not None:
            view["values"] = self.values
        view["details"] = {
            "reason": self.reason,
            **({"differing_fields": list(self.differing)} if self.differing else {}),
            **({"judge": self.judge} if self.judge else {}),
        }
        return view


def explained(view: Mapping[str, Any]) -> str:
    """Return why an entry is an error, by what results say of it."""
    details = view.get("details") or {}
    reason, judge = details.get("reason", ""), details.get("judge")
    differing = details.get("differing_fields")
    if not differing:
        return f"{reason}: {judge}" if judge else reason
    names = ", ".join(field_path((name,)) for name in differing)
    return f"{reason}: {names} {'differs' if len(differing) == 1 else 'differ'}"


def classified(visits: Sequence[Visit], truths: Sequence[JsonValue]) -> list[list[WrongUnit]]:
    """Return the wrong units of documents that are not `plain`, in schema order.

    Whose ground truths are given. A nested object below its threshold is one as well.
    """
    found = []
    nowhere, inside = Places(None), values_inside(visits)
    by_document = documents_units(visits, len(truths), lambda it: wrong(it) & ~plain(it))
    for truth, units in zip(truths, by_document, strict=True):
        places = Places(truth)
        errors = []
        for unit in units:
            # What is in an invented item has no place in the ground truth.
            known = nowhere if unit.gt_path is None else places
            error_class = classify(unit.outcome, unit.path, unit.gt, unit.pred, known)
            differing, right = unit.compared_fields
            if error_class is ErrorClass.WRONG_ITEM and right >= len(differing) > 0:
                error_class = ErrorClass.ITEM_WITH_ERRORS
            values = None if unit.is_value else int(inside[id(unit.visit)][unit.pair])
            errors.append(WrongUnit(unit, error_class, differing, values))
        found.append(errors)
    return found


class PlainErrors(NamedTuple):
    """Values of a field that are simply missed or invented; often their number is enough."""

    visit: Visit
    error_class: ErrorClass
    pairs: Indexes
    """Their positions in the visit."""


def plain_errors(visits: Iterable[Visit]) -> list[PlainErrors]:
    """Return the errors of documents that are `plain`."""
    found = []
    for visit, chosen in chosen_of(visits, plain):
        outcome = visit.outcome
        for one, error_class in _PLAIN[visit.units is not None].items():
            (pairs,) = (chosen & (outcome == one)).nonzero()
            found.append(PlainErrors(visit, error_class, pairs))
    return found


_PLAIN: Final = {
    False: {FN: ErrorClass.MISSED_VALUE, FA: ErrorClass.INVENTED_VALUE},
    True: {FN: ErrorClass.MISSED_ITEM, FA: ErrorClass.INVENTED_ITEM},
}
"""The classes of plain errors by their outcome, of fields and of list elements."""


def plain_units(visits: Iterable[Visit], documents: int) -> list[list[WrongUnit]]:
    """Return the errors of documents that are `plain` as units, in schema order."""
    return [
        [
            WrongUnit(unit, _PLAIN[unit.visit.units is not None][unit.outcome], (), None)
            for unit in units
        ]
        for units in documents_units(visits, documents, plain)
    ]


def non_match(error: WrongUnit) -> NonMatch:
    """Return an error with all that is said of it."""
    unit = error.unit
    place = unit.path, unit.outcome, unit.gt, unit.pred
    around = unit.inside.path if unit.inside else None, error.values
    if unit.outcome is not Outcome.FD:
        return NonMatch(*place, None, None, error.error_class, (), "", *around)
    judged = unit.similarity, unit.threshold
    return NonMatch(*place, *judged, error.error_class, error.differing, unit.judge, *around)
