"""The one function behind the command line, the Python models and every runner.

A class may take a field under other keys than its name: an alias is the field, on both sides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stickler_cli.core.json_values import (
    UNLABELLED,
    Alternative,
    Gold,
    JsonDocument,
    JsonValue,
    is_absent,
    part_of,
)
from stickler_cli.core.locations import ANY_KEY, Step, pointer_steps
from .columns import Columns
from .json_text import with_read_texts
from .object import ObjectNode, is_unseen
from .plan import USUAL, Node, Options, Plan, Purpose, Renames
from .units import UnitTable
from .units_of_account import units_of
from .work import Work


def compare(  # noqa: PLR0913, PLR0917 - documents, and what is known of them
    plan: Plan,
    gts: Sequence[JsonDocument],
    preds: Sequence[JsonDocument],
    options: Options | None = None,
    confidences: Sequence[JsonValue] = (),
    gold: Sequence[Gold | None] = (),
) -> UnitTable:
    """Compare documents under a plan, each ground truth with the prediction of the same position.

    `confidences` are those of the predictions, in their shape, a number in [0, 1] or None at each
    leaf, or None of one without any; they change nothing in the comparison. `gold` is what ground
    truths say of themselves, None of one that says nothing. An object at the root
    is never atomic: an empty document is compared field by field like any other. An array there is
    a list like any.

    Raises:
        ComparisonError: a comparator failed, or gave no finite number in [0, 1]; it tells of one
            pair of values, and nothing of which document.
        WorkLimitError: together they take more work than a pair of documents may.
        TooMuchAtOnceError: something takes more than may be done without a look at signals.
    """
    options = options or USUAL
    work = Work(options.work_limit, options.work_at_once, hides=plan.hides)
    if plan.asks_models and options.client is None:
        options = replace(options, client=plan.client)
    if names := plan.renames:
        gts = [renamed(it, names) for it in gts]  # type: ignore[misc] # documents stay documents
        preds = [renamed(it, names) for it in preds]  # type: ignore[misc]
        confidences = [renamed(it, names) for it in confidences]
    if plan.reads_texts:
        pairs = zip(gts, preds, strict=True)
        preds = [with_read_texts(gt, pred) for gt, pred in pairs]  # type: ignore[misc] # as above
    truths: list[JsonValue] = [*gts]
    known: list[Gold | None] | None = None
    if options.partial_gt or any(gold):
        truths, known = _labelled(plan.root, gts, gold, partial=options.partial_gt)
    columns = Columns(truths, list(preds), work.place(), gold=known)
    columns.confidences = [*confidences] if any(it is not None for it in confidences) else None
    every = np.arange(len(gts))
    account = plan.root.compare(columns, every, every, options.to(Purpose.DOCUMENTS))
    return units_of(account, every)


def _labelled(
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
    own_value, own_gold = _inside(node, value, own, partial)
    if own_gold is not None and not own_gold.labelled:
        return None, UNLABELLED
    candidates = [Alternative(own_value, own_gold)]
    for alternative in gold.alternatives:
        candidates += _candidates(node, alternative, partial)
    if not gold.exhaustive:  # the annotation of a list holds for each of its candidates
        candidates = [
            candidate._replace(gold=replace(candidate.gold or Gold(), exhaustive=False))
            for candidate in candidates
        ]
    place = Gold()
    place.alternatives = tuple(candidates)
    known = [candidate.gold for candidate in candidates]
    place.hides = any(gold is not None and gold.hides for gold in known)
    are_optional = [gold is not None and gold.optional for gold in known]
    are_absent = [
        not is_optional
        and (is_absent(candidate.value) or (node is not None and node.is_nothing(candidate.value)))
        for candidate, is_optional in zip(candidates, are_optional, strict=True)
    ]
    place.there = are_absent[0] and not all(are_absent)
    place.optional = any(are_absent + are_optional) and not all(are_absent)
    return candidates[0].value, place


def _candidates(node: Node | None, alternative: Alternative, partial: bool) -> list[Alternative]:
    """Return the candidates that an alternative stands for: several where it is wrapped itself.

    The list is empty if no value in the alternative is labelled.
    """
    if alternative.gold is None or not alternative.gold.alternatives:
        value, gold = _taken_out(node, alternative.value, alternative.gold, partial)
        is_labelled = gold is None or gold.labelled
        return [alternative._replace(value=value, gold=gold)] if is_labelled else []
    _, gold = _taken_out(node, alternative.value, alternative.gold, partial)
    return [
        candidate._replace(
            metadata={**alternative.metadata, **candidate.metadata},
            at=(*alternative.at, *candidate.at),
        )
        for candidate in (gold.alternatives if gold is not None else ())
    ]


def _may_be_absent(value: JsonValue, gold: Gold | None) -> bool:
    """Return whether a part may be missing; values that count as nothing do not reach up."""
    if gold is None:
        return is_absent(value)
    if gold.alternatives:
        return any(_may_be_absent(each.value, each.gold) for each in gold.alternatives)
    return gold.optional or not gold.labelled or is_absent(value)


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
    for step, part in _looked_at(node, value):
        told, known = _taken_out(node and node.below(step), part, part_of(gold, step), partial)
        if known is not None:
            found.parts[step] = known
        parts[step] = told
    unlabelled = [step for step, known in found.parts.items() if not known.labelled]
    if isinstance(value, dict) and partial and node is not None:
        names = (name for name, _ in node.named() if name != ANY_KEY)
        left_out = [name for name in names if name not in value]
        found.parts |= dict.fromkeys(left_out, UNLABELLED)
    bare: Any = [*parts.values()] if isinstance(value, list) else {**value, **parts}
    if len(unlabelled) == len(parts) and any(not it.labelled for it in found.parts.values()):
        return bare, UNLABELLED
    by_place = isinstance(value, dict) or (node is not None and node.positional)
    found.dropped = len(unlabelled) if isinstance(value, list) else 0
    if unlabelled and not by_place:
        found.exhaustive = False
        for step in unlabelled:
            del found.parts[step]
    found.hides = by_place and any(known.hides for known in found.parts.values())
    nothing = is_absent(bare) or (
        isinstance(bare, list) and node is not None and node.is_nothing(bare)
    )
    found.there = nothing and any(known.there for known in found.parts.values())
    found.optional = any(known.optional for known in found.parts.values()) and all(
        _may_be_absent(part, found.parts.get(step)) or is_unseen(node and node.below(step), part)
        for step, part in parts.items()
    )
    says = found.parts or found.dropped or not found.exhaustive
    return bare, found if says else None


def _looked_at(
    node: Node | None, value: dict[str, JsonValue] | list[JsonValue]
) -> Iterable[tuple[Step, JsonValue]]:
    """Return the parts of a value, but for fields that nobody looks at."""
    if isinstance(value, list):
        return enumerate(value)
    if not isinstance(node, ObjectNode):
        return value.items()
    return ((name, part) for name, part in value.items() if not node.ignores(name))


OTHER_NAMES: Final = "x-other-names"
"""The key of a schema that was made of a class, for such names."""
WHOLE: Final = ""
"""The part that stands for the document."""


def renamed(value: JsonValue, names: Renames, parts: Iterable[str] = (WHOLE,)) -> JsonValue:
    """Return a value under the names of its fields; a key whose field is there too stays."""
    if isinstance(value, list):
        return [renamed(part, names, parts) for part in value]
    if not isinstance(value, dict):
        return value
    known = {key: field for part in parts for key, field in names.get(part, {}).items()}
    found: dict[str, JsonValue] = {}
    rest: Any = value
    for pointer, (name, inside) in known.items():
        steps = pointer_steps(pointer) if pointer.startswith("/") else ()
        if steps and name not in {*value, *found} and (there := _at(value, steps)):
            found[name] = renamed(there[0], names, inside)
            rest = rest if steps[0] in known else _without(rest, steps) or {}
    for key, part in rest.items():
        name, inside = known.get(key, (key, ()))
        named = key if name in value or name in found else name
        found[named] = renamed(part, names, inside) if inside else part
    return found


def _at(value: JsonValue, steps: tuple[str, ...]) -> list[JsonValue]:
    """Return the value that steps lead to, if there is one."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return []
    return [value]


def _without(value: Any, steps: tuple[str, ...]) -> Any:
    """Return a value without the part that steps lead to; None where nothing else is in it."""
    if not steps:
        return None
    step, *below = steps
    if isinstance(value, dict):
        left = _without(value[step], (*below,))
        rest = {key: part for key, part in value.items() if key != step}
        return {**rest, **({} if left is None else {step: left})} or None
    at = int(step)
    several = [*value[:at], _without(value[at], (*below,)), *value[at + 1 :]]
    return several if any(part is not None for part in several) else None
