"""The wrong units of documents and the class of each: a fold of their account."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.result import FA, FN
from stickler_cli.core.json_values import JsonValue
from stickler_cli.score.visit import Visit
from .error_classes import ErrorClass, Places, classify
from .units import Unit, chosen_of, documents_units, plain, values_inside, wrong


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
