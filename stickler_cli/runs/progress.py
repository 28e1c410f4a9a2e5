"""What a user sees while a run goes on. It is loaded by runs that show it: rich takes its time."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TimeRemainingColumn,
)
from rich.text import Text

from stickler_cli.clients.client import Client
from stickler_cli.runs.pipeline import Advance


class ModelsColumn(ProgressColumn):
    """What asking models has taken so far; nothing where none is asked."""

    def __init__(self, client: Client | None) -> None:
        super().__init__()
        self._client = client

    def render(self, task: Task) -> Text:
        """Return the text beside the bar."""
        return Text("" if self._client is None else str(self._client.usage))


@contextmanager
def progress_bar(total: int | None, client: Client | None) -> Iterator[Advance]:
    """Show a bar on standard error while the block runs.

    Args:
        total: how many documents there will be; None where nobody knows.
        client: of a run that asks models: what that takes is shown too, also between two documents.
            That takes a thread, and a process with two cannot be forked.
    """
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), ModelsColumn(client))
    bar = Progress(*columns, console=console, transient=True, auto_refresh=client is not None)
    with bar as progress:
        task = progress.add_task("documents", total=total)

        def advance(documents: int) -> None:
            progress.advance(task, documents)
            if client is None:
                progress.refresh()

        yield advance
