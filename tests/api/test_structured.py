"""`StructuredModel`: all kinds of fields, nested models, and the results of comparing."""

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from typing import Annotated, Any, Dict, Generic, List, Literal, Optional, TypeVar, Union  # noqa: UP035

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
)

from stickler_cli import (
    ComparableField,
    NumericComparator,
    Options,
    SchemaError,
    StructuredModel,
)
from stickler_cli.comparators import BaseComparator
from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tree import UnitTree


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Plain(BaseModel):
    size: int = 0


class Strange:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


@dataclasses.dataclass
class Holder:
    content: bytes

    def __str__(self):
        return "holder"


class Tree(StructuredModel):
    label: str = ComparableField()
    parts: list["Tree"] = ComparableField(default_factory=list)


class Everything(StructuredModel):
    text: Optional[str] = ComparableField()  # noqa: UP045
    by_name: Dict[str, float] = ComparableField(default_factory=dict)  # noqa: UP006
    either: Union[int, str, None] = None  # noqa: UP007
    choice: Literal["x", "y"] = "x"
    color: Color = Color.RED
    level: Level = Level.LOW
    day: dt.date | None = None
    moment: dt.datetime | None = ComparableField()
    amount: decimal.Decimal | None = None
    key: uuid.UUID | None = None
    plain: Plain | None = None
    tree: Tree | None = None
    trees: List[Tree] = ComparableField(default_factory=list)  # noqa: UP006
    marked: Annotated[str, ComparableField(threshold=0.9)] = "q"
    pair: tuple[int, str] = (1, "x")
    numbers: set[int] = Field(default_factory=set)
    raw: bytes = b""
    whatever: Any = None
    free: dict = ComparableField(default_factory=dict)
    strange: Strange | None = None
    type: str | None = None
    properties: int | None = None
    required: bool | None = None
    _private: int = PrivateAttr(3)

    @computed_field
    @property
    def shouted(self) -> str:
        return str(self.text).upper()


FULL = Everything(
    text="hello",
    by_name={"a": 1.5},
    either=3,
    day="2020-01-02",
    moment="2020-01-02T10:00:00",
    amount="12.50",
    key="00000000-0000-0000-0000-000000000001",
    plain={"size": 2},
    tree={"label": "a", "parts": [{"label": "b"}]},
    trees=[{"label": "c"}],
    numbers={1, 2},
    raw=b"q",
    whatever={"a": [1, {"b": None}]},
    free={"k": 1},
    strange=Strange("odd"),
    type="t",
    properties=1,
    required=True,
)


class Item(StructuredModel):
    match_threshold = 0.9
    name: str = ComparableField()


class Basket(StructuredModel):
    owner: str = ComparableField(alias="ownerName")
    items: list[Item] = ComparableField(weight=2.0)


def field(model, name):
    return next(entry.node for entry in model.comparison_plan().root.fields if entry.name == name)


def test_an_instance_of_everything_equals_itself():
    result = FULL.compare_with(FULL, document_non_matches=True)

    assert result["overall_score"] == 1.0
    assert result["non_matches"] == []
    assert result["field_scores"].keys() == Everything.model_fields.keys()


@pytest.mark.parametrize(
    ("name", "comparator", "threshold"),
    [
        ("text", "LevenshteinComparator", 0.5),
        ("choice", "EnumComparator", 1.0),
        ("color", "EnumComparator", 1.0),
        ("day", "DateComparator", 1.0),
        ("moment", "DateComparator", 0.5),  # a ComparableField says 0.5 unless told otherwise
        ("amount", "NumericComparator", 0.5),
        ("key", "ExactComparator", 1.0),
        ("required", "ExactComparator", 1.0),
        ("marked", "LevenshteinComparator", 0.9),
    ],
)
def test_a_plain_annotation_has_the_default_of_its_kind(name, comparator, threshold):
    node = field(Everything, name)

    assert (node.comparator.name, node.threshold) == (comparator, threshold)


def test_a_plan_is_compiled_once_and_equals_that_of_the_exported_schema():
    plan = Everything.comparison_plan()

    assert Everything.comparison_plan() is plan
    assert StructuredModel.from_json_schema(Everything.to_json_schema()).comparison_plan() == plan


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        b"\xff",
        frozenset([b"\xff"]),
        {1, 2},
        {1: 2, (1, 2): 3},
        Strange("x"),
        Strange,
        complex(1, 2),
        10**400,
        float("nan"),
        float("inf"),
        (n for n in [1]),
        lambda: 1,
        dt.timedelta(1),
        Plain(),
        [Plain(), Tree(label="x")],
        FULL,
        [[1]],
        None,
        "\ud800",
        decimal.Decimal("NaN"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_of_any_type_is_scored_in_any_field_and_never_raised(value):
    pred = Everything.model_construct(**dict.fromkeys(Everything.model_fields, value))
    result = FULL.compare_with(pred, document_field_comparisons=True)
    assert 0.0 <= result["overall_score"] <= 1.0
    assert 0.0 <= pred.compare(FULL) <= 1.0


def test_a_value_inside_itself_is_scored():
    container = []
    container.append(container)

    assert FULL.compare(Everything.model_construct(text=container, strange=b"\xff")) < 1.0


def test_a_value_whose_dump_fails_stands_for_its_text():
    pred = Basket.model_construct(owner=b"a\xff", items=[{"name": ("b",)}], extra={1: Strange("s")})
    gt = Basket.model_construct(owner="a\\xff", items=[{"name": ["b"]}])
    basket = Basket.model_construct(owner=Holder(b"\xff"))

    assert gt.compare_with(pred)["field_scores"] == {"owner": 1.0, "items": 1.0}
    assert basket.compare(Basket(owner="holder")) == 1.0


def test_results_have_field_names_and_not_aliases():
    gt = Basket(ownerName="Ann", items=[])

    assert list(gt.compare_with(gt)["field_scores"]) == ["owner", "items"]


def test_undeclared_keys_are_false_alarms_of_a_prediction():
    gt, pred = Basket(owner="a", items=[]), Basket(owner="a", items=[], tip=1)
    (error,) = gt.compare_with(pred, document_non_matches=True)["non_matches"]

    assert (error["field_path"], error["non_match_type"]) == ("tip", "false_alarm")
    assert gt.compare_with(pred, options=Options(extra_fields="ignore"))["all_fields_matched"]


def test_a_prediction_may_be_of_another_class():
    class Loose(BaseModel):
        owner: str
        items: list[dict[str, str]]

    pred = Loose(owner="Ann", items=[{"name": "pen"}])

    assert Basket(owner="Ann", items=[{"name": "pen"}]).compare(pred) == 1.0


@pytest.mark.parametrize("pred", [None, {"owner": "a"}, Basket])
def test_what_is_no_instance_is_a_type_error(pred):
    with pytest.raises(TypeError, match="expected a model instance"):
        Basket(owner="a", items=[]).compare(pred)


def test_the_typed_account_is_the_engines_own():
    comparison = Basket(owner="a", items=[{"name": "x"}]).comparison(Basket(owner="a", items=[]))

    assert isinstance(comparison, UnitTree)
    assert [entry.outcome for entry in comparison.fields] == [Outcome.TP, Outcome.FN]


def test_the_pairing_floor_of_a_run_can_be_set():
    # "ab" and "cd" share nothing: similarity 0.0, at the floor of 0.2 and above that of -1.
    gt, pred = Basket(owner="", items=[{"name": "ab"}]), Basket(owner="", items=[{"name": "cd"}])

    def outcomes(options):
        elements = gt.comparison(pred, options).fields[1].items
        return [element.outcome for element in elements]

    assert outcomes(None) == [Outcome.FN, Outcome.FA]
    assert outcomes(Options(pairing_floor=-1)) == [Outcome.FD]


def test_a_subclass_has_a_plan_of_its_own():
    class Better(Item):
        match_threshold = 0.5
        price: float = ComparableField(NumericComparator(tolerance=1))

    assert len(Item.comparison_plan().root.fields) == 1
    assert [entry.name for entry in Better.comparison_plan().root.fields] == ["name", "price"]
    assert Better.comparison_plan().root.match_threshold == 0.5
    assert Better(name="a", price=1).compare(Better(name="a", price=1.5)) == 1.0


@pytest.mark.parametrize("threshold", [1.5, "high"])
def test_a_match_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(ValueError, match="expected a number in"):
        type("Bad", (StructuredModel,), {"match_threshold": threshold})


def test_items_pass_on_the_match_threshold_of_their_model():
    # 1 of 5 letters differs: 0.8 is below Item's 0.9.
    gt, pred = Basket(items=[{"name": "abcde"}]), Basket(items=[{"name": "abcdx"}])
    (error,) = gt.compare_with(pred, document_non_matches=True)["non_matches"]

    assert error["details"]["reason"] == "below threshold (0.800 < 0.9)"


def test_a_recursive_model_is_compared_to_any_depth():
    gt = Tree(label="a", parts=[{"label": "b", "parts": [{"label": "c"}]}])
    pred = Tree(label="a", parts=[{"label": "b", "parts": [{"label": "d"}]}])
    (error,) = gt.compare_with(pred, document_non_matches=True)["non_matches"]

    # "b" fits, its only part does not: (1 + 0) / 2.
    assert error["field_path"] == "parts[0]"
    assert error["details"]["reason"] == "below threshold (0.500 < 0.7)"
    assert error["ground_truth_value"]["parts"][0]["label"] == "c"


def test_a_forward_reference_is_resolved_when_the_class_is_there():
    class Late(StructuredModel):
        other: Optional["LaterStill"] = None

    class LaterStill(StructuredModel):
        name: str = ComparableField()

    Late.model_rebuild(_types_namespace={"LaterStill": LaterStill})

    assert [entry.name for entry in field(Late, "other").fields] == ["name"]


def test_pydantic_features_go_on_working():
    class Strict(StructuredModel):
        model_config = ConfigDict(frozen=True, extra="forbid")
        code: str = ComparableField()

        @field_validator("code")
        @classmethod
        def upper(cls, code):
            return code.upper()

    instance = Strict(code="a")

    assert instance.compare(Strict(code="A")) == 1.0
    with pytest.raises(ValidationError):
        instance.code = "b"
    with pytest.raises(ValidationError):
        Strict(code="a", other=1)


T = TypeVar("T")


class Box(StructuredModel, Generic[T]):
    content: T = ComparableField()


def test_a_generic_model_has_a_plan_for_each_argument():
    assert field(Box[int], "content").comparator.name == "NumericComparator"
    assert field(Box[str], "content").comparator.name == "LevenshteinComparator"


def test_what_a_dump_leaves_out_is_not_compared():
    class Model(StructuredModel):
        visible: str = ComparableField()
        hidden: str = ComparableField(exclude=True)

        @computed_field
        @property
        def loud(self) -> str:
            return self.visible.upper()

    gt, pred = Model(visible="a", hidden="b"), Model(visible="a", hidden="c")

    assert gt.compare_with(pred) == {
        "field_scores": {"visible": 1.0},
        "overall_score": 1.0,
        "all_fields_matched": True,
    }


def test_serializers_say_what_is_compared():
    class Model(StructuredModel):
        price: float = ComparableField()

        @field_serializer("price")
        def rounded(self, price):
            return round(price)

    assert Model(price=1.2).compare(Model(price=0.9)) == 1.0


def test_a_model_that_dumps_to_no_object_is_compared_by_its_fields():
    class Model(StructuredModel):
        a: str = ComparableField()

        @model_serializer
        def joined(self) -> str:
            return self.a

    assert Model(a="x").compare_with(Model(a="y"))["field_scores"] == {"a": 0.0}


def test_fields_may_have_the_names_of_methods():
    with pytest.warns(UserWarning, match="shadows an attribute"):

        class Model(StructuredModel):
            compare: str = ComparableField()
            comparison: str = ComparableField()

    gt = Model(compare="a", comparison="b")

    assert gt.compare_with(gt)["overall_score"] == 1.0


class Initial(BaseComparator):
    def __init__(self, letters: int = 1, threshold: float = 1.0) -> None:
        super().__init__(threshold)
        self.letters = letters

    def compare(self, gt, pred):
        return float(gt[: self.letters] == pred[: self.letters])


def test_a_comparator_of_ones_own_needs_only_compare():
    class Model(StructuredModel):
        name: str = ComparableField(Initial(2))
        names: list[str] = ComparableField(Initial())

    gt, pred = Model(name="abc", names=["x", "y"]), Model(name="abd", names=["yy", "xx"])
    assert gt.compare(pred) == 1.0
    assert Model.to_json_schema()["properties"]["name"]["x-aws-stickler-comparator"] == (
        f"{__name__}:Initial"
    )


def test_a_comparator_that_is_told_what_json_has_not_cannot_be_exported():
    class Model(StructuredModel):
        names: list[Item] | None = None
        name: str = ComparableField(Initial(letters=object()))

    with pytest.raises(SchemaError) as caught:
        Model.to_json_schema()

    (problem,) = caught.value.problems
    assert problem.pointer == "/properties/name/x-aws-stickler-comparator-config"


def test_from_json_reads_text_and_values():
    text = '{"ownerName": "Ann", "items": [{"name": "pen"}]}'

    assert Basket.from_json(text) == Basket.from_json(text.encode())
    assert Basket.from_json({"ownerName": "Ann", "items": []}).owner == "Ann"
