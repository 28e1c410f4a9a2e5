"""Who does the work, which models it may ask, and what is told of it meanwhile."""

from typing import Literal

from stickler_cli.core.option import Number, Settings, Size, option
from .allowed import COUNT, PROCESSES, TIMEOUT


class ConsoleOptions(Settings, panel="run"):
    """What is told on the terminal."""

    quiet: bool = option(
        False, "Print errors only, and results in a --format other than table.", short="-q"
    )
    debug: bool = option(False, "Show where an error comes from.", in_file="none")


class TerminalOptions(ConsoleOptions, panel="run"):
    """How it is told."""

    verbose: bool = option(False, "Also tell what is being done.", short="-v")
    no_color: bool = option(False, "Print without colour.")


class ModelOptions(Settings, panel="models"):
    """What may be asked of models."""

    no_cache: bool = option(False, "Keep no answers of models on disk, and use none.")
    offline: bool = option(False, "Ask no model: use the answers on disk only.")
    max_pairs: int = option(
        10_000, "Stop before judges are asked about more pairs.", "N", values=COUNT
    )


class WorkOptions(Settings, panel="run"):
    """Who does the work."""

    jobs: int | Literal["auto"] = option(
        "auto",
        "How many processes compare; auto fits the machine and the work. Results are the same.",
        "N|auto",
        short="-j",
        values=PROCESSES,
    )
    memory_limit: int | None = option(
        None,
        "Let documents take no more memory than this in a process, such as 2GB; one that needs "
        "more is failed (Linux).",
        "SIZE",
        values=Size(),
    )
    document_timeout: float = option(
        TIMEOUT,
        "Fail a document that takes longer to compare than so many seconds.",
        "SECONDS",
        values=Number("a number above 0", lambda number: number > 0),
    )
    progress: bool | None = option(
        None, "Show a progress bar on standard error.  [default: if it is a terminal]"
    )
