"""Every option, once: its type, default, help and values, which all who take options read here.

A class for each group of options that go together, and below them one for each command.
"""

from dataclasses import replace
from typing import Final, Literal

from stickler_cli.core.option import Number, Settings, Size, option

Missing = Literal["fn", "skip", "error"]
ExtraFields = Literal["fa", "ignore"]
Infer = Literal["auto", "always", "never"]
Validate = Literal["none", "pred", "gt", "both"]
RunFormat = Literal[
    "table",
    "json",
    "csv",
    "tsv",
    "jsonl",
    "markdown",
    "junit",
    "github",
    "openmetrics",
    "html",
]
CsvShape = Literal["tidy", "wide"]
Order = Literal["schema", "f1", "errors", "name"]
ComparisonFormat = Literal["table", "json", "markdown"]
TuneFormat = Literal["table", "json"]
ErrorFormat = Literal["table", "csv", "tsv", "jsonl"]
ErrorOrder = Literal["document", "field", "class", "similarity"]
LintFormat = Literal["table", "json", "github"]
FailOn = Literal["error", "warning", "note", "never"]

LEVEL: Final = 0.95  # of confidence intervals: the customary one
MARGIN: Final = 0.02  # the least change of a rate between two runs that is worth a word
WORK: Final = 20.0  # units: honest documents of 10 MB take less; docs/reliability.md
TIMEOUT: Final = 300.0  # seconds: what --work-limit lets pass takes less on most machines

_COUNT: Final = Number("a whole number of at least 0", lambda number: number >= 0, whole=True)
_SHARE: Final = Number("a number between 0 and 1", lambda number: 0 < number < 1)
_SOME: Final = Number("a whole number of at least 1", lambda number: number >= 1, whole=True)
_PROCESSES: Final = replace(_SOME, expected=f"{_SOME.expected}, or auto", word="auto")


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


class SchemaSource(Settings):
    """What says how to compare; empty where nobody said it, as the others."""

    schema: str = option("", "The annotated JSON Schema.", "SCHEMA", is_path=True, argument=True)


class OptionalSchemaSource(SchemaSource):
    """The same where the ground truth can stand in for it."""

    schema: str = option(
        "",
        "The annotated JSON Schema. Left out, it is inferred from the ground truth.",
        "[SCHEMA]",
        is_path=True,
        argument=True,
        needed=False,
    )


class TruthSource(Settings):
    """What is right."""

    gt: str = option(
        "",
        "Ground truth: a JSON file, a directory, a .jsonl file, or - for standard input.",
        "GT",
        is_path=True,
        argument=True,
    )


class PredictionSource(Settings):
    """What is compared with it."""

    pred: str = option("", "Predictions: likewise.", "PRED", is_path=True, argument=True)


class SourceOptions(OptionalSchemaSource, TruthSource, PredictionSource):
    """What is compared."""


class SelectionOptions(Settings, panel="input"):
    """Which of the documents are evaluated."""

    limit: int | None = option(None, "Evaluate the first N documents only.", "N", values=_SOME)
    sample: int | None = option(
        None,
        "Evaluate N documents, drawn by their ids and --seed, in whatever order they come.",
        "N",
        values=_SOME,
    )


class PluginOptions(Settings, panel="input"):
    """Whose code may run."""

    allow_plugins: bool = option(
        False, "Let the schema name a comparator as module:Class, and be named as module:Model."
    )


class SchemaOptions(PluginOptions, panel="input"):
    """How a schema is read."""

    infer: Infer = option(
        "auto",
        "Infer how to compare by kinds and names: auto if the schema has no annotation at all, "
        "always where it has none, never.",
    )


class LenientOptions(Settings, panel="input"):
    """What counts as a document."""

    lenient_json: bool = option(
        False, "Take predictions out of code fences, other text and lists of one, and count those."
    )


class FindingOptions(Settings, panel="input"):
    """How documents are found and read."""

    id_field: str | None = option(
        None, "Pair JSON Lines by this field; without it, by line.", "PATH"
    )
    gt_root: str | None = option(
        None,
        "The document is what stands here in a ground truth: a key, such as result, or a JSON "
        "Pointer, such as /data/result.",
        "KEY",
    )
    max_document_size: int = option(
        100_000_000,
        "Read no document of more bytes, unpacked: a number, or one with kB, MB or GB.",
        "SIZE",
        values=Size(),
        shown="100MB",
    )


class PairingOptions(Settings, panel="input"):
    """How predictions are found, and their ground truth."""

    pair_by: str | None = option(
        None,
        "Pair by what this regular expression finds in names and ids, its first group if it has "
        "one: with (\\d+)$, gt_1 goes with pred_1.",
        "REGEX",
    )
    pred_root: str | None = option(
        None, "The document is what stands here in a prediction; see --gt-root.", "KEY"
    )


class DocumentOptions(LenientOptions, PairingOptions, FindingOptions):
    """How documents of both sides are found and read."""


class WrapperOptions(Settings, panel="input"):
    """What stands around values."""

    wrapped: str = option(
        "auto",
        "Take values out of objects with metadata, such as confidences: auto knows the usual "
        "forms, none takes nothing, VALUE_KEY[:CONFIDENCE_KEY] is a form of your own.",
        "FORM",
    )


class ComparisonOptions(Settings, panel="counting"):
    """What decides the score of a pair."""

    pairing_floor: float = option(
        0.2,
        "List items at or below this similarity are not the same item; -1 pairs all.",
        "FLOOR",
        values=Number("a number in [-1, 1)", lambda number: -1 <= number < 1),
    )
    extra_fields: ExtraFields = option(
        "fa", "What a key that the schema does not declare is in a prediction."
    )


class LimitedOptions(ComparisonOptions, panel="run"):
    """What also decides whether it has one."""

    work_limit: float = option(
        WORK,
        "Fail a document that takes more work to compare; a unit is about a second, but counted, "
        "so that it is the same on any machine.",
        "UNITS",
        values=Number("a number above 0", lambda number: number > 0),
    )


class DecidingOptions(LenientOptions, WrapperOptions, LimitedOptions, panel="counting"):
    """What decides the figures of a run."""

    recall_with_fd: bool = option(False, "Count false discoveries as missed in recall.")
    missing: Missing = option(
        "fn", "What a ground truth without a prediction is: all missed, left out, failed."
    )


class RunOptions(DecidingOptions, panel="gates"):
    """What decides the figures and the verdict of a run; its record says it."""

    strict: bool = option(False, "Exit 3 if any document is unpaired or invalid.")


class IntervalOptions(Settings, panel="statistics"):
    """What is said of chance."""

    ci: float | Literal["none"] = option(
        LEVEL,
        "Give confidence intervals of this level, between 0 and 1; none gives none.",
        "LEVEL",
        values=replace(_SHARE, expected=f"{_SHARE.expected}, or none", word="none"),
    )
    seed: int = option(0, "Draw other random samples, also for --sample.", "N", values=_COUNT)


class GateOptions(Settings, panel="gates"):
    """What the exit code depends on."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if the overall F1 is below this, 0 to 1.",
        "F1",
        values=Number("a number"),
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless [set:][path.]metric op number holds, such as "
        "line_items.price.recall>=0.9. Repeatable.",
        "EXPR",
    )


class ModelOptions(Settings, panel="models"):
    """What may be asked of models."""

    no_cache: bool = option(False, "Keep no answers of models on disk, and use none.")
    offline: bool = option(False, "Ask no model: use the answers on disk only.")
    max_pairs: int = option(
        10_000, "Stop before judges are asked about more pairs.", "N", values=_COUNT
    )


class ValidationOptions(Settings, panel="input"):
    """What is held against the schema."""

    validate: Validate = option(
        "none", "Hold these documents against the schema too, and report how many are valid."
    )


class OutputOptions(TerminalOptions, panel="output"):
    """The files that results go to."""

    output: tuple[str, ...] = option(
        (),
        "Also write the results to this file; its suffix (.html, .json, .csv, .tsv, .jsonl, "
        ".parquet, .md, .txt, .junit.xml, .metrics.txt) says the format. Parquet needs "
        "'stickler-cli[parquet]'. Repeatable.",
        "FILE",
        short="-o",
        in_file="eval",
        is_path=True,
    )
    csv: CsvShape = option(
        "tidy",
        "The columns of CSV, TSV, JSON Lines and Parquet: those that one would chart, or all.",
    )
    junit_fields: bool = option(False, "In JUnit XML, also give a test case for each field.")


class ReportOptions(OutputOptions, panel="output"):
    """What is made of the results of a run."""

    format: RunFormat = option(
        "table", "What to print on standard output.", short="-f", in_file="eval"
    )


class TableOptions(Settings, panel="output"):
    """Which fields and documents a table shows, and in which order."""

    sort: Order = option(
        "schema", "The order of fields: of the schema, the lowest F1 or most values lost first."
    )
    only_errors: bool = option(False, "Leave out fields that lost no values.")
    fields: str | None = option(
        None, "Show fields whose path matches, such as 'items.*' or '*price*'.", "GLOB"
    )
    show_documents: int = option(
        0,
        "Show the N documents with the lowest scores, each with the command that explains it.",
        "N",
        values=_COUNT,
    )
    width: int | None = option(
        None, "Columns of the table.  [default: those of the terminal]", "N", values=_SOME
    )


class BreakdownOptions(Settings, panel="statistics"):
    """What documents are broken down by."""

    by: tuple[str, ...] = option(
        (),
        "Also report groups of documents: by a field of the ground truth, by @directory, or by "
        "@COLUMN of the --by-file. Repeatable.",
        "KEY",
    )
    by_file: str | None = option(
        None,
        "What is known of documents, by id: a CSV file with a header, or JSON Lines.",
        "FILE",
        is_path=True,
    )


class WorkOptions(Settings, panel="run"):
    """Who does the work."""

    jobs: int | Literal["auto"] = option(
        "auto",
        "How many processes compare; auto fits the machine and the work. Results are the same.",
        "N|auto",
        short="-j",
        values=_PROCESSES,
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


class ConfidenceSource(Settings, panel="input"):
    """Where confidences are that are not in the predictions."""

    confidence: str | None = option(
        None,
        "Confidences of the predictions: a directory or file like PRED, with the same ids, whose "
        "documents mirror those of PRED and have numbers at the leaves.",
        "DIR|FILE",
        is_path=True,
    )


class EvalSettings(
    SourceOptions,
    ConfidenceSource,
    SelectionOptions,
    DocumentOptions,
    SchemaOptions,
    RunOptions,
    ValidationOptions,
    ReportOptions,
    TableOptions,
    GateOptions,
    IntervalOptions,
    ModelOptions,
    BreakdownOptions,
    WorkOptions,
    TerminalOptions,
):
    """What `stickler eval` is asked for."""

    policy: str | None = option(
        None,
        "Also report what this policy of stickler accept would let pass, and how wrong that is.",
        "FILE",
        is_path=True,
        panel="statistics",
    )

    show_non_matches: int = option(
        0, "Show the first N errors below the table.", "N", values=_COUNT, panel="output"
    )
    non_matches: str | None = option(
        None,
        "Write every error to this file: .jsonl, .csv, .tsv or .parquet, which needs "
        "'stickler-cli[parquet]'.",
        "FILE",
        is_path=True,
        panel="output",
    )
    documents: str | None = option(
        None,
        "Write a row for each document to this file; likewise.",
        "FILE",
        is_path=True,
        panel="output",
    )
    label: tuple[str, ...] = option(
        (),
        "A word about the run for its record and its reports, such as a model or prompt=v3. "
        "Repeatable.",
        "TEXT",
        in_file="eval",
        panel="run",
    )
    repeat: tuple[str, ...] = option(
        (),
        "Other predictions of the same documents: tell how much figures move from run to run, and "
        "which values are right in some runs only.",
        "PRED...",
        in_file="none",
        panel="statistics",
    )
    run_dir: str | None = option(
        None,
        "Keep everything of the run here: results, a line for each document and error, and a "
        "journal, from which the same command continues.",
        "DIR",
        is_path=True,
        panel="run",
    )
    restart: bool = option(
        False, "Leave out what --run-dir holds, and begin again.", in_file="none", panel="run"
    )
    dry_run: bool = option(
        False, "Print what models would be asked, and ask nothing.", in_file="none", panel="models"
    )


class CompareSettings(
    SourceOptions,
    DocumentOptions,
    WrapperOptions,
    SchemaOptions,
    LimitedOptions,
    ModelOptions,
    TerminalOptions,
):
    """What `stickler compare` is asked for."""

    document: str | None = option(
        None,
        "Which document, of directories or JSON Lines; as eval names it.",
        "ID",
        in_file="none",
    )
    field: str | None = option(
        None,
        "Show this place only: line_items[2].price, or line_items.price for all items.",
        "PATH",
        in_file="none",
        panel="output",
    )
    only_errors: bool = option(
        False, "Leave out what is right; it is counted.", in_file="none", panel="output"
    )
    everything: bool = option(
        False,
        "Show everything: inside what is right, and what neither side has.",
        flag="--all",
        in_file="none",
        panel="output",
    )
    format: ComparisonFormat = option(
        "table", "What to print on standard output.", short="-f", in_file="none", panel="output"
    )
    output: tuple[str, ...] = option(
        (),
        "Also write it to this file; its suffix (.json, .md, .txt) says the format. Repeatable.",
        "FILE",
        short="-o",
        in_file="none",
        panel="output",
    )


class ErrorsSettings(
    SourceOptions,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    WorkOptions,
    TerminalOptions,
):
    """What `stickler errors` is asked for; what is said of documents is for a run that it makes."""

    schema: str = option(
        "",
        "The annotated JSON Schema. Left out, it is inferred from the ground truth.",
        "[SCHEMA]",
        is_path=True,
        argument=True,
        needed=False,
    )
    gt: str = option(
        "", "Ground truth, as eval takes it.", "[GT]", is_path=True, argument=True, needed=False
    )
    pred: str = option(
        "",
        "Predictions, as eval takes them; or a run directory, whose errors there are already.",
        "PRED|RUN",
        is_path=True,
        argument=True,
    )
    document: str | None = option(
        None, "Show the errors of these documents only.", "ID|GLOB", in_file="none"
    )
    field: str | None = option(
        None,
        "Show those of fields whose path matches, without list indexes, such as 'items.*'; or one "
        "place, such as items[2].price.",
        "GLOB",
        in_file="none",
    )
    error_class: str | None = option(
        None,
        "Show those of this class, such as digit_slip.",
        "CLASS",
        flag="--class",
        in_file="none",
    )
    sort: ErrorOrder = option(
        "document",
        "The order of errors: of documents, by field, by class, or the least similar values first.",
        in_file="none",
        panel="output",
    )
    format: ErrorFormat = option(
        "table", "What to print on standard output.", short="-f", in_file="none", panel="output"
    )
    output: tuple[str, ...] = option(
        (),
        "Also write them to this file; its suffix (.csv, .tsv, .jsonl, .parquet, .txt) says the "
        "format. Repeatable.",
        "FILE",
        short="-o",
        in_file="none",
        panel="output",
    )


class DiffSettings(
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    ReportOptions,
    IntervalOptions,
    TerminalOptions,
):
    """What `stickler diff` is asked for; what is said of documents is for runs that it makes."""

    ci: float = option(
        LEVEL,
        "Give confidence intervals of this level; a change is significant at the rest.",
        "LEVEL",
        values=_SHARE,
        panel="statistics",
    )
    margin: float = option(
        MARGIN,
        "A change whose interval shows that it is smaller than this counts as none.",
        "CHANGE",
        values=_SHARE,
        panel="statistics",
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless the change [set:][path.]metric op number holds, such as f1>=-0.01: "
        "no worse than that. Repeatable.",
        "EXPR",
        in_file="none",
        panel="gates",
    )
    allow_different: bool = option(False, "Compare runs under different schemas or options too.")
    base: tuple[str, ...] = option(
        (),
        "Several runs of the system that was, instead of BASE; predictions after SCHEMA GT.",
        "RUN...",
        in_file="none",
    )
    new: tuple[str, ...] = option(
        (), "Several runs of the system that is, likewise.", "RUN...", in_file="none"
    )


class MergeSettings(ReportOptions, TableOptions, GateOptions, TerminalOptions):
    """What `stickler merge` is asked for."""


class ReportSettings(OutputOptions, TableOptions, BreakdownOptions, TerminalOptions):
    """What `stickler report` is asked for."""

    format: RunFormat | None = option(
        None,
        "What to print on standard output.  [default: table, nothing with --output]",
        short="-f",
        in_file="none",
        panel="output",
    )
    open: bool = option(
        False,
        "Open the page in a browser; without --output, one that is made for it.",
        in_file="none",
        panel="output",
    )
    by: tuple[str, ...] = option(
        (),
        "Report these groups of documents, of a run directory whose documents are what they were; "
        "they are compared again. Repeatable.",
        "KEY",
        in_file="none",
    )
    by_file: str | None = option(
        None,
        "What is known of documents, by id: a CSV file with a header, or JSON Lines.",
        "FILE",
        in_file="none",
        is_path=True,
    )


class AcceptSettings(
    SourceOptions,
    ConfidenceSource,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    BreakdownOptions,
    WorkOptions,
    TerminalOptions,
):
    """What `stickler accept` is asked for."""

    schema: str = option(
        "", "The annotated JSON Schema.", "SCHEMA", is_path=True, argument=True, needed=False
    )
    gt: str = option(
        "", "Ground truth, as eval takes it.", "GT", is_path=True, argument=True, needed=False
    )
    max_error: float = option(
        0.05,
        "The share of wrong values that is allowed among those of a document that pass.",
        "SHARE",
        values=_SHARE,
        in_file="none",
    )
    assurance: float = option(
        0.95,
        "How sure that is to hold, over the draw of the labelled documents.",
        "SHARE",
        values=_SHARE,
        in_file="none",
    )
    together: bool = option(
        False, "Have it hold for all fields at once, not for each by itself.", in_file="none"
    )
    apply: str | None = option(
        None,
        "Apply this policy to PRED, which needs no ground truth: say for each document which "
        "values pass, and which go to review.",
        "POLICY",
        in_file="none",
        is_path=True,
    )
    output: tuple[str, ...] = option(
        (),
        "Write the policy to this file (.json), and a picture of it (.html); with --apply, write "
        "what passes here and not to standard output. Repeatable.",
        "FILE",
        short="-o",
        in_file="none",
        is_path=True,
        panel="output",
    )


class CheckSettings(SchemaOptions, ConsoleOptions):
    """What `stickler check` is asked for."""


class InitSettings(PluginOptions, FindingOptions, ConsoleOptions):
    """What `stickler init` is asked for."""

    output: str | None = option(
        None,
        "Write the schema to this file, not to standard output.",
        "FILE",
        short="-o",
        in_file="none",
        is_path=True,
    )
    force: bool = option(False, "Let it take the place of a file.", in_file="none")
    interactive: bool = option(False, "Ask about each field.", short="-i", in_file="none")


class ShowSettings(SchemaSource, SchemaOptions, TerminalOptions):
    """What `stickler show` is asked for."""


class LintSettings(
    OptionalSchemaSource,
    TruthSource,
    FindingOptions,
    WrapperOptions,
    SchemaOptions,
    TerminalOptions,
):
    """What `stickler lint` is asked for."""

    ignore: tuple[str, ...] = option(
        (), "Leave out what this rule finds. Repeatable.", "RULE", in_file="none"
    )
    fail_on: FailOn = option(
        "error", "Exit 1 if anything as bad as this is found, or worse.", in_file="none"
    )
    places: int = option(
        3,
        "Show the first N places of each finding.",
        "N",
        values=_COUNT,
        in_file="none",
        panel="output",
    )
    format: LintFormat = option(
        "table", "What to print on standard output.", short="-f", in_file="none", panel="output"
    )
    output: tuple[str, ...] = option(
        (),
        "Also write it to this file; its suffix (.json, .txt) says the format. Repeatable.",
        "FILE",
        short="-o",
        in_file="none",
        panel="output",
    )


class TuneSettings(
    SourceOptions,
    DocumentOptions,
    WrapperOptions,
    SchemaOptions,
    ComparisonOptions,
    ModelOptions,
    TerminalOptions,
):
    """What `stickler tune` is asked for."""

    verdicts: str | None = option(
        None,
        "Tune on these pairs of values: JSON Lines of path, gt, pred and verdict, which is same "
        "or different.",
        "FILE",
        in_file="none",
    )
    field: tuple[str, ...] = option(
        (),
        "Also show the evidence of this field, as line_items.price. Repeatable.",
        "PATH",
        in_file="none",
    )
    write: bool = option(
        False,
        "Write what is proposed into SCHEMA; nothing else in it changes but its $comment.",
        in_file="none",
    )
    ci: float = option(
        LEVEL,
        "Propose what has a gain by an interval of this level.",
        "LEVEL",
        values=_SHARE,
        panel="statistics",
    )
    seed: int = option(
        0, "Draw other halves and other random samples.", "N", values=_COUNT, panel="statistics"
    )
    format: TuneFormat = option(
        "table", "What to print on standard output.", short="-f", in_file="none", panel="output"
    )
    output: tuple[str, ...] = option(
        (),
        "Also write it to this file; its suffix (.json, .txt) says the format. Repeatable.",
        "FILE",
        short="-o",
        in_file="none",
        panel="output",
    )


class ManySettings(SchemaOptions, DecidingOptions, ValidationOptions):
    """What `evaluate_many` is asked for; documents in memory are not read leniently."""

    workers: int | Literal["auto"] = option(
        1, "How many processes compare; 1 is this process.", values=_PROCESSES
    )
    chunk_size: int | None = option(
        None, "How many pairs go to another process at once.", values=_SOME
    )


COMMANDS: Final = {
    "eval": EvalSettings,
    "compare": CompareSettings,
    "errors": ErrorsSettings,
    "diff": DiffSettings,
    "merge": MergeSettings,
    "report": ReportSettings,
    "accept": AcceptSettings,
    "check": CheckSettings,
    "init": InitSettings,
    "show": ShowSettings,
    "lint": LintSettings,
    "tune": TuneSettings,
}
"""The settings of each command; of two that have an option, a file follows the first."""
