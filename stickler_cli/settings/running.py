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
        False, "Print errors only, and results in a --format other than table.", short="-q"
    )
    debug: bool = option(False, "Show where an error comes from.", in_file="none")
    url_timeout: float = option(
        PATIENCE,
        "Give up a file at a URL after so many seconds without a byte.",
        "SECONDS",
        values=ABOVE_ZERO,
    )


class TerminalOptions(ConsoleOptions, panel="run"):
    """Options for output in a terminal, such as colour."""

    verbose: bool = option(False, "Also tell what is being done.", short="-v")
    no_color: bool = option(False, "Print without colour.")


class ModelOptions(Settings, panel="models"):
    """Options for asking models."""

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
        values=NumberRange("a whole number from 1 to 128", lambda n: 1 <= n <= 128, whole=True),
    )
    requests_per_minute: int | None = option(
        None, "Make no more calls to a model than this in a minute.", "N", values=SOME
    )


class WorkOptions(Settings, panel="run"):
    """Options for processes and their limits."""

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
        values=BYTES,
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
    """Options for the engine that runs the work, such as a Dask cluster."""

    engine: Literal["local", "dask"] = option(
        "local",
        "Who compares: processes of this machine, or a cluster of Dask, which needs "
        "the extra dask. Results are the same.",
    )
    scheduler: str | None = option(
        None,
        "The scheduler of the cluster, such as tcp://10.0.0.1:8786. Left out, --engine dask starts "
        "a cluster on this machine, of --jobs workers.",
        "ADDRESS",
    )


def level_of(help_text: str) -> Any:
    """Declare the confidence level, for a study that always makes intervals."""
    return option(LEVEL, help_text, "LEVEL", values=SHARE, panel="statistics")


def printed() -> Any:
    """Declare the format of standard output."""
    help_text = "What to print on standard output."
    return option("table", help_text, short="-f", in_file="none", panel="output")


def printed_run(
    default: str | None = "table", default_note: str = "", in_file: str = "none"
) -> Any:
    """Declare the format of standard output for runs; its help lists the formats."""
    help_text = f"What to print on standard output: {', '.join(get_args(RunFormat))}.{default_note}"
    return option(default, help_text, "FORMAT", short="-f", in_file=in_file, panel="output")


def written_gold() -> Any:
    """Declare the directory for ground truths corrected by verdicts."""
    help_text = (
        "Write the ground truth to this directory, with what the --verdicts accept as "
        "alternatives (audit: and with what they mend); the original stays as it is."
    )
    return option(
        None, help_text, "DIR", is_path=True, in_file="none", panel="output", role="output"
    )


def output_files(help_text: str, in_file: str = "none") -> tuple[str, ...]:
    """Declare the files for results."""
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
        "Also write the results to this file; its suffix (.html, .json, .csv, .tsv, .jsonl, "
        ".parquet, .arrow, .md, .txt, .junit.xml, .metrics.txt) says the format. Parquet needs "
        "the extra parquet. Repeatable.",
        in_file="eval",
    )
    csv: Literal["tidy", "wide"] = option(
        "tidy",
        "The columns of CSV, TSV, JSON Lines and Parquet: those that one would chart, or all.",
    )
    junit_fields: bool = option(False, "In JUnit XML, also give a test case for each field.")


class WidthOptions(Settings, panel="output"):
    """Option for the width of printed text."""

    width: int | None = option(
        None, "Columns of the table.  [default: those of the terminal]", "N", values=SOME
    )


class StudyFiles(WidthOptions, TerminalOptions, panel="output"):
    """Options for the files and the width of a study's answer."""

    output: tuple[str, ...] = output_files(
        "Also write it to this file; its suffix (.html, .json, .csv, .tsv, .jsonl, .parquet, "
        ".arrow, .md, .txt) says the format. Repeatable."
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
        "In the HTML page, link documents to what they were read from: the images and PDFs in a "
        "directory that have their names, or an address such as "
        "'https://host/{id}.pdf#page={page}'.",
        "DIR|URL",
        is_path=True,
    )


class TableOptions(WidthOptions, panel="output"):
    """Options that select and sort the fields and documents in tables."""

    sort: Literal["schema", "f1", "errors", "name"] = option(
        "schema", "The order of fields: of the schema, the lowest F1 or most values lost first."
    )
    columns: str | None = option(
        None,
        "Show these columns of the table, such as right,wrong,f1, or tp,fd,fn,accuracy; matrix "
        "stands for all counts and rates of the confusion matrix.",
        "NAMES",
    )
    only_errors: bool = option(False, "Leave out fields that lost no values.")
    fields: str | None = option(
        None, "Show fields whose path matches, such as 'items.*' or '*price*'.", "GLOB"
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
