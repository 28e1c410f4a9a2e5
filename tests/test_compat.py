"""The names of stickler-eval: in `stickler_cli.compat`, and on request as the module `stickler`."""

import importlib
import importlib.util
import sys
from types import ModuleType

import pytest

import stickler_cli
from stickler_cli import compat

PROGRAM = """
from typing import List

from {root} import StructuredModel
from {root}.comparators import NumericComparator
from {root}.comparators.exact import ExactComparator
from {root}.structured_object_evaluator.models.comparable_field import ComparableField
from {root}.structured_object_evaluator.bulk_structured_model_evaluator import (
    BulkStructuredModelEvaluator,
)


class Line(StructuredModel):
    sku: str = ComparableField(comparator=ExactComparator(), threshold=1.0)
    price: float = ComparableField(comparator=NumericComparator(), threshold=0.9)


class Order(StructuredModel):
    number: str = ComparableField(comparator=ExactComparator(), threshold=1.0)
    lines: List[Line] = ComparableField(weight=3.0)


gt = Order(number="A1", lines=[dict(sku="x", price=1.0), dict(sku="y", price=2.0)])
pred = Order(number="A2", lines=[dict(sku="y", price=2.0)])
result = gt.compare_with(pred, include_confusion_matrix=True)
evaluator = BulkStructuredModelEvaluator(target_schema=Order)
evaluator.update(gt, pred, "doc")
metrics = evaluator.compute().metrics
"""


@pytest.fixture
def installed(monkeypatch):
    """The name `stickler`, under which the modules are installed for this test only."""
    name = "stickler_eval_in_this_test"
    compat.install(name)
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)


@pytest.mark.parametrize(("path", "names"), compat.MODULES.items())
def test_every_module_has_its_names(path, names, installed):
    for root in (installed, "stickler_cli.compat"):
        module = importlib.import_module(f"{root}.{path}" if path else root)
        for name in names.split():
            value = getattr(module, name)
            assert value in (getattr(stickler_cli, name, None), getattr(compat, name))


def test_a_program_runs_under_either_name_with_the_numbers_of_the_semantics(installed):
    for root in (installed, "stickler_cli.compat"):
        names = {"__name__": __name__}
        exec(PROGRAM.format(root=root), names)  # noqa: S102 - it stands above
        # A number of weight 1 that is wrong, and one of two lines of weight 3.
        assert names["result"]["overall_score"] == (0 + 3 * 0.5) / 4
        assert {key: names["metrics"][key] for key in ("tp", "fd", "fn")} == {
            "tp": 1, "fd": 1, "fn": 1,
        }  # fmt: skip


def test_everything_can_be_imported_at_once(installed):
    names = {}
    exec(f"from {installed}.comparators import *", names)  # noqa: S102

    assert names["LevenshteinComparator"] is stickler_cli.LevenshteinComparator


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from {}.structured_object_evaluator import ScoreNode", "evaluator has no ScoreNode"),
        ("import {}.algorithms", "has no algorithms; use scipy.optimize.linear_sum_assignment"),
        ("import {}.algorithms.hungarian", "has no algorithms; use scipy"),
        ("from {}.utils.text_normalizers import lowercase", "has no text_normalizers; use Normal"),
        (
            "from {}.structured_object_evaluator.models.confidence import metrics",
            r"models has no confidence; use add_confidence_metrics=True \(see docs/confidence.md\)",
        ),
        ("from {} import __version__", "has no __version__; use importlib.metadata.version"),
        ("from {} import print_non_matches", r"has no print_non_matches; use print\(evaluation"),
        (
            "from {} import register_comparator",
            (
                "has no register_comparator; use module:Class as the comparator in the schema, "
                "with the option --allow-plugins"
            ),
        ),
    ],
)
def test_an_import_of_what_is_not_here_says_what_does_its_work(installed, statement, message):
    for root in (installed, "stickler_cli.compat"):
        with pytest.raises(ModuleNotFoundError, match=f"{message}.*see docs/migrating.md$"):
            exec(statement.format(root), {})  # noqa: S102 - as a program has it


def test_a_program_can_ask_whether_there_is_a_name_or_a_module(installed):
    for root in (installed, "stickler_cli.compat"):
        module = importlib.import_module(root)
        for name in ("__version__", "print_non_matches", "ScoreNode"):
            assert not hasattr(module, name)
            with pytest.raises(AttributeError, match=f"{name}.*see docs/migrating.md"):
                getattr(module, name)
        assert importlib.util.find_spec(root) is not None
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'stickler_cli\.nothing'"):
        importlib.import_module("stickler_cli.nothing")


def test_the_library_itself_is_not_hidden_once_it_is_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "stickler", ModuleType("stickler"))

    with pytest.raises(ImportError, match="stickler has already been imported"):
        compat.install()


class Note(stickler_cli.StructuredModel):
    text: str = stickler_cli.ComparableField()


GT, PRED = Note(text="abcd"), Note(text="wxyz")


def test_functions_compare_as_methods_do():
    result = GT.compare_with(PRED)

    assert compat.compare_structured_models(GT, PRED) == result
    assert compat.compare_json({"text": "abcd"}, {"text": {"_value": "wxyz"}}, Note) == result


def test_anls_takes_instances_and_values():
    assert compat.anls_score("abcd", "abcx") == 0.75
    assert compat.anls_score(GT, Note(text="abcx")) == 0.75
    assert compat.anls_score(GT, Note(text="abcx"), return_gt=True) == (0.75, GT)
    score, keys = compat.anls_score(GT, Note(text="abcx"), return_key_scores=True)
    assert (score, keys["text"].score) == (0.75, 0.75)


@pytest.mark.parametrize(
    "results",
    [
        GT.compare_with(PRED, include_confusion_matrix=True),
        GT.compare_with(PRED, evaluator_format=True),
        stickler_cli.aggregate_from_comparisons(
            [GT.compare_with(PRED, include_confusion_matrix=True)]
        ),
    ],
)
def test_results_of_every_kind_are_printed_and_written_as_pages(results, tmp_path, capsys):
    compat.print_confusion_matrix(results, show_details=True)
    report = compat.EvaluationHTMLReporter().generate_report(
        results, str(tmp_path / "new" / "page.html"), compat.ReportConfig(any=1), title="Notes"
    )

    printed = capsys.readouterr().out
    assert "1 document, " in printed
    assert "text" in printed
    assert report.success
    assert report.summary() == f"written to {report.output_path}"
    page = (tmp_path / "new" / "page.html").read_text()
    assert "<title>Notes" in page


@pytest.mark.parametrize("results", [None, {}, GT.compare_with(PRED)])
def test_what_no_page_can_be_made_of_is_told(results, tmp_path):
    report = compat.EvaluationHTMLReporter().generate_report(results, str(tmp_path / "page.html"))

    assert not report.success
    assert "include_confusion_matrix=True" in report.errors[0]
    assert report.summary() == f"not written: {report.errors[0]}"
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(ValueError, match="include_confusion_matrix=True"):
        compat.print_confusion_matrix(results)


def test_a_page_that_cannot_be_written_is_told(tmp_path):
    results = GT.compare_with(PRED, include_confusion_matrix=True)

    report = compat.EvaluationHTMLReporter().generate_report(
        results, str(tmp_path), None, None, "T"
    )

    assert not report.success
    assert str(tmp_path) in report.errors[0]


# Two sections of the ground truth: the first has its pages in another order, the second another
# class and one page fewer, which stands in a section that nobody asked for.
TRUE = [
    {"section_id": "a", "document_class": "form", "page_indices": [0, 1]},
    {"document_class": {"type": "memo"}, "split_document": {"page_indices": [2, 3, 4]}},
]
PREDICTED = [
    {"section_id": "p", "document_class": "form", "page_indices": [1, 0]},
    {"section_id": "q", "document_class": "memo", "page_indices": [2, 3]},
    {"section_id": "r", "page_indices": ["4"]},
]


def test_splits_of_packets_have_the_accuracies_of_their_definitions():
    metrics = compat.DocSplitClassificationMetrics()
    metrics.load_sections(TRUE, PREDICTED)
    splits = metrics.calculate_all_metrics()

    pages, unordered, ordered = (metric for name, metric in splits.items() if name != "errors")
    assert (pages["accuracy"], pages["correct_pages"], pages["total_pages"]) == (0.8, 4, 5)
    assert pages["page_details"][4] == {
        "page_index": 4, "ground_truth_class": "memo", "predicted_class": "Unknown",
        "correct": False,
    }  # fmt: skip
    assert (unordered["accuracy"], ordered["accuracy"]) == (0.5, 0.0)
    first, second = ordered["section_details"]
    assert first == {
        "section_id": "a", "ground_truth_class": "form", "ground_truth_pages": [0, 1],
        "matched": False, "order_matched": False, "matched_section_id": "p",
        "predicted_class": "form", "predicted_pages": [1, 0],
    }  # fmt: skip
    assert (second["section_id"], second["matched_section_id"]) == ("gt_1", None)
    assert unordered["section_details"][0]["predicted_pages"] == [0, 1]
    report = metrics.generate_markdown_report(splits)
    assert "- split accuracy without order: 0.5000" in report
    assert "gt_1 -> q: other pages (without 4)" in report


def test_sections_that_overlap_are_told_and_those_that_cannot_be_read_are_errors():
    metrics = compat.DocSplitClassificationMetrics()
    metrics.load_sections(TRUE, [*PREDICTED, PREDICTED[0]])
    assert metrics.errors == [
        (
            "predictions: number of pages in two sections: 2; such a page counts only for the "
            "first of its sections"
        )
    ]
    assert "- predictions: number of pages in two" in metrics.generate_markdown_report(
        metrics.calculate_all_metrics()
    )

    metrics.load_sections(TRUE, PREDICTED)
    assert metrics.errors == []
    with pytest.raises(ValueError, match="ground truth#/0: the section has no list of pages"):
        metrics.load_sections([{"document_class": "form"}], [])
    empty = compat.DocSplitClassificationMetrics().calculate_all_metrics()
    assert [empty[name]["accuracy"] for name in empty if name != "errors"] == [0.0] * 3


def page(group, number, other, predicted, kind="a"):
    return {
        "group_id": group, "page_number": number, "group_id_predicted": other,
        "page_number_predicted": predicted, "class_label": "a", "class_label_predicted": kind,
    }  # fmt: skip


PAGES = [
    page("g", 1, "p", 2),
    page("g", 2, "p", 1, "b"),
    page("g", 3, "p", 2),
    page("h", 4, "q", 4),
]


def test_packets_have_the_scores_of_their_definitions():
    scores = compat.evaluate_packet(PAGES, alpha=0.4, beta=0.6)

    # Of three pairs of pages one is level, one in order and one not; one page is in order.
    assert scores["group_ordering_scores"] == {"g": 0.0, "h": 1.0}
    assert (scores["v_measure"], scores["rand_index"]) == (1.0, 1.0)
    assert scores["final_score"] == pytest.approx(0.4 * 1 + 0.6 * 0.5)
    # A page of another class stands alone: two of six pairs are torn apart.
    strict = compat.evaluate_packet(PAGES, v_measure_weight=0.0, strict_clustering=True)
    assert strict["clustering_score"] == strict["rand_index"] == pytest.approx(4 / 6)
    assert compat.evaluate_packet([])["final_score"] == 0.0


def test_pages_come_as_rows_of_any_kind(tmp_path):
    file = tmp_path / "pages.csv"
    lines = [",".join(PAGES[0]), *(",".join(map(str, row.values())) for row in PAGES)]
    file.write_text("\n".join(lines))

    class Frame:
        def to_dict(self, form):
            return {"records": PAGES}[form]

    assert (
        compat.evaluate_packet(str(file))
        == compat.evaluate_packet(Frame())
        == compat.evaluate_packet(PAGES)
    )


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        (5, {}, TypeError, "data is int"),
        ([{"group_id": 1}], {}, KeyError, "row 0 has no group_id_predicted, page_number"),
        ([page("g", "x", "p", 1)], {}, ValueError, "page_number of row 0 is 'x'"),
        (PAGES, {"v_measure_weight": 2}, ValueError, "v_measure_weight is 2"),
    ],
)
def test_what_is_wrong_with_pages_is_told(data, options, error, words):
    with pytest.raises(error, match=words):
        compat.evaluate_packet(data, **options)


def test_weights_that_change_the_scale_are_told():
    with pytest.warns(UserWarning, match=r"alpha and beta add up to 1\.5"):
        compat.evaluate_packet(PAGES, alpha=1.0)


def test_the_evaluator_is_at_the_root_too():
    assert stickler_cli.compat.StructuredModelEvaluator is stickler_cli.StructuredModelEvaluator
