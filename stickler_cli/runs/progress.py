"""What a user sees while a run goes on; by default nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

Advance: TypeAlias = Callable[[int], None]
"""Told how many more documents are finished."""


def silence(documents: int) -> None:
    """Say nothing."""


@contextmanager
def progress_bar(
    total: int | None, *, show: bool, client: "Client | None" = None
) -> Iterator[Advance]:
    """Show a bar on standard error while the block runs.

    Args:
        total: how many documents there will be; None where nobody knows.
        show: whether to show anything at all.
        client: of a run that asks models: what that takes is shown too, also between two documents.
            That takes a thread, and a process with two cannot be forked.
    """
    if not show:
        yield silence
        return
    # A run that shows no bar must not pay for loading rich.
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

    class ModelsColumn(ProgressColumn):
        """What asking models has taken so far; nothing where none is asked."""

        def render(self, task: Task) -> Text:
            return Text("" if client is None else str(client.usage))

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), ModelsColumn())
    bar = Progress(*columns, console=console, transient=True, auto_refresh=client is not None)
    with bar as progress:
        task = progress.add_task("documents", total=total)

        def advance(documents: int) -> None:
            progress.advance(task, documents)
            if client is None:
                progress.refresh()

        yield advance
