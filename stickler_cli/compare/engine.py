"""`compare`, the one function that the command line, the Python models and every runner call.

A class may accept other names for its fields. A document may use these names as keys. Before the
comparison, such keys are renamed to the names of the fields, on both sides.
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
from .plan import DEFAULT_OPTIONS, Node, Options, Plan, Recording, Renames
from .units import Placement, UnitTable
from .work import Work


def compare(  # noqa: PLR0913, PLR0917 - documents, and what their sources state
    plan: Plan,
    gts: Sequence[JsonDocument],
    preds: Sequence[JsonDocument],
    options: Options | None = None,
    confidences: Sequence[JsonValue] = (),
    gold: Sequence[Gold | None] = (),
) -> UnitTable:
    """Compare documents under a plan, each ground truth with the prediction at the same position.

    `confidences` has an entry for each prediction: the confidences of its values, or None. Such
    confidences have the structure of the prediction, with a number in [0, 1] or None in place of
    each value. Confidences do not affect the comparison. `gold` has an entry for each ground truth:
    its annotations, such as alternative values, or None.

    An object at the root is compared field by field even if it is empty. An array at the root is
    compared like any list.

    Raises:
        ComparisonError: a comparator failed, or returned no finite number in [0, 1]; the error
            names the pair of values, but not the document.
        WorkLimitError: comparing all documents takes more work than `options` allow for one pair.
        TooMuchAtOnceError: a single step takes more work than `options` allow between two checks
            for signals.
    """
    options = options or DEFAULT_OPTIONS
    work = Work(
        options.work_limit,
        options.work_at_once,
        has_ignored_values=plan.has_ignored_values,
    )
    if plan.asks_models and options.client is None:
        options = replace(options, client=plan.client)
    if renames := plan.renames:
        gts = [rename_keys(gt, renames) for gt in gts]  # type: ignore[misc] # still documents
        preds = [rename_keys(pred, renames) for pred in preds]  # type: ignore[misc]
        confidences = [rename_keys(confidence, renames) for confidence in confidences]
    if plan.reads_texts:
        pairs = zip(gts, preds, strict=True)
        preds = [with_read_texts(gt, pred) for gt, pred in pairs]  # type: ignore[misc] # as above
    truths: list[JsonValue] = [*gts]
    resolved_gold: list[Gold | None] | None = None
    if options.partial_gt or any(gold):
        truths, resolved_gold = label_documents(plan.root, gts, gold, is_partial=options.partial_gt)
    columns = Columns(truths, list(preds), work.field_work(), gold=resolved_gold)
    if any(confidence is not None for confidence in confidences):
        columns.confidences = [*confidences]
    return record_pairs(plan.root, columns, options, are_documents=True)


def record_pairs(
    node: Node, columns: Columns, options: Options, *, are_documents: bool = False
) -> UnitTable:
    """Compare each ground truth of a column with the prediction at the same position.

    Return a unit table. If `are_documents` is true, the values in the column are documents. Two
    documents that are objects are compared field by field, even if one of them is empty.
    """
    slots = np.arange(len(columns.pred))
    table = UnitTable(len(slots))
    placement = Placement(
        container=None,
        positions=slots,
        document=slots,
        field=0,
        weight=1.0,
        is_whole=are_documents,
    )
    node.record(columns, slots, slots, Recording(options, table, placement))
    return table


OTHER_NAMES: Final = "x-other-names"
"""A key in schemas that are made from classes. Under this key, such a schema has the other names
(aliases) that the class accepts for its fields."""
DOCUMENT_PART: Final = ""
"""Name of a table in `Renames`: the table that renames the top-level keys of documents. The tables
for inner objects have other names."""


def rename_keys(
    value: JsonValue, renames: Renames, part_names: Iterable[str] = (DOCUMENT_PART,)
) -> JsonValue:
    """Rename alternative keys to the names of their fields, at every depth of a value.

    If an object also has a key with the name of the field, its alternative key stays as it is.

    `renames` has one table of alternative keys for each kind of object. `part_names` are the names
    of the tables for `value` itself; if `value` is a list, they are for its items. For the objects
    inside a field, each table names the tables to use.
    """
    if isinstance(value, list):
        return [rename_keys(item, renames, part_names) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: field for name in part_names for key, field in renames.get(name, {}).items()}
    renamed: dict[str, JsonValue] = {}
    remaining: Any = value
    # First move the values that JSON Pointers lead to, then rename the keys that remain.
    for pointer, (name, inner_parts) in fields.items():
        steps = pointer_steps(pointer) if pointer.startswith("/") else ()
        if not steps or name in value or name in renamed:
            continue
        targets = _find_target(value, steps)
        if targets:
            renamed[name] = rename_keys(targets[0], renames, inner_parts)
            if steps[0] not in fields:
                remaining = _remove_target(remaining, steps) or {}
    for key, child in remaining.items():
        name, inner_parts = fields.get(key, (key, ()))
        has_field = name in value or name in renamed
        renamed_child = rename_keys(child, renames, inner_parts) if inner_parts else child
        renamed[key if has_field else name] = renamed_child
    return renamed


def _find_target(value: JsonValue, steps: tuple[str, ...]) -> list[JsonValue]:
    """Return a list that has only the value to which `steps` lead; empty if there is no value."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return []
    return [value]


def _remove_target(value: Any, steps: tuple[str, ...]) -> Any:
    """Return a value without the child that steps lead to; None if nothing is left.

    In a list, None replaces the child.
    """
    if not steps:  # the steps lead to this value
        return None
    step, *inner_steps = steps
    if isinstance(value, dict):
        child = _remove_target(value[step], (*inner_steps,))
        siblings = {key: sibling for key, sibling in value.items() if key != step}
        return {**siblings, **({} if child is None else {step: child})} or None
    index = int(step)
    child = _remove_target(value[index], (*inner_steps,))
    items = [*value[:index], child, *value[index + 1 :]]
    return items if any(item is not None for item in items) else None
