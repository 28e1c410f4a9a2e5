"""Reports as data: sections that contain sentences and tables. Each output format renders them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .figures import NOTHING, rate, visible

Tone = Literal["", "title", "bad", "warn", "good", "dim"]
"""The meaning of a piece of text. Each output format decides how it looks."""

INDENT: Final = "  "


class Span(NamedTuple):
    """A piece of text on one line, already safe to print."""

    text: str
    tone: Tone = ""
    quoted: bool = False
    """Whether the text comes from documents or the schema. HTML pages show such texts in the font
    of code."""

    @classmethod
    def of(cls, text: str, tone: Tone = "", *, quoted: bool = True) -> "Span":
        """Return text from any source as a span, after making it safe to print."""
        return cls(visible(text), tone, quoted)


Line: TypeAlias = tuple[Span, ...]

BLANK: Final[Line] = ()


class Column(NamedTuple):
    """One column of a table."""

    title: str
    rank: int = 0
    """If a terminal is too narrow for all columns, columns with a high rank are dropped first. A
    column of rank 0 is never dropped."""
    left: bool = False
    short: str = ""


class Text(NamedTuple):
    """A paragraph. All lines begin with the margin. Lines after the first are indented further."""

    text: str
    tone: Tone = ""
    indent: str = ""
    margin: str = ""
    lead: Tone | None = None
    """Tone of the first word; None if it has the tone of the paragraph."""


class Table(NamedTuple):
    """Rows of cells, with a cell for each column. Texts in the first column may be truncated."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Span]]
    legend: Sequence[tuple[str, str]] = ()
    """Explanations as (title of a column, text). Each is shown only if its column is shown."""
    below: Sequence[Sequence[Text | Line]] = ()
    """For each row, the lines shown below it."""


Block: TypeAlias = Text | Table | Line

Cell: TypeAlias = str | int | float | Sequence[float] | None
"""A value in a table: a text, a count, a rate, or both bounds of an interval."""


class FigureColumn(NamedTuple):
    """A column of a table whose rows are objects. It computes its cells from these objects."""

    title: str
    value: str | Callable[[Any], Cell]
    """Name of the attribute of a row that holds the value, or a function that computes it from the
    row."""
    kind: type = float
    """Type of the cells: `str`, `int`, `float`, or `list` for the bounds of an interval."""
    rank: int = 0
    short: str = ""
    shown: Callable[[Any], str] | None = None
    """A function that takes a row and returns the text of its cell. If None, the value is formatted
    according to `kind`."""
    quoted: bool = True
    """Whether the texts of the column are names from documents or schemas."""
    tone: Tone | Callable[[Any], Tone] = ""
    """The tone of all cells, or a function that takes a row and returns the tone of its cell."""
    aside: bool = False
    """Whether a terminal shows the cell on a separate line below its row. This is used for
    sentences, which do not fit into columns."""

    @property
    def column(self) -> Column:
        """The same column in a `Table`: its titles, its rank and its alignment, without cells."""
        return Column(title=self.title, rank=self.rank, left=self.kind is str, short=self.short)

    @property
    def name(self) -> str:
        """Name of the column in files that contain the rows of the table, such as CSV."""
        return self.value if isinstance(self.value, str) else self.title.lower().replace(" ", "_")

    def cell(self, row: object) -> Cell:
        """Return the value of the column for a row."""
        cell: Cell = getattr(row, self.value) if isinstance(self.value, str) else self.value(row)
        return cell

    def span(self, row: object) -> Span:
        """Return the cell of a row as text to be shown."""
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
    """The verdicts that a user can give on one row of an HTML page. Each verdict has a button.

    The page lets the user download the row with the chosen verdict.
    """

    line: str
    """The row as JSON text of an object. The page adds the entries of the chosen verdict to this
    object."""
    choices: Sequence[tuple[str, str]]
    """(text of the button, JSON object) for each button. A click adds the entries of the object to
    the row."""


class Figures(NamedTuple):
    """A table whose rows are objects. Its columns compute the cells from these objects."""

    figures: Sequence[FigureColumn]
    rows: Sequence[object]
    legend: Sequence[tuple[str, str]] = ()
    choices: Sequence[Choices] = ()
    """For each row, its buttons for verdicts on an HTML page. Empty if the table has no such
    buttons."""

    def table(self, *, aside: bool = False) -> Table:
        """Return the table to be shown.

        If `aside` is true, columns that are marked as `aside` are left out. Their cells are put on
        lines below the rows.
        """
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
    """A curve in a report. It shows how a figure depends on a share.

    For example, the share of wrong values (vertical axis) depends on the share of values that
    nobody reviews (horizontal axis).
    """

    name: str
    description: str
    """A phrase on the meaning of the curve."""
    points: Sequence[Sequence[float]]
    """Points as (x, y). `x` is the position on the horizontal axis, in [0, 1]; `y` is the
    figure."""
    passing: float
    """Horizontal position of the marked point, in [0, 1]."""
    end: tuple[float, float] | None = None
    """Both ends of the vertical line at the marked point: (figure at this point, upper bound of the
    figure). None if unknown."""
    last: str = "1"
    """Label at the right end of the horizontal axis."""


class Curves(NamedTuple):
    """Several curves with the same axes, each in a picture of its own."""

    title: str
    curves: Sequence[Curve]
    level: float
    """An upper or a lower limit for the figures, shown as a line."""
    axes: tuple[str, str] = ("share of values accepted without review", "share wrong")
    mark: str = "the chosen threshold"
    """What the marked point of a curve means. Text reports draw the point as `|`, and explain it in
    the title: for instance, "| is the chosen threshold"."""
    legend: str = (
        "A point shows the chosen threshold. The vertical line above the point ends at "
        "the upper bound of the error. The dotted line is the allowed share of wrong "
        "values."
    )
    top: float | None = None
    """The figure at the upper end of the vertical axis. If None, the axis is made to fit the
    figures."""


Drawn: TypeAlias = Block | Figures | Curves


class Section(NamedTuple):
    """A part of a report. It is not shown if it has neither a title nor blocks."""

    title: str = ""
    blocks: Sequence[Drawn] = ()


class Report(NamedTuple):
    """A report in two forms: a record, which is written as JSON, and sections for people."""

    record: object
    sections: Sequence[Section]
    """The sections. The title of the first section is the title of the report."""
    rows: Figures | None = None
    """The table that is written to files of rows, such as CSV; None if there is no table."""

    @classmethod
    def of_study(
        cls, record: Any, title: str, *parts: Section | Sequence[Drawn], rows: Figures
    ) -> "Report":
        """Return the report of a study: its sections, then the notes in `record.notes`.

        Each of `parts` is a section, or the blocks of a section without a title. `title` becomes
        the title of the first section.
        """
        blocks = (*parts, notes(record.notes))
        sections = [block if isinstance(block, Section) else Section("", block) for block in blocks]
        return cls(record, [sections[0]._replace(title=title), *sections[1:]], rows)


def notes(texts: Iterable[str]) -> list[Block]:
    """Return notes as paragraphs of a report."""
    return [Text(f"note: {text}", indent=INDENT) for text in texts]
