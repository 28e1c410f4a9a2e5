"""A model that is exported and imported gives the same plan: in examples, and for any model."""

import enum
from decimal import Decimal
from typing import Any, Literal, Optional
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from stickler_cli import (
    BBoxIoUComparator,
    ComparableField,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    NumericComparator,
    SchemaError,
    StructuredModel,
)


class Color(enum.Enum):
    RED = "red"


class Plain(BaseModel):
    size: int = 0


class Line(StructuredModel):
    match_threshold = 0.9
    sku: str = ComparableField(ExactComparator(), threshold=1.0, default=...)


class Tree(StructuredModel):
    children: list["Tree"] | None = None


class Chain(StructuredModel):
    following: Optional["Chain"] = None


class Stated(StructuredModel):
    """A model that uses everything that a configuration can state."""

    code: str = ComparableField(ExactComparator(case_sensitive=True), 0.8, 2.0, alias="theCode")
    count: int = ComparableField(default=3, description="how many", examples=[1])
    flag: bool | None = None
    color: Color = Color.RED
    choice: Literal["a"] = "a"
    amount: Decimal = Decimal("1.5")
    key: UUID | None = None
    box: list[float] = ComparableField(BBoxIoUComparator(), default_factory=list)
    tags: list[str] = ComparableField(clip_under_threshold=True, pairing_floor=-1)
    words: set[str] | None = None
    prices: dict[str, float] | None = None
    free: dict[str, Any] | None = None
    mixed: list[Any] | None = None
    whatever: Any = ComparableField(ExactComparator(), threshold=0.4)
    plain: Plain | None = None
    line: Line | None = ComparableField(aggregate=False)
    lines: list[Line] = ComparableField(default_factory=list)


def same_by_configuration(model):
    again = StructuredModel.model_from_json(model.to_stickler_config())
    return again.comparison_plan() == model.comparison_plan()


def same_by_schema(model):
    again = StructuredModel.from_json_schema(model.to_json_schema())
    return again.comparison_plan() == model.comparison_plan()


def test_all_that_a_configuration_can_state_comes_back():
    assert same_by_configuration(Stated)
    assert same_by_schema(Stated)


def test_a_configuration_says_what_the_class_does():
    fields = Stated.to_stickler_config()["fields"]

    assert fields["code"] == {
        "type": "str",
        "comparator": "ExactComparator",
        "comparator_config": {"case_sensitive": True},
        "threshold": 0.8,
        "weight": 2.0,
        "alias": "theCode",
    }
    assert fields["count"] == {
        "type": "int",
        "comparator": "NumericComparator",
        "threshold": 0.5,
        "weight": 1.0,
        "default": 3,
        "description": "how many",
        "examples": [1],
    }
    assert fields["line"]["fields"]["sku"]["required"] is True
    assert fields["amount"]["default"] == "1.5"
    assert fields["tags"]["type"] == "List[str]"
    assert {name: fields[name]["type"] for name in ("plain", "lines", "free", "mixed")} == {
        "plain": "structured_model",
        "lines": "list_structured_model",
        "free": "dict",
        "mixed": "list",
    }


def test_what_elements_must_reach_is_no_part_of_pydantics_own_schema():
    model = StructuredModel.model_from_json(
        {"fields": {"a": {"type": "List[str]", "item_threshold": 0.9}}}
    )

    assert "x-aws-stickler" not in str(model.model_json_schema())
    assert model.to_stickler_config()["fields"]["a"]["item_threshold"] == 0.9


def test_everything_that_a_configuration_cannot_state_is_told_at_once():
    class Unstated(StructuredModel):
        either: int | str | None = None
        pair: tuple[int, str] = (1, "a")
        grid: list[list[int]] | None = None
        tree: Tree | None = None
        chain: Chain | None = None
        fine: str = ComparableField()

    with pytest.raises(SchemaError) as caught:
        Unstated.to_stickler_config()

    assert {problem.pointer for problem in caught.value.problems} == {
        "/fields/either",
        "/fields/pair",
        "/fields/grid",
        "/fields/tree/fields/children",
        "/fields/chain/fields/following",
    }
    hint = "to_stickler_config() cannot describe this; call to_json_schema() instead"
    assert {problem.hint for problem in caught.value.problems} == {hint}
    assert same_by_schema(Unstated)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"my-key": {"type": "string"}}}, "/fields/my-key"),
        ({"properties": {"a": {"type": ["string", "number"]}}}, "/fields/a"),
        (
            {
                "properties": {
                    "a": {
                        "type": "object",
                        "additionalProperties": {"type": "string", "x-aws-stickler-threshold": 0.9},
                    }
                }
            },
            "/fields/a",
        ),
        (
            {
                "x-aws-stickler-model-name": "DynamicModel",
                "properties": {"a": {"type": "string"}},
            },
            "",
        ),
    ],
)
def test_a_schema_that_says_more_than_a_configuration_is_refused(schema, pointer):
    model = StructuredModel.from_json_schema(schema)

    with pytest.raises(SchemaError) as caught:
        model.to_stickler_config()

    assert pointer in {problem.pointer for problem in caught.value.problems}


def test_the_types_of_a_schema_are_those_of_its_configuration():
    model = StructuredModel.from_json_schema(
        {
            "properties": {
                "paid": {"type": "boolean"},
                "count": {"$ref": "#/$defs/count"},
                "total": {"type": "number"},
                "days": {"type": "array", "items": {"type": "string", "format": "date"}},
                "total2": {"const": 3, "x-aws-stickler-comparator": "NumericComparator"},
                "code": {"enum": ["a"]},
            },
            "$defs": {"count": {"type": "integer"}},
        }
    )
    fields = model.to_stickler_config()["fields"]

    assert {name: entry["type"] for name, entry in fields.items()} == {
        "paid": "bool",
        "count": "int",
        "total": "float",
        "days": "List[str]",
        "total2": "float",
        "code": "str",
    }
    assert same_by_configuration(model)


def test_a_type_that_a_schema_does_not_say_in_so_many_words_goes_by_the_comparator():
    model = StructuredModel.from_json_schema(
        {
            "allOf": [
                {
                    "properties": {
                        "total": {"type": "number"},
                        "box": {"type": "array", "x-aws-stickler-comparator": "BBoxIoUComparator"},
                        "seller": {"properties": {"name": {"type": "string"}}},
                        "open": {"x-aws-stickler-comparator": "ExactComparator"},
                    }
                }
            ]
        }
    )
    fields = model.to_stickler_config()["fields"]

    assert [entry["type"] for entry in fields.values()] == [
        "float",
        "list",
        "structured_model",
        "any",
    ]
    assert same_by_configuration(model)


def test_a_chain_of_references_is_no_recursion():
    schema = {"properties": {"last": {"type": "string"}}}
    for _ in range(10):
        schema = {"properties": {"a": schema, "list": {"type": "array", "items": {}}}}
    for _ in range(10):
        schema = {"properties": {"a": {"type": "array", "items": schema}}}
    model = StructuredModel.from_json_schema(schema)
    again = StructuredModel.model_from_json(model.to_stickler_config())
    deepest = {"last": "x"}
    for _ in range(10):
        deepest = {"a": deepest}
    for _ in range(10):
        deepest = {"a": [deepest]}

    assert again(**deepest).compare(model(**deepest)) == 1.0


COMPARATORS = st.sampled_from(
    [
        None,
        ExactComparator(),
        ExactComparator(strip=False),
        LevenshteinComparator(threshold=0.4),
        NumericComparator(relative_tolerance=0.1),
        FuzzyComparator("token_set_ratio"),
        DateComparator(tolerance=2, range_mode="contains"),
    ]
)
FRACTIONS = st.integers(0, 100).map(lambda percent: percent / 100)
SCALARS = st.sampled_from([str, int, float, bool, str | None])
RULES = {
    "threshold": st.none() | FRACTIONS,
    "weight": st.sampled_from([0.5, 1, 3.0]),
    "aggregate": st.sampled_from([None, True, False]),
    "clip_under_threshold": st.booleans(),
}


def declared(types, **more):
    return st.tuples(types, st.fixed_dictionaries({**RULES, **more}))


LEAVES = declared(SCALARS, comparator=COMPARATORS)
LISTS = declared(
    SCALARS.map(lambda kind: list[kind]),
    comparator=COMPARATORS,
    pairing_floor=st.sampled_from([None, -1, 0.3]),
)


def models(fields):
    """Return a strategy for model classes with some of the fields."""

    def build_model_class(entries, threshold):
        definitions = {
            f"field_{index}": (kind, ComparableField(**rules))
            for index, (kind, rules) in enumerate(entries)
        }
        model = create_model("Made", __base__=StructuredModel, **definitions)
        model.match_threshold = threshold
        return model

    return st.builds(build_model_class, st.lists(fields, min_size=1, max_size=4), FRACTIONS)


def nested(inner):
    return st.one_of(
        LEAVES,
        LISTS,
        declared(models(inner)),
        declared(models(inner).map(lambda model: list[model])),
    )


MODELS = models(st.recursive(LEAVES | LISTS, nested, max_leaves=4))
pytestmark = pytest.mark.filterwarnings("ignore:.* has no effect")  # thresholds of lists of models


@pytest.mark.slow
@given(MODELS)
def test_a_static_and_a_dynamic_model_come_back_from_both_exports(static):
    dynamic = StructuredModel.from_json_schema(static.to_json_schema())

    for model in (static, dynamic):
        assert same_by_schema(model)
        assert same_by_configuration(model)
