"""Rules for single fields that go before what a schema says or what is inferred."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypedDict

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.inference import Inferred


class FieldRules(TypedDict, total=False):
    """How one field is compared, as in `ComparableField`; what is left out stays as it is."""

    comparator: BaseComparator | str
    comparator_config: Mapping[str, object]
    threshold: float
    weight: float
    aggregate: bool
    clip_under_threshold: bool
    pairing_floor: float


_RULES = tuple(FieldRules.__annotations__)


def overridden(
    schema: Mapping[str, Any],
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    comparators: dict[str, BaseComparator],
) -> dict[str, Any]:
    """Return a schema with rules for some of its fields, by their paths without list indexes.

    What stands beside a reference goes before what it leads to: so a rule is of one field, whatever
    else has the same definition. Comparators that are instances go into `comparators`.

    Raises:
        UsageError: there is no such field, or no such rule; with all of them.
    """
    annotated, problems = deepcopy(dict(schema)), []
    known = {field_path(field.path): field for field in fields}
    kinds = {field.path: field.kind for field in fields}
    for name, said in rules.items():
        if name not in known:
            hint = did_you_mean(name, known)
            problems.append(Problem("fields", f"there is no field {name}", "a field", hint))
            continue
        for rule in said:
            if rule not in _RULES:
                found, hint = f"{name} has no rule {rule}", did_you_mean(rule, _RULES)
                problems.append(Problem("fields", found, f"one of {', '.join(_RULES)}", hint))
        place = _place(annotated, parse_field_path(name), kinds)
        place |= _annotations(said, known[name], comparators)
    if problems:
        raise UsageError(problems)
    return annotated


def _annotations(
    said: FieldRules, field: Inferred, comparators: dict[str, BaseComparator]
) -> dict[str, object]:
    """Return rules as annotations; a comparator brings its threshold, if it was given one."""
    rules: dict[str, object] = {**said}
    comparator = rules.get("comparator")
    if isinstance(comparator, BaseComparator):
        stated, key = comparator.stated_threshold, f"{comparator.name} #{len(comparators)}"
        comparators[key] = comparator
        rules["comparator"] = key
        rules.setdefault("threshold", field.threshold if stated is None else stated)
    given = {rule: value for rule, value in rules.items() if value is not None}
    return {f"{PREFIX}{rule.replace('_', '-')}": value for rule, value in given.items()}


def _place(schema: dict[str, Any], path: Path, kinds: Mapping[Path, str]) -> dict[str, Any]:
    """Return where the annotations of a field stand, made if nothing is there."""
    place = schema
    for end, step in enumerate(path, 1):
        if step == "*":
            place = _below(place, "additionalProperties")
        else:
            place = _below(_below(place, "properties"), str(step))
        for _ in range(kinds[path[:end]].count("list of ") if end < len(path) else 0):
            place = _below(place, "items")
    return place


def _below(place: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(place.get(key), dict):
        place[key] = {}  # `true` says no more
    part: dict[str, Any] = place[key]
    return part
