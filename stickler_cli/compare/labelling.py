"""Ground truths with their gold: values that nobody labelled are taken out."""

from collections.abc import Iterable, Sequence
from typing import Any

from stickler_cli.core.absence import is_absent
from stickler_cli.core.gold import UNLABELLED, Alternative, Gold, part_of
from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import ANY_KEY, Step
from .plan import Node


def labelled(
    root: Node, documents: Sequence[JsonDocument], gold: Sequence[Gold | None], *, partial: bool
) -> tuple[list[JsonValue], list[Gold | None]]:
    """Return ground truths with the values that count where nothing is predicted, and their gold.

    `partial` says that nobody labelled a declared key that is left out.
    """
    each = [*gold] or [None] * len(documents)
    found = [
        (document, None)
        if known is None and not partial
        else _taken_out(root, document, known, partial)
        for document, known in zip(documents, each, strict=True)
    ]
    return [document for document, _ in found], [known for _, known in found]


def _taken_out(
    node: Node | None, value: JsonValue, gold: Gold | None, partial: bool
) -> tuple[JsonValue, Gold | None]:
    if gold is not None and not gold.labelled:
        return None, UNLABELLED
    if gold is None or not gold.alternatives:
        return _inside(node, value, gold, partial)
    own = Gold()
    own.parts, own.exhaustive = gold.parts, gold.exhaustive
    found: list[Alternative] = []
    for each in (Alternative(value, own), *gold.alternatives):
        if each.gold is not None and each.gold.alternatives:  # it is wrapped itself
            _, inner = _taken_out(node, each.value, each.gold, partial)
            for it in inner.alternatives if inner is not None else ():
                more = {**each.metadata, **it.metadata}
                found.append(it._replace(metadata=more, at=(*each.at, *it.at)))
            continue
        told, known = _inside(node, each.value, each.gold, partial)
        if not gold.exhaustive and isinstance(told, list):
            known = known or Gold()
            known.exhaustive = False
        if known is None or known.labelled:
            found.append(each._replace(value=told, gold=known))
    if not found:
        return None, UNLABELLED
    whole = Gold()
    whole.alternatives = tuple(found)
    whole.hides = any(each.gold is not None and each.gold.hides for each in found)
    nothing = [_is_nothing(node, each) for each in found]
    whole.there = nothing[0] and not all(nothing)
    return found[0].value, whole


def _is_nothing(node: Node | None, each: Alternative) -> bool:
    if each.gold is not None and each.gold.there:
        return False
    return is_absent(each.value) or (node is not None and node.is_nothing(each.value))


def _inside(
    node: Node | None, value: JsonValue, gold: Gold | None, partial: bool
) -> tuple[JsonValue, Gold | None]:
    """Return the labelled part of a value, and its gold."""
    if not isinstance(value, dict | list) or (gold is None and not partial):
        return value, gold
    node = node.chosen(value) if node is not None else None
    found = Gold()
    found.exhaustive = gold is None or gold.exhaustive
    parts: dict[Step, JsonValue] = {}
    steps: Iterable[tuple[Step, JsonValue]]
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, part in steps:
        told, known = _taken_out(node and node.below(step), part, part_of(gold, step), partial)
        if known is not None:
            found.parts[step] = known
        parts[step] = told
    unlabelled = [step for step, known in found.parts.items() if not known.labelled]
    if isinstance(value, dict) and partial and node is not None:
        names = (name for name, _ in node.named() if name != ANY_KEY)
        left_out = [name for name in names if name not in value]
        found.parts |= dict.fromkeys(left_out, UNLABELLED)
    bare: Any = [*parts.values()] if isinstance(value, list) else parts
    if len(unlabelled) == len(value) and any(not it.labelled for it in found.parts.values()):
        return bare, UNLABELLED
    if unlabelled and isinstance(value, list):
        found.dropped = len(unlabelled)
        if node is None or not node.positional:
            found.exhaustive = False
            for step in unlabelled:
                del found.parts[step]
    found.hides = any(known.hides for known in found.parts.values())
    found.there = is_absent(bare) and any(known.there for known in found.parts.values())
    says = found.parts or found.dropped or not found.exhaustive
    return bare, found if says else None
