"""A key that a model class accepts for a field is that field, on both sides."""

import json

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, Field

from stickler_cli.api.many import evaluate_many
from stickler_cli.api.ruled import other_names
from stickler_cli.api.zero import evaluate


class Party(BaseModel):
    vat: str = Field(alias="vatNumber")
    parent: "Party | None" = None


class Bill(BaseModel):
    number: str
    iban: str | None = Field(None, alias="IBAN")
    bic: str | None = Field(None, validation_alias=AliasChoices("BIC", AliasPath("bank", "bic")))
    parties: list[Party] = []


class Plain(BaseModel):
    number: str


BILL = {
    "number": "A1",
    "IBAN": "DE89",
    "BIC": "X",
    "parties": [{"vatNumber": "1", "parent": {"vatNumber": "2"}}],
}


def test_only_classes_with_aliases_have_other_names():
    assert other_names(Plain) == {}
    assert other_names(Bill)[""]["IBAN"] == ("iban", [])


@pytest.mark.filterwarnings("ignore:.*inferred how to compare")
@pytest.mark.parametrize("gt", [BILL, Bill(**BILL)])
@pytest.mark.parametrize("pred", [BILL, Bill(**BILL), Bill(**BILL).model_dump(by_alias=False)])
def test_aliases_and_names_are_one_field(gt, pred):
    leaves = evaluate_many(Bill, [(gt, pred)]).to_dict()["confusion_matrix"]["leaves"]

    assert evaluate(gt, pred, schema=Bill).f1 == 1.0
    assert (leaves["tp"], leaves["fp"], leaves["fn"]) == (5, 0, 0)


@pytest.mark.parametrize("gt", [BILL, Bill(**BILL)])
@pytest.mark.parametrize("pred", [Bill(**BILL), Bill(**{**BILL, "IBAN": "DE88", "parties": []})])
def test_a_ground_truth_without_a_class_is_compared_as_the_class_of_the_prediction(gt, pred):
    result, expected = evaluate(gt, pred), evaluate(Bill(**BILL), pred)

    assert result.confusion_matrix == expected.confusion_matrix
    assert result.field_scores == expected.field_scores
    assert [error["field_path"] for error in result.non_matches] == [
        error["field_path"] for error in expected.non_matches
    ]
    assert result.explain() == expected.explain()


def test_a_key_that_the_class_of_the_prediction_lacks_is_compared_all_the_same():
    gt = {**BILL, "parties": [{**BILL["parties"][0], "city": "Bonn"}]}

    result = evaluate(gt, Bill(**BILL))

    (error,) = [error for error in result.non_matches if error["field_path"].endswith("city")]
    assert error["non_match_type"] == "false_negative"
    assert result.field_scores["iban"] == result.field_scores["bic"] == 1.0
    assert evaluate(gt, Bill(**BILL), schema=Bill).undeclared_keys == ("parties.city",)


class Empty(BaseModel):
    pass


def test_the_values_decide_where_the_class_of_the_prediction_has_no_fields():
    assert evaluate({"number": "A1"}, Empty()).counts == (0, 0, 0, 1, 0)


def test_a_wrong_value_is_told_under_the_name(tmp_path):
    wrong = json.loads(json.dumps(BILL).replace("DE89", "DE88"))

    (error,) = evaluate(Bill(**BILL), wrong).non_matches
    assert error["field_path"] == "iban"


class Shipment(BaseModel):
    city: str = Field(validation_alias=AliasPath("address", "city"))
    street: str = Field(validation_alias=AliasPath("address", "street"))
    first: str = Field(validation_alias=AliasPath("names", 0))
    last: str = Field(validation_alias=AliasPath("names", 1))
    code: str = Field(validation_alias=AliasPath("code"))
    sender: Party = Field(validation_alias=AliasChoices("from", AliasPath("parties", 0, "is")))
    bank: dict[str, str] = {}
    bic: str = Field("", validation_alias=AliasPath("bank", "bic"))


SHIPMENT = {
    "address": {"city": "X", "street": "Y 1"},
    "names": ["a", "b"],
    "code": "7",
    "parties": [{"is": {"vatNumber": "1"}}],
    "bank": {"bic": "Z"},
}


@pytest.mark.parametrize("gt", [SHIPMENT, Shipment(**SHIPMENT)])
@pytest.mark.parametrize("pred", [SHIPMENT, Shipment(**SHIPMENT)])
def test_a_path_of_keys_and_indexes_is_a_field_too(gt, pred):
    result = evaluate(gt, pred, schema=Shipment)

    assert result.non_matches == []
    assert {*result.field_scores} == {*Shipment.model_fields}
