"""What reports say of several predictions of the same documents: spread, agreement, flips."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.figures import more_of, number_of, rate, value_text
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.score.repeats import FieldRepeats, Flip, Repeats
from .view import RunView

NAMED: Final = 20  # values that flip, of which reports for people tell; the JSON has all


def headline(view: RunView, repeats: Repeats) -> str:
    """Return which runs there are, and what they have in common."""
    found, runs = repeats.whole, repeats.runs
    spread = [value for value in found.f1 if value is not None]
    moved = f"F1 {view.rate(min(spread))} to {view.rate(max(spread))}" if spread else "no F1"
    of = number_of(found.documents, "document")
    return (
        f"{len(runs)} runs, {', '.join(map(view.quoted, runs))}: {moved}; {found.right_in_all} of "
        f"{of} right in all runs, {found.right_in_any} in any"
    )


def repeats_table(repeats: Repeats) -> Table:
    """Return a row for each field."""
    columns = [
        Column("field", left=True),
        *(Column(title, rank) for title, rank in (("lowest F1", 0), ("highest F1", 0))),
        Column("documents", 4),
        *(Column(title, rank) for title, rank in (("all right", 2), ("any right", 3), ("flip", 0))),
    ]
    legend = [
        "all right, any right: share of documents in which the field is right in all runs, in any",
        "flip: documents in which it is right in some runs only",
    ]
    rows = [_row(field) for field in repeats.fields if field.documents]
    return Table(columns, rows, [("", text) for text in legend])


def _row(field: FieldRepeats) -> list[Span]:
    spread = [value for value in field.f1 if value is not None]
    ends = (min(spread), max(spread)) if spread else (None, None)
    shares = (count / field.documents for count in (field.right_in_all, field.right_in_any))
    flips = Span(str(field.flipping), "warn" if field.flipping else "dim")
    figures = [Span(rate(end)) for end in ends]
    return [
        Span.of(field.field),
        *figures,
        Span(str(field.documents)),
        *(Span(rate(share)) for share in shares),
        flips,
    ]


def flips(view: RunView, repeats: Repeats) -> Iterator[str]:
    """Yield what is told of the first values that flip, and how many more there are."""
    for flip in repeats.flips[:NAMED]:
        yield _flip(view, flip, len(repeats.runs))
    if len(repeats.flips) > NAMED:
        yield more_of(len(repeats.flips) - NAMED)
    if not repeats.all_flips:
        yield "only of the first documents: there are more errors than are kept"


def _flip(view: RunView, flip: Flip, runs: int) -> str:
    quoted = view.quoted
    wrong = (
        f"{entry.outcome} {quoted(value_text(entry.pred))}" if entry.outcome != "FN" else "missed"
        for entry in flip.wrong
    )
    told = f"{quoted(flip.document)}  {quoted(flip.path)}"
    right = quoted(value_text(flip.gt)) if flip.gt is not None else "absent"
    return f"{told}  {right}: wrong in {len(flip.wrong)} of {runs} runs: {', '.join(wrong)}"
