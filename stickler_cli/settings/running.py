"""Options of processes, models, messages and outputs."""

from typing import Any, Literal, get_args

from stickler_cli.core.option import BYTES, NumberRange, Settings, option
from stickler_cli.core.remote import PATIENCE
from .deciding import (
    ABOVE_ZERO,
    COUNT,
    LEVEL,
    PROCESSES,
    SHARE,
    SOME,
    TIMEOUT,
    DocumentOptions,
    KeyOptions,
    LimitedOptions,
    MetadataOptions,
    RunFormat,
    SchemaOptions,
    SourceOptions,
    WrapperOptions,
)


class ConsoleOptions(Settings, panel="run"):
    """Options for messages on the terminal."""

    quiet: bool = option(
        False, "Print only errors, and results if --format is not table.", short="-q"
    )
    debug: bool = option(False, "Show the traceback of an error, for reporting it.", in_file="none")
    url_timeout: float = option(
        PATIENCE,
        "Give up reading a URL after this many seconds without data.",
        "SECONDS",
        values=ABOVE_ZERO,
    )


class TerminalOptions(ConsoleOptions, panel="run"):
    """Options for output in a terminal, such as colour."""

    verbose: bool = option(
        False, "Print more: what is being done, and further figures.", short="-v"
    )
    no_color: bool = option(False, "Print without colour.")


class ModelOptions(Settings, panel="models"):
    """Options for asking models."""

    no_cache: bool = option(False, "Neither save answers of models on disk nor use saved ones.")
    offline: bool = option(False, "Ask no model; use only answers that are saved on disk.")
    endpoint: tuple[str, ...] = option(
        (),
        "Ask this model on a server of your own, such as openai:judge=http://localhost:8000/v1. "
        "Repeatable.",
        "MODEL=URL",
    )
    key_from: tuple[str, ...] = option(
        (),
        "Read the API key of this model from another environment variable, such as "
        "openai:judge=JUDGE_KEY. Repeatable.",
        "MODEL=VARIABLE",
    )
    max_pairs: int = option(
        10_000, "Stop before judges are asked about more pairs than this.", "N", values=COUNT
    )
    max_cost: float | None = option(
        None,
        "Stop asking models once they have cost this much; the price of each must be known.",
        "DOLLARS",
        values=ABOVE_ZERO,
    )
    max_tokens: int | None = option(
        None,
        "Stop asking models once they have read and written this many tokens.",
        "N",
        values=SOME,
    )
    model_timeout: float = option(
        60.0, "Give up a call to a model after this many seconds.", "SECONDS", values=ABOVE_ZERO
    )
    model_attempts: int = option(
        5,
        "Try a call that fails up to this many times in all, if trying again may help.",
        "N",
        values=SOME,
    )
    model_concurrency: int = option(
        8,
        "Make at most this many calls to a model at a time.",
        "N",
        values=NumberRange("a whole number from 1 to 128", lambda n: 1 <= n <= 128, whole=True),
    )
    requests_per_minute: int | None = option(
        None, "Make at most this many calls to a model in a minute.", "N", values=SOME
    )


class WorkOptions(Settings, panel="run"):
    """Options for processes and their limits."""

    jobs: int | Literal["auto"] = option(
        "auto",
        "Number of processes that compare; auto chooses it by the machine and the work. It does "
        "not change results.",
        "N|auto",
        short="-j",
        values=PROCESSES,
    )
    memory_limit: int | None = option(
        None,
        "Memory limit of a process, such as 2GB; a document that needs more fails (Linux only).",
        "SIZE",
        values=BYTES,
        panel="engine",
    )
    document_timeout: float = option(
        TIMEOUT,
        "Fail a document that takes more than this many seconds to compare.",
        "SECONDS",
        values=ABOVE_ZERO,
        panel="engine",
    )
    progress: bool | None = option(
        None, "Show a progress bar on standard error.  [default: if it is a terminal]"
    )


class EngineOptions(Settings, panel="engine"):
    """Options for the engine that runs the work, such as a Dask cluster."""

    engine: Literal["local", "dask"] = option(
        "local",
        "Where documents are compared: in processes of this machine, or on a Dask cluster, which "
        "needs the extra dask. It does not change results.",
    )
    scheduler: str | None = option(
        None,
        "The address of the Dask scheduler, such as tcp://10.0.0.1:8786. If left out, --engine "
        "dask starts a cluster of --jobs workers on this machine.",
        "ADDRESS",
    )


def level_of(help_text: str) -> Any:
    """Declare the option for the confidence level of a study that always computes intervals."""
    return option(LEVEL, help_text, "LEVEL", values=SHARE, panel="statistics")


def printed() -> Any:
    """Declare the option for the format of standard output."""
    help_text = "Format of what is printed on standard output."
    return option("table", help_text, short="-f", in_file="none", panel="output")


def printed_run(
    default: str | None = "table", default_note: str = "", in_file: str = "none"
) -> Any:
    """Declare the option for the format in which a run is printed; its help lists the formats."""
    help_text = (
        f"Format of what is printed on standard output: "
        f"{', '.join(get_args(RunFormat))}.{default_note}"
    )
    return option(default, help_text, "FORMAT", short="-f", in_file=in_file, panel="output")


def written_gold() -> Any:
    """Declare the option for the directory of ground truths that verdicts have corrected."""
    help_text = (
        "Write a copy of the ground truth to this directory, with the predictions that --verdicts "
        "accept added as alternatives (audit also corrects wrong values)."
    )
    return option(
        None, help_text, "DIR", is_path=True, in_file="none", panel="output", role="output"
    )


def output_files(help_text: str, in_file: str = "none") -> tuple[str, ...]:
    """Declare the option for the files to which results are written."""
    return option(
        (),
        help_text,
        "FILE",
        short="-o",
        in_file=in_file,
        is_path=True,
        panel="output",
        role="output",
    )


class OutputOptions(TerminalOptions, panel="output"):
    """Options for output files."""

    output: tuple[str, ...] = output_files(
        "Also write the results to this file, in the format of its suffix (.html, .json, .csv, "
        ".tsv, .jsonl, .parquet, .arrow, .md, .txt, .junit.xml, .metrics.txt). Parquet needs "
        "the extra parquet. Repeatable.",
        in_file="eval",
    )
    csv: Literal["tidy", "wide"] = option(
        "tidy",
        "The columns of CSV, TSV, JSON Lines and Parquet output: the main figures, or all.",
    )
    junit_fields: bool = option(False, "In JUnit XML, also write a test case for each field.")


class WidthOptions(Settings, panel="output"):
    """Option for the width of printed text."""

    width: int | None = option(
        None, "Width of the table in characters.  [default: as the terminal]", "N", values=SOME
    )


class StudyFiles(WidthOptions, TerminalOptions, panel="output"):
    """Options for the files to which a study writes its answer, and for the width of its tables."""

    output: tuple[str, ...] = output_files(
        "Also write the result to this file, in the format of its suffix (.html, .json, .csv, "
        ".tsv, .jsonl, .parquet, .arrow, .md, .txt). Repeatable."
    )


class StudyOptions(StudyFiles, panel="output"):
    """Options for the outputs of a study."""

    format: Literal["table", "json", "csv", "tsv", "jsonl", "markdown", "html"] = printed()


class PairStudyOptions(
    SourceOptions,
    DocumentOptions,
    KeyOptions,
    WrapperOptions,
    SchemaOptions,
    LimitedOptions,
    ModelOptions,
    StudyOptions,
):
    """Options of studies that compare the documents of both sides."""


class ReportOptions(OutputOptions, panel="output"):
    """Options for the outputs of a run."""

    format: RunFormat = printed_run(in_file="eval")


class LinkOptions(Settings, panel="output"):
    """Options for the images and PDFs that documents were read from."""

    sources: str | None = option(
        None,
        "In the HTML page, link documents to their originals: images and PDFs of the same names "
        "in a directory, or an address such as "
        "'https://host/{id}.pdf#page={page}'.",
        "DIR|URL",
        is_path=True,
    )


class TableOptions(WidthOptions, panel="output"):
    """Options that select and sort the fields and documents in tables."""

    sort: Literal["schema", "f1", "errors", "name"] = option(
        "schema",
        "The order of fields: as in the schema, lowest F1 first, most values lost first, or by "
        "name.",
    )
    columns: str | None = option(
        None,
        "Show these columns of the table, such as right,wrong,f1, or tp,fd,fn,accuracy; matrix "
        "stands for all counts and rates of the confusion matrix.",
        "NAMES",
    )
    only_errors: bool = option(False, "Show only fields that lost values.")
    fields: str | None = option(
        None, "Show only fields whose path matches, such as 'items.*' or '*price*'.", "GLOB"
    )
    show_documents: int = option(
        0,
        "Show the N documents with the lowest scores, each with the command that explains it.",
        "N",
        values=COUNT,
    )


class BreakdownOptions(MetadataOptions, panel="statistics"):
    """Options for groups of documents."""

    by: tuple[str, ...] = option(
        (),
        "Also report groups of documents: by a field of the ground truth, by @directory, or by "
        "@COLUMN of the --by-file. Repeatable.",
        "KEY",
    )
