"""Hypothesis strategies for schemas, and for documents that fit them.

A `Place` is a part of a schema, with a strategy for values that fit it. There are only few words
and numbers, so that values that are drawn independently are often equal, similar or tied.

Making a strategy takes Hypothesis longer than drawing from it. Functions whose result depends only
on few arguments are therefore cached.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from stickler_cli.compare.plan import Options, Plan
from stickler_cli.schema.compiler import compile_schema

X = "x-aws-stickler-"

WORDS = ("ant", "ants", "aunt", "bee", "bees nest", "  ", "", "1", "2024-01-02")
NUMBERS = (0, 1, 1.0, 1.5, 1.51, 2, -3, 1000, 10**20, 0.1, 1e-7)
DATES = ("2024-01-02", "2024-01-05", "2023-12-24", "1999-12-31", "")
CHOICES = ("red", "green", "dark green")
NAMES = ("a", "b", "c", "d e")
KEYS = ("k1", "k2", "n_1", "n_2")
UNDECLARED = ("u1", "u2")

LEAVES = ("text", "number", "boolean", "date", "choice", "box", "nullable")
NESTS = ("object", "list", "tuple", "map")
VALUES_DECIDE = ("union", "open", "recursion")
KINDS = (*LEAVES, *NESTS, *VALUES_DECIDE)

FLOORS = (-1, -0.5, 0, 0.2, 0.6, 0.95)


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of schemas and documents for which a law is tested."""

    kinds: tuple[str, ...] = KINDS
    wrong: bool = False
    """Whether values may have another kind than the schema says."""
    clip: bool = True
    aggregate: bool = True
    open_lists: bool = False
    """Whether schemas may say that the ground truth does not list all items."""
    undeclared: bool = True
    """Whether objects may have keys that the schema does not declare."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a schema, with a strategy for its values."""

    schema: dict[str, Any]
    values: st.SearchStrategy[Any]
    """Strategy for values that fit the schema; none of them is absent."""


@dataclass(frozen=True, slots=True)
class Case:
    """A schema, with as many ground truths as predictions; most laws need one of each."""

    schema: dict[str, Any]
    plan: Plan = field(repr=False)
    gts: list[dict[str, Any]]
    preds: list[dict[str, Any]]
    options: Options

    @property
    def gt(self):
        return self.gts[0]

    @property
    def pred(self):
        return self.preds[0]


scalars = st.sampled_from((None, True, False, *WORDS, *NUMBERS)) | st.text(max_size=4)
json_values = st.recursive(
    scalars | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from((*NAMES, *KEYS, *UNDECLARED)), inner, max_size=3)
    ),
    max_leaves=5,
)
json_objects = st.dictionaries(st.sampled_from((*NAMES, *KEYS, *UNDECLARED)), json_values)


@cache
def annotations(*names, scope):
    """Return a strategy for some of the named annotations.

    Annotations that the scope excludes are never drawn.
    """
    choices = {
        "threshold": st.sampled_from((0, 0.3, 0.5, 0.75, 0.9, 1)),
        "match-threshold": st.sampled_from((0, 0.3, 0.5, 0.7, 0.8, 1)),
        "weight": st.sampled_from((0.1, 0.5, 1, 2, 3.7)),
        "pairing-floor": st.sampled_from(FLOORS),
        **({"clip-under-threshold": st.booleans()} if scope.clip else {}),
        **({"aggregate": st.booleans()} if scope.aggregate else {}),
        **({"exhaustive": st.booleans()} if scope.open_lists else {}),
    }
    return st.fixed_dictionaries(
        {}, optional={X + name: choices[name] for name in names if name in choices}
    )


OF_A_FIELD = ("threshold", "weight", "clip-under-threshold", "aggregate")


def place(schema, values, scope):
    """Return a place whose values are sometimes absent, or of any kind if the scope allows it."""
    return Place(schema, mostly(values, anything if scope.wrong else nothing))


def mostly(usual, rare):
    """Return a strategy that draws from `rare` one time in eight, else from `usual`."""
    return eighths.flatmap(lambda number: rare if number == 7 else usual)


eighths = st.integers(0, 7)
thirds = st.integers(0, 2)
nothing = st.none()
anything = st.none() | json_values


@st.composite
def join_some(draw, fields):
    """Draw an object with most of these fields."""
    return {name: draw(each) for name, each in fields.items() if draw(eighths) < 7}


@st.composite
def leaves(draw, kind, scope):
    field_annotations = draw(annotations(*OF_A_FIELD, scope=scope))
    drawn = draw(leaves_of(kind, scope))
    return Place({**drawn.schema, **field_annotations}, drawn.values)


@cache
def leaves_of(kind, scope):
    """Return a strategy for places of single values of a kind, without annotations of fields."""
    return st.sampled_from([place(schema, values, scope) for schema, values in LEAF_SCHEMAS[kind]])


words = st.sampled_from(WORDS)
numbers = st.sampled_from(NUMBERS)
coordinates = st.integers(0, 3)
LEAF_SCHEMAS = {
    "text": [
        ({"type": "string"}, words),
        ({"type": "string", X + "comparator": "FuzzyComparator"}, words),
        ({"type": "string", X + "comparator": "ExactComparator"}, words),
    ],
    "number": [
        ({"type": "number"}, numbers),
        ({"type": "integer"}, st.integers(-2, 2)),
        ({"type": "number", X + "comparator-config": {"absolute_tolerance": 0.5}}, numbers),
    ],
    "boolean": [({"type": "boolean"}, st.booleans())],
    "date": [({"type": "string", "format": "date"}, st.sampled_from(DATES))],
    "choice": [({"enum": list(CHOICES)}, st.sampled_from(CHOICES))],
    "box": [
        (
            {"type": "array", X + "comparator": "BBoxIoUComparator"},
            st.tuples(coordinates, coordinates).map(
                lambda corner: [*corner, corner[0] + 2, corner[1] + 1]
            ),
        )
    ],
    "nullable": [({"type": ["string", "null"]}, words)],
}


@st.composite
def objects(draw, scope, depth, *, root=False):
    names = draw(some_names)
    fields = {name: draw(places(scope, depth - 1)) for name in names}
    of_object = ("match-threshold",) if root else ("match-threshold", *OF_A_FIELD)
    schema = {
        "type": "object",
        "properties": {name: inside.schema for name, inside in fields.items()},
        **draw(annotations(*of_object, scope=scope)),
    }
    values = {name: inside.values for name, inside in fields.items()}
    if scope.undeclared:
        values |= dict.fromkeys(UNDECLARED, undeclared)
    return place(schema, join_some(values), scope)


some_names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)
undeclared = st.none() | scalars


@st.composite
def maps(draw, scope, depth):
    extra_place = draw(places(scope, depth - 1))
    declared = draw(places(scope, 0))
    schema = {
        "type": "object",
        "additionalProperties": extra_place.schema,
        "properties": {"a": declared.schema},
        **draw(annotations("match-threshold", *OF_A_FIELD, scope=scope)),
    }
    values = {"a": declared.values, "k1": extra_place.values, "k2": extra_place.values}
    if draw(st.booleans()):
        pattern = draw(places(scope, 0))
        schema["patternProperties"] = {"^n_": pattern.schema}
        values |= {"n_1": pattern.values, "n_2": pattern.values}
    return place(schema, join_some(values), scope)


@st.composite
def lists(draw, scope, depth):
    items = draw(places(scope, depth - 1))
    names = ("weight", "aggregate", "pairing-floor", "exhaustive")
    if items.schema.get("type") != "object":
        names = (*names, "threshold", "clip-under-threshold")
    list_annotations = draw(annotations(*names, scope=scope))
    schema = {"type": "array", "items": items.schema, **list_annotations}
    return place(schema, st.lists(items.values, max_size=4), scope)


@st.composite
def tuples(draw, scope, depth):
    positions = draw(st.lists(places(scope, depth - 1), min_size=1, max_size=3))
    tuple_annotations = draw(annotations("weight", "aggregate", scope=scope))
    schema = {
        "type": "array",
        "prefixItems": [position.schema for position in positions],
        **tuple_annotations,
    }
    values = st.tuples(*(position.values for position in positions)).map(list)
    if draw(st.booleans()):
        extra_place = draw(places(scope, 0))
        schema["items"] = extra_place.schema
        values = st.tuples(values, st.lists(extra_place.values, max_size=2)).map(
            lambda two: [*two[0], *two[1]]
        )
    return place(schema, values, scope)


@st.composite
def unions(draw, scope, depth):
    # An arm that nothing fits is chosen all the same where no arm fits the value; outside of
    # wrong values, arms are leaves that take all that is drawn for them.
    simple = replace(scope, kinds=tuple(kind for kind in LEAVES if kind != "box"))
    arms = [draw(places(scope if scope.wrong else simple, depth - 1)) for _ in range(2)]
    word = draw(st.sampled_from(("anyOf", "oneOf")))
    return place({word: [arm.schema for arm in arms]}, arms[0].values | arms[1].values, scope)


@st.composite
def opens(draw, scope, depth):
    schema, values = draw(
        st.sampled_from(
            (
                ({}, json_values),
                ({"type": "object"}, json_objects),
                ({"type": "array"}, st.lists(json_values, max_size=3)),
            )
        )
    )
    names = ("weight", "aggregate")
    return place({**schema, **draw(annotations(*names, scope=scope))}, values, scope)


TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
}
trees = st.recursive(
    join_some({"name": words}),
    lambda inner: join_some({"name": words, "children": st.lists(inner, min_size=1, max_size=3)}),
    max_leaves=4,
)


@st.composite
def recursions(draw, scope, depth):
    node_annotations = draw(annotations("match-threshold", *OF_A_FIELD, scope=scope))
    return place({"$ref": "#/$defs/tree", **node_annotations}, trees, scope)


NESTED = {
    "object": objects,
    "list": lists,
    "tuple": tuples,
    "map": maps,
    "union": unions,
    "open": opens,
    "recursion": recursions,
}


@cache
def places(scope, depth):
    """Return a strategy for places of all kinds in the scope.

    If `depth` is 0, only single values are drawn.
    """
    kinds = [kind for kind in scope.kinds if kind in LEAVES or depth > 0]
    return st.sampled_from(kinds).flatmap(lambda kind: place_of(kind, scope, depth))


@cache
def place_of(kind, scope, depth=2):
    """Return a strategy for places of one kind."""
    if kind in LEAVES:
        return leaves(kind, scope)
    return NESTED[kind](scope, depth)


@st.composite
def edited(draw, value):
    """Draw a copy of a value in which some parts are absent or changed.

    A changed part keeps its JSON type.
    """

    def edit(fragment):
        if draw(eighths) == 0:
            return None
        if isinstance(fragment, dict):
            return {key: edit(inner) for key, inner in fragment.items()}
        if isinstance(fragment, list):
            return [edit(inner) for inner in fragment]
        return another(draw, fragment) if draw(thirds) == 0 else fragment

    return edit(value)


def another(draw, scalar):
    """Return another single value of the same JSON type."""
    match scalar:
        case bool():
            return not scalar
        case int() | float():
            return scalar + 1
        case str():
            return draw(words)
    return scalar


options = st.builds(
    Options,
    pairing_floor=st.sampled_from((*FLOORS, 0.2, 0.2)),
    extra_fields=st.sampled_from(("fa", "fa", "ignore")),
)


def documents(root, sides):
    """Return a strategy for lists of `sides` documents of a place; each document is an object."""
    values = root.values.filter(lambda value: isinstance(value, dict))
    return st.lists(values, min_size=sides, max_size=sides)


@st.composite
def cases(draw, scope, sides=1, kind=None):
    """Draw a schema with `sides` ground truths and as many predictions.

    If `kind` is given, the schema has one field `x` of this kind. In half of the cases, predictions
    are copies of ground truths in which some parts are changed.
    """
    if kind is None:
        root = draw(objects(scope, 3, root=True))
    else:
        only = draw(place_of(kind, scope))
        schema = {"type": "object", "properties": {"x": only.schema}}
        root = Place(schema, st.fixed_dictionaries({"x": only.values}))
    schema = {**root.schema, "$defs": {"tree": TREE}}
    gts = draw(documents(root, sides))
    if draw(st.booleans()):
        preds = [{name: draw(edited(child)) for name, child in gt.items()} for gt in reversed(gts)]
    else:
        preds = draw(documents(root, sides))
    return Case(schema, compile_schema(schema), gts, preds, draw(options))


UNLABELLED = {"_labelled": False}


@st.composite
def annotated(draw, value):
    """Draw a copy of a ground truth in which some parts have alternatives or are not labelled."""

    def annotate(fragment):
        if isinstance(fragment, dict):
            fragment = {key: annotate(inner) for key, inner in fragment.items()}
        if isinstance(fragment, list):
            fragment = [annotate(inner) for inner in fragment]
        choice = draw(st.integers(0, 9))
        if choice == 0:
            return UNLABELLED
        if choice <= 2:
            alternatives = st.one_of(st.none(), edited(value_of(fragment)), json_values)
            keywords = {"_exhaustive": False} if draw(st.booleans()) else {}
            return {
                "_value": fragment,
                "_alternatives": draw(st.lists(alternatives, min_size=1, max_size=2)),
                **keywords,
            }
        return fragment

    return annotate(value)


def value_of(fragment):
    """Return a value without wrappers; None for an unlabelled value."""
    if isinstance(fragment, dict):
        if {"_value", "_labelled"} & fragment.keys():
            return value_of(fragment.get("_value"))
        return {key: value_of(inner) for key, inner in fragment.items()}
    return [*map(value_of, fragment)] if isinstance(fragment, list) else fragment


@st.composite
def shuffled(draw, value):
    """Draw a copy of a value in which all lists are shuffled."""

    def shuffle(fragment):
        match fragment:
            case dict():
                return {key: shuffle(inner) for key, inner in fragment.items()}
            case [_, _, *_]:
                return draw(st.permutations([shuffle(inner) for inner in fragment]))
            case [inner]:
                return [shuffle(inner)]
        return fragment

    return shuffle(value)
