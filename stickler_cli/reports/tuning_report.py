"""What a tuning found, in words and as JSON."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.advice.tuning import Cut, TunedField, TuneReport
from stickler_cli.core.figures import WHOLE, number_of, rate, setting
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, notes
from .layout import TableStyle, draw

BAR: Final = 30  # characters of the longest bar of a histogram

_COLUMNS: Final = (
    Column("field", left=True),
    Column("comparator", 3, left=True),
    Column("pairs", 4),
    Column("now", 1),
    Column("proposed", 2),
)
_WHY: Final = Column("why", left=True)


def render_tuning(report: TuneReport, style: TableStyle) -> str:
    """Return proposals as a table, with the evidence of each; ends with a line break."""
    evidence = f"the similarities of {number_of(report.units, 'document')}"
    if report.by_verdicts:
        evidence = number_of(sum(field.pairs for field in report.fields), "verdict")
    head = f"{report.model_name} ({report.schema}), by {evidence}"
    shown = [
        field
        for field in report.fields
        if field.proposal.threshold is not None or field.path in report.asked
    ]
    sections: list[list[Block]] = [
        [Text(head, "title"), Text(_summary(report))],
        [_fields(report, plain=style.plain)],
        *([*_evidence(field, report)] for field in shown),
        notes(report.notes),
    ]
    return draw(sections, style)


def _summary(report: TuneReport) -> str:
    count = len(report.proposed)
    fields = number_of(len(report.fields), "field")
    if not count:
        return f"no threshold of {fields} should change by this evidence"
    return f"{number_of(count, 'threshold')} of {fields} should change"


def _fields(report: TuneReport, *, plain: bool) -> Table:
    """Return a row for each field; a terminal has no room for reasons but below."""
    fields, reasons = report.fields, [field.proposal.reason for field in report.fields]
    if plain:
        rows = [[*_row(field), Span(why)] for field, why in zip(fields, reasons, strict=True)]
        return Table((*_COLUMNS, _WHY), rows)
    below = [[Text(why, "dim", margin=INDENT)] for why in reasons]
    return Table(_COLUMNS, [_row(field) for field in fields], below=below)


def _row(field: TunedField) -> list[Span]:
    name = field.comparator.removesuffix("Comparator") or "its fields"
    proposed = setting(field.proposal.threshold)
    cells = (field.path or WHOLE, name, str(field.pairs), setting(field.threshold), proposed)
    return [Span.of(cell) for cell in cells]


def _evidence(field: TunedField, report: TuneReport) -> Iterator[Block]:
    """Yield why a threshold is proposed: the gain, and what each cut would come to."""
    proposal = field.proposal
    stays = proposal.threshold is None
    change = "stays" if stays else f"-> {setting(proposal.threshold)}"
    yield Text(f"{field.path or WHOLE}: {setting(field.threshold)} {change}", "title")
    told = proposal.reason if proposal.gain is None else gain_text(field, report)
    yield Text(told, indent=INDENT, margin=INDENT)
    yield _cut_table(field, report)


def gain_text(field: TunedField, report: TuneReport) -> str:
    """Return what a proposal gains on the half that did not choose it."""
    proposal = field.proposal
    what = "F1 against verdicts" if report.by_verdicts else "variance explained"
    told = f"{what} {rate(proposal.now)} -> {rate(proposal.then)}"
    if proposal.gain is not None:
        difference = (proposal.then or 0.0) - (proposal.now or 0.0)
        lower, upper = proposal.gain
        told += f", {difference:+.4f} [{lower:+.4f}, {upper:+.4f}] ({report.level:.0%} CI)"
    return (
        f"{told}; {number_of(proposal.moved, 'pair')} of {field.pairs} would be classed otherwise"
    )


def _cut_table(field: TunedField, report: TuneReport) -> Table:
    columns = [Column("from", left=True), Column("pairs"), Column("", left=True)]
    columns += [Column(title) for title in ("same", "precision", "recall") if report.by_verdicts]
    columns += [Column("pass")]
    most = max(cut.pairs for cut in field.cuts)
    first = next((at for at, cut in enumerate(field.cuts) if cut.pairs), 0)
    return Table(columns, [_cut_row(cut, most) for cut in field.cuts[max(0, first - 1) :]])


def _cut_row(cut: Cut, most: int) -> list[Span]:
    bar = "#" * -(-cut.pairs * BAR // most)
    figures = () if cut.same is None else (str(cut.same), rate(cut.precision), rate(cut.recall))
    cells = (f"{cut.threshold:.2f}", str(cut.pairs), bar, *figures, str(cut.passing))
    return [Span(text) for text in cells]
