"""JSON values: their types, their text in messages, absence, and annotations of ground truths.

A missing key, `null` and `""` are absent. So is an object or list that contains only absent values.
A schema can declare further values as absent, or as aliases of others. *Gold* means the annotations
of a ground truth: alternative right values, unlabelled values, incomplete lists.

Source: docs/semantics.md, Absence; docs/gold.md.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import orjson

from .locations import Path, Step

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
    )
else:
    JsonValue = Any  # no reader by types checks anything inside such a value
JsonObject: TypeAlias = dict[str, JsonValue]
JsonDocument: TypeAlias = JsonObject | list[JsonValue]
DocumentKind: TypeAlias = Literal["object", "array"]
"""The JSON type of all documents that a schema describes."""
OBJECTS: Final[tuple[DocumentKind, ...]] = ("object",)
OBJECTS_OR_ARRAYS: Final[tuple[DocumentKind, ...]] = ("object", "array")

BRIEF_LENGTH: Final = 80  # number of characters of a value in a message

_KINDS: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


def kind_of(value: object) -> str:
    """Return the name of a value's JSON type; the name of its Python type if it is not JSON.

    >>> [kind_of(value) for value in (None, True, 1, 1.5, "a", [], {})]
    ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']
    """
    return _KINDS.get(type(value), type(value).__name__)


def describe_python_type(value: object) -> str:
    """Return a phrase for the Python type of a value, for messages. A class is named itself.

    >>> describe_python_type("a"), describe_python_type(int)
    ('of type str', 'the class int, not an instance of it')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance of it"
    return f"of type {type(value).__name__}"


_AS_TEXT: Final = json.JSONEncoder(ensure_ascii=False, default=str).encode


def brief(value: object, length: int = BRIEF_LENGTH) -> str:
    r"""Return a value as JSON on one line, truncated to a number of characters.

    >>> brief({"a": True})
    '{"a": true}'
    """
    try:
        text = _AS_TEXT(value)
    except (RecursionError, ValueError):
        # The only other causes are deep nesting, or an integer with more digits than Python prints.
        return f"({kind_of(value)}, too large to show)"
    return cut_end(text, length)


def cut_end(text: str, length: int) -> str:
    """Shorten a text to a number of characters, at least 3, with three dots at its end.

    >>> cut_end("invoice-2024", 9), cut_end("short", 9)
    ('invoic...', 'short')
    """
    return text if len(text) <= length else text[: length - 3] + "..."


def same_json(first: JsonValue, second: JsonValue) -> bool:
    """Return whether two JSON values are equal; unlike with `==`, true is not 1.

    Both must be JSON values. A set inside a dict raises TypeError, and NaN may equal itself.

    >>> same_json([1, {"a": 0}], [1.0, {"a": 0}]), same_json(0, False)
    (True, False)
    """
    return json_key(first) == json_key(second)


def json_key(value: JsonValue) -> Hashable:
    """Return a dict key for a value; equal JSON values, and only these, have equal keys."""
    if isinstance(value, dict):
        return dict, frozenset((name, json_key(child)) for name, child in value.items())
    if isinstance(value, list):
        return list, tuple(map(json_key, value))
    return isinstance(value, bool), value


def json_line(value: object) -> bytes:
    """Return a value as one line of JSON, with a line break at the end.

    Integers of any size and values of any depth are supported. NaN and infinities must not occur,
    as orjson would write them as null.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # orjson refuses integers beyond 64 bits, and values deeper than 254 levels.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"


def canonical_json(document: JsonDocument) -> bytes:
    """Return the content of a document as bytes. Equal content gives equal bytes.

    Keys are sorted, and absent values are left out.
    """
    present_values = without_absent(document)
    try:
        return orjson.dumps(present_values, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or more than 254 levels
        return json.dumps(present_values, sort_keys=True).encode("utf-8", "backslashreplace")


def is_absent(value: Any) -> bool:
    """Return whether a value is absent: null, "", or an object or list without present values.

    >>> [is_absent(value) for value in (None, "", [[], {"a": None}], 0, False, "  ")]
    [True, True, True, False, False, False]
    """
    return Absence()(value)


_CONTAINERS: Final = (dict, list)


class Absence:
    """A function like `is_absent` that remembers its results for objects and lists.

    It identifies values by `id()`, so these must live as long as this object.
    """

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def __call__(self, value: Any) -> bool:
        """Return whether a value is absent; see `is_absent`."""
        if not isinstance(value, _CONTAINERS):
            return not value if isinstance(value, str) else value is None
        is_deep, children = False, value.values() if isinstance(value, dict) else value
        for child in children:
            if isinstance(child, _CONTAINERS):
                is_deep = True
            elif child if isinstance(child, str) else child is not None:
                return False  # mostly a value is found here at once
        if is_deep and id(value) not in self._known:
            self._known[id(value)] = all(map(self, children))
        return not is_deep or self._known[id(value)]


def without_absent(value: JsonValue) -> JsonValue:
    """Return a value after removing all absent values inside it, at any depth.

    >>> without_absent({"a": None, "b": [1, ""], "c": {"d": []}})
    {'b': [1]}
    """
    if isinstance(value, dict):
        return {
            name: without_absent(child) for name, child in value.items() if not is_absent(child)
        }
    if isinstance(value, list):
        return [without_absent(child) for child in value if not is_absent(child)]
    return value


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """Reads the values of a field: replaces aliases by names, and some values by None.

    Both sides are read in this way. Case, and the number of blanks between words, do not matter.

    >>> read = ReadingRule({"USA": ["US"], "one": ["1"]}, ["N/A", 0])
    >>> [read(value) for value in ("us", 1, "U.S.", " n/a ", 0.0, False)]
    ['USA', 'one', 'U.S.', None, None, False]
    """

    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Maps each name to its aliases: texts that are read as this name."""
    absent: Sequence[JsonValue] = ()
    """Values that are read as None."""
    names: Mapping[str, str] = field(init=False, compare=False, repr=False)
    """Maps each text to the name that it stands for. Texts are in lower case, with single
    blanks."""
    nothing: frozenset[Hashable] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = {
            _folded(spelling): name
            for name, texts in self.aliases.items()
            for spelling in (name, *texts)
        }
        keys = (
            _folded(spelling) if isinstance(spelling, str) else json_key(spelling)
            for spelling in self.absent
        )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "nothing", frozenset(keys))

    def __call__(self, value: Any) -> Any:
        """Return the value to compare.

        This is None if `value` counts as absent, and the name if `value` is an alias of a name. All
        other values are returned as they are.
        """
        if isinstance(value, str):
            text = _folded(value)
        elif self.nothing and json_key(value) in self.nothing:
            return None
        elif isinstance(value, int | float) and not isinstance(value, bool):
            text = json.dumps(value)
        else:
            return value
        return None if text in self.nothing else self.names.get(text, value)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


_NULL_WORDS: Final = frozenset(
    {"null", "none", "nil", "nan", "n/a", "undefined", "not available", "not applicable"}
    | {"", "-", "--", "---", "\u2013", "\u2014"}
)
"""Texts, in lower case, that mean "no value". NA is not one of them, because it is the code of a
country."""


def says_nothing(text: str) -> bool:
    """Return whether a text such as `none` or `n/a` probably means "no value".

    `is_absent` returns False for these texts, except for the empty text.
    """
    return _folded(text) in _NULL_WORDS


def doubled_names(aliases: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (text, first name, second name) for each text that is an alias of two names."""
    names_by_spelling: dict[str, str] = {}
    for name, texts in aliases.items():
        for text in (name, *texts):
            if names_by_spelling.setdefault(_folded(text), name) != name:
                yield text, names_by_spelling[_folded(text)], name


ALTERNATIVES: Final = "_alternatives"
LABELLED: Final = "_labelled"
EXHAUSTIVE: Final = "_exhaustive"
SAID: Final[Mapping[str, tuple[type, str]]] = {
    ALTERNATIVES: (list, "a list of values"),
    LABELLED: (bool, "true or false"),
    EXHAUSTIVE: (bool, "true or false"),
}
"""The keys of a wrapper object that annotate the value in the wrapper. Maps each key to (type that
the annotation must have, description of this type for messages)."""


@dataclass(slots=True, eq=False)
class Gold:
    """Annotations of a ground-truth value and of values inside it.

    Values without annotations have no entry in `children`.
    """

    alternatives: "tuple[Alternative, ...]" = ()
    """Other right values. The module `compare/gold.py` later stores all right values here. The
    first of them is then the value itself."""
    labelled: bool = True
    """Whether the value is labelled; an unlabelled value is not compared."""
    exhaustive: bool = True
    """Whether a list contains all right items."""
    children: "dict[Step, Gold]" = field(default_factory=dict)
    n_unlabelled_items: int = 0
    """Number of unlabelled items of a list."""
    present_in_alternative: bool = False
    """Whether the value is absent, but has an alternative that is present. This is also true for an
    absent object or list if it is true for a value inside the object or list."""
    is_optional: bool = False
    """Whether the value may be present or absent: both are right."""
    has_unlabelled: bool = False
    """Whether the value or a value inside it is unlabelled; values inside lists do not count."""

    @property
    def all_optional(self) -> bool:
        """Whether the value is an object or list in which everything may be absent.

        False if the value has alternatives.
        """
        return self.is_optional and not self.present_in_alternative and not self.alternatives

    def decides_when_absent(self, *, is_field: bool = True) -> bool:
        """Return whether this annotation matters although the value is absent.

        If the value is absent, the only right prediction is usually an absent value. The annotation
        changes this in these cases:

        - The value is unlabelled.
        - The value, or a value inside it, has an alternative that is present.
        - `is_field` is true, and the value is an incomplete list or has unlabelled values inside.
        """
        decides_as_field = is_field and (self.has_unlabelled or not self.exhaustive)
        return self.present_in_alternative or not self.labelled or decides_as_field

    @staticmethod
    def of_parent(step: Step, child_gold: "Gold | None") -> "Gold | None":
        """Return the annotation of a parent that has only one annotated child, at `step`.

        None if the child has no annotation.
        """
        return child_gold and Gold(
            children={step: child_gold}, has_unlabelled=child_gold.has_unlabelled
        )

    def descendant(self, path: Iterable[Step]) -> "Gold":
        """Return the annotation of a value inside this value; create it if there is none yet."""
        gold = self
        for step in path:
            gold = gold.children.setdefault(step, Gold())
        return gold

    def is_labelled(self, path: Iterable[Step]) -> bool:
        """Return whether the value at a path, and each value that contains it, is labelled.

        The path begins at this value.
        """
        gold: Gold | None = self
        for step in path:
            if gold is not None and gold.labelled:
                gold = gold.children.get(step)
        return gold is None or gold.labelled


class Alternative(NamedTuple):
    """Another right value for a ground truth."""

    value: JsonValue
    gold: Gold | None = None
    """Annotations of this value, without alternatives; None if it has no annotations."""
    metadata: Mapping[Path, JsonObject] = {}
    """Maps paths to metadata of this value and of values inside it. Paths begin at this value."""
    location: Path = ()
    """Path of this value as it is written in the file. It begins at the wrapper object that
    annotates the ground truth, for example `("_alternatives", 0)`."""


UNLABELLED: Final = Gold(labelled=False, has_unlabelled=True)


def child_gold_of(gold: Gold | None, step: Step) -> Gold | None:
    """Return the annotation of a child; None if the child or its parent has no annotation."""
    return None if gold is None else gold.children.get(step)


def drop_unlabelled(value: JsonValue, gold: Gold | None) -> JsonValue:
    """Replace each value of a prediction by null if its ground truth is not labelled."""
    if gold is not None and not gold.labelled:
        return None
    if gold is None or not gold.has_unlabelled or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [
            drop_unlabelled(child, gold.children.get(position))
            for position, child in enumerate(value)
        ]
    return {name: drop_unlabelled(child, gold.children.get(name)) for name, child in value.items()}


def least(confidences: Any) -> float | None:
    """Return a confidence, or the lowest confidence inside an object or list.

    None if there is no confidence.
    """
    if confidences is None or confidences.__class__ is float:
        return confidences
    children = confidences.values() if isinstance(confidences, dict) else confidences
    return min(
        (smallest for child in children if (smallest := least(child)) is not None), default=None
    )
