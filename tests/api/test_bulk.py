"""`BulkStructuredModelEvaluator`, which takes documents one by one."""

import json

import pytest

from stickler_cli import (
    BaseComparator,
    BulkStructuredModelEvaluator,
    ComparableField,
    ExactComparator,
    StructuredModel,
    aggregate_from_comparisons,
    evaluate_many,
)
from stickler_cli.api.reference.evaluators import TOGETHER
from stickler_cli.core.problems import UsageError


class Picky(BaseComparator):
    def compare(self, gt, pred):
        if pred == "boom":
            raise RuntimeError("no")
        return float(gt == pred)


class Line(StructuredModel):
    match_threshold = 0.9
    sku: str = ComparableField()
    size: int = ComparableField()


class Order(StructuredModel):
    number: str = ComparableField(ExactComparator())
    note: str = ComparableField(Picky())
    lines: list[Line] = ComparableField()


def order(number="A1", note="", **sizes):
    return Order(number=number, note=note, lines=[{"sku": s, "size": n} for s, n in sizes.items()])


GT = order(gear=1, bolt=2, axle=3)
PAIRS = [
    ("same", GT, GT),
    ("wrong", GT, order("A2", gear=1, bolt=2, axle=4)),
    ("less", GT, order(gear=1)),
]


def filled(pairs=PAIRS, **keywords):
    evaluator = BulkStructuredModelEvaluator(Order, **keywords)
    evaluator.update_batch([(gt, pred, name) for name, gt, pred in pairs])
    return evaluator


def figures(results):
    return results.model_dump(exclude={"total_time"})


def test_results_are_those_of_evaluate_many():
    evaluator = filled()

    assert evaluator.evaluation.to_dict() == evaluate_many(Order, PAIRS).to_dict()
    assert evaluator.compute().evaluation is evaluator.evaluation


def test_metrics_count_units_and_leaves_of_a_field_count_values_in_missed_items_too():
    results = filled().compute()

    # Of 4 units each: 4 + 2 + 2 are right; A2 and one line (0.5) are wrong; two lines are missed.
    assert results.document_count == 3
    counts = {key: results.metrics[key] for key in ("tp", "fd", "fa", "fn", "fp", "tn")}
    assert counts == {"tp": 8, "fd": 2, "fa": 0, "fn": 2, "fp": 2, "tn": 3}
    assert results.metrics["cm_precision"] == 8 / 10
    # Lines are the units: 3 + 2 + 1 match, the one with another size does not, two are missed.
    lines = results.field_metrics["lines"]
    assert (lines["tp"], lines["fd"], lines["fn"], lines["cm_recall"]) == (6, 1, 2, 6 / 8)
    values = lines["leaves"]
    assert (values["tp"], values["fd"], values["fn"], values["cm_recall"]) == (13, 1, 4, 13 / 17)
    # Only lines that match have units inside.
    sku = results.field_metrics["lines.sku"]
    assert (sku["tp"], sku["fn"], sku["leaves"]["tp"], sku["leaves"]["fn"]) == (6, 0, 7, 2)
    assert lines["mean_score"] == pytest.approx((1 + 2.5 / 3 + 1 / 3) / 3)
    assert "mean_score" not in sku


def test_field_metrics_count_as_compare_with_does():
    number, lines = "number", "lines"
    matrix = GT.compare_with(PAIRS[2][2], include_confusion_matrix=True)["confusion_matrix"]
    results = filled(PAIRS[2:]).compute()

    for name in (number, lines):
        for outcome in ("tp", "fd", "fa", "fn", "fp", "tn"):
            expected = matrix["fields"][name]["overall"][outcome]
            assert results.field_metrics[name][outcome] == expected


def test_programs_may_close_an_evaluator_and_look_for_a_matrix():
    evaluator = filled()
    evaluator.close()
    results = evaluator.compute()

    assert results.document_count == 3
    assert results.matrix is None


def test_errors_of_values_name_their_document():
    results = filled().compute()

    assert [
        (non_match["doc_id"], non_match["field_path"]) for non_match in results.non_matches
    ] == [
        ("wrong", "number"),
        ("wrong", "lines[2]"),
        ("less", "lines[1]"),
        ("less", "lines[2]"),
    ]
    assert filled(document_non_matches=False).compute().non_matches is None


@pytest.mark.parametrize(
    ("gt", "pred", "message"),
    [
        (GT, None, "there is no prediction for this ground truth"),
        (None, GT, "there is no ground truth for this prediction"),
        (GT, 5, "the prediction is of type integer, expected a JSON object"),
        (GT, "{}", "the prediction is of type string"),
        (order(note="x"), order(note="boom"), "RuntimeError"),
    ],
)
def test_what_cannot_be_compared_is_an_error_of_that_document_and_no_missed_values(
    gt, pred, message
):
    expected, results = filled().compute(), filled([*PAIRS, ("odd", gt, pred)]).compute()

    assert results.metrics == expected.metrics
    assert results.document_count == 4
    (error,) = results.errors
    assert error["doc_id"] == "odd"
    assert message in error["error"]


def test_errors_can_be_left_out_altogether():
    results = filled([*PAIRS, ("odd", GT, None)], elide_errors=True).compute()

    assert figures(results) == figures(filled().compute())
    assert results.evaluation.documents["total"] == 3


def test_a_ground_truth_without_a_class_is_an_error():
    evaluator = BulkStructuredModelEvaluator()
    evaluator.update({"number": "A1"}, {"number": "A1"})
    evaluator.update(GT, {"number": "A1"})

    results = evaluator.compute()

    assert results.document_count == 2
    assert "because there is no target_schema" in results.errors[0]["error"]


def test_either_side_may_be_a_dict_and_documents_without_a_name_are_numbered():
    evaluator = BulkStructuredModelEvaluator(Order)
    for _ in range(2):
        evaluator.update({"number": "A1"}, {"number": "B1"})

    assert [non_match["doc_id"] for non_match in evaluator.compute().non_matches] == [
        "doc_0",
        "doc_1",
    ]


def test_a_dict_may_be_changed_after_it_was_given():
    evaluator = BulkStructuredModelEvaluator(Order)
    pred = {"number": "A1", "lines": []}
    for number in ("A1", "B1"):
        pred["number"] = number
        evaluator.update({"number": "A1"}, pred)
    pred["number"] = "A1"

    assert evaluator.compute().field_metrics["number"]["fd"] == 1


def test_what_is_odd_about_a_document_that_was_compared_is_no_error():
    odd = {"number": {"_value": "A1", "_confidence": 7}}
    for elide in (False, True):
        results = filled([("odd", {"number": "A1"}, odd)], elide_errors=elide).compute()

        assert results.document_count == 1
        assert results.errors == []
        assert len(results.evaluation.problems) == 1


def test_documents_of_several_classes_are_compared_each_as_its_class_says():
    evaluator = BulkStructuredModelEvaluator()
    evaluator.update(GT, GT)
    evaluator.update(GT.lines[0], GT.lines[1])
    evaluator.update(GT, GT)

    results = evaluator.compute()

    assert results.document_count == 3
    assert results.field_metrics["size"]["fd"] == 1


def test_many_documents_give_what_few_do():
    evaluator = filled(PAIRS * TOGETHER)

    assert evaluator.compute().metrics["tp"] == 8 * TOGETHER
    assert evaluator.get_current_metrics().document_count == 3 * TOGETHER


def test_a_state_is_json_and_goes_on_where_it_was():
    evaluator = filled([*PAIRS, ("odd", GT, None)])
    state = json.loads(json.dumps(evaluator.get_state()))

    other = BulkStructuredModelEvaluator(Order)
    other.load_state(state)

    assert figures(other.compute()) == figures(evaluator.compute())
    assert other.compute().total_time >= state["seconds"]


def test_states_add_up_to_the_whole():
    evaluators = [filled(PAIRS[:1]), filled(PAIRS[1:])]

    evaluators[0].merge_state(evaluators[1].get_state())

    assert figures(evaluators[0].compute()) == figures(filled().compute())


def test_a_state_of_another_class_is_refused():
    with pytest.raises(ValueError, match="for documents of Order, and this evaluator of Line"):
        BulkStructuredModelEvaluator(Line).load_state(filled().get_state())


def test_what_is_no_state_is_refused_and_nothing_is_lost():
    evaluator = filled()
    with pytest.raises(
        UsageError, match="argument 'state': the keys seconds, evaluation are missing"
    ):
        evaluator.load_state({"target_schema": "Order", "non_matches": []})
    state = evaluator.get_state()
    state["evaluation"]["semantics"] = 2
    with pytest.raises(UsageError, match="state#/semantics: the value is 2, expected 1; another"):
        evaluator.merge_state(state)
    assert figures(evaluator.compute()) == figures(filled().compute())


def test_reset_forgets_everything():
    evaluator = filled()
    evaluator.reset()

    empty = BulkStructuredModelEvaluator(Order)
    assert figures(evaluator.compute()) == figures(empty.compute())
    assert empty.compute().metrics["weighted_overall_score"] == 0.0


def test_comparisons_are_written_as_they_come_and_add_up_to_the_same(tmp_path):
    path = tmp_path / "results.jsonl"
    evaluator = filled([*PAIRS, ("odd", GT, None)], individual_results_jsonl=str(path))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["doc_id"] for line in lines] == ["same", "wrong", "less"]
    again = aggregate_from_comparisons(line["comparison_result"] for line in lines)
    metrics = evaluator.compute()
    assert again.metrics == metrics.metrics
    assert again.field_metrics == metrics.field_metrics


def test_aggregating_takes_what_compare_with_returns():
    result = GT.compare_with(PAIRS[1][2], include_confusion_matrix=True, document_non_matches=True)
    results = aggregate_from_comparisons([result, result])

    assert results.metrics["fd"] == 4
    assert results.non_matches[-1] == {**result["non_matches"][-1], "doc_id": "doc_1"}


def test_a_comparison_without_counts_is_refused():
    with pytest.raises(ValueError, match=r"doc_0 has no 'confusion_matrix'; pass the result"):
        aggregate_from_comparisons([GT.compare_with(GT)])


def test_metrics_are_saved_as_json(tmp_path):
    path = tmp_path / "new" / "metrics.json"
    evaluator = filled()
    evaluator.save_metrics(str(path))

    saved = json.loads(path.read_text())
    assert saved["overall_metrics"] == evaluator.compute().metrics
    assert saved["document_count"] == 3
    assert saved["non_matches"][0]["non_match_type"] == "false_discovery"


def test_results_are_printed_as_the_command_prints_them(capsys):
    evaluator = filled(verbose=True)
    evaluator.update(GT, None, "odd")
    evaluator.compute()
    output = capsys.readouterr().out
    evaluator.pretty_print_metrics()
    printed = capsys.readouterr().out

    assert "odd is not compared: odd: there is no prediction" in output
    assert "4 documents, 1 errors" in output
    assert (
        "Order: 3 documents, 1 wholly right; not counted: 1 document that could not be evaluated"
        in printed
    )
    assert printed == evaluator.evaluation.report(title="Order")


def test_results_are_markdown_and_a_table_of_a_notebook():
    results = filled().compute()

    assert "`lines.sku`" in results.to_md()
    assert results._repr_html_() == results.evaluation._repr_html_()


def test_confidences_of_predictions_are_judged():
    pred = Order.from_json({"number": {"_value": "A1", "_confidence": 0.9}, "note": "x"})
    results = filled([("one", GT, pred)]).compute()

    assert results.confidence_metrics["coverage"]["ratio"] == 1 / 2
    assert filled().compute().confidence_metrics is None
