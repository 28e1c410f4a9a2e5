"""Reports as data: cells of figures, and tables made of them."""

from types import SimpleNamespace
from typing import Any, NamedTuple

from stickler_cli.core.sections import (
    INDENT,
    Column,
    FigureColumn,
    Figures,
    Report,
    Section,
    Span,
    Text,
    cell_text,
    notes,
)


class Row(NamedTuple):
    field: str
    pairs: int
    share: Any
    interval: Any
    why: str


ROWS = [Row("a", 2, 0.5, [0.25, 1.0], "enough"), Row("b|c", 0, None, None, "none")]
FIGURES = (
    FigureColumn("field", "field", str),
    FigureColumn("pairs", "pairs", int, 1),
    FigureColumn("twice", lambda row: 2 * row.pairs, int),
    FigureColumn("share", "share", rank=2, short="sh"),
    FigureColumn("interval", "interval", list),
    FigureColumn("of", "pairs", int, shown=lambda row: f"{row.pairs}/2"),
    FigureColumn("why", "why", str, aside=True, quoted=False),
)


def test_a_table_reads_its_figures_of_the_values_of_rows():
    table = Figures(FIGURES, ROWS, [("share", "share: a part")]).table()

    assert [column.title for column in table.columns] == [figure.title for figure in FIGURES]
    assert table.columns[0] == Column("field", left=True)
    assert table.columns[3] == Column("share", 2, short="sh")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "2", "4", "0.5000", "[0.2500, 1.0000]", "2/2", "enough"],
        ["b|c", "0", "0", "-", "-", "0/2", "none"],
    ]
    assert table.rows[0][0] == Span("a", quoted=True)
    assert table.rows[0][6] == Span("enough")
    assert table.legend == [("share", "share: a part")]
    assert table.below == []


def test_sentences_stand_below_rows_where_there_is_no_room_for_a_column():
    table = Figures(FIGURES, ROWS).table(aside=True)

    assert [column.title for column in table.columns] == [figure.title for figure in FIGURES[:-1]]
    assert table.below == [
        [Text("enough", "dim", margin=INDENT)],
        [Text("none", "dim", margin=INDENT)],
    ]
    assert Figures(FIGURES[:1], ROWS).table(aside=True).below == []


def test_columns_of_files_have_the_name_of_what_they_read_or_that_of_their_title():
    assert FigureColumn("AP 50", lambda row: None).name == "ap_50"
    assert FigureColumn("AP 50", "average_precision").name == "average_precision"


def test_cells_that_cannot_be_seen_are_made_safe():
    odd = Row("a\x1b", 0, None, None, "")
    assert FIGURES[0].span(odd) == Span("a\\x1b", quoted=True)
    assert cell_text("text") == "text"


def test_a_report_is_its_record_and_sections():
    report = Report({"a": 1}, [Section("title", notes(["odd"]))])

    assert report.rows is None
    assert report.sections[0].blocks == [Text("note: odd", indent=INDENT)]


def test_a_report_of_a_study_is_titled_as_the_whole_and_ends_with_notes():
    record, rows, sections = SimpleNamespace(notes=["few"]), Figures([], []), [Text("inside")]
    report = Report.of_study(record, "All", [Text("first")], Section("Part", sections), rows=rows)

    assert report == Report(
        record,
        [Section("All", [Text("first")]), Section("Part", sections), Section("", notes(["few"]))],
        rows,
    )
