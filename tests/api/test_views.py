"""The dicts that `compare_with` and the bulk evaluator return."""

import json

import pytest

from stickler_cli import (
    ComparableField,
    NonMatchField,
    NonMatchType,
    StructuredModel,
    StructuredModelEvaluator,
)


class Part(StructuredModel):
    name: str = ComparableField()
    size: int = ComparableField()


class Machine(StructuredModel):
    serial: str = ComparableField(weight=3.0, clip_under_threshold=True)
    maker: Part = ComparableField()
    parts: list[Part] = ComparableField()
    tags: list[str] = ComparableField()


GT = Machine(
    serial="abcd",
    maker={"name": "acme", "size": 1},
    parts=[{"name": "gear", "size": 1}, {"name": "bolt", "size": 2}, {"name": "axle", "size": 3}],
    tags=["red"],
)
PRED = Machine(
    serial="axyz",
    maker={"name": "acme"},
    parts=[{"name": "bolt", "size": 2}, {"name": "gear", "size": 9}],
    tags=["red", "new"],
)
DOCUMENTED = ["field_scores", "overall_score", "all_fields_matched"]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({}, []),
        ({"include_confusion_matrix": True}, ["confusion_matrix"]),
        ({"document_non_matches": True}, ["non_matches"]),
        ({"document_field_comparisons": True}, ["field_comparisons"]),
    ],
)
def test_a_result_has_the_keys_that_were_asked_for(options, keys):
    assert list(GT.compare_with(PRED, **options)) == [*DOCUMENTED, *keys]


def test_results_are_plain_json():
    comparison = GT.compare_with(PRED, True, True, True)

    assert json.loads(json.dumps(comparison, allow_nan=False)) == comparison


def test_the_confusion_matrix_tells_of_the_whole_and_of_each_field():
    matrix = GT.compare_with(PRED, include_confusion_matrix=True)["confusion_matrix"]

    assert matrix["overall"]["similarity_score"] == GT.compare(PRED)
    assert matrix["overall"]["all_fields_matched"] is False
    assert matrix["non_matches"] == []
    # gear differs in size: (1 + 0) / 2 is below 0.7, so one pair matches, one does not, axle lacks.
    overall = matrix["fields"]["parts"]["overall"]
    assert {key: overall[key] for key in ("tp", "fd", "fa", "fn", "fp")} == {
        "tp": 1, "fd": 1, "fa": 0, "fn": 1, "fp": 1,
    }  # fmt: skip


def test_rates_can_be_left_out():
    matrix = GT.compare_with(PRED, include_confusion_matrix=True, add_derived_metrics=False)

    assert "derived" not in str(matrix)


def test_recall_may_count_false_discoveries_as_missed():
    def recall(**keywords):
        matrix = GT.compare_with(PRED, include_confusion_matrix=True, **keywords)
        return matrix["confusion_matrix"]["fields"]["parts"]["overall"]["derived"]["cm_recall"]

    assert recall() == 1 / 2
    assert recall(recall_with_fd=True) == 1 / 3


def test_an_entry_of_the_errors_reads_into_its_model():
    errors = GT.compare_with(PRED, document_non_matches=True)["non_matches"]
    read = [NonMatchField(**error) for error in errors]

    assert {error.field_path: error.non_match_type for error in read} == {
        "serial": NonMatchType.FALSE_DISCOVERY,
        "maker.size": NonMatchType.FALSE_NEGATIVE,
        "parts[0]": NonMatchType.FALSE_DISCOVERY,
        "parts[2]": NonMatchType.FALSE_NEGATIVE,
        "tags[1]": NonMatchType.FALSE_ALARM,
    }
    assert errors[0]["non_match_type"].value == "false_discovery"


def test_field_comparisons_tell_of_matches_too():
    entries = GT.compare_with(PRED, document_field_comparisons=True)["field_comparisons"]
    rows = [
        (entry["expected_key"], entry["actual_key"], entry["match"], entry["reason"])
        for entry in entries
    ]

    assert rows == [
        ("serial", "serial", False, "below threshold (0.250 < 0.5)"),
        ("maker.name", "maker.name", True, "exact match"),
        ("maker.size", "maker.size", False, "false negative (unmatched ground truth)"),
        ("parts[0]", "parts[1]", False, "below threshold (0.500 < 0.7)"),
        ("parts[1].name", "parts[0].name", True, "exact match"),
        ("parts[1].size", "parts[0].size", True, "exact match"),
        ("parts[2]", None, False, "false negative (unmatched ground truth)"),
        ("tags[0]", "tags[0]", True, "exact match"),
        ("tags[]", "tags[1]", False, "false alarm (unmatched prediction)"),
    ]
    serial = entries[0]
    assert (serial["score"], serial["weight"], serial["weighted_score"]) == (0.25, 3.0, 0.0)


def test_an_invented_element_inside_an_item_is_named_by_the_item_of_the_ground_truth():
    class Row(StructuredModel):
        name: str = ComparableField()
        tags: list[str] = ComparableField()

    class Table(StructuredModel):
        rows: list[Row] = ComparableField()

    gt = Table(rows=[{"name": "b", "tags": ["x"]}, {"name": "a", "tags": ["y"]}])
    pred = Table(rows=[{"name": "a", "tags": ["y", "new"]}, {"name": "b", "tags": ["x"]}])
    entries = gt.compare_with(pred, document_field_comparisons=True)["field_comparisons"]
    invented = [entry for entry in entries if not entry["match"]]

    assert [(entry["expected_key"], entry["actual_key"]) for entry in invented] == [
        ("rows[1].tags[]", "rows[0].tags[1]")
    ]


def test_errors_of_list_elements_have_reason_and_similarity_beside_their_details():
    errors = GT.compare_with(PRED, document_non_matches=True)["non_matches"]
    details = {
        error["field_path"]: (error.get("reason"), error.get("similarity")) for error in errors
    }

    assert details == {
        "serial": (None, None),
        "maker.size": (None, None),
        "parts[0]": ("below threshold (0.500 < 0.7)", 0.5),
        "parts[2]": ("unmatched ground truth", None),
        "tags[1]": ("unmatched prediction", None),
    }


def test_a_kind_of_error_is_its_value_in_json_and_its_name_as_text():
    kind = NonMatchType.FALSE_ALARM

    assert json.dumps(kind) == '"false_alarm"'
    assert kind == "false_alarm"
    assert str(kind) == "NonMatchType.FALSE_ALARM"


def test_a_match_that_is_not_exact_says_by_how_much():
    gt, pred = Part(name="abcd"), Part(name="abcx")
    entries = gt.compare_with(pred, document_field_comparisons=True)["field_comparisons"]

    assert entries[0]["reason"] == "above threshold (0.750 >= 0.5)"


def test_the_evaluator_gives_rates_per_field():
    result = StructuredModelEvaluator().evaluate(GT, PRED)

    assert list(result) == ["overall", "fields", "confusion_matrix", "non_matches"]
    assert list(result["overall"]) == ["precision", "recall", "f1", "accuracy", "anls_score"]
    assert result["fields"]["serial"]["precision"] == 0.0
    assert result["fields"]["maker"]["fields"]["name"]["f1"] == 1.0
    assert result["fields"]["maker"]["anls_score"] == 0.5
    assert result["fields"]["parts"]["overall"]["recall"] == 1 / 2
    assert [item["overall"]["anls_score"] for item in result["fields"]["parts"]["items"]] == [
        0.5,
        1.0,
    ]
    assert result["fields"]["tags"]["items"] == []
    assert result == GT.compare_with(PRED, evaluator_format=True)


def test_the_counts_of_a_field_stand_beside_its_overall_in_the_evaluators_matrix():
    node = StructuredModelEvaluator().evaluate(GT, PRED)["confusion_matrix"]["fields"]["serial"]

    assert node["fd"] == node["overall"]["fd"] == 1


def test_the_evaluator_keeps_the_errors_of_the_last_pair():
    evaluator = StructuredModelEvaluator(model_class=Machine)
    result = evaluator.evaluate(GT, PRED)

    assert [error.field_path for error in evaluator.non_match_documents] == [
        error["field_path"] for error in result["non_matches"]
    ]
    evaluator.evaluate(GT, GT)
    assert evaluator.non_match_documents == []


def test_the_evaluator_can_leave_the_errors_out():
    result = StructuredModelEvaluator(document_non_matches=False).evaluate(GT, PRED)

    assert result["non_matches"] == result["confusion_matrix"]["non_matches"] == []


def test_the_evaluator_takes_its_rates_from_either_place():
    by_call = StructuredModelEvaluator().evaluate(GT, PRED, recall_with_fd=True)

    assert by_call == StructuredModelEvaluator(recall_with_fd=True).evaluate(GT, PRED)
    assert by_call["fields"]["parts"]["overall"]["recall"] == 1 / 3


def test_the_evaluator_refuses_another_class():
    with pytest.raises(TypeError, match="Part is compared, expected Machine"):
        StructuredModelEvaluator(Machine).evaluate(GT, Part(name="a"))
