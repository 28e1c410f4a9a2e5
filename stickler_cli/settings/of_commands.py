"""Settings of `evaluate_many`, and of all commands except studies."""

from typing import Any, Literal

from stickler_cli.core.option import Settings, option, options_of
from .deciding import (
    COUNT,
    PROCESSES,
    SOME,
    ConfidenceSource,
    Counting,
    CountingOptions,
    DecidingOptions,
    DocumentOptions,
    FindingOptions,
    GateOptions,
    IgnoreOptions,
    IntervalOptions,
    KeyOptions,
    LimitedOptions,
    PluginOptions,
    RunFormat,
    RunOptions,
    SchemaOptions,
    SchemaSource,
    SelectionOptions,
    SeveralSchemas,
    SourceOptions,
    ValidationOptions,
    WrapperOptions,
    optional_schema,
)
from .running import (
    BreakdownOptions,
    ConsoleOptions,
    EngineOptions,
    LinkOptions,
    ModelOptions,
    OutputOptions,
    ReportOptions,
    TableOptions,
    TerminalOptions,
    WidthOptions,
    WorkOptions,
    output_files,
    printed,
    printed_run,
    written_gold,
)


def _cause(help_text: str) -> Any:
    """Declare the option that selects a cause of errors by its number."""
    return option(None, help_text, "N", values=SOME, in_file="none")


class EvalSettings(
    SourceOptions,
    SeveralSchemas,
    ConfidenceSource,
    SelectionOptions,
    DocumentOptions,
    SchemaOptions,
    RunOptions,
    ValidationOptions,
    ReportOptions,
    LinkOptions,
    TableOptions,
    GateOptions,
    IntervalOptions,
    ModelOptions,
    BreakdownOptions,
    WorkOptions,
    EngineOptions,
    TerminalOptions,
):
    """Settings of `stickler eval`."""

    policy: str | None = option(
        None,
        (
            "A policy made by stickler accept. The report then says how many values the policy "
            "would accept without review, and how many of these values are wrong."
        ),
        "FILE",
        is_path=True,
        panel="statistics",
        role="input",
    )

    verdicts: str | None = option(
        None,
        (
            "Verdicts on errors, downloaded from the HTML report. The report then also has the "
            "figures that would result if the ground truth were corrected by these verdicts."
        ),
        "FILE",
        is_path=True,
        in_file="none",
        panel="statistics",
        role="input",
    )
    write_gold: str | None = written_gold()
    show_non_matches: int = option(
        0, "Show the first N errors below the table.", "N", values=COUNT, panel="output"
    )
    non_matches: str | None = option(
        None,
        (
            "Write every error to this file: .jsonl, .csv or .tsv; also .parquet or .arrow, "
            "which need `pip install 'stickler-cli[parquet]'`."
        ),
        "FILE",
        is_path=True,
        panel="output",
        role="output",
    )
    documents: str | None = option(
        None,
        "Write a row for each document to this file. The formats are those of --non-matches.",
        "FILE",
        is_path=True,
        panel="output",
        role="output",
    )
    values: str | None = option(
        None,
        (
            "Write a row for each compared value, right or wrong, to this file. The formats are "
            "those of --non-matches."
        ),
        "FILE",
        is_path=True,
        panel="output",
        role="output",
    )
    embed_sources: int = option(
        0,
        (
            "In the HTML page, show pictures of the N documents with the lowest scores, with "
            "the boxes of their values. This needs `pip install 'stickler-cli[sources]'`."
        ),
        "N",
        values=COUNT,
        panel="output",
    )
    label: tuple[str, ...] = option(
        (),
        "A label for the run file and the reports, such as a model name or prompt=v3. Repeatable.",
        "TEXT",
        in_file="eval",
        panel="run",
    )
    repeat: tuple[str, ...] = option(
        (),
        (
            "Predictions of the same documents from another run of the same system. Reports "
            "how much the figures vary from run to run, and which values are right in only "
            "some of the runs."
        ),
        "PRED...",
        in_file="none",
        panel="statistics",
        role="input",
    )
    metric: tuple[str, ...] = option(
        (),
        (
            "Also compute this metric over all documents: anls_star (mean ANLS* of whole "
            "documents), anls_star_numbers (the same, but numbers are compared by value), a "
            "metric from an installed package, or module:Class. Repeatable."
        ),
        "NAME",
        panel="statistics",
    )
    run_dir: str | None = option(
        None,
        (
            "Save the whole run in this directory: results, a line for each document and "
            "each error, and a journal. After an interruption, the same command continues "
            "the run."
        ),
        "DIR",
        is_path=True,
        panel="run",
        role="output",
    )
    restart: bool = option(
        False, "Discard the contents of --run-dir, and start over.", in_file="none", panel="run"
    )
    dry_run: bool = option(
        False,
        "Only show how often models would be asked; ask no model.",
        in_file="none",
        panel="models",
    )


class SourcesOrRun(SourceOptions):
    """Arguments that name either the sources of a run, or the file of a finished run."""

    schema: str = optional_schema()
    gt: str = option(
        "",
        "Ground truth, in any form that eval accepts.",
        "[GT]",
        is_path=True,
        argument=True,
        needed=False,
        role="input",
    )
    pred: str = option(
        "",
        "Predictions, in any form that eval accepts; or a run directory.",
        "PRED|RUN",
        is_path=True,
        argument=True,
        role="input",
    )


class RecordedOptions(Settings, panel="input"):
    """Options for reading the sources of a finished run again."""

    read: tuple[str, ...] = option(
        (),
        (
            "Allow stickler to read a source that RUN refers to: a URL, a model, or a path "
            "outside the working directory. Write the source exactly as RUN names it. "
            "Repeatable."
        ),
        "SOURCE",
        in_file="none",
        role="input",
    )


class CompareSettings(
    SourcesOrRun,
    RecordedOptions,
    SeveralSchemas,
    DocumentOptions,
    KeyOptions,
    WrapperOptions,
    SchemaOptions,
    LimitedOptions,
    ModelOptions,
    WidthOptions,
    TerminalOptions,
):
    """Settings of `stickler compare`."""

    document: str | None = option(
        None,
        (
            "The id of the document to compare, as eval shows it. Needed for directories and "
            "JSON Lines."
        ),
        "ID",
        in_file="none",
    )
    cause: int | None = _cause(
        "Choose the first document that has this cause of errors. Give the number of the "
        "cause that eval shows."
    )
    field: str | None = option(
        None,
        "Show only one field: line_items[2].price, or line_items.price for all items.",
        "PATH",
        in_file="none",
        panel="output",
    )
    only_errors: bool = option(
        False, "Hide right values; show only how many there are.", in_file="none", panel="output"
    )
    everything: bool = option(
        False,
        (
            "Show everything, also what is inside objects and lists that are right, and fields "
            "that are absent on both sides."
        ),
        flag="--all",
        in_file="none",
        panel="output",
    )
    format: Literal["table", "json", "markdown"] = printed()
    output: tuple[str, ...] = output_files(
        "Also write the result to this file; the suffix sets the format (.json, .md, "
        ".txt). Repeatable."
    )


class ErrorsSettings(
    SourcesOrRun,
    SeveralSchemas,
    SelectionOptions,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    WorkOptions,
    WidthOptions,
    TerminalOptions,
):
    """Settings of `stickler errors`.

    Options of documents have no effect if the command reads the file of a finished run.
    """

    document: str | None = option(
        None, "Show errors of these documents only.", "ID|GLOB", in_file="none"
    )
    field: str | None = option(
        None,
        (
            "Show only errors in fields that match this pattern, such as 'items.*' (without "
            "list indexes), or in one place, such as items[2].price."
        ),
        "GLOB",
        in_file="none",
    )
    error_class: str | None = option(
        None,
        "Show only errors of this class, such as digit_slip.",
        "CLASS",
        flag="--class",
        in_file="none",
    )
    cause: int | None = _cause(
        "Show only errors with this cause. Give the number of the cause that eval shows."
    )
    sort: Literal["cause", "document", "field", "class", "similarity"] = option(
        "cause",
        (
            "How to sort errors: by cause, by document, by field, by class, or by similarity "
            "(least similar values first). In formats other than table, --sort cause has the same "
            "effect as --sort document."
        ),
        in_file="none",
        panel="output",
    )
    format: Literal["table", "csv", "tsv", "jsonl"] = printed()
    output: tuple[str, ...] = output_files(
        "Also write the errors to this file; the suffix sets the format (.csv, .tsv, "
        ".jsonl, .parquet, .txt). Repeatable."
    )


class CheckSettings(SchemaOptions, ConsoleOptions):
    """Settings of `stickler check`."""

    schema: tuple[str, ...] = option(
        (), "Annotated JSON Schemas.", "SCHEMA...", is_path=True, argument=True, role="input"
    )


class InitSettings(PluginOptions, FindingOptions, WrapperOptions, IgnoreOptions, ConsoleOptions):
    """Settings of `stickler init`."""

    gt: str = option(
        "",
        "What to make the schema from: ground truth, a JSON Schema or a pydantic model.",
        "GT|SCHEMA|MODULE:MODEL",
        is_path=True,
        argument=True,
        role="input",
    )
    output: str | None = option(
        None,
        "Write the schema to this file instead of standard output.",
        "FILE",
        short="-o",
        in_file="none",
        is_path=True,
    )
    force: bool = option(False, "Overwrite an existing file.", in_file="none")
    interactive: bool = option(False, "Ask about each field.", short="-i", in_file="none")


class ShowSettings(SchemaSource, SchemaOptions, WidthOptions, TerminalOptions):
    """Settings of `stickler show`."""


class ManySettings(
    SeveralSchemas, SchemaOptions, CountingOptions, DecidingOptions, ValidationOptions
):
    """Settings of `evaluate_many`.

    The option `lenient_json` has no effect, as documents are given as Python objects.
    """

    workers: int | Literal["auto"] = option(
        1, "Number of processes that compare documents; 1 uses no extra process.", values=PROCESSES
    )
    chunk_size: int | None = option(
        None, "Number of document pairs that are sent to a process at once.", values=SOME
    )


def as_of_eval(settings: Settings, **said: Any) -> EvalSettings:
    """Convert the settings of another command to settings of `stickler eval`.

    If both commands have an option, its value is kept. Output options are the exception: they get
    the defaults of `stickler eval`, except that `rows` is `inline`. Keyword arguments take
    precedence over all of these values.
    """
    shared = {
        name: getattr(settings, name)
        for name, option in options_of(EvalSettings).items()
        if option.panel != "output" and hasattr(settings, name)
    }
    return EvalSettings(**{"rows": "inline", **shared, **said})


class FinishedOptions(Settings, panel="counting"):
    """Options for reading finished runs."""

    counting: Counting | None = option(
        None, "What to count in reports; see --counting of eval. [default: as in the run]"
    )


class MergeSettings(
    ReportOptions, TableOptions, GateOptions, FinishedOptions, PluginOptions, TerminalOptions
):
    """Settings of `stickler merge`."""

    run: tuple[str, ...] = option(
        (),
        "Run files, made with eval -o run.json, or run directories.",
        "RUN...",
        argument=True,
        in_file="none",
        role="input",
    )


class ReportSettings(
    OutputOptions,
    LinkOptions,
    TableOptions,
    BreakdownOptions,
    FinishedOptions,
    RecordedOptions,
    PluginOptions,
    TerminalOptions,
):
    """Settings of `stickler report`."""

    run: tuple[str, ...] = option(
        (),
        (
            "A run file, made with eval -o run.json, or a run directory. If you give "
            "several, an HTML page shows them side by side."
        ),
        "RUN...",
        argument=True,
        in_file="none",
        role="input",
    )
    format: RunFormat | None = printed_run(
        None, ("  [default: table; with --output, nothing is printed]")
    )
    open: bool = option(
        False,
        "Open the HTML page in a browser. Without --output, the page is a temporary file.",
        in_file="none",
        panel="output",
    )
    by: tuple[str, ...] = option(
        (),
        (
            "Report results for groups of documents. RUN must be a run directory whose "
            "documents have not changed, because they are compared again. Repeatable."
        ),
        "KEY",
        in_file="none",
    )
    by_file: str | None = option(
        None,
        "A file with metadata, one row for each document id: CSV with a header row, or JSON Lines.",
        "FILE",
        in_file="none",
        is_path=True,
        role="input",
    )


class ViewSettings(LinkOptions, TerminalOptions):
    """Settings of `stickler view`."""

    run: str = option("", "A run directory.", "RUN", argument=True, in_file="none", role="input")
    port: int = option(0, "Port of the page; 0 chooses a free port.", "N", values=COUNT)
    open: bool = option(False, "Open the page in a browser.", in_file="none")
