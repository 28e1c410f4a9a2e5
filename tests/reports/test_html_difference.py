"""The HTML page of a difference: drawings that fit, and values before and after."""

import re

import pytest

from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.formats import render
from stickler_cli.reports.html.charts import change_axis
from stickler_cli.reports.html.difference_page import sort_by_trend
from stickler_cli.reports.layout import TableStyle
from stickler_cli.runs.saved import page_of
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import Interval
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.changed_values import changed_values
from stickler_cli.studies.diff.record import RunsBeside, Trend


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (-0.03, 0.02, ["-0.03", "-0.02", "-0.01", "0", "+0.01", "+0.02"]),
        (0.01, 0.02, ["0", "+0.005", "+0.01", "+0.015", "+0.02"]),
        (-1.0, 1.0, ["-1", "-0.5", "0", "+0.5", "+1"]),
        (0.0, 0.0, ["0", "+0.002"]),
    ],
)
def test_an_axis_of_changes_holds_all_intervals_and_0(low, high, marks):
    axis = change_axis([Interval(low, high), None])

    assert [text for _, text in axis.ticks] == marks
    assert 0 <= axis.place(low) <= axis.place(high) <= 100 + 1e-9


@pytest.fixture
def difference(run_of):
    def build(gates=()):
        ids = [f"{index:02}" for index in range(12)]
        gt = {"id": "x", "total": 5}
        pairs = [DocumentPair(name, gt, gt) for name in ids]
        worse = [DocumentPair(name, gt, {**gt, "id": "<b>"}) for name in ids]
        base, new = (run_of(pairs=pairs_of_side, detailed=True) for pairs_of_side in (pairs, worse))
        return compare_runs(
            {"base": base}, {"new": new}, [parse_gate(gate, lowest=-1) for gate in gates]
        )

    return build


def test_fields_that_regressed_come_first(difference):
    fields = sort_by_trend(difference().fields)

    assert [fields[0].field, fields[0].trend] == [("id",), Trend.REGRESSED]


def words(text):
    return " ".join(re.sub(r"<[^>]*>", " ", text.partition("</style>")[2]).split())


def test_the_page_tells_the_verdict_and_each_value_before_and_after(difference):
    text = render("html", difference(["f1>=0"]), TableStyle())

    # No document is wholly right any more: of the figures with the least p it lost most.
    assert (
        "change of f1 is -0.333 (the gate requires &gt;= 0); wholly right 1.000 before, 0.000 "
        "after (-1.000)" in words(text)
    )
    assert "F1 1.000 before, 0.667 after (-0.333): regressed; fields: 1 regressed" in words(text)
    head = "12 rows, by cause; 12 values in all Document Field Ground truth before after"
    assert f"{head} broken, id x -&gt; &lt;b&gt; 12 times 12 rows 00 id" in words(text)
    assert "id x -&gt; &lt;b&gt; 12 times 12 0 12" in words(text)
    flow = "12 values wrong after = 12 broken + 0 wrong otherwise + 0 wrong in the same way"
    assert flow in words(text)


def test_runs_side_by_side_say_what_each_said(run_of):
    gt = {"id": "x", "total": 5}
    predictions = ({"id": "x", "total": 5}, {"id": "y", "total": 5}, {"id": "z"})
    runs = {
        f"out/model-{name}": run_of(pairs=[DocumentPair("a", gt, pred)], detailed=True)
        for name, pred in zip("abc", predictions, strict=True)
    }
    values = changed_values(*runs.values())
    text = words(render("html", RunsBeside(runs, values), TableStyle()))

    assert [(value.path, value.said) for value in values] == [
        ("id", [True, '"y"', '"z"']),
        ("total", [True, True, None]),
    ]
    assert "Order: 3 runs" in text
    assert "Document Field Ground truth model-a model-b model-c" in text
    assert "Causes, 2 of 3 runs wrong 1 id x -&gt; z once" in text
    assert "Causes, 1 of 3 runs wrong 1 total missed in 1 document" in text
    assert "a 0 1 2" in text  # the values that it lost in each
    two = dict([*runs.items()][1:])
    text = words(render("html", RunsBeside(two, changed_values(*two.values())), TableStyle()))
    assert "Causes, wrong otherwise 1 id x -&gt; z once" in text


def test_what_two_predictions_say_alike_is_left_out(run_of):
    gt, pred = {"id": "x", "total": 5}, {"id": "y", "note": 1}
    run = run_of(pairs=[DocumentPair("a", gt, pred)], detailed=True)

    assert changed_values(run, run, run) == []
    assert changed_values(run, run_of()) is None


def test_the_page_of_a_run_stands_in_its_directory_or_beside_it(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("a/report.html", "b.html"):
        (tmp_path / name).touch()

    assert page_of(f"{tmp_path}/a") == (tmp_path / "a" / "report.html").as_uri()
    assert page_of(f"{tmp_path}/b") == page_of(f"{tmp_path}/b.json") != ""
    assert page_of(f"{tmp_path}/c") == ""


def test_runs_without_errors_say_what_would_show_values(run_of):
    run = run_of(detailed=False)
    run.evaluation.ledger = run_of(detailed=True).evaluation.ledger
    text = render("html", compare_runs({"a": run}, {"b": run}), TableStyle())

    assert "These runs do not contain single values" in words(text)


def test_a_list_counts_what_its_cause_counts_and_every_document_with_errors_is_listed(run_of):
    gt = {"id": "x", "total": 5}
    base = {"a": {"id": "x"}, "b": gt, "c": gt, "d": {"id": "x"}}
    new = {"a": {"id": "x"}, "b": {"id": "x"}, "c": {"id": "x"}, "d": gt}
    runs = [
        run_of(pairs=[DocumentPair(name, gt, pred) for name, pred in side.items()], detailed=True)
        for side in (base, new)
    ]
    text = words(render("html", compare_runs({"base": runs[0]}, {"new": runs[1]}), TableStyle()))

    # The new run misses the total three times; two of these broke.
    assert "total missed in 2 documents 2 1 3" in text
    for group in (
        "broken, total missed in 2 documents 2 rows b total 5 right absent c total 5 right absent",
        "fixed, total missed in 1 document 1 row d total 5 absent right",
        "wrong in the same way, total missed in 1 document 1 row a total 5 absent absent",
    ):
        assert group in text
    # a has the same error in both runs.
    assert "or with different figures: 4 documents. 3 of them have another score, and" in text
    assert "3 another number of wrong values." in text
    # The total has two thirds of the weight of a document with an id and a total.
    columns = "Document Wrong values, before Wrong values, after Change of score"
    assert f"{columns} b 0 1 -0.667 c 0 1 -0.667 a 1 1 0.000 d 1 0 +0.667" in text
