"""The view of a run: every report takes its rates from it, so that options have one meaning."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import stickler_cli
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.run_sentences import confidences, items_of_lists
from stickler_cli.reports.view import RunView
from stickler_cli.runs.chunk import unwrapped
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.settings.deciding import RunFormat
from .conftest import ORDER, RIGHT

PACKAGE = Path(stickler_cli.__file__).parent

# 1 of the 2 values is found, the other one is wrong: recall is 1/1, or 1/2 if that counts.
HALF = (DocumentPair("a", {"id": "A-1", "total": 10}, {"id": "A-1", "total": 99}),)


@pytest.mark.parametrize("with_fd", [False, True])
def test_recall_is_counted_alike_in_the_whole_the_fields_and_the_groups(run_of, with_fd):
    run = run_of(pairs=HALF, recall_with_fd=with_fd)
    evaluation = run.evaluation
    evaluation.by["kind"] = {"one": replace(evaluation, by={})}
    view = RunView(run)

    assert view.whole.rates.recall == (0.5 if with_fd else 1.0)
    assert view.whole.rates.f1 == pytest.approx(0.5 if with_fd else 2 / 3)
    ((_, group),) = view.groups["kind"]
    assert view.f1_of(group) == view.whole.rates.f1
    assert [row.rates.recall for row in view.rows if row.path == ("total",)] == [
        0.0 if with_fd else None
    ]


def test_the_share_of_values_with_a_confidence_is_stated(run_of):
    pred = {"id": {"_value": "A-1", "_confidence": 0.9}, "total": 10}
    pair = DocumentPair("a", {"id": "A-1", "total": 10}, pred)
    run = run_of(pairs=[unwrapped(Unwrapper(compile_schema(ORDER).root), pair)])

    (sentence,) = confidences(RunView(run))
    assert sentence == (
        "confidence: 1 predicted value with a confidence (50% of all), 100% right; "
        "AUROC is undefined, as it needs right and wrong values"
    )


@pytest.mark.parametrize("form", [name for name in get_args(RunFormat) if name != "github"])
def test_every_format_shows_the_recall_of_the_run(run_of, form):
    style = TableStyle(junit_fields=True)

    texts = [render(form, run_of(pairs=HALF, recall_with_fd=with_fd), style) for with_fd in (0, 1)]

    assert texts[0] != texts[1]


def test_no_other_module_of_reports_and_differences_names_the_option():
    rooms = [PACKAGE / "reports", PACKAGE / "studies" / "diff"]
    naming = {
        file.relative_to(PACKAGE).as_posix()
        for room in rooms
        for file in room.rglob("*.py")
        if "recall_with_fd" in file.read_text(encoding="utf-8")
    }

    assert naming == {"reports/view.py"}


def test_a_figure_is_never_rounded_onto_the_limit_of_a_gate(run_of):
    view = RunView(run_of(gates=["f1>=0.7", "score>=0.43333"]))

    assert view.limits == {0.7, 0.43333}
    assert view.rate(0.69999) == "0.6999"
    assert view.rate(0.69) == "0.6900"


def test_the_items_of_a_list_add_up_and_tell_those_that_reach_their_threshold(run_of):
    exact = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
    item = {"type": "object", "properties": dict.fromkeys(("sku", "unit", "note"), exact)}
    item["x-aws-stickler-match-threshold"] = 0.5
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": item}}}
    gt = [{"sku": name, "unit": f"{name} unit", "note": f"{name} note"} for name in "abcd"]
    # a is right; of b two of three values are right, of c one; d is missed and e is invented.
    pred = [gt[0], {**gt[1], "unit": "x"}, {**gt[2], "unit": "y", "note": "z"}]
    pred.append({"sku": "e", "unit": "e unit", "note": "e note"})
    view = RunView(run_of(schema, [DocumentPair("1", {"lines": gt}, {"lines": pred})]))

    wrong_text = (
        "2 with a wrong value inside (1 of these below the threshold, 1 at or above the threshold)"
    )
    assert items_of_lists(view) == [
        f"lines: 5 items = 1 right + {wrong_text} + 1 missed + 1 invented"
    ]


def test_a_list_whose_items_are_all_right_needs_no_sum(run_of):
    assert items_of_lists(RunView(run_of(pairs=[DocumentPair("a", RIGHT, RIGHT)]))) == []
