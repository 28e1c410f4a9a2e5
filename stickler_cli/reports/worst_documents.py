"""The documents with the lowest scores, and the command that explains each."""

import shlex
from collections.abc import Iterator
from heapq import nsmallest

from stickler_cli.core.figures import rate
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text
from stickler_cli.core.values import dataclass
from stickler_cli.score.document_result import Status
from stickler_cli.score.record import Run
from .layout import TableStyle
from .view import RunView


@dataclass(frozen=True, slots=True)
class WrongDocument:
    """A document that lost values."""

    id: str
    score: float | None
    lost: int
    """How many of its values are wrong, invented or missed."""
    explained: str
    """The command that shows how it was compared, or what became of it if it was not."""


def document_blocks(view: RunView, style: TableStyle) -> Iterator[Block]:
    """Yield the documents that are to be shown, each with its command below it or beside it."""
    if not style.show_documents:
        return
    shown, count = wrong_documents(view.run, style.show_documents)
    if view.run.evaluation.ledger is None:
        yield Text("this run keeps no rows of its documents: see --rows", "dim", INDENT)
        return
    if not shown:
        yield Text("no document lost values")
        return
    which = f"the {len(shown)} with the lowest scores of {count}" if len(shown) < count else "all"
    yield Text(f"documents that lost values, {which}", "title")
    yield document_table(view, shown, page=style.plain)
    if not view.run.explaining:
        told = "stickler compare SCHEMA GT PRED --document ID explains one of them"
        yield Text(told, "dim", INDENT)


def document_table(view: RunView, shown: list[WrongDocument], *, page: bool) -> Table:
    """Return a row for each document; on a page, and in a pipe, the command is a column."""
    columns = [Column("document", left=True), Column("score"), Column("values lost")]
    rows = [[Span.of(it.id), Span(rate(it.score)), Span(str(it.lost))] for it in shown]
    told = [Span.of(it.explained, "dim") for it in shown]
    if not any(it.explained for it in shown):
        return Table(columns, rows)
    if page:
        whole = [[*row, last] for row, last in zip(rows, told, strict=True)]
        return Table([*columns, Column("explained by", left=True)], whole)
    # A command is not broken at blanks: it is there to be copied.
    below = [[(Span(INDENT), last)] if last.text else () for last in told]
    return Table(columns, rows, below=below)


def wrong_documents(run: Run, most: int) -> tuple[list[WrongDocument], int]:
    """Return the documents with the lowest scores that lost values, and how many did."""
    ledger, count = run.evaluation.ledger, 0
    if ledger is None:
        return [], 0

    def ranked() -> Iterator[tuple[float, int, str, str]]:
        nonlocal count
        for name, status, score, values in ledger.documents():
            if values.lost:
                count += 1
                yield (2.0 if score is None else score), -values.lost, name, status

    found = nsmallest(most, ranked())
    return [
        WrongDocument(name, score if score <= 1 else None, -lost, _explained(run, name, status))
        for score, lost, name, status in found
    ], count


def _explained(run: Run, name: str, status: str) -> str:
    if status != Status.EVALUATED:
        return f"it is {status}"
    which = ["--document", name] if not name.startswith("-") else [f"--document={name}"]
    return f"{run.explaining} {shlex.join(which)}" if run.explaining else ""
