"""Options that decide figures: their values, the inputs, and how these are read and counted."""

from typing import Final, Literal

from stickler_cli.core.option import BYTES, NumberRange, Settings, option

Counting = Literal["overall", "aggregate", "leaves"]
Missing = Literal["fn", "skip", "error"]
KeptRows = Literal["auto", "none", "inline"]
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
    "otel",
    "html",
]
BoxFormat = Literal["corners", "xywh"]

LEVEL: Final = 0.95  # usual level of confidence intervals
MARGIN: Final = 0.02  # smallest change of a rate between two runs that matters
WORK: Final = 20.0  # in work units: honest documents of 10 MB take less; docs/reliability.md
TIMEOUT: Final = 300.0  # seconds; on most machines, documents within --work-limit take less

COUNT: Final = NumberRange("a whole number of at least 0", lambda number: number >= 0, whole=True)
ABOVE_ZERO: Final = NumberRange("a number above 0", lambda number: number > 0)
SHARE: Final = NumberRange("a number between 0 and 1", lambda number: 0 < number < 1)
SOME: Final = NumberRange("a whole number of at least 1", lambda number: number >= 1, whole=True)
PROCESSES: Final = SOME._replace(expected=f"{SOME.expected}, or auto", word="auto")


class SchemaSource(Settings):
    """Option for the source of the schema; empty if the user names no schema."""

    schema: str = option(
        "", "The annotated JSON Schema.", "SCHEMA", is_path=True, argument=True, role="input"
    )


def optional_schema() -> str:
    """Declare an optional schema; without one, the schema is inferred from the ground truth."""
    help_text = "The annotated JSON Schema. Left out, it is inferred from the ground truth."
    return option(
        "", help_text, "[SCHEMA]", is_path=True, argument=True, needed=False, role="input"
    )


class OptionalSchemaSource(SchemaSource):
    """Option for a schema that may be left out."""

    schema: str = optional_schema()


class TruthSource(Settings):
    """Option for the source of ground truths."""

    gt: str = option(
        "",
        "Ground truth: a JSON file, a directory, a .jsonl file, a .parquet or .arrow table, or - "
        "for standard input.",
        "GT",
        is_path=True,
        argument=True,
        role="input",
    )


class PredictionSource(Settings):
    """Option for the source of predictions."""

    pred: str = option(
        "",
        "Predictions, in any of the forms of GT.",
        "PRED",
        is_path=True,
        argument=True,
        role="input",
    )


class PairsSource(Settings, panel="input"):
    """Option for a table with both ground truths and predictions."""

    pairs: str | None = option(
        None,
        "Instead of GT and PRED: a table of pairs (.jsonl, .csv, .parquet, .arrow, or a .json "
        "array), with columns such as ground_truth and prediction, or expected and output; a "
        "column id is optional.",
        "FILE",
        is_path=True,
        in_file="none",
        instead_of=("gt", "pred"),
        role="input",
    )


class SourceOptions(OptionalSchemaSource, TruthSource, PredictionSource, PairsSource):
    """Options for the sources of documents of a run."""


class SelectionOptions(Settings, panel="input"):
    """Options that select documents to be evaluated."""

    limit: int | None = option(None, "Evaluate the first N documents only.", "N", values=SOME)
    sample: int | None = option(
        None,
        "Evaluate N documents, drawn by their ids and --seed, in whatever order they come.",
        "N",
        values=SOME,
    )


class PluginOptions(Settings, panel="input"):
    """Options that allow code of plug-ins to run."""

    allow_plugins: bool = option(
        False, "Let schema, comparators and metrics be named as module:Class, and run their code."
    )


class SchemaOptions(PluginOptions, panel="input"):
    """Options for reading a schema."""

    infer: Infer = option(
        "auto",
        "Infer how to compare by kinds and names: auto if no annotation says how, "
        "always where it has none, never.",
    )
    boxes: BoxFormat = option(
        "corners",
        "What the four numbers of a box are where neither schema nor values say it: two corners, "
        "or a corner, width and height.",
    )


class LenientOptions(Settings, panel="input"):
    """Options for reading predictions leniently."""

    lenient_json: bool = option(
        False,
        "Take predictions out of code fences, other text and lists of one; also read Python "
        "literals, comments, trailing commas and single quotes. These predictions are counted.",
    )


class FindingOptions(Settings, panel="input"):
    """Options for finding and reading documents."""

    id_field: str | None = option(
        None,
        "Pair JSON Lines by this field (default: by line). For tables: the id column "
        "(default: id).",
        "PATH",
    )
    gt_root: str | None = option(
        None,
        "The document is what stands here in a ground truth: a key, such as result, a dotted "
        "path, such as data.result, or a JSON Pointer. Texts of JSON on the way are read.",
        "KEY",
    )
    gt_column: str | None = option(
        None,
        "The column of a table that has the ground truths, or a dotted path into one, such as "
        "vars.expected.",
        "COLUMN",
    )
    max_document_size: int = option(
        100_000_000,
        "Read no document of more bytes, unpacked: a number, or one with kB, MB or GB.",
        "SIZE",
        values=BYTES,
        default_text="100MB",
    )


class DocumentOptions(LenientOptions, FindingOptions, panel="input"):
    """Options for finding, reading and pairing documents of both sides."""

    pair_by: str | None = option(
        None,
        "Pair by what this regular expression finds in names and ids, its first group if it has "
        "one: with (\\d+)$, gt_1 goes with pred_1.",
        "REGEX",
    )
    pred_root: str | None = option(
        None, "The document is what stands here in a prediction; see --gt-root.", "KEY"
    )
    pred_column: str | None = option(
        None, "The column of a table that has the predictions; see --gt-column.", "COLUMN"
    )


class WrapperOptions(Settings, panel="input"):
    """Options for values in wrapper objects."""

    wrapped: str = option(
        "auto",
        "Take values out of objects with metadata, such as confidences: auto knows the usual "
        "forms, none takes nothing, VALUE_KEY[:CONFIDENCE_KEY] is a form of your own.",
        "FORM",
    )


class IgnoreOptions(Settings, panel="input"):
    """Options for keys that are ignored."""

    ignore: tuple[str, ...] = option(
        (),
        "Leave this field out on both sides: * in the path is any name, ** any number of names, "
        "so that **.id is an id anywhere. Repeatable.",
        "PATH",
    )


class KeyOptions(IgnoreOptions, panel="input"):
    """Options for keys that are ignored or renamed."""

    rename: tuple[str, ...] = option(
        (),
        "Give a key of the predictions another name before they are compared, such as "
        "vendor=seller or lines.descr=description. Repeatable.",
        "OLD=NEW",
    )


class ValidationOptions(Settings, panel="input"):
    """Options for validation by the schema."""

    validate: Validate = option(
        "none", "Hold these documents against the schema too, and report how many are valid."
    )


class ConfidenceSource(Settings, panel="input"):
    """Option for confidences in a separate source."""

    confidence: str | None = option(
        None,
        "Confidences of the predictions: a directory or file like PRED, with the same ids, whose "
        "documents mirror those of PRED and have numbers at the leaves.",
        "DIR|FILE",
        is_path=True,
        role="input",
    )


class MetadataOptions(Settings, panel="statistics"):
    """Options for metadata of documents."""

    by_file: str | None = option(
        None,
        "What is known of documents, by id: a CSV file with a header, or JSON Lines.",
        "FILE",
        is_path=True,
        role="input",
    )


class SeveralSchemas(MetadataOptions, panel="input"):
    """Options that choose one of several schemas for each document."""

    schema_by: str | None = option(
        None,
        "SCHEMA is a directory, and this says which VALUE.json in it a document has: a field of "
        "the ground truth, @directory, @id (its own), or @COLUMN of the --by-file.",
        "KEY",
    )


class ComparisonOptions(Settings, panel="counting"):
    """Options that decide the score of a pair of documents."""

    pairing_floor: float = option(
        0.2,
        "List items at or below this similarity are not the same item; -1 pairs all.",
        "FLOOR",
        values=NumberRange("a number in [-1, 1)", lambda number: -1 <= number < 1),
    )
    extra_fields: ExtraFields = option(
        "fa", "What a key that the schema does not declare is in a prediction."
    )
    partial_gt: bool = option(
        False,
        "Ignore predictions for keys that the ground truth omits. null still means absent.",
    )


class LimitedOptions(ComparisonOptions, panel="engine"):
    """Options that also limit the work for a pair of documents."""

    work_limit: float = option(
        WORK,
        "Fail a document that takes more work to compare; a unit is about a second, but counted, "
        "so that it is the same on any machine.",
        "UNITS",
        values=NumberRange("a number above 0", lambda number: number > 0),
    )


class DecidingOptions(LenientOptions, KeyOptions, WrapperOptions, LimitedOptions, panel="counting"):
    """Options that decide the figures of a run."""

    recall_with_fd: bool = option(False, "Count false discoveries as missed in recall.")
    missing: Missing = option(
        "fn", "What a ground truth without a prediction is: all missed, left out, failed."
    )


class CountingOptions(Settings, panel="counting"):
    """Options for the counting mode of reports and gates."""

    counting: Counting = option(
        "leaves",
        "What everything but JSON counts: leaves, all values; aggregate, those in objects and "
        "items that match; overall, where a value, an object and an item are one each.",
    )


class RunOptions(CountingOptions, DecidingOptions, panel="gates"):
    """Options that decide figures and verdict of a run; they are stored in its record."""

    strict: bool = option(False, "Exit 3 if any document is unpaired or invalid.")
    rows: KeptRows = option(
        "auto",
        "Keep a row for each document in the run file: inline always, none never, auto for up to "
        "100,000 documents. Without rows the result has a fixed size.",
        panel="output",
    )


class IntervalOptions(Settings, panel="statistics"):
    """Options of confidence intervals."""

    ci: float | Literal["none"] = option(
        LEVEL,
        "Give confidence intervals of this level, between 0 and 1; none gives none.",
        "LEVEL",
        values=SHARE._replace(expected=f"{SHARE.expected}, or none", word="none"),
    )
    seed: int = option(0, "Draw other random samples, also for --sample.", "N", values=COUNT)


class GateOptions(Settings, panel="gates"):
    """Options for gates, which decide the exit code."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if F1 of all documents is below this, 0 to 1.",
        "F1",
        values=NumberRange("a number"),
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless [set:][path.]metric op number holds, such as "
        "line_items.price.recall>=0.9. Repeatable.",
        "EXPR",
    )
