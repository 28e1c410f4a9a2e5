"""`stickler cache`: what is kept of the answers of models, and how to be rid of it."""

from stickler_cli.cli.console import write_result
from stickler_cli.clients.cache import AnswerCache, cache_directory
from stickler_cli.reports.figures import visible
from stickler_cli.reports.layout import Column, Span, Table, plain_text, table_lines


def show_answers() -> None:
    """Show where answers are kept, and how many of which model."""
    cache = AnswerCache(cache_directory())
    holdings = cache.holdings()
    cache.close()
    write_result(f"{visible(str(cache.path))}\n")
    if not holdings:
        write_result("no answers\n")
        return
    columns = (
        Column("kind", left=True),
        Column("model", left=True),
        Column("answers"),
        Column("bytes"),
    )
    rows = [
        [
            Span(holding.kind),
            Span.of(holding.model),
            Span(str(holding.answers)),
            Span(str(holding.size)),
        ]
        for holding in holdings
    ]
    write_result("\n" + plain_text(table_lines(Table(columns, rows))[0]))


def clear_answers() -> None:
    """Forget all answers: the next runs ask again."""
    cache = AnswerCache(cache_directory())
    count = cache.clear()
    cache.close()
    write_result(f"{count} answers cleared from {visible(str(cache.path))}\n")
