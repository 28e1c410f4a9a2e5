"""Reports as data: sections with sentences and tables, which each format renders in its own way."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .figures import NOTHING, rate, visible

Tone = Literal["", "title", "bad", "warn", "good", "dim"]
"""Meaning of a piece of text; each format decides how it looks."""

INDENT: Final = "  "


class Span(NamedTuple):
    """A piece of text on one line that is safe to print."""

    text: str
    tone: Tone = ""
    quoted: bool = False
    """Whether the text comes from documents or the schema, so that pages show it as code."""

    @classmethod
    def of(cls, text: str, tone: Tone = "", *, quoted: bool = True) -> "Span":
        """Return text from any source, made safe to print."""
        return cls(visible(text), tone, quoted)


Line: TypeAlias = tuple[Span, ...]

BLANK: Final[Line] = ()


class Column(NamedTuple):
    """One column of a table."""

    title: str
    rank: int = 0
    """Columns of the highest rank are dropped first on a narrow terminal; a column of rank 0 always
    stays."""
    left: bool = False
    short: str = ""


class Text(NamedTuple):
    """A paragraph; all lines begin with the margin, and lines after the first are indented."""

    text: str
    tone: Tone = ""
    indent: str = ""
    margin: str = ""
    lead: Tone | None = None
    """Tone of the first word, if it differs."""


class Table(NamedTuple):
    """Rows of cells, one for each column; the first column may be truncated."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Span]]
    legend: Sequence[tuple[str, str]] = ()
    """Explanations as pairs of column title and text; shown only with their column."""
    below: Sequence[Sequence[Text | Line]] = ()
    """Lines below each row."""


Block: TypeAlias = Text | Table | Line

Cell: TypeAlias = str | int | float | Sequence[float] | None
"""A value in a table: text, a count, a rate, or the bounds of an interval."""


class FigureColumn(NamedTuple):
    """A column that reads its value from the object of a row."""

    title: str
    value: str | Callable[[Any], Cell]
    """Name of an attribute of the row, or a function of the row."""
    kind: type = float
    """Type of the cells: `str`, `int`, `float`, or `list` for the bounds of an interval."""
    rank: int = 0
    short: str = ""
    shown: Callable[[Any], str] | None = None
    """Function of the row that returns the text of its cell; None formats the value by its kind."""
    quoted: bool = True
    """Whether the texts of the column are names from documents or schemas."""
    tone: Tone | Callable[[Any], Tone] = ""
    """Tone of the column, or a function of the row that returns it."""
    aside: bool = False
    """Whether a terminal shows the cell below its row, as sentences do not fit into columns."""

    @property
    def column(self) -> Column:
        """The column as it is shown."""
        return Column(title=self.title, rank=self.rank, left=self.kind is str, short=self.short)

    @property
    def name(self) -> str:
        """Name of the column in files of rows."""
        return self.value if isinstance(self.value, str) else self.title.lower().replace(" ", "_")

    def cell(self, row: object) -> Cell:
        """Return the value of the column for a row."""
        cell: Cell = getattr(row, self.value) if isinstance(self.value, str) else self.value(row)
        return cell

    def span(self, row: object) -> Span:
        """Return the cell of a row as it is shown."""
        text = cell_text(self.cell(row)) if self.shown is None else self.shown(row)
        tone = self.tone(row) if callable(self.tone) else self.tone
        return Span.of(text, tone, quoted=self.quoted and self.kind is str)


def cell_text(cell: Cell) -> str:
    """Format a value: counts with separators, rates with four decimals, intervals in brackets.

    >>> cell_text(3_000), cell_text(0.5), cell_text([0.25, 1.0]), cell_text(None)
    ('3,000', '0.5000', '[0.2500, 1.0000]', '-')
    """
    match cell:
        case None:
            return NOTHING
        case float():
            return rate(cell)
        case str():
            return cell
        case int():
            return f"{cell:,}"
    return f"[{', '.join(map(rate, cell))}]"


class Choices(NamedTuple):
    """Possible verdicts on a row: a page shows a button for each, and downloads the chosen one."""

    line: str
    """JSON object of the row, to which the verdict is added."""
    choices: Sequence[tuple[str, str]]
    """Text of each button, and the JSON object whose entries it adds to the line."""


class Figures(NamedTuple):
    """A table as row objects, with the columns that are read from them."""

    figures: Sequence[FigureColumn]
    rows: Sequence[object]
    legend: Sequence[tuple[str, str]] = ()
    choices: Sequence[Choices] = ()
    """Possible verdicts on each row, for pages."""

    def table(self, *, aside: bool = False) -> Table:
        """Return the table as it is shown; `aside` puts sentences below their rows."""
        shown_figures = [figure for figure in self.figures if not (aside and figure.aside)]
        cells = [[figure.span(row) for figure in shown_figures] for row in self.rows]
        details: list[list[Text | Line]] = []
        if len(shown_figures) < len(self.figures):
            aside_figures = [figure for figure in self.figures if figure.aside]
            details = [
                [Text(figure.span(row).text, "dim", margin=INDENT) for figure in aside_figures]
                for row in self.rows
            ]
        return Table(
            columns=[figure.column for figure in shown_figures],
            rows=cells,
            legend=self.legend,
            below=details,
        )


class Curve(NamedTuple):
    """A curve of a value (such as the error rate) by the share of values that pass."""

    name: str
    description: str
    """Meaning of the curve in words."""
    points: Sequence[Sequence[float]]
    """Pairs of the share that passes, and the value."""
    passing: float
    """Share of values that finally pass."""
    end: tuple[float, float] | None = None
    """Value at the share `passing`, and its upper bound; None if unknown."""
    last: str = "1"
    """Label at the end of the axis of shares."""


class Curves(NamedTuple):
    """A set of curves, each in its own picture."""

    title: str
    curves: Sequence[Curve]
    level: float
    """Limit that the values should not exceed, or should reach."""
    axes: tuple[str, str] = ("share of values that pass", "share wrong")
    mark: str = "the chosen threshold"
    """Meaning of the end point of a curve, as a clause after "a point is"."""
    legend: str = (
        "the dotted line is the allowed share; a point is the chosen threshold, and the line "
        "above it the upper bound of its error"
    )
    top: float | None = None
    """Value at the end of the vertical axis; None to fit the values."""


Drawn: TypeAlias = Block | Figures | Curves


class Section(NamedTuple):
    """A part of a report; a section without title and blocks is not shown."""

    title: str = ""
    blocks: Sequence[Drawn] = ()


class Report(NamedTuple):
    """A report: the record of a study, which is its JSON, and the sections for people."""

    record: object
    sections: Sequence[Section]
    """Sections; the title of the first one is that of the report."""
    rows: Figures | None = None
    """Table for files of rows; None without a table."""

    @classmethod
    def of_study(
        cls, record: Any, title: str, *parts: Section | Sequence[Drawn], rows: Figures
    ) -> "Report":
        """Return the report of a study; parts without a title are blocks, and notes come last."""
        blocks = (*parts, notes(record.notes))
        sections = [block if isinstance(block, Section) else Section("", block) for block in blocks]
        return cls(record, [sections[0]._replace(title=title), *sections[1:]], rows)


def notes(texts: Iterable[str]) -> list[Block]:
    """Return notes as paragraphs."""
    return [Text(f"note: {text}", indent=INDENT) for text in texts]
