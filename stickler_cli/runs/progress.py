"""What a user sees while a run goes on; by default nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from stickler_cli.metrics.evaluation import DocumentResult


class Observer(Protocol):
    """Sees each document of a run as it is finished, in order."""

    def see(self, result: DocumentResult) -> None:
        """Take note of a document."""


class Silence:
    """Sees and says nothing."""

    def see(self, result: DocumentResult) -> None:
        """Say nothing."""


@contextmanager
def progress_bar(total: int | None, *, show: bool) -> Iterator[Observer]:
    """Show a bar on standard error while the block runs.

    Args:
        total: how many documents there will be; None where nobody knows.
        show: whether to show anything at all.
    """
    if not show:
        yield Silence()
        return
    # A run that shows no bar must not pay for loading rich.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("documents", total=total)

        class Bar:
            def see(self, result: DocumentResult) -> None:
                progress.advance(task)

        yield Bar()
