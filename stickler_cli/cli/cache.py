"""`stickler cache`: what is kept of the answers of models, and how to be rid of it."""

import typer

from stickler_cli.cli.console import write_result

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Show or clear the answers of models that are kept on disk.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def info() -> None:
    """Show where answers are kept, and how many of which model."""
    from stickler_cli.clients.cache import AnswerCache, cache_directory  # --help loads none of it
    from stickler_cli.reports.figures import visible
    from stickler_cli.reports.layout import Column, Span, Table, plain_text, table_lines

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


@app.command()
def clear() -> None:
    """Forget all answers: the next runs ask again."""
    from stickler_cli.clients.cache import AnswerCache, cache_directory  # as above
    from stickler_cli.reports.figures import visible

    cache = AnswerCache(cache_directory())
    count = cache.clear()
    cache.close()
    write_result(f"{count} answers cleared from {visible(str(cache.path))}\n")
