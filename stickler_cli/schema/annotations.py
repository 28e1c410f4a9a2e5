"""Annotations: the `x-aws-stickler-*` keys of schemas, and defaults for leaves without annotations.

They are not a pydantic model, because loading pydantic takes longer than compiling most schemas.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias, get_args

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.comparator_registry import construct
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ListPairing, ThresholdSource
from stickler_cli.core.figures import join_some
from stickler_cli.core.json_values import JsonObject, JsonValue, ReadingRule, brief, doubled_names
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem, did_you_mean, percentage_hint
from stickler_cli.core.rules import FRACTION, Rule
from .dialects import Schema

DEFAULT_WEIGHT: Final = 1.0
"""Weight of a field if no annotation states its weight. Source: docs/schema.md."""


@dataclass(frozen=True, slots=True)
class LeafDefault:
    """How leaves of one kind are compared if they have no annotations."""

    comparator: str
    threshold: float
    """The lowest similarity at which two values match, in [0, 1]."""
    config: Mapping[str, object] = field(default_factory=dict, hash=False)


TEXT: Final = LeafDefault("LevenshteinComparator", 0.5)
NUMBER: Final = LeafDefault("NumericComparator", 0.5)
EXACT: Final = LeafDefault("ExactComparator", 1.0)
DATE: Final = LeafDefault("DateComparator", 1.0)
DATE_TIME: Final = LeafDefault("DateComparator", 1.0, {"compare_time": True})
FORM: Final = LeafDefault("CaseInsensitiveComparator", 1.0)

BY_TYPE: Final = {"string": TEXT, "number": NUMBER, "integer": NUMBER, "boolean": EXACT}
BY_FORMAT: Final = {
    "date": DATE,
    "date-time": DATE_TIME,
    **dict.fromkeys(("email", "hostname", "ipv4", "ipv6", "time", "uri"), FORM),
    "uuid": EXACT,
}
"""How strings are compared by default, depending on their `format`. A string of any other format is
compared as plain text."""


def leaf_default(
    kind: str, format_: object = None, *, members: Sequence[JsonValue] = ()
) -> LeafDefault:
    """Return how values of a JSON type are compared if no annotation says so.

    `members` are the values that an enum or const allows; empty if the schema has neither.

    >>> leaf_default("string", "date").comparator
    'DateComparator'
    """
    if members:
        return LeafDefault("EnumComparator", 1.0, {"members": members})
    if kind == "string" and isinstance(format_, str):
        return BY_FORMAT.get(format_, TEXT)
    return BY_TYPE.get(kind, TEXT)


def default_comparator(default: LeafDefault) -> BaseComparator:
    """Return the comparator object for a default comparison.

    If the comparator has no configuration, the same object is returned each time.
    """
    if default.config:
        return construct(default.comparator, default.config)
    return _without_config(default.comparator)


@cache
def _without_config(name: str) -> BaseComparator:
    return construct(name, {})


PREFIX: Final = "x-aws-stickler-"
MOST_WEIGHT: Final = 1e100
"""Maximum weight of a field. The sum of larger weights could overflow."""

OLD_PREFIX: Final = "x-stickler-"
"""A prefix that users write by mistake. It is never valid; messages suggest the valid prefix."""

_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?", re.ASCII)

AnnotationValues: TypeAlias = dict[str, Any]
"""The annotations of one schema. Maps the Python name of each annotation to its value."""

_FLAG: Final = Rule("true or false", {"type": "boolean"})
_LIST_FLAG: Final = Rule("true or false", _FLAG.keywords)
_ON_VALUE: Final = "a single value, or an array of values"
_ON_OBJECT: Final = "an object schema"
_ON_LIST: Final = "an array without prefixItems"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) and text for text in value)


def _is_key(value: str | list[str]) -> bool:
    names = [value] if isinstance(value, str) else value
    return bool(names) and _are_texts(names) and len({*names}) == len(names)


def _are_aliases(value: Mapping[str, object]) -> bool:
    return all(name and _are_texts(texts) for name, texts in value.items())


def _are_scalars(value: Sequence[object]) -> bool:
    return not any(isinstance(item, list | dict) for item in value)


RULES: Final = {
    "comparator": Rule("the name of a comparator, a string", {"type": "string"}),
    "comparator_config": Rule(
        "an object with keyword arguments for the comparator", {"type": "object"}
    ),
    "threshold": FRACTION,
    "weight": Rule(
        "a number above 0, at most 1e100",
        {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_WEIGHT},
    ),
    "clip_under_threshold": _FLAG,
    "aggregate": _FLAG,
    "pairing_floor": Rule(
        "a number in [-1, 1)",
        {"type": "number", "minimum": -1, "exclusiveMaximum": 1},
    ),
    "model_name": Rule("a string", {"type": "string"}),
    "match_threshold": FRACTION,
    "exhaustive": _LIST_FLAG,
    "ordered": _LIST_FLAG,
    "pairing": Rule(
        "best, ordered or position",
        {"type": "string", "enum": list(get_args(ListPairing))},
        get_args(ListPairing).__contains__,
    ),
    "key": Rule(
        "the name of a field of the items, or a list of such names",
        {"type": ["string", "array"]},
        _is_key,
    ),
    "distinct": _LIST_FLAG,
    "aliases": Rule(
        "an object whose keys are names and whose values are lists of strings",
        {"type": "object"},
        _are_aliases,
    ),
    "absent_values": Rule(
        "a list of strings, numbers and booleans", {"type": "array"}, _are_scalars
    ),
    "ignore": _FLAG,
    "any_of": _FLAG,
    "pairs_items": _FLAG,
}
"""Maps the Python name of an annotation, such as `pairing_floor`, to the rule for its values. Both
the compiler and the Python API apply these rules."""
STANDS: Final = {
    "comparator": _ON_VALUE,
    "comparator_config": _ON_VALUE,
    "pairing_floor": "an array",
    "model_name": _ON_OBJECT,
    "match_threshold": _ON_OBJECT,
    **dict.fromkeys(("exhaustive", "ordered", "pairing", "distinct"), _ON_LIST),
    "key": "an array of objects",
    **dict.fromkeys(("aliases", "absent_values"), _ON_VALUE),
}
"""Maps the Python name of an annotation to the kinds of fields that may have it. Annotations that
are not in the dict are allowed at all fields."""
ON_VALUE: Final = tuple(name for name, stands in STANDS.items() if stands == _ON_VALUE)
ON_OBJECT: Final = tuple(name for name, stands in STANDS.items() if stands == _ON_OBJECT)
ON_LIST: Final = ("pairing_floor", "exhaustive", "ordered", "pairing", "distinct")
ON_POSITIONS: Final = ("exhaustive", "ordered", "pairing")
"""The annotations that are allowed on a list whose elements are paired by position."""


def annotated(name: str) -> str:
    """Return the schema key of an annotation, given its name in Python."""
    return f"{PREFIX}{name.replace('_', '-')}"


_NAMES: Final = {annotated(name): name for name in RULES}
KEYS: Final = tuple(_NAMES)
"""All valid schema keys of annotations."""


def own_keys(schema: Mapping[str, object]) -> JsonObject:
    """Return a schema's own entries that look like annotations, whether they are valid or not."""
    return {
        key: value  # type: ignore[misc] # a schema is JSON all the way down
        for key, value in schema.items()
        if _with_hyphens(key).startswith((PREFIX, OLD_PREFIX))
    }


def _with_hyphens(key: str) -> str:
    """Return a key in lower case and with hyphens, the form of all annotation keys."""
    return key.lower().replace("_", "-")


COMPARISON_KEYS: Final = frozenset(
    map(annotated, ("comparator", "comparator_config", "threshold", "clip_under_threshold"))
)
"""Keys of annotations that state how values are compared."""


def states_comparison(schema: Mapping[str, object]) -> bool:
    """Return whether the annotations of this schema itself state how values are compared."""
    return not COMPARISON_KEYS.isdisjoint(schema)


def read_annotations(schema: Mapping[str, object]) -> AnnotationValues:
    """Return the annotations of a schema, as a dict from their Python names to their values.

    Annotations with invalid values are left out.
    """
    return {
        _NAMES[key]: float(value) if type(value) is int else value
        for key, value in schema.items()
        if _is_right(key, value)
    }


def _is_right(key: str, value: Any) -> bool:
    if key not in _NAMES or not RULES[_NAMES[key]].accepts(value):
        return False
    return _NAMES[key] != "aliases" or not [*doubled_names(value)]


def annotation_problems(
    schema: Mapping[str, object], source: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    """Yield the problems of a schema's own annotations, but not of those in its subschemas."""
    for key, value in own_keys(schema).items():
        if _is_right(key, value):
            continue
        pointer = json_pointer((*path, key))
        if key in _NAMES:
            rule, finding = RULES[_NAMES[key]], f"{key.removeprefix(PREFIX)} is {brief(value)}"
            expected, hint = rule.expected, _repair(key, value, rule)
            if rule.accepts(value):
                (text, first_name, second_name), *_ = doubled_names(value)  # type: ignore[arg-type]
                finding, expected = (
                    f"{text} is an alias of {first_name} and of {second_name}",
                    "each alias for only one name",
                )
            yield Problem(
                source=source, found=finding, expected=expected, hint=hint, pointer=pointer
            )
        else:
            expected = "an annotation that docs/schema.md lists"
            name = _with_hyphens(key).removeprefix(PREFIX).removeprefix(OLD_PREFIX)
            names = [valid.removeprefix(PREFIX) for valid in KEYS]
            hint = did_you_mean(name, names, display=lambda valid: PREFIX + valid)
            hint = hint or f"the annotations are {', '.join(KEYS)}"
            yield Problem(
                source=source,
                found=f"{key} is not an annotation",
                expected=expected,
                hint=hint,
                pointer=pointer,
            )
    yield from _pairing_problems(schema, source, path)


def _pairing_problems(
    schema: Mapping[str, object], source: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    """Yield a problem if `pairing` contradicts `ordered` in the same schema."""
    pairing, ordered = (schema.get(annotated(name)) for name in ("pairing", "ordered"))
    are_both_stated = isinstance(ordered, bool) and pairing in get_args(ListPairing)
    if are_both_stated and ordered != (pairing == "ordered"):
        finding = f"the value is {brief(pairing)}, but {annotated('ordered')} is {brief(ordered)}"
        pointer = json_pointer((*path, annotated("pairing")))
        yield Problem(
            source=source,
            found=finding,
            expected="only one of these two keys",
            hint=f"leave out {annotated('ordered')}",
            pointer=pointer,
        )


def _repair(key: str, value: object, rule: Rule) -> str:
    """Return advice on how to write an annotation's value, or an empty text if there is none."""
    match value:
        case None:
            return "leave out the key to get the default"
        case str() if _NUMBER.fullmatch(value) and rule.keywords["type"] == "number":
            return f"write {value} without quotes"
        case "true" | "false" if rule.keywords["type"] == "boolean":
            return f"write {value} without quotes"
        case int() | float() if rule is FRACTION:
            return percentage_hint(value)
        case 0 if key == f"{PREFIX}weight" and value is not False:
            return f"to leave a field out of scores and counts, set {PREFIX}ignore to true"
        case _:
            return ""


Owned: TypeAlias = tuple[tuple[Schema, AnnotationValues], ...]
"""The schemas that apply to a field or element, each with its own annotations. If two annotations
contradict each other, the first schema wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The annotations of a field or element, merged from all schemas that describe it.

    An annotation that no schema has is None.

    An array passes some of its annotations on to its elements. Functions take the annotations
    that are passed on as the argument `inherited`, which is also a `Merged` object. If an element
    itself has another value for an inherited annotation, the inherited value wins.
    """

    comparator: str | None = None
    comparator_config: dict[str, Any] | None = None
    threshold: float | None = None
    weight: float | None = None
    clip_under_threshold: bool | None = None
    aggregate: bool | None = None
    pairing_floor: float | None = None
    model_name: str | None = None
    match_threshold: float | None = None
    exhaustive: bool | None = None
    ordered: bool | None = None
    pairing: ListPairing | None = None
    key: str | list[str] | None = None
    distinct: bool | None = None
    aliases: dict[str, list[str]] | None = None
    absent_values: list[JsonValue] | None = None
    ignore: bool | None = None
    any_of: bool | None = None
    pairs_items: bool | None = None
    named_by: Schema | None = field(default=None, compare=False)
    """The schema that names the comparator, for messages."""
    configured_by: Schema | None = field(default=None, compare=False)
    """The schema that configures the comparator, for messages."""
    by_schema: Owned = field(default=(), compare=False)

    @property
    def config(self) -> dict[str, Any]:
        """The keyword arguments of the comparator, such as `{"absolute_tolerance": 0.01}`."""
        return self.comparator_config or {}

    @property
    def chooses(self) -> bool:
        """Whether an annotation names or configures a comparator."""
        return self.comparator is not None or self.comparator_config is not None

    @property
    def effective_weight(self) -> float:
        """The stated weight of the field, or the default weight."""
        return DEFAULT_WEIGHT if self.weight is None else self.weight

    @property
    def item_threshold(self) -> float:
        """Similarity at which two objects match if they are list items, in [0, 1]."""
        return DEFAULT_MATCH_THRESHOLD if self.match_threshold is None else self.match_threshold

    @property
    def item_source(self) -> ThresholdSource:
        """The source of `item_threshold`."""
        return "default" if self.match_threshold is None else "match-threshold"

    @property
    def object_threshold(self) -> float:
        """Similarity at which two objects match if they are values of a field, in [0, 1]."""
        return self.item_threshold if self.threshold is None else self.threshold

    @property
    def object_source(self) -> ThresholdSource:
        """The source of `object_threshold`."""
        return self.item_source if self.threshold is None else "annotation"

    @property
    def reading(self) -> ReadingRule | None:
        """The rule that replaces a text by the value that it stands for.

        There is one if annotations list aliases, or texts such as `N/A` for absent values. None
        otherwise.
        """
        if not self.aliases and not self.absent_values:
            return None
        return ReadingRule(self.aliases or {}, self.absent_values or ())

    @property
    def list_pairing(self) -> ListPairing | None:
        """How the elements of the list are paired; None if no annotation says so."""
        if self.pairing is None and self.ordered is not None:
            return "ordered" if self.ordered else "best"
        return self.pairing

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields by which items of the list are paired."""
        return (self.key,) if isinstance(self.key, str) else tuple(self.key or ())

    @property
    def signature(self) -> str:
        """A text for the annotations that an array passes on to its elements.

        It can be the key of a dict. Two arrays have equal texts if they pass on the same
        annotations.
        """
        config = sorted(self.config.items())
        return repr((config, self.threshold, *(getattr(self, name) for name in _HANDED_ON[1:])))

    def below(self, threshold: float | None) -> "Merged":
        """Return the annotations that an array passes on to its elements.

        The threshold of the array is not passed on: the result has the given `threshold` instead.
        """
        handed_on: dict[str, Any] = {name: getattr(self, name) for name in _HANDED_ON}
        return Merged(
            **handed_on,
            threshold=threshold,
            named_by=self.named_by,
            configured_by=self.configured_by,
        )


NOTHING_INHERITED: Final = Merged()
IGNORED: Final = "ignored"
ON_ARRAY: Final = ("exhaustive", "pairing", "key", "distinct", "ignore", "any_of")
ON_LEAF: Final = ("aliases", "absent_values")
_HANDED_ON: Final = ("comparator_config", "comparator", "clip_under_threshold", *ON_LEAF)
ON_PLACE: Final = (*ON_LEAF, "ignore", "any_of")


ORDERED: Final = "ordered"
BY_POSITION: Final = "by position"
_PAIRING_RULES: Final = {"ordered": ORDERED, "position": BY_POSITION}


def describe_annotations(merged: Merged, names: Iterable[str]) -> tuple[str, ...]:
    """Return short phrases, such as `distinct`, on the annotations that are not default.

    Only the annotations in `names` are considered.
    """
    descriptions = {
        "exhaustive": "not exhaustive" if merged.exhaustive is False else "",
        "pairing": _PAIRING_RULES.get(merged.list_pairing or "", ""),
        "key": f"key {join_some(merged.keys)}" if merged.key else "",
        "distinct": "distinct" if merged.distinct else "",
        "aliases": f"aliases of {join_some(merged.aliases)}" if merged.aliases else "",
        "absent_values": f"absent {brief(merged.absent_values)}" if merged.absent_values else "",
        "ignore": IGNORED if merged.ignore else "",
        "any_of": "any of a list" if merged.any_of else "",
    }
    return tuple(filter(None, map(descriptions.__getitem__, names)))


def merge_annotations(by_schema: Owned, inherited: Merged) -> Merged:
    """Merge the annotations of all subschemas of a field or element with inherited annotations.

    Inherited annotations win. If several subschemas have an annotation, the first of them wins. A
    configuration is ignored if the comparator is inherited, or named by an earlier subschema.
    """
    winners: AnnotationValues = {}
    for _, annotations in reversed(by_schema):
        winners |= annotations
    inherited_values = ((name, getattr(inherited, name)) for name in RULES)
    winners |= {name: value for name, value in inherited_values if value is not None}
    name, named_by = inherited.comparator, inherited.named_by
    config, configured_by = inherited.comparator_config, inherited.configured_by
    for schema, annotations in by_schema:
        if name is None and config is None and "comparator_config" in annotations:
            config, configured_by = annotations["comparator_config"], schema
        if name is None and "comparator" in annotations:
            name, named_by = annotations["comparator"], schema
    own_threshold: Any = (config or {}).get("threshold")
    if "threshold" not in winners and FRACTION.accepts(own_threshold):
        winners["threshold"] = float(own_threshold)  # stated in the comparator's configuration
    winners |= {"comparator": name, "comparator_config": config or None}
    return Merged(**winners, named_by=named_by, configured_by=configured_by, by_schema=by_schema)
