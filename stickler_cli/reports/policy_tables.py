"""What a policy lets pass of the documents of a run, as a table."""

from collections.abc import Iterator

from stickler_cli.core.figures import rate
from stickler_cli.core.sections import Block, Column, Span, Table, Text
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.studies.accept.sections import LEGEND, name_of


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
