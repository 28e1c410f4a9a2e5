"""Every unit that was compared, with both of its places: the fold behind non-matches and views."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.compare.result import (
    ERRORS,
    Comparison,
    ElementComparison,
    JudgedComparison,
    LeafComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path

_WRONG: Final = re.compile(rb"[%c%c%c]" % (Outcome.FD, Outcome.FA, Outcome.FN))
"""One field that is an error, among the outcomes of an object."""

BOTH_SIDES: Final = (Outcome.TP, Outcome.FD)


@dataclass(frozen=True, slots=True)
class Unit:
    """One compared unit, right or wrong: a leaf, a nested object, or a list element."""

    gt_path: Path | None
    """Where the ground truth is, or would be; None for an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None for a missed list element."""
    outcome: Outcome
    gt: JsonValue
    """None where it is absent."""
    pred: JsonValue
    """None where it is absent."""
    similarity: float
    """As its threshold judges it, in [0, 1]."""
    score: float
    """After clipping, in [0, 1]."""
    threshold: float
    weight: float
    """What its field is worth in its object."""
    broken_down: bool
    """Whether the units inside it follow; so it is with nested objects, not with atomic ones."""
    differing: tuple[str, ...] = ()
    """Of a pair of list items below its threshold, the fields that differ."""
    verdict: str = ""
    """What a judge says of the pair; empty without one."""


def units(comparison: ObjectComparison, *, errors_only: bool = False) -> Iterator[Unit]:
    """List the units of one document in schema order, parents first.

    An item or object that one side lacks is one unit and carries the whole value; so is a pair of
    list items below its threshold.
    """
    found = _in_fields(comparison, (), (), errors_only)
    return (unit for unit in found if unit.outcome in ERRORS) if errors_only else found


def _in_fields(
    comparison: ObjectComparison, gt_path: Path, pred_path: Path, errors_only: bool
) -> Iterator[Unit]:
    positions: Iterable[int] = range(len(comparison.terms))
    if errors_only:
        # Most fields are leaves, and most leaves are right: not even an account is made of them.
        wrong = (found.start() for found in _WRONG.finditer(comparison.outcomes))
        positions = sorted({*wrong, *comparison.parts})
    for position in positions:
        terms = comparison.terms[position]
        places = (*gt_path, terms.name), (*pred_path, terms.name)
        part = comparison.part(position)
        yield from _in_unit(part, *places, terms.weight, errors_only)
    for name in comparison.extras:
        value = comparison.pred[name] if isinstance(comparison.pred, dict) else None
        places = (*gt_path, name), (*pred_path, name)
        yield Unit(*places, Outcome.FA, None, value, 0.0, 0.0, 0.0, 1.0, broken_down=False)


def _is_right_at_a_glance(element: ElementComparison) -> bool:
    """Say whether there is no error in an element, where that takes no walk to tell."""
    inner = element.comparison
    if element.outcome in ERRORS:
        return False
    if isinstance(inner, ObjectComparison):
        return not (inner.parts or inner.extras or _WRONG.search(inner.outcomes))
    return type(inner) is LeafComparison


def _in_unit(
    comparison: Comparison, gt_path: Path, pred_path: Path, weight: float, errors_only: bool
) -> Iterator[Unit]:
    if isinstance(comparison, ListComparison) and comparison.elements:
        for element in comparison.elements:
            if not (errors_only and _is_right_at_a_glance(element)):
                yield from _in_element(element, gt_path, pred_path, weight, errors_only)
        return
    is_object = isinstance(comparison, ObjectComparison) and comparison.outcome in BOTH_SIDES
    yield Unit(
        gt_path,
        pred_path,
        comparison.outcome,
        comparison.gt,
        comparison.pred,
        comparison.similarity,
        comparison.score,
        comparison.threshold,
        weight,
        broken_down=is_object,
        verdict=_verdict(comparison),
    )
    if isinstance(comparison, ObjectComparison) and is_object:
        yield from _in_fields(comparison, gt_path, pred_path, errors_only)


def _in_element(
    element: ElementComparison, gt_path: Path, pred_path: Path, weight: float, errors_only: bool
) -> Iterator[Unit]:
    inner = element.comparison
    gt_place = None if element.gt_index is None else (*gt_path, element.gt_index)
    pred_place = None if element.pred_index is None else (*pred_path, element.pred_index)
    if element.passed and gt_place is not None and pred_place is not None:
        if isinstance(inner, ObjectComparison):
            yield from _in_fields(inner, gt_place, pred_place, errors_only)
            return
        if isinstance(inner, ListComparison):
            yield from _in_unit(inner, gt_place, pred_place, weight, errors_only)
            return
    # A pair of lists counts as an element by its score.
    similarity = inner.score if isinstance(inner, ListComparison) else inner.similarity
    yield Unit(
        gt_place,
        pred_place,
        element.outcome,
        inner.gt,
        inner.pred,
        similarity,
        inner.score,
        element.threshold,
        weight,
        broken_down=False,
        differing=_differing(inner),
        verdict=_verdict(inner),
    )


def _verdict(comparison: Comparison) -> str:
    return comparison.reason if isinstance(comparison, JudgedComparison) else ""


def _differing(comparison: Comparison) -> tuple[str, ...]:
    """Name the fields in which two objects differ, in schema order."""
    if not isinstance(comparison, ObjectComparison) or comparison.outcome not in BOTH_SIDES:
        return ()
    wrong = (entry.name for entry in comparison.fields if not _is_right(entry.comparison))
    return (*wrong, *comparison.extras)


def _is_right(comparison: Comparison) -> bool:
    if isinstance(comparison, ListComparison) and comparison.elements:
        return all(element.passed for element in comparison.elements)
    return comparison.outcome not in ERRORS
