"""Reports of differences, for cases that the fixtures do not have."""

import csv
import io
from dataclasses import replace

import pytest

from stickler_cli.records.row_files import TYPED
from stickler_cli.reports.difference_sections import DifferenceView, signed
from stickler_cli.reports.formats import FORMATS, render
from stickler_cli.reports.github import summary
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown import SUMMARY_LIMIT
from stickler_cli.score.gates import parse_gate
from stickler_cli.studies.diff.answer import LOWEST
from stickler_cli.studies.diff.record import TrendSettings
from .runs import OPTIONS, RIGHT, WRONG, compared, document, run_of, single

STYLE = TableStyle()
EVIL = "a\x1b[31m<b>|`@me\n::error::x"


def difference(base, new, *gates):
    return compared(base, new, gates=[parse_gate(gate, lowest=LOWEST) for gate in gates])


def runs(worse, documents=30, **changes):
    names = [f"d{n:02}" for n in range(documents)]
    return (
        run_of(*(single(name, True) for name in names)),
        run_of(*(single(name, n >= worse) for n, name in enumerate(names)), **changes),
    )


def test_what_the_runs_differ_in_comes_before_any_figure():
    base, _ = runs(0)
    unchanged_documents = [single(f"d{n:02}", True) for n in range(1, 30)]
    new = run_of(*unchanged_documents, version="9", options=replace(OPTIONS, missing="skip"))
    lines = render("table", difference(base, new), STYLE).splitlines()

    assert lines[1:4] == [
        "not comparable: option missing: fn -> skip",
        f"the runs differ: version: {base.version} -> 9",
        "the runs differ: 1 document was not compared in the new run, so it counts as missed: d00",
    ]
    assert lines[4] == (
        "30 documents compared: 0 better, 1 worse, 29 the same, both by score and by number of "
        "wrong values; 1 not compared in the new run, so counted as missed"
    )
    assert "- **not comparable**: option missing: `fn` -> `skip`" in render(
        "markdown", difference(base, new), STYLE
    )


def test_a_document_that_breaks_hard_is_named_even_if_nothing_else_changed():
    compared_runs = difference(*runs(1, documents=400))
    (row,) = [line for line in render("table", compared_runs, STYLE).splitlines() if "d00" in line]

    assert row.startswith(
        "-1.000  d00 (much worse): score 1.000 before, 0.000 after; wrong values: 0 before, 1 after"
    )
    assert compared_runs.whole[0].trend == "unchanged"
    assert "::warning title=stickler diff%3A much worse::d00: " in render(
        "github", compared_runs, STYLE
    )


def test_of_many_that_broke_hard_some_are_named_and_the_rest_counted():
    text = render("table", difference(*runs(25)), STYLE)

    assert text.count("much worse") == 20
    assert "and 5 more; the JSON report lists all of them" in text
    assert ("- and 5 more; the JSON report lists all of them") in render(
        "markdown", difference(*runs(25)), STYLE
    )


def test_of_many_that_got_better_five_are_named():
    new, base = runs(7)
    text = render("table", difference(base, new), STYLE)

    assert text.count("+1.000  d") == 5
    assert "and 2 more; the JSON report lists all of them" in text
    assert "improved" in render("github", difference(*reversed(runs(25))), STYLE)


def test_a_lost_document_says_what_became_of_it():
    base = run_of(single("a", True), single("b", True), single("c", True))
    new = run_of(document("a", None, "failed"), single("c", True))
    text = render("table", difference(base, new), STYLE)

    assert (
        "a (much worse): score 1.000 before, 0.000 after; failed in the new run; "
        "wrong values: 0 before, 1 after" in text
    )
    assert (
        "b (much worse): score 1.000 before, 0.000 after; missing in the new run; "
        "wrong values: 0 before, 1 after" in text
    )


def test_a_document_whose_status_changed_says_so():
    base = run_of(single("a", True))
    new = run_of(document("a", 0.0, "missing", whole={"fn": 1}, total={"fn": 1}))
    text = render("table", difference(base, new), STYLE)

    assert (
        "a (much worse): score 1.000 before, 0.000 after; missing in the new run; "
        "wrong values: 0 before, 1 after" in text
    )
    assert "counted as missed" not in text


def test_runs_without_fields_have_no_table_of_fields():
    compared_runs = difference(run_of(document("a"), paths=()), run_of(document("a"), paths=()))

    assert "field " not in render("table", compared_runs, STYLE)
    assert "<details>" not in render("markdown", compared_runs, STYLE)


def test_a_field_without_documents_is_a_skipped_case():
    compared_runs = difference(*runs(0), "documents.lost==0")
    empty = difference(run_of(document("a")), run_of(document("a")))

    assert (
        "skipped"
        not in render("junit", compared_runs, TableStyle(junit_fields=True)).split("<prop")[1]
    )
    assert "<skipped" in render("junit", empty, TableStyle(junit_fields=True))


@pytest.mark.parametrize("form", sorted({*FORMATS} - {*TYPED}))
def test_text_from_documents_stays_text(form):
    base = run_of(single(EVIL, True), single("b", True), document("=cmd()", total=RIGHT))
    new = run_of(single(EVIL, False), single("b\u202e", True), document("=cmd()", total=WRONG))
    text = render(form, difference(base, new), STYLE)

    assert "\x1b[31m" not in text
    assert "\n::error::x" not in text
    assert "\u202e" not in text or form == "json"


def test_a_name_with_half_a_surrogate_pair_is_written():
    (row,) = [
        row
        for row in csv.DictReader(
            io.StringIO(
                render(
                    "csv",
                    difference(
                        run_of(document("a", **{"\ud800": RIGHT}), paths=()),
                        run_of(document("a", **{"\ud800": RIGHT}), paths=()),
                    ),
                    STYLE,
                )
            )
        )
        if row["field"]
    ]
    assert row["field"] == "\\ud800"
    compared_runs = difference(run_of(single("\ud800", True)), run_of(single("\ud800", False)))
    assert '"id": "\\ud800"' in render("json", compared_runs, STYLE)


def test_the_summary_of_a_step_keeps_to_the_room_there_is():
    compared_runs = difference(*runs(25))

    assert summary(compared_runs, STYLE) == render("markdown", compared_runs, STYLE)
    assert len(summary(compared_runs, STYLE, SUMMARY_LIMIT - 500).encode()) <= 500


def test_a_change_is_never_rounded_onto_nothing_or_onto_a_limit():
    assert signed(-0.01004, {0.01}) == "-0.0101"
    assert signed(1e-9) == "+0.0001"


def test_a_change_by_more_than_chance_that_counts_as_none_is_told():
    small = compared(*runs(9, documents=400), settings=TrendSettings(margin=0.1))

    assert (
        "changed by more than chance, but by less than the margin 0.1, so this counts as "
        "no change: F1 (p "
        "0.0039), " in render("table", small, STYLE)
    )


@pytest.mark.parametrize(
    ("before", "after", "limits", "texts"),
    [
        (0.748, 0.413, (), ("0.748", "0.413", "-0.335")),
        # Three digits would be 0.967, 0.969 and +0.003; the change is 0.00288.
        (0.96652, 0.9694, (), ("0.9665", "0.9694", "+0.0029")),
        # Neither three nor four digits agree with the change, 0.00265, which is 0.0026 as shown.
        (0.96676, 0.96941, (), ("0.9668", "0.9694", "+0.0026")),
        # Then no change is shown as the limit of a gate, or as 0.
        (0.96676, 0.96941, (0.0026,), ("0.96676000", "0.96941000", "+0.00265000")),
        (0.50001, 0.50004, (), ("0.50001000", "0.50004000", "+0.00003000")),
        (None, 0.5, (), ("-", "0.500", "-")),
    ],
)
def test_a_change_is_the_difference_of_the_figures_beside_it(before, after, limits, texts):
    view = DifferenceView(difference(*runs(0)))
    vars(view).update(digits=3, _limits={*limits})
    change = None if before is None else after - before

    assert view.change_texts(before, after, change) == texts
