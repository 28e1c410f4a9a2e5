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
        False,
        "Print only errors. With a --format other than table, also print the results.",
        short="-q",
    )
    debug: bool = option(
        False, "If there is an error, show the traceback, for a bug report.", in_file="none"
    )
    url_timeout: float = option(
        PATIENCE,
        "Stop reading a URL if the server does not answer within this many seconds, or takes "
        "longer than this for each 4 MB of the file.",
        "SECONDS",
        values=ABOVE_ZERO,
    )


class TerminalOptions(ConsoleOptions, panel="run"):
    """Options for output in a terminal, such as colour."""

    verbose: bool = option(False, "Print more: progress, and further figures.", short="-v")
    no_color: bool = option(False, "Print without colour.")


class ModelOptions(Settings, panel="models"):
    """Options for asking models."""

    no_cache: bool = option(
        False, ("Do not save answers of models on disk, and do not use saved answers.")
    )
    offline: bool = option(False, "Do not ask models; use only answers saved on disk.")
    endpoint: tuple[str, ...] = option(
        (),
        (
            "Send the questions for MODEL to your own server at URL, such as "
            "openai:judge=http://localhost:8000/v1. Repeatable."
        ),
        "MODEL=URL",
    )
    key_from: tuple[str, ...] = option(
        (),
        (
            "Read the API key for MODEL from the environment variable VARIABLE, such as "
            "openai:judge=JUDGE_KEY. Repeatable."
        ),
        "MODEL=VARIABLE",
    )
    max_pairs: int = option(
        10_000,
        "Ask judges about at most N pairs. Pairs with saved answers do not count.",
        "N",
        values=COUNT,
    )
    max_cost: float | None = option(
        None,
        (
            "Stop asking models when they have cost this many dollars. The price of each "
            "model must be known."
        ),
        "DOLLARS",
        values=ABOVE_ZERO,
    )
    max_tokens: int | None = option(
        None,
        "Stop asking models when they have read and written this many tokens.",
        "N",
        values=SOME,
    )
    model_timeout: float = option(
        60.0,
        "Stop waiting for a call to a model after this many seconds.",
        "SECONDS",
        values=ABOVE_ZERO,
    )
    model_attempts: int = option(
        5,
        "Maximum number of attempts for a call to a model. A failed call is repeated only if this "
        "may help.",
        "N",
        values=SOME,
    )
    model_concurrency: int = option(
        8,
        "Make at most this many calls to a model at the same time.",
        "N",
        values=NumberRange("a whole number from 1 to 128", lambda n: 1 <= n <= 128, whole=True),
    )
    requests_per_minute: int | None = option(
        None, "Make at most this many calls to a model per minute.", "N", values=SOME
    )


class WorkOptions(Settings, panel="run"):
    """Options for processes and their limits."""

    jobs: int | Literal["auto"] = option(
        "auto",
        (
            "Number of processes that compare documents. auto chooses a number that fits the "
            "machine and the work. The number does not change results."
        ),
        "N|auto",
        short="-j",
        values=PROCESSES,
    )
    memory_limit: int | None = option(
        None,
        (
            "Memory limit for each process, such as 2GB. A document that needs more memory "
            "fails (Linux only)."
        ),
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
        None, "Show a progress bar on standard error. [default: only on a terminal]"
    )


class EngineOptions(Settings, panel="engine"):
    """Options for the engine that runs the work, such as a Dask cluster."""

    engine: Literal["local", "dask"] = option(
        "local",
        (
            "Where documents are compared: in processes on this machine, or on a Dask "
            "cluster (needs the extra dask). The choice does not change results."
        ),
    )
    scheduler: str | None = option(
        None,
        (
            "The address of the Dask scheduler, such as tcp://10.0.0.1:8786. If you leave it "
            "out, --engine dask starts a cluster with --jobs workers on this machine."
        ),
        "ADDRESS",
    )


def level_of(help_text: str) -> Any:
    """Declare the option for the confidence level, for studies that always compute intervals."""
    return option(LEVEL, help_text, "LEVEL", values=SHARE, panel="statistics")


def printed() -> Any:
    """Declare the option that chooses the format of the text on standard output."""
    help_text = "Format of the output on standard output."
    return option("table", help_text, short="-f", in_file="none", panel="output")


def printed_run(
    default: str | None = "table", default_note: str = "", in_file: str = "none"
) -> Any:
    """Declare the option for the format in which a run is printed. Its help lists the formats."""
    help_text = (
        f"Format of the output on standard output: {', '.join(get_args(RunFormat))}.{default_note}"
    )
    return option(default, help_text, "FORMAT", short="-f", in_file=in_file, panel="output")


def written_gold() -> Any:
    """Declare the option for the directory to which corrected ground truths are written."""
    help_text = (
        "Write a corrected copy of the ground truth to this directory. If a verdict accepts a "
        "prediction, the predicted value is added as another right value. With audit, wrong values "
        "are also corrected."
    )
    return option(
        None, help_text, "DIR", is_path=True, in_file="none", panel="output", role="output"
    )


def output_files(help_text: str, in_file: str = "none") -> tuple[str, ...]:
    """Declare the option for output files: the files to which results are written."""
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
        (
            "Also write the results to this file; the suffix sets the format (.html, .json, "
            ".csv, .tsv, .jsonl, .parquet, .arrow, .md, .txt, .junit.xml, .metrics.txt). "
            "Parquet needs `pip install 'stickler-cli[parquet]'`. Repeatable."
        ),
        in_file="eval",
    )
    csv: Literal["tidy", "wide"] = option(
        "tidy",
        (
            "The columns of CSV, TSV, JSON Lines and Parquet output: the main figures, or all "
            "figures."
        ),
    )
    junit_fields: bool = option(False, "In JUnit XML, also write a test case for each field.")


class WidthOptions(Settings, panel="output"):
    """Option for the width of printed text."""

    width: int | None = option(
        None,
        "Width of the table in characters. [default: the width of the terminal]",
        "N",
        values=SOME,
    )


class StudyFiles(WidthOptions, TerminalOptions, panel="output"):
    """Options that name the files for the answer of a study, and set the width of its tables."""

    output: tuple[str, ...] = output_files(
        "Also write the result to this file; the suffix sets the format (.html, .json, "
        ".csv, .tsv, .jsonl, .parquet, .arrow, .md, .txt). Repeatable."
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
    """Options of studies that compare predictions with ground truths."""


class ReportOptions(OutputOptions, panel="output"):
    """Options for the outputs of a run."""

    format: RunFormat = printed_run(in_file="eval")


class LinkOptions(Settings, panel="output"):
    """Options for the images and PDFs that documents were read from."""

    sources: str | None = option(
        None,
        (
            "In the HTML page, link each document to its original. Give a directory of "
            "images and PDFs with the same names, or an address such as "
            "'https://host/{id}.pdf#page={page}'."
        ),
        "DIR|URL",
        is_path=True,
    )


class TableOptions(WidthOptions, panel="output"):
    """Options that choose and sort the fields and documents that tables show."""

    sort: Literal["schema", "f1", "errors", "name"] = option(
        "schema",
        (
            "How to sort fields: as in the schema, lowest F1 first, most wrong and missed "
            "values first, or by name."
        ),
    )
    columns: str | None = option(
        None,
        (
            "Show these columns in the table, such as right,wrong,f1 or tp,fd,fn,accuracy. "
            "Use 'matrix' for all counts and rates of the confusion matrix."
        ),
        "NAMES",
    )
    only_errors: bool = option(False, "Show only fields with wrong, missed or invented values.")
    fields: str | None = option(
        None,
        "Show only fields whose path matches this pattern, such as 'items.*' or '*price*'.",
        "GLOB",
    )
    show_documents: int = option(
        0,
        (
            "Show the N documents with the lowest scores. For each, also show the command "
            "that explains its score."
        ),
        "N",
        values=COUNT,
    )


class BreakdownOptions(MetadataOptions, panel="statistics"):
    """Options for groups of documents."""

    by: tuple[str, ...] = option(
        (),
        (
            "Besides the results for all documents, report those for groups of documents. Group "
            "by a field of the ground truth, by @directory, or by @COLUMN of the --by-file. "
            "Repeatable."
        ),
        "KEY",
    )
