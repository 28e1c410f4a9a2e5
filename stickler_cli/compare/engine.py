"""The one function behind the command line, the Python models and every runner.

A class may take a field under other keys than its name: an alias is the field, on both sides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stickler_cli.core.json_values import Gold, JsonDocument, JsonValue
from stickler_cli.core.locations import pointer_steps
from .columns import Columns
from .gold import label_documents
from .json_text import with_read_texts
from .plan import USUAL, Node, Options, Plan, Renames
from .units import Placement, UnitTable
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
        truths, known = label_documents(plan.root, gts, gold, is_partial=options.partial_gt)
    columns = Columns(truths, list(preds), work.place(), gold=known)
    columns.confidences = [*confidences] if any(it is not None for it in confidences) else None
    return record_pairs(plan.root, columns, options, are_documents=True)


def record_pairs(
    node: Node, columns: Columns, options: Options, *, are_documents: bool = False
) -> UnitTable:
    """Compare each ground truth of columns with the prediction of the same slot.

    `are_documents` says that objects are compared by fields even where one is empty.
    """
    slots = np.arange(len(columns.pred))
    table = UnitTable(len(slots))
    place = Placement(
        container=None,
        positions=slots,
        document=slots,
        field=0,
        weight=1.0,
        is_whole=are_documents,
    )
    node.record(columns, slots, slots, options, table, place)
    return table


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
