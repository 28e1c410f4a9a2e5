"""What `stickler eval` says of models: what a run would ask, and what it took."""

from typing import TYPE_CHECKING

from stickler_cli.cli.console import warn, write_result
from stickler_cli.documents import Pairs
from stickler_cli.reports.layout import Column, Span, Table, plain_text, table_lines
from stickler_cli.runs.job import Job, Workers
from stickler_cli.runs.pipeline import chunk_results

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client, Need  # only runs that ask models load it


def show_dry_run(job: Job, pairs: Pairs) -> None:
    """Print what a run would ask; nothing is asked."""
    client = job.options.client
    if client is None:
        write_result("No comparator of this schema asks a model.\n")
        return
    for _ in chunk_results(job, pairs.refs(), Workers(1), total=pairs.total):
        pass
    write_result(dry_run_text(client.needs))


def dry_run_text(needs: "list[Need]") -> str:
    """Word what a run would ask, a line a comparator and model."""
    if not any(need.questions or need.cached for need in needs):
        return "A run would ask no model anything.\n"
    columns = (
        Column("comparator", left=True),
        Column("model", left=True),
        *map(Column, ("in the cache", "to ask", "calls", "tokens, about")),
    )
    rows = [
        [
            Span(need.model.comparator),
            Span.of(need.model.title),
            *(Span(str(n)) for n in (need.cached, need.questions, need.calls, need.tokens)),
        ]
        for need in needs
    ]
    calls = sum(need.calls for need in needs)
    table = plain_text(table_lines(Table(columns, rows))[0])
    return f"A run would make {calls} calls, and more where one is tried again.\n\n{table}"


def tell_usage(client: "Client") -> None:
    """Say on standard error what asking models took."""
    warn(f"models: {client.usage}")
