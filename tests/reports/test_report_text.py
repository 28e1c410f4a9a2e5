"""Reports of all studies, in every format."""

from typing import Any, NamedTuple

import pytest

from stickler_cli.core.sections import (
    INDENT,
    Column,
    Curve,
    Curves,
    FigureColumn,
    Figures,
    Report,
    Section,
    Span,
    Table,
    Text,
)
from stickler_cli.reports.formats import render_pieces, written
from stickler_cli.reports.layout import TableStyle

HOSTILE = "<script>alert(1)</script> [x](http://y) @all"


class Row(NamedTuple):
    name: str
    share: float | None
    ends: Any
    why: str


ROWS = [Row("a", 0.25, [0.0, 0.5], "first"), Row(HOSTILE, None, None, "second")]
TABLE = Figures(
    [
        FigureColumn("name", "name", str),
        FigureColumn("share", "share"),
        FigureColumn("interval", "ends", list),
        FigureColumn("why", "why", str, aside=True),
    ],
    ROWS,
    [("share", "share: a part")],
)
CURVE = Curve("a", "half pass", [(0.5, 0.0), (1.0, 0.2)], 0.5, (0.1, 0.15))
REPORT = Report(
    {"rows": 2},
    [
        Section(f"of {HOSTILE}", [Text("two rows")]),
        Section("", [TABLE]),
        Section("more", [Text("out", margin=INDENT), Text("in", margin=INDENT * 2), (Span("b"),)]),
        Section("", [Curves("curves", [CURVE], 0.1)]),
        Section("", [Table([Column("plain", left=True)], [[Span("cell")]])]),
    ],
    TABLE,
)


def drawn(form, **style):
    return "".join(render_pieces(form, REPORT, TableStyle(**style)))


def test_a_pipe_has_a_column_where_a_terminal_has_sentences_below_rows():
    assert drawn("table").splitlines()[3:6] == [
        f"name{' ' * (len(HOSTILE) - 4)}   share          interval  why",
        f"a{' ' * (len(HOSTILE) - 1)}  0.2500  [0.0000, 0.5000]  first",
        f"{HOSTILE}       -                 -  second",
    ]
    lines = drawn("table", plain=False).splitlines()
    assert lines[5] == "  first"
    assert "why" not in lines[3]


def test_a_terminal_draws_curves_from_none_that_pass_to_all():
    lines = drawn("table", plain=False).splitlines()
    position = lines.index("curves (| is the chosen threshold; a full bar is 0.2)")
    # Of forty cells those nearer to the second point than to the first are full: from 0.75 on.
    assert lines[position + 1] == f"a  {'▁' * 20}|{'▁' * 10}{'█' * 10}"
    assert "curves" not in drawn("table")


def test_markdown_has_titles_lists_and_tables_in_which_no_markup_works():
    lines = drawn("markdown").splitlines()
    assert lines[0].startswith("### of &#60;script&#62;alert(1)&#60;/script&#62; ")
    assert lines[2] == "- two rows"
    assert lines[4:6] == ["| name | share | interval | why |", "| :--- | ---: | ---: | ---: |"]
    assert lines[6] == "| `a` | 0.2500 | [0.0000, 0.5000] | `first` |"
    assert lines[9] == "- share&#58; a part"
    assert lines[11:16] == ["#### more", "", "- out", "  - in", "- b"]
    assert lines[17] == "- a: half pass"
    assert not any("<script>" in line or "@all" in line for line in lines)


def test_a_page_has_all_sections_and_nothing_in_it_runs():
    page = drawn("html")
    assert page.count("<script") == 0
    assert page.count("<table") == 2
    assert page.count('<svg class="trust"') == 1
    assert "<h2>more</h2>" in page


def test_a_page_without_a_title_has_its_first_sentence_as_one():
    report = Report({}, [Section("", [Text("all is well"), Text("and more")])])
    page = "".join(render_pieces("html", report, TableStyle()))
    assert "<title>all is well</title>" in page
    assert page.count("all is well") == 2
    assert "and more" in page


def test_rows_have_both_ends_of_intervals():
    assert [*written("csv", REPORT, TableStyle())] == [
        b"name,share,ends_lower,ends_upper,why\n"
        b"a,0.25,0.0,0.5,first\n" + f"{HOSTILE},,,,second\n".encode()
    ]


@pytest.mark.parametrize("form", ["json"])
def test_json_is_the_record(form):
    assert drawn(form) == '{\n  "rows": 2\n}\n'
