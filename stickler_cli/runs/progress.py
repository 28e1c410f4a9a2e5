"""The bar that shows on standard error how far a run is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import progress as bars
from rich.console import Console

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client


@contextmanager
def progress_bar(total: int | None, client: "Client | None") -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, and the usage of models so far.

    What the block is given takes how many more documents are finished.
    """
    columns = [bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn()]
    if client is not None:
        columns.append(bars.TextColumn("{task.fields[client].usage}", markup=False))
    # What asking takes is shown also between two documents. That takes a thread, and a process
    # with two cannot be forked.
    asks, console = client is not None, Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, auto_refresh=asks) as progress:
        task = progress.add_task("documents", total=total, client=client)

        def advance(documents: int) -> None:
            progress.advance(task, documents)
            if not asks:
                progress.refresh()

        yield advance
