import os
import re
from dataclasses import replace
from functools import partial

import pytest

from stickler_cli.core.figures import cells
from stickler_cli.core.json_values import UNLABELLED, Gold
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.records.run_reading import read_run
from stickler_cli.reports import formats
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.tables import MATRIX
from stickler_cli.score.record import run_record

render = partial(formats.render, "table")

PLAIN = TableStyle()
VERBOSE = TableStyle(verbose=True)
NARROW = TableStyle(width=40, plain=False)


def test_a_path_of_a_field_finds_its_row(orders):
    (row,) = (line for line in render(orders, PLAIN).splitlines() if " lines.sku " in line)

    # two right, one missed with its item: F1 4/5
    assert " ".join(row.split()) == "lines.sku 2 1 0.8000"


def test_a_plain_table_has_no_box_and_no_codes(orders):
    assert render(orders, replace(PLAIN, color=True, width=40)).isascii()
    assert "\x1b" not in render(orders, replace(PLAIN, color=True))


def test_without_colour_there_are_no_codes(orders):
    assert "\x1b" not in render(orders, TableStyle(width=80, plain=False))


def test_colour_changes_nothing_but_the_colour(orders):
    style = TableStyle(width=80, plain=False)
    colored = render(orders, replace(style, color=True))
    stripped = re.sub(r"\x1b\[[\d;]*m", "", colored)

    assert colored != stripped
    assert [line.rstrip() for line in stripped.splitlines()] == render(orders, style).splitlines()


def test_colour_does_not_depend_on_the_environment(orders, monkeypatch):
    style = TableStyle(width=80, plain=False, color=True)
    expected = render(orders, style)
    monkeypatch.setitem(os.environ, "NO_COLOR", "1")
    monkeypatch.setitem(os.environ, "TERM", "dumb")

    assert render(orders, style) == expected


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 80, 100, 132])
@pytest.mark.parametrize("name", ["bank-statement", "invoice", "receipt", "resume"])
def test_no_line_is_wider_than_the_terminal(fixture_run, name, width):
    text = render(fixture_run(name), TableStyle(width=width, plain=False))

    assert max(map(cells, text.splitlines())) <= width


def test_no_documents_are_no_failure_of_the_report(run_of):
    text = render(run_of(pairs=[], gates=["f1>=0.5"]), PLAIN)

    assert "F1 -  precision -  recall -\n" in text
    assert "FAIL  f1 is undefined: nothing was counted\n" in text
    assert "worst" not in text
    assert "never present" not in text


def test_a_schema_without_fields_has_no_table_of_them(run_of):
    schema = {"type": "object", "properties": {}, "additionalProperties": False}

    assert "field" not in render(run_of(schema, []), PLAIN)


def test_one_document_has_a_score_and_not_a_mean(run_of, orders):
    single_run = run_of(pairs=[DocumentPair("a", {"id": "1"}, {"id": "1"})], single=True)
    assert "  score 1.0000\n" in render(single_run, VERBOSE)
    assert "  mean score 0.4333\n" in render(orders, VERBOSE)


def test_the_headline_says_what_became_of_each_document(run_of):
    gt = {"id": "1"}
    pairs = [
        DocumentPair("a", gt, gt),
        DocumentPair("b", gt, None),
        DocumentPair("c", gt, Problem("c.json", "this is a list")),
        DocumentPair("d", Problem("d.json", "this is empty"), gt),
        DocumentPair("e", None, gt),
    ]
    invalid = "1 document has an unreadable prediction, so all its values are missed"
    out = "not counted: 1 document that could not be evaluated, 1 prediction without ground truth"

    first_line = render(run_of(pairs=pairs), PLAIN).splitlines()[0]
    missing = "1 document has no prediction, so all its values are missed"
    assert first_line == f"Order: 3 documents, 1 wholly right; {missing}; {invalid}; {out}"
    first_line = render(run_of(pairs=pairs, missing="skip"), PLAIN).splitlines()[0]
    out = out.replace("not counted: ", "not counted: 1 ground truth without a prediction, ")
    assert first_line == f"Order: 2 documents, 1 wholly right; {invalid}; {out}"
    pairs = [*pairs, DocumentPair("f", gt, None), DocumentPair("g", None, gt)]
    first_line = render(run_of(pairs=pairs, missing="skip"), PLAIN).splitlines()[0]
    assert "; not counted: 2 ground truths without a prediction, " in first_line
    assert first_line.endswith(", 2 predictions without ground truth")


def test_a_document_with_a_problem_is_named_once(run_of):
    pair = DocumentPair("c", {"id": "1"}, Problem("c.json", "this is a list"))

    assert "\ninvalid    c: c.json: this is a list\n" in render(run_of(pairs=[pair]), PLAIN)


def test_ten_problems_are_named_and_the_others_counted(run_of):
    pairs = [DocumentPair(f"d{n:02}", None, {}) for n in range(12)]
    text = render(run_of(pairs=pairs), PLAIN)

    assert "documents with problems: 12 unmatched\n" in text
    assert "unmatched  d09: " in text
    assert "d10" not in text
    assert text.endswith("\nand 2 more; the JSON report lists all of them\n")


def test_ten_undeclared_keys_are_named_and_the_others_counted(run_of):
    gt = {f"k{n:02}": n for n in range(11)}
    text = render(run_of(pairs=[DocumentPair("a", gt, {})]), PLAIN)

    assert "does not declare these keys: k00 (1), " in text
    assert "k09 (1) and 1 more\n" in text


def test_fields_that_are_never_present_are_named_without_those_inside(run_of):
    text = render(run_of(pairs=[DocumentPair("a", {"id": "1"}, {"id": "1"})]), PLAIN)

    assert (
        "note: fields that have no value in any ground truth or prediction: customer, lines, "
        "rates, total\n"
    ) in text


def test_readings_that_agree_are_not_spoken_of(run_of):
    gt = {"id": "1", "total": 1}
    text = render(run_of(pairs=[DocumentPair("a", gt, gt)]), VERBOSE)

    assert "depends on the counting mode" not in text


def test_leaves_is_lowest_where_whole_objects_are_missed(run_of):
    # overall: total TP, customer FN, F1 2/3; leaves: 1 right of 3, F1 1/2
    gt = {"total": 1, "customer": {"name": "Ada", "city": "Ulm"}}
    text = render(run_of(pairs=[DocumentPair("a", gt, {"total": 1})]), VERBOSE)

    assert (
        "F1 depends on the counting mode: 0.6667 with overall, 0.6667 with aggregate, 0.5000 with "
        "leaves. It is lowest with leaves, because "
    ) in text


def test_aggregate_is_lowest_where_items_that_match_have_errors_inside(run_of):
    # The item passes at 3/4 with one value wrong: overall 1 of 1; aggregate and leaves F1 6/7.
    properties = {name: {"type": "integer"} for name in "abcd"}
    line = {"type": "object", "properties": properties}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": line}}}
    gt, pred = ({"l": [{"a": 1, "b": 2, "c": 3, "d": last}]} for last in (4, 5))
    text = render(run_of(schema, [DocumentPair("a", gt, pred)]), VERBOSE)

    assert (
        "F1 depends on the counting mode: 1.0000 with overall, 0.8571 with aggregate, 0.8571 with "
        "leaves. It is lowest with aggregate, because "
    ) in text


def test_precision_may_disagree_where_f1_does_not(run_of):
    # overall: P 1/2, R 1, F1 2/3; leaves: P 2/3, R 2/3, F1 2/3.
    schema = {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "x-aws-stickler-match-threshold": 0.3,
                "properties": {name: {"type": "integer"} for name in "abc"},
            },
            "n": {"type": "integer"},
        },
    }
    pair = DocumentPair("a", {"o": {"a": 1, "b": 2, "c": 3}}, {"o": {"a": 1, "b": 2}, "n": 1})

    text = render(run_of(schema, [pair]), VERBOSE)

    assert (
        "precision depends on the counting mode: 0.5000 with overall, 0.6667 with aggregate, "
        "0.6667 with leaves. It is lowest with overall, because "
    ) in text


@pytest.mark.parametrize(("n_shown", "lines"), [(0, 0), (2, 2), (99, 9)])
def test_as_many_non_matches_are_listed_as_asked_for(orders, errors_of, n_shown, lines):
    run = replace(orders, first_non_matches=errors_of())
    _, _, below = render(run, replace(PLAIN, show_non_matches=n_shown)).partition("reason\n")

    assert len([line for line in below.partition("\n\n")[0].splitlines() if line]) == lines


def test_a_run_without_errors_has_no_non_matches(orders):
    assert "\nno errors\n" in render(orders, replace(PLAIN, show_non_matches=3))


def test_long_values_are_cut_to_the_terminal(run_of, errors_of):
    pairs = [DocumentPair("a", {"id": "東京" * 30}, {"id": "x" * 70})]
    run = replace(run_of(pairs=pairs), first_non_matches=errors_of(pairs=pairs))
    style = replace(NARROW, show_non_matches=1)
    text = render(run, style)

    assert f'  gt    "{"東京" * 7}東…\n' in text
    assert max(map(cells, text.splitlines())) <= 40
    assert f'"{"x" * 70}"' in render(run, replace(style, width=None))


def test_the_first_lines_say_what_became_of_documents_and_values(orders, run_of):
    heading, values, rates, *_ = render(orders, PLAIN).splitlines()

    assert heading.startswith("Order: 3 documents, 1 wholly right; ")
    assert heading.endswith("; 1 of 3 gates failed")
    # 11 TP, 2 FD, 1 FA, 4 FN
    assert values == "18 values: 11 right, 2 wrong, 4 missed, 1 invented"
    assert rates == "F1 0.7586  precision 0.7857  recall 0.7333"
    assert "0 values: 0 right" in render(run_of(pairs=[]), PLAIN).splitlines()[1]


def test_another_reading_is_said_in_the_first_line_and_told_everywhere(orders, run_of):
    run = run_of(counting="overall", gates=["f1>=0.7"])
    text = render(run, PLAIN)
    heading, counted, *_ = text.splitlines()

    assert ("; counting overall: each value, each object and each list item as one unit") in heading
    assert counted == "13 units: 7 right, 2 wrong, 3 missed, 1 invented"
    assert "PASS  f1 0.7 >= 0.7" in text
    (row,) = (line for line in text.splitlines() if line[2:].startswith("lines "))
    # right, missed, F1; nothing is wrong or invented
    assert row.split()[1:3] == ["2", "1"]
    assert "counting" not in render(orders, PLAIN)


def test_of_few_documents_no_interval_is_told_but_that_there_are_too_few(run_of):
    def heading(documents):
        gt = {"id": "A"}
        preds = [{"id": "B"}, *[gt] * (documents - 1)]
        pairs = [DocumentPair(f"{index}", gt, pred) for index, pred in enumerate(preds)]
        return render(run_of(pairs=pairs, intervals=True), PLAIN).splitlines()[2]

    assert heading(29).startswith("F1 0.98 (29 documents are too few for an interval)  precision")
    assert re.match(r"F1 0\.98\d? \(95% interval 0\.\d+ to 0\.\d+\)  ", heading(30))


def test_documents_are_counted_by_their_number_of_lost_values(run_of):
    names = [f"f{number:02}" for number in range(12)]
    schema = {"type": "object", "properties": {name: {"type": "number"} for name in names}}
    gt = dict.fromkeys(names, 1)
    # Two documents are right, one has 1 wrong value, one has 3, and one has 12.
    pairs = [
        DocumentPair(str(number), gt, gt | dict.fromkeys(names[:n_wrong], 2))
        for number, n_wrong in enumerate((0, 0, 1, 3, 12))
    ]

    text = " ".join(render(run_of(schema, pairs), VERBOSE).split())
    assert (
        "share of completely right documents: 0.4000; 2 of 5 documents have no wrong, missed or "
        "invented value; 3 of 5 have at most 1; 4 of 5 have at most 3; 1 of 5 has more than 10 "
    ) in text
    assert "more than" not in render(run_of(schema, pairs[:4]), VERBOSE)


def test_in_all_countings_the_whole_is_told_if_asked_for(orders):
    text = render(orders, VERBOSE)

    for mode in ("overall ", "aggregate ", "leaves "):
        assert f"\n{mode}" in text
    assert "\noverall " not in render(orders, PLAIN)


def test_the_legend_explains_only_what_occurs(run_of):
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    right = DocumentPair("1", {"a": 1}, {"a": 1})
    wrong = DocumentPair("2", {"a": 1}, {"a": 2})

    text = render(run_of(schema, [right, wrong]), PLAIN)
    # 1 TP and 1 FD: 2 / (2 + 1), or 2 / (2 + 2) where the FD counts on both sides.
    line = "\nF1 0.6667; or 0.5000 if wrong values also count as missed (--recall-with-fd)\n"
    assert line in text
    assert line.replace("values", "units") in render(
        run_of(schema, [right, wrong], counting="overall"), PLAIN
    )
    assert "! look here" not in text
    assert "! look here" in render(run_of(schema, [right, wrong]), VERBOSE)
    assert "also count" not in render(run_of(schema, [right]), PLAIN)
    assert "also count" not in render(run_of(schema, [wrong], recall_with_fd=True), PLAIN)


def test_columns_have_the_names_of_the_confusion_matrix(run_of):
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    sides = [(1, 1)] * 3 + [(1, 2)] * 2 + [(None, 2), (1, None), (None, None)]
    pairs = [
        DocumentPair(f"{index}", {"a": gt}, {"a": pred}) for index, (gt, pred) in enumerate(sides)
    ]
    run = run_of(schema, pairs)

    text = render(run, replace(PLAIN, columns=MATRIX))
    # 3 of 6 predicted; 3 of 4, without the wrong ones; 2 * 3 / (6 + 4); 4 of 8.
    (row,) = (line.split() for line in text.splitlines() if line.startswith("! a "))
    assert row == ["!", "a", "3", "2", "1", "1", "1", "3", "0.5000", "0.7500", "0.6000", "0.5000"]

    legend = "\ncolumns of the confusion matrix: TP right, FD wrong, FA invented, FN missed\n"
    assert (legend in render(run, VERBOSE), legend in text) == (True, False)
    # A column without room, or that was not chosen, is not explained.
    assert "TN: absent on both sides" in render(run, VERBOSE)
    assert "TN: absent" not in render(run, replace(VERBOSE, plain=False, width=60))
    assert "TN: absent" not in render(run, replace(VERBOSE, columns=("wrong", "F1")))
    narrow = render(run, replace(PLAIN, plain=False, width=30, columns=MATRIX))
    assert "columns left out to save width: TN" in " ".join(narrow.split())


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"sort": "errors", "only_errors": True, "fields": "*ines*"}, ["lines", "lines.sku"]),
        ({"sort": "name", "fields": "[ir]*"}, ["id", "rates", "rates.*"]),
        ({"sort": "f1", "only_errors": True, "fields": "?????*"}, ["total", "customer.city"]),
    ],
)
def test_fields_are_chosen_and_ordered_as_asked_for(orders, settings, fields):
    text = render(orders, replace(PLAIN, **settings))
    _, _, below = text.partition("\nfield ")
    names = [line[2:].split()[0] for line in below.partition("\n\n")[0].splitlines()[1:]]

    assert names[: len(fields)] == fields


def test_where_no_field_is_as_asked_for_a_line_says_so(orders):
    text = render(orders, replace(PLAIN, fields="nothing"))

    assert "no field matches --fields and --only-errors" in text


def test_fields_that_nobody_labelled_have_their_share_in_table_page_and_record(run_of):
    gold = Gold.of_parent("total", UNLABELLED)
    pairs = [
        DocumentPair(name, {"id": "1", "total": 1}, {"id": "1", "total": 1}) for name in "abcd"
    ]
    pairs[0] = replace(pairs[0], gt={"id": "1", "total": None}, gold=gold)
    run = run_of(pairs=pairs, gates=["total.labelled>=0.9"])

    text = render(run, PLAIN)
    rows = [line.split() for line in text.splitlines()]
    (head,) = (row for row in rows if row[:1] == ["field"])
    assert head[-2:] == ["F1", "labelled"]
    assert ["total", "3", "1.0000", "0.7500"] in rows
    assert ["id", "4", "1.0000"] in rows
    assert "note: total is not labelled in 1 of 4 documents\n" in text
    assert "labelled: the share of documents that have a label for the field, if some " in render(
        run, VERBOSE
    )

    # The whole is the mean of the fields that were met: one in 3 of 4 documents, the others in all.
    fields = len([path for path in run.evaluation.sums if path])
    record = run_record(run)
    assert run_record(read_run(record)) == record
    assert record["labelled"] == {"": 1 - 0.25 / fields, "total": 0.75}
    assert (run.gates[0].value, run.gates[0].passed) == (0.75, False)
    page = formats.render("html", run, PLAIN)
    assert "Labelled</span></th>" in page
    assert page.count('<td class="number minor">0.7500</td>') == 1


def test_where_all_is_labelled_nothing_says_so(orders):
    assert "labelled" not in render(orders, VERBOSE)
    assert "labelled" not in run_record(orders)
    assert "Labelled" not in formats.render("html", orders, PLAIN)
