"""`ComparableField`: the arguments it rejects, and what it adds to the JSON Schema of a model."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, PydanticUserError, ValidationError

from stickler_cli import ComparableField, ExactComparator, StructuredModel
from stickler_cli.api.ruled import FieldRules
from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.annotations import ON_OBJECT, RULES


class Order(StructuredModel):
    number: str = ComparableField(
        ExactComparator(case_sensitive=True), 0.9, 2.0, ..., True, True, alias="no", max_length=5
    )
    notes: list[str] = ComparableField(default_factory=list, pairing_floor=-1, aggregate=False)
    free: str = ComparableField(threshold=None)


PROPERTIES = Order.to_json_schema()["properties"]


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [
        ("weigth", "did you mean weight?"),
        ("comparater", "did you mean comparator?"),
        ("descripton", "did you mean description?"),
        ("zzz", "put keys of your own into json_schema_extra"),
    ],
)
def test_an_unknown_keyword_is_refused_by_name(keyword, hint):
    with pytest.raises(TypeError) as error:
        ComparableField(**{keyword: 2})
    assert str(error.value) == f"ComparableField has no keyword {keyword}; {hint}"


def test_a_keyword_of_pydantic_1_is_left_to_pydantic():
    with pytest.raises(PydanticUserError, match="use `pattern` instead"):
        ComparableField(regex="a")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"threshold": 1.5}, r"threshold is 1\.5, expected a number in \[0, 1\]"),
        ({"threshold": True}, "threshold is True"),
        ({"weight": 0}, "weight is 0, expected a number above 0"),
        ({"weight": float("nan")}, "weight is nan"),
        ({"pairing_floor": 1}, r"pairing_floor is 1, expected a number in \[-1, 1\)"),
    ],
)
def test_a_number_out_of_range_is_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        ComparableField(**keywords)


def test_a_comparator_class_is_no_comparator():
    with pytest.raises(TypeError, match="expected an instance of a comparator"):
        ComparableField(comparator=ExactComparator)


def test_every_rule_becomes_an_annotation():
    rules = {key: value for key, value in PROPERTIES["number"].items() if key.startswith("x-")}

    assert rules == {
        "x-aws-stickler-comparator": "ExactComparator",
        "x-aws-stickler-comparator-config": {"case_sensitive": True},
        "x-aws-stickler-threshold": 0.9,
        "x-aws-stickler-weight": 2.0,
        "x-aws-stickler-aggregate": True,
        "x-aws-stickler-clip-under-threshold": True,
    }
    assert PROPERTIES["notes"]["x-aws-stickler-pairing-floor"] == -1
    assert PROPERTIES["notes"]["x-aws-stickler-aggregate"] is False


def test_no_threshold_leaves_it_to_the_kind_of_the_field():
    assert "x-aws-stickler-threshold" not in PROPERTIES["free"]


def test_pydantic_still_validates_and_fills_in_defaults():
    with pytest.raises(ValidationError, match="at most 5"):
        Order(no="123456")
    with pytest.raises(ValidationError, match="Field required"):
        Order()

    assert Order(number="1").notes == []
    assert Order(no="1").free is None


def test_a_field_may_be_declared_inside_annotated():
    class Model(StructuredModel):
        name: Annotated[str, ComparableField(threshold=0.9, default=...)]

    (entry,) = Model.comparison_plan().root.fields
    assert entry.node.threshold == 0.9


def test_pydantics_own_schema_has_no_annotations():
    assert "x-aws-stickler" not in str(Order.model_json_schema())


# --- what a comparator says of thresholds, and where it has no say


class Own(StructuredModel):
    stated: str = ComparableField(comparator=LevenshteinComparator(threshold=0.9))
    default_stated: str = ComparableField(comparator=LevenshteinComparator(threshold=0.7))
    by_place: str = ComparableField(comparator=ExactComparator(0.2))
    by_field: str = ComparableField(comparator=LevenshteinComparator(threshold=0.9), threshold=0.3)
    unstated: str = ComparableField(comparator=LevenshteinComparator())
    of_kind: str = ComparableField(comparator=LevenshteinComparator(threshold=0.8), threshold=None)
    items: list[str] = ComparableField(comparator=LevenshteinComparator(threshold=0.9))


def test_the_threshold_that_a_comparator_was_given_is_that_of_the_field():
    expected = [0.9, 0.7, 0.2, 0.3, 0.5, 0.8, 0.9]

    assert [field.node.threshold for field in Own.comparison_plan().root.fields] == expected
    exported = StructuredModel.from_json_schema(Own.to_json_schema())
    assert [field.node.threshold for field in exported.comparison_plan().root.fields] == expected


class Inner(StructuredModel):
    name: str = ComparableField(threshold=1.0)


def warnings_of(make):
    with pytest.warns(UserWarning, match="has no effect") as warned:
        model = make()
    return model, [str(warning.message) for warning in warned]


REST = "has no effect; give comparators to the inner fields instead"


def test_a_comparator_on_models_is_passed_over_with_a_warning_when_the_class_is_made():
    def outer():
        class Outer(StructuredModel):
            single: Inner | None = ComparableField(comparator=LevenshteinComparator(), weight=2)
            several: list[Inner] = ComparableField(comparator=ExactComparator())
            texts: list[str] = ComparableField(comparator=ExactComparator())

        return Outer

    model, messages = warnings_of(outer)

    assert messages == [
        f"Outer.single is compared field by field: LevenshteinComparator {REST}",
        f"Outer.several is compared field by field: ExactComparator {REST}",
    ]

    class Outermost(StructuredModel):
        outer: model = ComparableField()

    fields = Outermost.comparison_plan().root.fields[0].node.fields
    assert fields[0].node.weight == 2
    assert fields[2].node.items.comparator == ExactComparator()


def test_a_threshold_of_a_list_of_models_is_told_of_unless_it_says_what_they_say():
    def lists():
        class Lists(StructuredModel):
            single: Inner = ComparableField(threshold=0.9)
            same: list[Inner] = ComparableField(threshold=0.7)
            several: list[Inner] | None = ComparableField(threshold=0.9)
            either: list[Inner] | str = ComparableField(threshold=0.9)
            deep: list[list[str]] = ComparableField(threshold=0.9)

        return Lists

    model, messages = warnings_of(lists)

    (text,) = messages
    assert text.startswith(
        "Lists.several is a list of Inner: its threshold of 0.9 has no effect. List"
    )
    assert text.endswith("items match if they reach the match_threshold of Inner, which is 0.7")
    nodes = [field.node for field in model.comparison_plan().root.fields]
    assert nodes[0].threshold == 0.9
    exported = model.to_json_schema()["properties"]
    assert "x-aws-stickler-threshold" not in exported["several"]


def test_a_class_that_is_not_finished_is_told_of_when_it_is_first_compared():
    class Early(StructuredModel):
        later: "Later" = ComparableField(ExactComparator())

    class Later(StructuredModel):
        name: str = ComparableField()

    Early.model_rebuild(_types_namespace={"Later": Later})

    assert warnings_of(Early.comparison_plan)[1] == [
        f"Early.later is compared field by field: ExactComparator {REST}"
    ]
    Early.comparison_plan()


def test_what_a_plain_model_in_a_field_says_is_told_of_once():
    class Plain(BaseModel):
        inner: Inner = ComparableField(ExactComparator())
        again: "list[Plain]" = Field(default_factory=list)

    def outer():
        class Outer(StructuredModel):
            plain: Plain = ComparableField()

        return Outer

    Plain.model_rebuild(_types_namespace={"Plain": Plain})
    model, messages = warnings_of(outer)

    assert messages == [f"Plain.inner is compared field by field: ExactComparator {REST}"]
    model.comparison_plan()


def test_in_a_json_schema_it_stays_an_error():
    field_schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"x": {**field_schema, "x-aws-stickler-comparator": "ExactComparator"}},
    }

    with pytest.raises(SchemaError, match="comparator is on an object"):
        StructuredModel.from_json_schema(schema)


def test_a_field_has_a_rule_for_each_annotation_but_those_of_objects():
    # A field of an instance has one value; only documents list those that are right.
    assert FieldRules.__annotations__.keys() == RULES.keys() - {*ON_OBJECT, "any_of"}


def test_a_weight_may_be_1e100_and_no_more():
    ComparableField(weight=1e100)
    with pytest.raises(ValueError, match=r"weight is 1e\+101, expected a number above 0, at most"):
        ComparableField(weight=1e101)


class Known(StructuredModel):
    country: str = ComparableField(aliases={"USA": ("US",)}, absent_values=("-", False))
    steps: list[str] = ComparableField(ordered=True, distinct=True, exhaustive=False)
    note: str = ComparableField(ignore=True)


def test_what_a_ground_truth_knows_is_exported_and_kept():
    schema = Known.to_json_schema()
    annotations = {
        name: {
            key.removeprefix("x-aws-stickler-"): value
            for key, value in field.items()
            if "x-" in key
        }
        for name, field in schema["properties"].items()
    }

    assert annotations["country"]["aliases"] == {"USA": ["US"]}
    assert annotations["country"]["absent-values"] == ["-", False]
    assert {"ordered": True, "distinct": True, "exhaustive": False}.items() <= annotations[
        "steps"
    ].items()
    assert annotations["note"]["ignore"] is True
    again = StructuredModel.from_json_schema(schema)
    assert again.comparison_plan().root == Known.comparison_plan().root
    model = StructuredModel.model_from_json(Known.to_stickler_config())
    assert model.comparison_plan().root == Known.comparison_plan().root


def test_it_holds_when_instances_are_compared():
    gt = Known(country="us", steps=["a", "b", "a"], note="x")
    pred = Known(country="USA", steps=["a", "c", "b"], note="y")

    assert gt.compare_with(pred)["all_fields_matched"] is True
    assert Known(country="-").compare_with(Known(country=""))["overall_score"] == 1.0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"key": []},
            "key is \\[\\], expected the name of a field of the items, or a list of such names",
        ),
        ({"ordered": 1}, "ordered is 1, expected true or false"),
        ({"aliases": {"USA": ["US"], "UY": ["us"]}}, "us is an alias of USA and of UY"),
        ({"aliases": {"a": 5}}, "aliases is {'a': 5}, expected "),
        ({"aliases": {"USA": "US"}}, "aliases is {'USA': 'US'}, expected "),
        (
            {"absent_values": [[]]},
            "absent_values is \\[\\[\\]\\], expected a list of strings, numbers and booleans",
        ),
    ],
)
def test_a_keyword_that_is_wrong_is_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        ComparableField(**keywords)


def test_what_is_the_default_anyway_is_left_out_of_the_schema():
    class Part(StructuredModel):
        match_threshold = 0.7
        text: str = ComparableField()
        stated: str = ComparableField(threshold=0.5)
        named: str | None = ComparableField(LevenshteinComparator(), threshold=0.5)
        texts: list[str] | None = ComparableField()
        flag: bool = ComparableField()  # whose own default is 1
        either: int | str = ComparableField()
        choice: Literal["a"] = ComparableField(threshold=1.0)
        free: dict[str, str] = ComparableField()

    schema = Part.to_json_schema()
    stated = {
        name: place["x-aws-stickler-threshold"]
        for name, place in schema["properties"].items()
        if "x-aws-stickler-threshold" in place
    }

    assert stated == {"stated": 0.5, "flag": 0.5, "either": 0.5, "free": 0.5}
    assert "x-aws-stickler-match-threshold" not in schema
    again = StructuredModel.from_json_schema(schema)
    assert again.comparison_plan() == Part.comparison_plan()
