import gc
import json
import pickle
import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field, create_model

from stickler_cli import Scorer, evaluate_many
from stickler_cli.api import scorer as scorer_module
from stickler_cli.api import zero
from stickler_cli.api.eval_result import EvalResult
from stickler_cli.api.fields import ComparableField
from stickler_cli.api.ruled import ruled
from stickler_cli.api.structured import StructuredModel
from stickler_cli.api.zero import eval_for, evaluate
from stickler_cli.comparators import BaseComparator
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import SchemaError

X = "x-aws-stickler-"


class Currency(Enum):
    EUR = "EUR"
    USD = "USD"


class Line(BaseModel):
    sku: str
    description: str | None = None
    price: Decimal


class Address(BaseModel):
    street: str
    city: str


class Invoice(BaseModel):
    invoice_number: str
    issued: date
    vendor_name: str
    total: Decimal
    currency: Currency
    paid: bool = False
    lines: list[Line] = []
    ship_to: Address | None = None


GT = Invoice(
    invoice_number="INV-7",
    issued=date(2024, 3, 1),
    vendor_name="Smith, John",
    total=Decimal("29.99"),
    currency=Currency.EUR,
    lines=[Line(sku="A1", price=Decimal("9.99")), Line(sku="B2", price=Decimal(20))],
)


def changed(**fields):
    return GT.model_copy(update=fields)


def comparators(instance):
    return {
        field_path(field.path): field.comparator for field in evaluate(instance, instance).inferred
    }


def test_what_a_reader_would_forgive_is_no_error():
    pred = changed(
        invoice_number="inv 7",
        vendor_name="John Smith",
        total=Decimal("30.00"),
        lines=GT.lines[::-1],
    )

    assert evaluate(GT, pred).all_fields_matched


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("invoice_number", "INV-1"),
        ("issued", date(2024, 3, 2)),
        ("vendor_name", "Mary Miller"),
        ("total", Decimal("30.01")),
        ("currency", Currency.USD),
        ("paid", True),
    ],
)
def test_what_a_reader_would_not_forgive_is_one(field, value):
    result = evaluate(GT, changed(**{field: value}))

    assert [error["field_path"] for error in result.non_matches] == [field]


@pytest.mark.filterwarnings("ignore:.*inferred how to compare")
def test_the_rates_are_those_of_values_and_units_are_under_overall():
    # Units: number, issued, vendor, total, currency, paid and two lines. The number is wrong, one
    # line is missed, an address is invented. A line has two values, and no description on either
    # side; the address has two.
    pred = changed(
        invoice_number="INV-1", lines=GT.lines[:1], ship_to=Address(street="a", city="b")
    )

    result = evaluate(GT, pred)

    overall = result.confusion_matrix["overall"]
    assert [overall[name] for name in ("tp", "fd", "fa", "fn", "tn")] == [6, 1, 1, 1, 0]
    assert overall["derived"]["cm_f1"] == pytest.approx(2 * 6 / (6 + 2 + 6 + 1))
    assert result.counts == (7, 1, 2, 2, 1)
    assert result.precision == 7 / 10
    assert result.recall == 7 / 9
    assert result.f1 == pytest.approx(2 * 7 / (7 + 3 + 7 + 2))
    assert result.accuracy == 8 / 13
    assert result.f1 == Scorer(Invoice).score(GT, pred).score
    assert result.f1 == evaluate_many(Invoice, [(GT, pred)]).f1
    assert not result.all_fields_matched


def test_the_overall_score_is_the_mean_of_the_field_scores():
    result = evaluate(GT, changed(paid=True, total=1, lines=GT.lines[:1]))

    assert result.field_scores == {
        "invoice_number": 1.0,
        "issued": 1.0,
        "vendor_name": 1.0,
        "total": 0.0,
        "currency": 1.0,
        "paid": 0.0,
        "lines": 0.5,
        "ship_to": 1.0,
    }
    assert result.overall_score == pytest.approx((4 + 0.5) / 7)  # ship_to is on neither side
    assert not result.matched


def test_a_prediction_may_be_a_dict_or_of_another_class():
    class Other(BaseModel):
        invoice_number: str
        total: float
        colour: str

    expected = {"invoice_number": "INV-7", "total": 29.99, "colour": "red"}

    for pred in (Other(**expected), expected):
        result = evaluate(GT, pred)
        assert result.field_scores["invoice_number"] == result.field_scores["total"] == 1.0
        assert {
            error["field_path"]
            for error in result.non_matches
            if error["non_match_type"] == "false_alarm"
        } == {"colour"}


def test_a_dict_may_hold_what_models_hold():
    pred = {**dict(GT), "total": Decimal("29.99"), "lines": tuple(GT.lines)}

    assert evaluate(GT, pred).all_fields_matched


def test_no_prediction_is_an_empty_dict():
    result = evaluate(GT, {})

    assert result.recall == 0.0
    assert {error["non_match_type"] for error in result.non_matches} == {"false_negative"}


@pytest.mark.parametrize(
    ("gt", "message"),
    [
        ("a", "gt is of type str; give an instance of a pydantic model, or a dict"),
        (None, "gt is of type NoneType"),
        (
            Invoice,
            (
                "gt is the class Invoice, not an instance of it; give an instance of a pydantic "
                "model, or a dict"
            ),
        ),
        (int, "gt is the class int, not an instance of it"),
    ],
)
def test_a_ground_truth_that_is_no_instance_of_a_model_is_refused(gt, message):
    with pytest.raises(TypeError, match=message):
        evaluate(gt, GT)


@pytest.mark.parametrize(
    ("pred", "description"),
    [
        (None, "of type NoneType"),
        ("{}", "of type str"),
        ([GT], "of type list"),
        (Invoice, "the class Invoice, not an instance of it"),
    ],
)
def test_a_prediction_that_is_no_object_is_refused(pred, description):
    with pytest.raises(TypeError, match=f"pred is {description}; give an instance"):
        evaluate(GT, pred)


def test_a_model_that_stands_for_no_document_is_refused():
    with pytest.raises(SchemaError, match="does not describe a document"):
        evaluate(RootModel[int](1), {})


def test_a_model_of_a_map_is_compared_key_by_key():
    prices = RootModel[dict[str, float]]

    result = evaluate(prices({"a": 1.0, "b": 2.0}), prices({"a": 1.0, "b": 3.0}))

    assert result.field_scores == {"a": 1.0, "b": 0.0}


def test_any_type_of_field_finds_its_comparator():
    class Odd:
        def __str__(self):
            return "odd"

    class Everything(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        key: UUID = UUID(int=1)
        moment: datetime = datetime(2024, 1, 1)  # noqa: DTZ001 - naive on purpose
        span: timedelta = timedelta(hours=1)
        choice: Literal["a", "b"] = "a"
        pair: tuple[date, int] = (date(2024, 1, 1), 1)
        tags: set[str] = {"x"}
        bbox: tuple[float, float, float, float] = (0, 0, 1, 1)
        boxes: list[list[float]] = [[0, 0, 1, 1]]
        rates: dict[str, float] = {"a": 0.1}
        optional: int | None = None
        either: int | str = 1
        anything: Any = None
        odd: Odd = Field(default_factory=Odd)
        free: dict[str, Any] = {}
        short: Annotated[str, Field(max_length=3)] = "abc"

    instance = Everything()

    assert evaluate(instance, instance).all_fields_matched
    assert comparators(instance) == {
        "key": "ExactComparator",
        "moment": "DateComparator",
        "span": "LevenshteinComparator",
        "choice": "EnumComparator",
        "pair": "NumericComparator",  # its second position; the first has an entry of its own
        "tags": "LevenshteinComparator",
        "bbox": "BBoxIoUComparator",
        "boxes": "BBoxIoUComparator",
        "rates": "",
        "rates.*": "NumericComparator",
        "optional": "NumericComparator",
        "either": "LevenshteinComparator",  # likewise
        "anything": "",
        "odd": "LevenshteinComparator",  # its text
        "free": "",
        "short": "LevenshteinComparator",
    }


def test_aliases_have_no_say():
    class Aliased(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        total: float = Field(alias="Description", serialization_alias="Notes")

    result = evaluate(Aliased(total=1.0), {"total": 1.001})

    assert result.field_scores == {"total": 1.0}
    assert comparators(Aliased(total=1.0)) == {"total": "NumericComparator"}


def test_computed_fields_are_not_compared():
    class Square(BaseModel):
        side: int

        @computed_field
        @property
        def area(self) -> int:
            return self.side**2

    result = evaluate(Square(side=2), Square(side=3))

    assert [error["field_path"] for error in result.non_matches] == ["side"]


def test_instances_that_were_never_validated_are_compared_all_the_same():
    pred = Invoice.model_construct(invoice_number=["odd"], total="29.99 EUR")

    result = evaluate(GT, pred)

    assert result.field_scores["total"] == 1.0
    assert result.field_scores["invoice_number"] == 0.0


def test_annotations_of_a_model_win():
    class Stated(BaseModel):
        model_config = ConfigDict(json_schema_extra={X + "match-threshold": 0.2})
        sku: str = Field(json_schema_extra={X + "comparator": "LevenshteinComparator"})
        total: float = Field(json_schema_extra={X + "weight": 3})

    result = evaluate(Stated(sku="abcd", total=1), Stated(sku="abcx", total=2))

    assert result.field_scores == {"sku": 0.75, "total": 0.0}
    assert result.overall_score == pytest.approx(0.75 / 4)
    assert not result.matched  # 0.1875 < 0.2
    assert "as annotated" in result.explain()


def test_annotations_that_are_wrong_are_told_with_the_name_of_the_model():
    class Wrong(BaseModel):
        sku: str = Field(json_schema_extra={X + "threshold": 15})

    with pytest.raises(SchemaError, match=r"Wrong#/properties/sku/.*: threshold is 15"):
        evaluate(Wrong(sku="a"), {})


class FirstLetter(BaseComparator):
    def compare(self, gt, pred):
        return 1.0 if gt[:1] == pred[:1] else 0.0


class Part(StructuredModel):
    match_threshold = 0.9
    sku: str = ComparableField(comparator=FirstLetter(), threshold=1.0)


class Whole(BaseModel):
    parts: list[Part]
    sku: str


def test_structured_models_have_their_own_way():
    result = evaluate(Part(sku="abc"), Part(sku="axx"))

    assert result.all_fields_matched
    assert "FirstLetter" in result.explain()


def test_so_have_those_inside_of_others():
    gt = Whole(parts=[Part(sku="abc")], sku="abc")

    result = evaluate(gt, Whole(parts=[Part(sku="axx")], sku="axx"))

    assert result.field_scores == {"parts": 1.0, "sku": 0.0}
    assert [field.threshold for field in result.inferred] == [0.9, 1.0, 1.0]


def test_a_comparator_of_ones_own_may_stand_in_any_model():
    class Small(BaseModel):
        sku: str = ComparableField(comparator=FirstLetter(), weight=2)

    result = evaluate(Small(sku="abc"), Small(sku="axx"))

    assert result.all_fields_matched
    assert [(field.comparator, field.weight) for field in result.inferred] == [("FirstLetter", 2.0)]


def test_a_model_made_of_a_schema_is_compared_by_it():
    model = StructuredModel.from_json_schema(
        {
            "title": "Made",
            "type": "object",
            "properties": {
                "order id": {"type": "string"},
                "sku": {"type": "string", X + "comparator": "LevenshteinComparator"},
            },
        }
    )

    result = evaluate(
        model.from_json({"order id": "a-1", "sku": "abcd"}),
        model.from_json({"order id": "a1", "sku": "abcx"}),
    )

    # Nothing is inferred for such a class: "a-1" and "a1" differ in one of three letters.
    assert result.field_scores == {"order id": pytest.approx(2 / 3), "sku": 0.75}


def test_a_result_is_json_and_names_all_that_the_object_has():
    result = evaluate(GT, changed(paid=True))

    values = json.loads(json.dumps(result.to_dict()))

    assert set(values) == {
        "accuracy",
        "all_fields_matched",
        "confusion_matrix",
        "f1",
        "field_scores",
        "matched",
        "non_matches",
        "overall_score",
        "precision",
        "recall",
    }
    for name, value in values.items():
        assert getattr(result, name) == value


def test_documents_that_are_compared_at_once_have_the_results_that_each_has_alone():
    spec = zero.eval_for(type(GT))
    preds = [GT, changed(paid=True), changed(invoice_number="other", lines=[]), GT]

    together = spec.evaluate_batch((GT, pred) for pred in preds)

    assert [evaluation.overall_score == 1.0 for evaluation in together] == [
        True,
        False,
        False,
        True,
    ]
    assert [evaluation.to_dict() for evaluation in together] == [
        spec.evaluate(GT, pred).to_dict() for pred in preds
    ]
    assert [evaluation.comparison for evaluation in together] == [
        spec.evaluate(GT, pred).comparison for pred in preds
    ]
    assert spec.evaluate_batch([]) == []


def test_a_result_can_be_pickled():
    result = evaluate(GT, changed(paid=True))

    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own

    assert isinstance(again, EvalResult)
    assert again.to_dict() == result.to_dict()
    assert again.explain() == result.explain()


def test_the_explanation_covers_every_field():
    result = evaluate(GT, GT)

    explained = {line.split("  ")[0] for line in result.explain().splitlines()[1:]}

    assert explained == {field_path(row.field) for row in field_listing(result.plan)}


def test_the_explanation_is_an_aligned_table():
    class Small(BaseModel):
        order_id: int
        amounts: list[float]

    small = Small(order_id=1, amounts=[1])

    heading, order, amounts = evaluate(small, small).explain().splitlines()

    assert heading.split() == ["field", "comparator", "threshold", "weight", "why"]
    assert order.split("  ")[0] == "order_id"
    assert order.endswith(
        '1          1       the name "id" suggests an identifier: one wrong character makes a '
        "different identifier"
    )
    assert order.index("1     ") == amounts.index("1     ") == heading.index("threshold")
    assert amounts.startswith("amounts   NumericComparator(absolute_tolerance=0.01, unit='same'")


def test_a_text_that_a_comparator_cannot_read_is_right_if_it_is_the_same():
    class Report(BaseModel):
        period: str
        total: str

    gt = Report(period="first quarter", total="none")

    by_names = eval_for(Report)
    assert by_names.evaluate(gt, gt).all_fields_matched
    other = by_names.evaluate(gt, {"period": "second quarter", "total": "no sum"})
    assert set(other.field_scores.values()) == {0.0}


def test_a_model_without_fields_is_explained_by_the_headings():
    class Nothing(BaseModel):
        pass

    result = evaluate(Nothing(), Nothing())

    assert result.overall_score == 1.0
    assert result.explain() == "field  comparator  threshold  weight  why"


@pytest.mark.slow
def test_a_class_is_compiled_once_and_forgotten_with_the_class():
    class Passing(BaseModel):
        a: str = ""

    first, second = evaluate(Passing(), Passing()), evaluate(Passing(), {"a": "b"})
    assert first.plan is second.plan
    n_cached = len(zero._of_classes)  # noqa: SLF001 - what is kept is what is tested

    del Passing, first, second
    gc.collect()

    assert len(zero._of_classes) < n_cached  # noqa: SLF001


def test_a_nested_class_made_of_a_schema_is_compared_as_the_schema_says():
    code = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
    seller = StructuredModel.from_json_schema({"properties": {"code": {"$ref": "#/$defs/c"}},
                                               "$defs": {"c": code}})  # fmt: skip
    model = create_model("Bill", seller=(seller, ...), total=(float, ...))
    gt, pred = (model(seller={"code": code}, total=1) for code in ("abcdef", "abcdeg"))

    result = evaluate(gt, pred)

    assert [inferred.comparator for inferred in result.inferred] == [
        "",
        "ExactComparator",
        "NumericComparator",
    ]
    assert result.field_scores == {"seller": 0.0, "total": 1.0}


class Sold(BaseModel):
    mood: str
    tags: list[str] = []


@pytest.mark.parametrize(
    "schema", [Sold, {"type": "object", "properties": {"mood": {"type": "string"}}}]
)
def test_values_of_the_ground_truth_say_how_fields_are_compared(schema):
    def evaluate_moods(mood, other, **options):
        return evaluate({"mood": mood}, {"mood": other}, schema=schema, **options)

    for options in ({}, {"partial_gt": True}, {"fields": {"mood": {"weight": 2.0}}}):
        assert evaluate_moods("16:05", "4:05 pm", **options).all_fields_matched
        assert evaluate_moods("1,250 kg", "1250 kg", **options).all_fields_matched
        assert not evaluate_moods("calm", "4:05 pm", **options).all_fields_matched
    assert not eval_for(schema).evaluate({"mood": "16:05"}, {"mood": "4:05 pm"}).all_fields_matched


def test_a_class_is_compiled_once_for_values_of_one_form(monkeypatch):
    class Fresh(Sold):
        pass

    compiled = []
    monkeypatch.setattr(zero, "MOST_KEPT", 2)
    monkeypatch.setattr(zero, "ruled", lambda *args: compiled.append(args) or ruled(*args))

    for mood, count in (("16:05", 2), ("17:05", 2), ("X-1", 3), ("2024-01-02", 4), ("X-2", 5)):
        assert evaluate(Fresh(mood=mood, tags=["a", "b"]), {"mood": mood}).f1 < 1
        assert len(compiled) == count


@pytest.fixture
def compiled(monkeypatch):
    """A list that gets the arguments of each compilation of a schema."""
    calls = []
    zero._of_digest.cache_clear()  # noqa: SLF001 - what is kept is what is tested
    monkeypatch.setattr(zero, "ruled", lambda *args: calls.append(args) or ruled(*args))
    return calls


MOODS = {"type": "object", "properties": {"mood": {"type": "string"}, "due": {"type": "string"}}}


def test_a_schema_is_compiled_once_for_values_of_one_form(compiled, tmp_path):
    def evaluate_moods(mood, schema):
        return evaluate({"mood": mood, "due": "x"}, {"mood": mood}, schema=schema)

    evaluate_moods("16:05", MOODS)
    assert evaluate_moods("4:05", {**MOODS}).inferred == evaluate_moods("16:05", MOODS).inferred
    assert len(compiled) == 2
    evaluate_moods("X-1", MOODS)
    assert len(compiled) == 3
    assert evaluate_moods("16:05", {**MOODS, "properties": {"mood": {"type": "string"}}}).f1 == 1
    assert len(compiled) == 5

    file = tmp_path / "s.json"
    file.write_text(json.dumps(MOODS))
    evaluate_moods("X-1", file)
    evaluate_moods("X-2", str(file))
    assert len(compiled) == 7
    file.write_text(json.dumps({**MOODS, "properties": {"due": {"type": "string"}}}))
    assert evaluate_moods("X-2", file).f1 == 0
    assert len(compiled) == 9


def test_what_is_said_of_values_in_numbers_is_of_the_document_itself(compiled):
    def reason_for_dues(*dues):
        documents = {"due": [*dues]}
        (result,) = evaluate(documents, documents, schema=DUES).inferred
        return result.reason

    assert reason_for_dues("soon", "2024-01-02", "later").startswith("1 of 3 texts read as a date")
    assert reason_for_dues("soon", "2024-01-03", "later").startswith("1 of 3 texts")
    assert reason_for_dues("soon", "then", "2024-01-03", "later").startswith("1 of 4 texts")
    assert reason_for_dues("2024-01-03") == reason_for_dues("2024-01-03", "2024-01-05")
    assert len(compiled) == 4


DUES = {"properties": {"due": {"type": "array", "items": {"type": "string"}}}}


def test_a_schema_that_others_may_change_is_read_again(compiled, tmp_path):
    (tmp_path / "mood.json").write_text('{"type": "string"}')
    file = tmp_path / "s.json"
    file.write_text('{"properties": {"mood": {"$ref": "mood.json"}}}')
    assert evaluate({"mood": "calm"}, {"mood": "clam"}, schema=file).f1 == 0

    exact = {"type": "string", "x-aws-stickler-comparator": "LevenshteinComparator"}
    outside = {"properties": {"mood": {"$ref": (tmp_path / "mood.json").as_uri()}}}
    assert evaluate({"mood": "calm"}, {"mood": "clam"}, schema=outside).f1 == 0
    (tmp_path / "mood.json").write_text(json.dumps({**exact, "x-aws-stickler-threshold": 0.5}))

    assert evaluate({"mood": "calm"}, {"mood": "clam"}, schema=file).f1 == 1
    assert evaluate({"mood": "calm"}, {"mood": "clam"}, schema=outside).f1 == 1
    assert len(compiled) == 8
    with pytest.raises(SchemaError):
        evaluate({"mood": "calm"}, {"mood": "calm"}, schema={"properties": {"mood": {1, 2}}})


def test_documents_without_a_schema_are_compiled_once_where_they_show_the_same(
    compiled, monkeypatch
):
    shown_values = []
    load = zero.load_observed
    monkeypatch.setattr(
        zero, "load_observed", lambda *args: shown_values.append(args) or load(*args)
    )
    for total, count in ((9.5, 1), (8.5, 1), ("9.5 kg", 2)):
        document = {"total": total}
        assert evaluate(document, document).f1 == 1
        assert len(shown_values) == count
    assert not compiled


@pytest.mark.parametrize(
    "call", [eval_for, lambda schema: evaluate({"a": 1}, {"a": 1}, schema=schema)]
)
def test_what_is_no_schema_is_refused_in_words(call):
    with pytest.raises(TypeError, match=r"schema is 5, expected a pydantic class, a JSON Schema"):
        call(5)


IBANS = {"iban": "DE44500105175407324931"}, {"iban": "DE44500105175407324987"}


def test_a_model_with_any_annotation_has_the_numbers_of_evaluate_in_all_ways():
    class Stated(BaseModel):
        iban: str
        title: str = ComparableField(threshold=0.9, default="x")

    class Weighed(BaseModel):
        iban: str = ComparableField(weight=3)

    class Structured(StructuredModel):
        iban: str

    for model, is_right in ((Stated, 0), (Weighed, 0), (Structured, 1)):
        gt, pred = (model(**values) for values in IBANS)
        evaluation = evaluate(gt, pred)
        batch = Scorer(model).evaluate_batch([(gt, pred)])[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            several = evaluate_many(model, [(gt, pred)])

        assert evaluation.field_scores["iban"] == pytest.approx(20 / 22 if is_right else 0)
        matrix = evaluation.to_dict()["confusion_matrix"]
        assert matrix["fields"]["iban"]["leaves"]["tp"] == is_right
        assert batch.to_dict()["confusion_matrix"] == matrix
        assert several.to_dict()["confusion_matrix"]["leaves"] == matrix["leaves"]


DUE = {"type": "object", "properties": {"due": {"type": "string"}, "iban": {"type": "string"}}}
DUES_SEEN = [
    ({"due": "30/11/2024", "iban": "DE1"}, {"due": "2024-11-30", "iban": "DE1"}),
    ({"due": "02/07/2024", "iban": "DE2"}, {"due": "2024-02-07", "iban": "DE3"}),
]


def test_a_scorer_sees_the_values_of_its_ground_truths_as_evaluate_many_does():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = evaluate_many(DUE, DUES_SEEN).to_dict()["confusion_matrix"]
    scorer = Scorer(DUE)
    batch = scorer.evaluate_batch(DUES_SEEN)
    scored = scorer.score_batch(*zip(*DUES_SEEN, strict=True))

    def right(results):
        return sum(
            evaluation.to_dict()["confusion_matrix"]["leaves"]["tp"] for evaluation in results
        )

    # Day and month are swapped, which only the other date tells.
    assert matrix["leaves"]["tp"] == right(batch) == 2
    assert [len(score.errors) for score in scored] == [0, 2]
    assert right([pickle.loads(pickle.dumps(scorer)).evaluate(*DUES_SEEN[0])]) == 2  # noqa: S301
    assert scorer.evaluate(*DUES_SEEN[1]).to_dict() == evaluate(*DUES_SEEN[1], schema=DUE).to_dict()


@pytest.mark.parametrize(
    ("schema", "n_errors"),
    [
        ({"properties": {"due": {}}}, 0),
        ({"properties": {"due": {}, "paid": {"x-aws-stickler-comparator": "ExactComparator"}}}, 1),
    ],
)
def test_a_scorer_sees_the_values_of_places_without_a_description(schema, n_errors):
    # The same day by a date, and another text by the defaults of an annotated schema.
    scored = Scorer(schema).score({"due": "30 November 2024"}, {"due": "2024-11-30"})

    assert len(scored.errors) == n_errors


def test_scorers_by_values_are_kept_in_bounded_number(monkeypatch):
    monkeypatch.setattr(scorer_module, "MAX_SCORERS", 2)
    scorer = Scorer(MOODS)
    for mood in ("16:05", "X-1", "calm", "2024-01-02", "16:05"):
        assert scorer.score({"mood": mood}, {"mood": mood}).score == 1

    assert len(scorer._by_values) == 2  # noqa: SLF001 - what is kept is what is tested
