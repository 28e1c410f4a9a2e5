"""Models that are described by a configuration: the effect of each key, and errors in bad ones."""

import datetime as dt

import pytest
from pydantic import ValidationError

from stickler_cli import SchemaError, StructuredModel
from stickler_cli.comparators import BaseComparator


class Anything(BaseComparator):
    def compare(self, gt, pred):
        return 1.0


CONFIG = {
    "model_name": "Order",
    "match_threshold": 0.8,
    "fields": {
        "number": {
            "type": "str",
            "comparator": "ExactComparator",
            "comparator_config": {"case_sensitive": True},
            "threshold": 1.0,
            "weight": 3.0,
            "required": True,
            "aggregate": True,
            "clip_under_threshold": True,
            "description": "the number",
            "alias": "orderNumber",
            "examples": ["A1"],
        },
        "total": {"type": "float", "default": 0.0},
        "day": {"type": "date"},
        "tags": {"type": "List[str]", "item_threshold": 0.9, "pairing_floor": -1},
        "prices": {"type": "Dict[str, float]"},
        "lines": {
            "type": "list_structured_model",
            "model_name": "Line",
            "match_threshold": 0.6,
            "fields": {"sku": {"type": "str", "threshold": None}},
        },
        "seller": {"type": "structured_model", "fields": {"name": {"type": "Optional[str]"}}},
        "buyer": {"type": "optional_structured_model", "fields": {"name": {"type": "any"}}},
    },
}


@pytest.fixture(scope="module")
def order():
    return StructuredModel.model_from_json(CONFIG)


def node(model, name):
    return next(entry.node for entry in model.comparison_plan().root.fields if entry.name == name)


def test_the_class_has_the_name_and_threshold_of_the_configuration(order):
    assert (order.__name__, order.match_threshold) == ("Order", 0.8)


def test_instances_are_validated_and_filled_in(order):
    instance = order(orderNumber="A1", day="2024-02-03", lines=[{"sku": "x"}])

    assert (instance.number, instance.total, instance.day) == ("A1", 0.0, dt.date(2024, 2, 3))
    assert instance.lines[0].sku == "x"
    assert instance.buyer is None
    with pytest.raises(ValidationError, match="orderNumber"):
        order(total=1)
    with pytest.raises(ValidationError, match="valid date"):
        order(number="A1", day="soon")


def test_each_key_reaches_the_plan(order):
    number = node(order, "number")
    tags, lines = node(order, "tags"), node(order, "lines")

    assert number.comparator.config == {"case_sensitive": True}
    assert (number.threshold, number.weight, number.clip) == (1.0, 3.0, True)
    assert (tags.items.threshold, tags.pairing_floor) == (0.9, -1)
    assert (lines.items.model_name, lines.items.match_threshold) == ("Line", 0.6)
    assert order.model_fields["number"].description == "the number"


@pytest.mark.parametrize(
    ("kind", "threshold"),
    [("str", 0.5), ("int", 0.5), ("bool", 1.0), ("date", 1.0), ("datetime", 1.0)],
)
def test_a_field_without_threshold_has_that_of_its_kind(kind, threshold):
    model = StructuredModel.model_from_json({"fields": {"a": {"type": kind}}})

    assert node(model, "a").threshold == threshold


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("list", [1, "a"]),
        ("dict", {"k": 1}),
        ("any", {"k": [1]}),
        ("list[Optional[int]]", [1, None]),
        ("Dict[str, List[str]]", {"k": ["a"]}),
        (" Str ", "a"),
    ],
)
def test_a_type_takes_its_values(kind, value):
    model = StructuredModel.model_from_json({"fields": {"a": {"type": kind}}})
    instance = model(a=value)

    assert instance.a == value
    assert instance.compare(instance) == 1.0


def test_a_comparator_of_ones_own_needs_leave():
    config = {"fields": {"a": {"type": "str", "comparator": f"{__name__}:Anything"}}}

    with pytest.raises(SchemaError, match="a comparator of an installed package"):
        StructuredModel.model_from_json(config)


def test_a_field_may_have_the_name_of_an_old_method():
    model = StructuredModel.model_from_json({"fields": {"copy": {"type": "str"}}})

    assert model(copy="a").compare_with(model(copy="a"))["field_scores"] == {"copy": 1.0}


def test_a_class_adds_its_fields_to_those_of_a_configuration():
    class Dated(StructuredModel):
        day: dt.date | None = None

        def year(self):
            return self.day.year

    model = Dated.model_from_json({"fields": {"a": {"type": "str"}}})

    assert [entry.name for entry in model.comparison_plan().root.fields] == ["day", "a"]
    assert model(day="2024-01-01").year() == 2024


BAD = [
    ("text", "", "expected an object"),
    ({}, "/fields", "no fields are given"),
    ({"fields": {}}, "/fields", "no fields are given"),
    ({"fields": []}, "/fields", "the value is []"),
    ({"fields": {"a": 1}}, "/fields/a", "the value is 1"),
    ({"fields": {"a": {}}}, "/fields/a/type", "type is missing"),
    ({"fields": {"a": {"type": 1}}}, "/fields/a/type", "the value is 1"),
    ({"fields": {"a": {"type": "strr"}}}, "/fields/a/type", "did you mean str?"),
    ({"fields": {"a": {"type": ["str"]}}}, "/fields/a/type", "expected a string"),
    ({"fields": {"a": {"type": "Dict[int, str]"}}}, "/fields/a/type", "the value is"),
    ({"fields": {"a": {"type": "str", "wieght": 2}}}, "/fields/a/wieght", "did you mean weight?"),
    ({"fields": {"a": {"type": "str", "weight": 0}}}, "/fields/a/weight", "above 0"),
    ({"fields": {"a": {"type": "str", "weight": "2"}}}, "/fields/a/weight", "expected a number"),
    ({"fields": {"a": {"type": "str", "threshold": 4}}}, "/fields/a/threshold", "[0, 1]"),
    ({"fields": {"a": {"type": "str", "pairing_floor": 0}}}, "/fields/a/pairing_floor", "a list"),
    ({"fields": {"a": {"type": "str", "item_threshold": 0}}}, "/fields/a/item_threshold", "list"),
    ({"fields": {"a": {"type": "str", "comparator": "Exact"}}}, "/fields/a/comparator", "one of"),
    (
        {"fields": {"a": {"type": "str", "comparator_config": {"x": 1}}}},
        "/fields/a/comparator_config",
        "without a comparator",
    ),
    (
        {"fields": {"a": {"type": "str", "comparator": "DateComparator",
                          "comparator_config": {"tolerance": -1}}}},
        "/fields/a/comparator_config/tolerance",
        "tolerance is -1",
    ),
    (
        {"fields": {"a": {"type": "str", "comparator": "NumericComparator",
                          "comparator_config": {"tolerence": 1}}}},
        "/fields/a/comparator_config/tolerence",
        "did you mean tolerance?",
    ),
    (
        {"fields": {"a": {"type": "str", "comparator": "LLMComparator"}}},
        "/fields/a/comparator_config",
        "the keyword model of LLMComparator is missing",
    ),
    (
        {"fields": {"a": {"type": "structured_model", "comparator": "ExactComparator",
                          "fields": {"b": {"type": "str"}}}}},
        "/fields/a/comparator",
        "field by field",
    ),
    ({"fields": {"a": {"type": "structured_model"}}}, "/fields/a/fields", "no fields are given"),
    ({"fields": {"_a": {"type": "str"}}}, "/fields/_a", "cannot be the name of a field"),
    ({"fields": {"class": {"type": "str"}}}, "/fields/class", '"alias": "class" to it'),
    (
        {"fields": {"a": {"type": "str"}, "model_config": {"type": "str"}}},
        "/fields/model_config",
        'pydantic does not accept a field with the name "model_config" (',
    ),
    ({"match_threshold": 2, "fields": {"a": {"type": "str"}}}, "/match_threshold", "value is 2"),
    ({"fields": {"a": {"type": "str"}}, "name": "A"}, "/name", 'unknown key "name"'),
]  # fmt: skip


@pytest.mark.parametrize(("config", "pointer", "words"), BAD)
def test_what_is_wrong_is_told_with_its_place(config, pointer, words):
    with pytest.raises(SchemaError) as caught:
        StructuredModel.model_from_json(config)

    messages = {problem.pointer: str(problem) for problem in caught.value.problems}
    assert pointer in messages
    assert words in messages[pointer]


def test_a_name_that_cannot_be_a_field_is_one_problem():
    with pytest.raises(SchemaError) as caught:
        StructuredModel.model_from_json({"fields": {"_a": {"type": "str"}}})

    assert [problem.pointer for problem in caught.value.problems] == ["/fields/_a"]


def test_keywords_of_another_comparator_are_passed_over_with_a_warning_for_each():
    left = {"case_sensitive": True, "dayfirst": "dmy", "normalize": False}
    fields = {"a": {"type": "str", "comparator": "LevenshteinComparator"}}
    fields["a"]["comparator_config"] = left

    with pytest.warns(UserWarning, match="the keyword has no effect") as warned:
        model = StructuredModel.model_from_json({"fields": fields})

    places = [str(warning.message).partition(":")[0] for warning in warned]
    assert places == [
        "#/fields/a/comparator_config/case_sensitive",
        "#/fields/a/comparator_config/dayfirst",
    ]
    assert {warning.filename for warning in warned} == {__file__}
    # The rest of the configuration is in force: case counts.
    assert model(a="A").compare(model(a="a")) == 0
    assert left == {"case_sensitive": True, "dayfirst": "dmy", "normalize": False}


def test_everything_that_is_wrong_is_told_at_once():
    config = {
        "fields": {
            "a": {"type": "strr", "threshold": 4, "comparator": "Exakt"},
            "b": {"type": "structured_model", "fields": {"c": {"type": "int", "weight": -1}}},
        }
    }

    with pytest.raises(SchemaError) as caught:
        StructuredModel.model_from_json(config)

    assert {problem.pointer for problem in caught.value.problems} == {
        "/fields/a/type",
        "/fields/a/threshold",
        "/fields/a/comparator",
        "/fields/b/fields/c/weight",
    }
