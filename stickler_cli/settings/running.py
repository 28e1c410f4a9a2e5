"""Options of processes, of models that may be asked, and of messages meanwhile."""

from typing import Literal

from stickler_cli.core.option import Number, Settings, Size, option
from .allowed import ABOVE_ZERO, COUNT, PROCESSES, SOME, TIMEOUT


class ConsoleOptions(Settings, panel="run"):
    """Options of messages on the terminal."""

    quiet: bool = option(
        False, "Print errors only, and results in a --format other than table.", short="-q"
    )
    debug: bool = option(False, "Show where an error comes from.", in_file="none")


class TerminalOptions(ConsoleOptions, panel="run"):
    """How it is told."""

    verbose: bool = option(False, "Also tell what is being done.", short="-v")
    no_color: bool = option(False, "Print without colour.")


class ModelOptions(Settings, panel="models"):
    """Options of asking models."""

    no_cache: bool = option(False, "Keep no answers of models on disk, and use none.")
    offline: bool = option(False, "Ask no model: use the answers on disk only.")
    endpoint: tuple[str, ...] = option(
        (),
        "Ask this model on a server of your own, such as openai:judge=http://localhost:8000/v1. "
        "Repeatable.",
        "MODEL=URL",
    )
    key_from: tuple[str, ...] = option(
        (),
        "Take the key of this model from another environment variable, such as "
        "openai:judge=JUDGE_KEY. Repeatable.",
        "MODEL=VARIABLE",
    )
    max_pairs: int = option(
        10_000, "Stop before judges are asked about more pairs.", "N", values=COUNT
    )
    max_cost: float | None = option(
        None,
        "Ask no more once models have cost so much; each must have a price that is known.",
        "DOLLARS",
        values=ABOVE_ZERO,
    )
    max_tokens: int | None = option(
        None, "Ask no more once models have read and written so many tokens.", "N", values=SOME
    )
    model_timeout: float = option(
        60.0, "Give up a call to a model after so many seconds.", "SECONDS", values=ABOVE_ZERO
    )
    model_attempts: int = option(
        5, "Try a call that fails so many times in all, where that may help.", "N", values=SOME
    )
    model_concurrency: int = option(
        8,
        "Make so many calls to a model at a time.",
        "N",
        values=Number("a whole number from 1 to 128", lambda n: 1 <= n <= 128, whole=True),
    )
    requests_per_minute: int | None = option(
        None, "Make no more calls to a model than this in a minute.", "N", values=SOME
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
        panel="engine",
    )
    document_timeout: float = option(
        TIMEOUT,
        "Fail a document that takes longer to compare than so many seconds.",
        "SECONDS",
        values=ABOVE_ZERO,
        panel="engine",
    )
    progress: bool | None = option(
        None, "Show a progress bar on standard error.  [default: if it is a terminal]"
    )


class EngineOptions(Settings, panel="engine"):
    """Where the work is done."""

    engine: Literal["local", "dask"] = option(
        "local",
        "Who compares: processes of this machine, or a cluster of Dask, which needs "
        "'stickler-cli[dask]'. Results are the same.",
    )
    scheduler: str | None = option(
        None,
        "The scheduler of the cluster, such as tcp://10.0.0.1:8786. Left out, --engine dask starts "
        "a cluster on this machine, of --jobs workers.",
        "ADDRESS",
    )
