"""Policies as tables: what may pass unseen, and what that comes to on labelled documents."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.figures import rate
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text
from stickler_cli.score.policy import AcceptancePolicy, FieldOutcome, FieldPolicy, PolicyOutcome

HEIGHTS: Final = "▁▂▃▄▅▆▇█"
CELLS: Final = 40

LEGEND = (
    ("pass", "pass: the share of values at or above the confidence in the column `from`"),
    ("wrong", "wrong: the share of wrong values among those of a document that pass, the mean"),
)


def policy_blocks(policy: AcceptancePolicy, *, drawn: bool = False) -> Iterator[Block]:
    """Yield what a policy lets pass, and the evidence for it; maybe drawn in characters, too."""
    yield Text(promise_of(policy))
    grouped = policy.by is not None
    columns = [
        Column("field", left=True),
        *([Column(f"by {policy.by}", left=True)] if grouped else []),
        *(Column(title, rank) for title, rank in (("values", 5), ("documents", 4), ("from", 1))),
        *(Column(title, rank) for title, rank in (("pass", 0), ("wrong", 2), ("bound", 3))),
    ]
    yield Table(columns, [_row(it, grouped=grouped) for it in policy.fields], LEGEND)
    if drawn:
        yield from _drawn(policy)
    for it in policy.fields:
        if it.threshold is None:
            yield Text(f"{name_of(it)}: {outcome_of(it)}")


def promise_of(policy: AcceptancePolicy) -> str:
    """Return in words what a policy promises."""
    asked, documents = policy.asked, len(policy.documents)
    each = "all fields at once" if asked.together else "each field by itself"
    return (
        f"at most {asked.max_error:g} of the values that pass are wrong, in the mean over "
        f"documents: {asked.assurance:g} sure for {each}, from {documents} labelled documents"
    )


def outcome_of(it: FieldPolicy) -> str:
    """Return in words what passes of a field."""
    if it.threshold is None:
        return f"nothing may pass; {_reason(it)}"
    share, error, bound = rate(it.accepted), rate(it.error), rate(it.bound)
    return f"from {rate(it.threshold)} on: {share} of values pass, {error} wrong, {bound} at most"


def _drawn(policy: AcceptancePolicy) -> Iterator[Block]:
    """Yield a line for each field: the error as ever more values pass, and where they end to."""
    wide = max((len(name_of(it)) for it in policy.fields), default=0)
    most = 2 * policy.asked.max_error
    yield Text(
        f"error as ever less confident values pass; | is where it ends, {HEIGHTS[-1]} {most:g}"
    )
    for it in policy.fields:
        yield Text(f"{name_of(it):<{wide}}  {_line(it, most)}", indent=INDENT)


def _line(it: FieldPolicy, most: float) -> str:
    """Return the curve of a field in characters, from no values to all."""
    cells = []
    for at in range(1, CELLS + 1):
        near = min(it.curve, key=lambda point: abs(point[0] - at / CELLS), default=(0, 0))
        cells.append(HEIGHTS[min(int(near[1] / most * len(HEIGHTS)), len(HEIGHTS) - 1)])
    cells.insert(round(it.accepted * CELLS), "|")
    return "".join(cells)


def _reason(it: FieldPolicy) -> str:
    if it.documents < it.needed:
        return f"it takes {it.needed} documents with values, all right; there are {it.documents}"
    return "confident values are wrong too often, or too few are sure to be right"


def name_of(it: FieldPolicy | FieldOutcome) -> str:
    """Return the field, and the group if there is one."""
    return it.field if it.group is None else f"{it.field} ({it.group})"


def _row(it: FieldPolicy, *, grouped: bool) -> list[Span]:
    return [
        Span.of(it.field),
        *([Span.of(it.group or "")] if grouped else []),
        Span(f"{it.values}"),
        Span(f"{it.documents}"),
        Span(rate(it.threshold)),
        Span(rate(it.accepted), "title"),
        Span(rate(it.error)),
        Span(rate(it.bound)),
    ]


def outcome_blocks(outcome: PolicyOutcome) -> Iterator[Block]:
    """Yield what a policy comes to on the documents of a run."""
    passing = sum(it.accepted for it in outcome.fields)
    values, wrong = (
        sum(getattr(it, name) for it in outcome.fields) for name in ("values", "wrong")
    )
    share = f"{passing / values:.1%}" if values else "nothing"
    yield Text(
        f"policy {outcome.digest[:8]}: {share} of values pass unseen, {wrong} of {passing} wrong; "
        f"it allows a share of {outcome.max_error:g} in each document, in the mean"
    )
    if outcome.overlap:
        yield Text(
            f"{outcome.overlap} of these documents have ids of those that the policy was made of: "
            "that checks nothing",
            "warn",
        )
    columns = [
        Column("field", left=True),
        *(Column(title, rank) for title, rank in (("from", 3), ("values", 4), ("pass", 0))),
        *(Column(title, rank) for title, rank in (("documents", 5), ("wrong", 1))),
    ]
    rows = [
        [
            Span.of(name_of(it)),
            Span(rate(it.threshold)),
            Span(f"{it.values}"),
            Span(rate(it.accepted / it.values if it.values else None), "title"),
            Span(f"{it.documents}"),
            Span(rate(it.error), "bad" if (it.error or 0) > outcome.max_error else ""),
        ]
        for it in outcome.fields
    ]
    yield Table(columns, rows, LEGEND)
