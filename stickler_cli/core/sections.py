"""A report as data: sections of sentences and tables, which each format draws in its own way."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .figures import NOTHING, rate, visible

Tone = Literal["", "title", "bad", "warn", "good", "dim"]
"""The meaning of a piece of text; how it looks is the format's business."""

INDENT: Final = "  "


class Span(NamedTuple):
    """A piece of text on one line, safe to print."""

    text: str
    tone: Tone = ""
    quoted: bool = False
    """Whether it is from documents or the schema, so that pages show it as code."""

    @classmethod
    def of(cls, text: str, tone: Tone = "", *, quoted: bool = True) -> "Span":
        """Return text from anywhere, made safe."""
        return cls(visible(text), tone, quoted)


Line: TypeAlias = tuple[Span, ...]

BLANK: Final[Line] = ()


class Column(NamedTuple):
    """One column of a table."""

    title: str
    rank: int = 0
    """Columns of the highest rank go first where the terminal is narrow; 0 always stays."""
    left: bool = False
    short: str = ""


class Text(NamedTuple):
    """A paragraph: all lines begin with the margin, and those after the first are indented."""

    text: str
    tone: Tone = ""
    indent: str = ""
    margin: str = ""
    lead: Tone | None = None
    """The tone of the first word, if another one."""


class Table(NamedTuple):
    """Rows of cells, one per column; the first column is the one that may be truncated."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Span]]
    legend: Sequence[tuple[str, str]] = ()
    """Its explanations: the title of a column, without which it is left out, and a text."""
    below: Sequence[Sequence[Text | Line]] = ()
    """The lines below each row."""


Block: TypeAlias = Text | Table | Line

Cell: TypeAlias = str | int | float | Sequence[float] | None
"""The value of a figure: text, a count, a rate, or the ends of an interval."""


class FigureColumn(NamedTuple):
    """A column that knows where its value is in the value of a row."""

    title: str
    value: str | Callable[[Any], Cell]
    """An attribute of the row, or a function of it."""
    kind: type = float
    """Type of the cells: `str`, `int`, `float`, or `list` for the bounds of an interval."""
    rank: int = 0
    short: str = ""
    shown: Callable[[Any], str] | None = None
    """A function of the row: how people read its cell, if not by its kind."""
    quoted: bool = True
    """Whether texts in it are names that documents or schemas chose."""
    tone: Tone | Callable[[Any], Tone] = ""
    """Or a function of the row."""
    aside: bool = False
    """Whether it stands below the row on a terminal, which has no room for sentences."""

    @property
    def column(self) -> Column:
        """The column as it is drawn."""
        return Column(title=self.title, rank=self.rank, left=self.kind is str, short=self.short)

    @property
    def name(self) -> str:
        """The name of the column in files of rows."""
        return self.value if isinstance(self.value, str) else self.title.lower().replace(" ", "_")

    def cell(self, row: object) -> Cell:
        """Return the cell of a row."""
        cell: Cell = getattr(row, self.value) if isinstance(self.value, str) else self.value(row)
        return cell

    def span(self, row: object) -> Span:
        """Return the cell of a row as people read it."""
        text = cell_text(self.cell(row)) if self.shown is None else self.shown(row)
        tone = self.tone(row) if callable(self.tone) else self.tone
        return Span.of(text, tone, quoted=self.quoted and self.kind is str)


def cell_text(cell: Cell) -> str:
    """Return a cell: counts with separators, rates with four decimals, intervals in brackets.

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
    """Verdicts on a row: a page shows a button for each, and downloads the chosen one as a line."""

    line: str
    """A JSON object."""
    choices: Sequence[tuple[str, str]]
    """The text of each button, and the JSON object whose entries it adds to the line."""


class Figures(NamedTuple):
    """A table as the values of its rows, and the figures that are read of each."""

    figures: Sequence[FigureColumn]
    rows: Sequence[object]
    legend: Sequence[tuple[str, str]] = ()
    choices: Sequence[Choices] = ()
    """Choices of each row, for pages."""

    def table(self, *, aside: bool = False) -> Table:
        """Return the table as it is drawn; `aside` puts sentences below the rows."""
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
    """A share as ever more pass: a line of a picture."""

    name: str
    description: str
    """Its meaning in words."""
    points: Sequence[Sequence[float]]
    """Share that passes, and the value there."""
    passing: float
    """The share that passes in the end."""
    end: tuple[float, float] | None = None
    """The value there, and its upper bound; None where nothing is known of it."""
    last: str = "1"
    """The end of the axis of shares."""


class Curves(NamedTuple):
    """A picture of each of some curves."""

    title: str
    curves: Sequence[Curve]
    level: float
    """The limit that values should not exceed, or are to reach."""
    axes: tuple[str, str] = ("share of values that pass", "share wrong")
    mark: str = "where it ends"
    """The meaning of the end of a curve."""
    legend: str = (
        "the dotted line is what is allowed; a point is where it ends, the line above it what is "
        "not exceeded"
    )
    top: float | None = None
    """The end of the scale of values; None for one that their size decides."""


Drawn: TypeAlias = Block | Figures | Curves


class Section(NamedTuple):
    """A part of a report; one without title and blocks is not drawn."""

    title: str = ""
    blocks: Sequence[Drawn] = ()


class Report(NamedTuple):
    """The answer of a study: a record, which JSON has as it is, and the sections people read."""

    record: object
    sections: Sequence[Section]
    """The first is titled as the whole."""
    rows: Figures | None = None
    """The table for files of rows; None without a table."""

    @classmethod
    def of_study(
        cls, record: Any, title: str, *parts: Section | Sequence[Drawn], rows: Figures
    ) -> "Report":
        """Return the report of a study: parts without a title are blocks; notes are the last."""
        blocks = (*parts, notes(record.notes))
        sections = [block if isinstance(block, Section) else Section("", block) for block in blocks]
        return cls(record, [sections[0]._replace(title=title), *sections[1:]], rows)


def notes(texts: Iterable[str]) -> list[Block]:
    """Return notes, a paragraph each."""
    return [Text(f"note: {text}", indent=INDENT) for text in texts]
