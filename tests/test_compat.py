"""The names of stickler-eval: `stickler_cli.compat`, and `stickler` for whoever asks for it."""

import importlib
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
    """The name under which the modules are installed, for this test only."""
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
            found = getattr(module, name)
            assert found in (getattr(stickler_cli, name, None), getattr(compat, name))


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


def test_what_is_not_there_cannot_be_imported_and_the_message_names_the_table(installed):
    with pytest.raises(ImportError, match=r"cannot import name 'ScoreNode' .*compat"):
        exec(f"from {installed}.structured_object_evaluator import ScoreNode")  # noqa: S102
    with pytest.raises(ModuleNotFoundError, match="algorithms"):
        importlib.import_module(f"{installed}.algorithms")
    assert not hasattr(importlib.import_module(installed), "ScoreNode")


def test_the_library_itself_is_not_hidden_once_it_is_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "stickler", ModuleType("stickler"))

    with pytest.raises(ImportError, match="stickler is imported already"):
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
    assert "1 document evaluated; mean score 0.0000" in printed
    assert "text" in printed
    assert report.success
    assert report.summary() == f"written to {report.output_path}"
    page = (tmp_path / "new" / "page.html").read_text()
    assert "<title>Notes" in page
