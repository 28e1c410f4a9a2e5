"""Options that change the figures of a run: what is read, how it is read, and how it is counted."""

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
SHARE: Final = NumberRange("a number above 0 and below 1", lambda number: 0 < number < 1)
SOME: Final = NumberRange("a whole number of at least 1", lambda number: number >= 1, whole=True)
PROCESSES: Final = SOME._replace(expected=f"{SOME.expected}, or auto", word="auto")


class SchemaSource(Settings):
    """The schema option. Its value is empty if the user names no schema."""

    schema: str = option(
        "", "The annotated JSON Schema.", "SCHEMA", is_path=True, argument=True, role="input"
    )


def optional_schema() -> str:
    """Declare a schema option that may be left out.

    The schema is then inferred from the ground truth.
    """
    help_text = (
        "The annotated JSON Schema. If you leave it out, a schema is inferred from the "
        "ground truth."
    )
    return option(
        "", help_text, "[SCHEMA]", is_path=True, argument=True, needed=False, role="input"
    )


class OptionalSchemaSource(SchemaSource):
    """Option for the source of a schema. The user may leave it out."""

    schema: str = optional_schema()


class TruthSource(Settings):
    """Option for the source of ground truths."""

    gt: str = option(
        "",
        (
            "Ground truth: a JSON file, a directory, a .jsonl file, a .parquet or .arrow "
            "table, or - for standard input."
        ),
        "GT",
        is_path=True,
        argument=True,
        role="input",
    )


class PredictionSource(Settings):
    """Option for the source of predictions."""

    pred: str = option(
        "",
        "Predictions, in any of the forms allowed for GT.",
        "PRED",
        is_path=True,
        argument=True,
        role="input",
    )


class PairsSource(Settings, panel="input"):
    """Option for a table with both ground truths and predictions."""

    pairs: str | None = option(
        None,
        (
            "A table of pairs to use instead of GT and PRED (.jsonl, .csv, .parquet, .arrow, "
            "or a .json array). The columns have names such as ground_truth and prediction, "
            "or expected and output. A column named id is optional."
        ),
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

    limit: int | None = option(None, "Evaluate only the first N documents.", "N", values=SOME)
    sample: int | None = option(
        None,
        (
            "Evaluate a random sample of N documents. The choice depends only on the "
            "document ids and --seed."
        ),
        "N",
        values=SOME,
    )


class PluginOptions(Settings, panel="input"):
    """Options that allow code of plug-ins to run."""

    allow_plugins: bool = option(
        False,
        (
            "Allow comparators, metrics and the schema to be given as Python code "
            "(module:Class). That code is run."
        ),
    )


class SchemaOptions(PluginOptions, panel="input"):
    """Options for reading a schema."""

    infer: Infer = option(
        "auto",
        (
            "Whether to infer how to compare fields, from their types and names. auto: infer if no "
            "field of the schema is annotated; always: infer for every field without "
            "annotations; never: use defaults."
        ),
    )
    boxes: BoxFormat = option(
        "corners",
        (
            "How to read a box of four numbers: as two corners, or as a corner with width and "
            "height. Used only if neither the schema nor the values decide this."
        ),
    )


class LenientOptions(Settings, panel="input"):
    """Options for reading predictions leniently."""

    lenient_json: bool = option(
        False,
        (
            "Find the JSON of predictions in code fences, in other text and in lists with one "
            "element. Also accept Python literals, comments, trailing commas and single "
            "quotes. Reports say how many predictions needed this."
        ),
    )


class FindingOptions(Settings, panel="input"):
    """Options for finding and reading documents."""

    id_field: str | None = option(
        None,
        (
            "The field or table column that contains the document id. Without this option, JSON "
            "Lines are paired by line number, and tables by the column id."
        ),
        "PATH",
    )
    gt_root: str | None = option(
        None,
        (
            "Where the document is inside each ground-truth file, if the file contains more than "
            "the document: a key such as result, a dotted path such as data.result, or a JSON "
            "Pointer. A value on this path may be a string of JSON; the string is then parsed."
        ),
        "KEY",
    )
    gt_column: str | None = option(
        None,
        (
            "The table column with the ground truth; for a nested column, a dotted path such "
            "as vars.expected."
        ),
        "COLUMN",
    )
    max_document_size: int = option(
        100_000_000,
        "Do not read documents that are larger than this after unpacking, such as 500kB or 1GB.",
        "SIZE",
        values=BYTES,
        default_text="100MB",
    )


class DocumentOptions(LenientOptions, FindingOptions, panel="input"):
    """Options for finding and reading documents, and for pairing predictions with ground truths."""

    pair_by: str | None = option(
        None,
        "Pair documents by the part of their names or ids that this regular expression, or its "
        "first group, matches. For example, (\\d+)$ pairs gt_1 with pred_1.",
        "REGEX",
    )
    pred_root: str | None = option(
        None, "Where the document is inside each prediction file; see --gt-root.", "KEY"
    )
    pred_column: str | None = option(
        None, "The table column with the predictions; see --gt-column.", "COLUMN"
    )


class WrapperOptions(Settings, panel="input"):
    """Options for values in wrapper objects."""

    wrapped: str = option(
        "auto",
        (
            "Extract values from objects that also hold metadata, such as confidences. auto: "
            "recognize the usual forms; none: extract nothing; VALUE_KEY[:CONFIDENCE_KEY]: "
            "the keys that your own form uses."
        ),
        "FORM",
    )


class IgnoreOptions(Settings, panel="input"):
    """Options for keys that are ignored."""

    ignore: tuple[str, ...] = option(
        (),
        (
            "Ignore this field on both sides. In the path, * stands for any one name and ** "
            "for any number of names: **.id ignores id everywhere. Repeatable."
        ),
        "PATH",
    )


class KeyOptions(IgnoreOptions, panel="input"):
    """Options for keys that are ignored or renamed."""

    rename: tuple[str, ...] = option(
        (),
        (
            "Before comparing, rename a key of the predictions, such as vendor=seller or "
            "lines.descr=description. Repeatable."
        ),
        "OLD=NEW",
    )


class ValidationOptions(Settings, panel="input"):
    """Options for validation against the schema."""

    validate: Validate = option(
        "none",
        (
            "Also validate the ground truth, the predictions, or both against the schema, "
            "and report how many are valid."
        ),
    )


class ConfidenceSource(Settings, panel="input"):
    """Option for confidences in a separate source."""

    confidence: str | None = option(
        None,
        (
            "A directory or file with the confidences of the predictions, in the same form and "
            "with the same ids as PRED. Each document has the same keys as its prediction, "
            "with a number in place of each value."
        ),
        "DIR|FILE",
        is_path=True,
        role="input",
    )


class MetadataOptions(Settings, panel="statistics"):
    """Options for metadata of documents."""

    by_file: str | None = option(
        None,
        "A file with metadata, one row for each document id: CSV with a header row, or JSON Lines.",
        "FILE",
        is_path=True,
        role="input",
    )


class SeveralSchemas(MetadataOptions, panel="input"):
    """Options for choosing one of several schemas for each document."""

    schema_by: str | None = option(
        None,
        (
            "Compare each document with one of several schemas, chosen by KEY. SCHEMA is then "
            "a directory: a document whose KEY is 'invoice' is compared with "
            "SCHEMA/invoice.json. KEY is the name of a field of the ground truth; @directory, "
            "for the document's directory; @id, for the document's id; or @COLUMN, for a "
            "column of the --by-file."
        ),
        "KEY",
    )


class ComparisonOptions(Settings, panel="counting"):
    """Options that decide the score of a pair of documents."""

    pairing_floor: float = option(
        0.2,
        "Do not pair list items whose similarity is at most this number; -1 allows every pair.",
        "FLOOR",
        values=NumberRange("a number in [-1, 1)", lambda number: -1 <= number < 1),
    )
    extra_fields: ExtraFields = option(
        "fa",
        "How to count a predicted key that the schema does not declare. fa: as a false alarm; "
        "ignore: not at all.",
    )
    partial_gt: bool = option(
        False,
        "Ignore predictions for keys that the ground truth omits. A null in the ground truth still "
        "means that the value is absent.",
    )


class LimitedOptions(ComparisonOptions, panel="engine"):
    """Options that also limit the work for a pair of documents."""

    work_limit: float = option(
        WORK,
        (
            "Fail a document if comparing it takes more work than this. One unit of work "
            "takes about a second, but work is counted and not timed. The limit is therefore "
            "the same on every machine."
        ),
        "UNITS",
        values=NumberRange("a number above 0", lambda number: number > 0),
    )


class DecidingOptions(LenientOptions, KeyOptions, WrapperOptions, LimitedOptions, panel="counting"):
    """Options that decide the figures of a run."""

    recall_with_fd: bool = option(
        False,
        ("Count a wrong value (false discovery) also as a missed value, which lowers recall."),
    )
    missing: Missing = option(
        "fn",
        (
            "How to count a ground truth without a prediction. fn: all of its values are "
            "missed; skip: the document is left out; error: it counts as failed."
        ),
    )


class CountingOptions(Settings, panel="counting"):
    """Option for the counting mode of reports and gates."""

    counting: Counting = option(
        "leaves",
        (
            "What to count in reports (JSON has all three). leaves: each value is one unit. "
            "aggregate: like leaves, but one unit for each list item that does not match, and one "
            "for each item or object that only one side has. overall: each value, object and list "
            "item is one unit."
        ),
    )


class RunOptions(CountingOptions, DecidingOptions, panel="gates"):
    """Options that decide the figures and the verdict of a run. They are stored in its record."""

    strict: bool = option(
        False, "Exit with code 3 if any ground truth or prediction is missing or invalid."
    )
    rows: KeptRows = option(
        "auto",
        (
            "Whether the run file has a row for each document. inline: always; none: never; "
            "auto: for up to 100,000 documents. Without rows, the size of the file does not "
            "depend on the number of documents."
        ),
        panel="output",
    )


class IntervalOptions(Settings, panel="statistics"):
    """Options of confidence intervals."""

    ci: float | Literal["none"] = option(
        LEVEL,
        "Level of the confidence intervals, between 0 and 1; none turns intervals off.",
        "LEVEL",
        values=SHARE._replace(expected=f"{SHARE.expected}, or none", word="none"),
    )
    seed: int = option(0, "Seed of all random choices, such as --sample.", "N", values=COUNT)


class GateOptions(Settings, panel="gates"):
    """Options for gates, which decide the exit code."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if the F1 of all documents is below this number (0 to 1).",
        "F1",
        values=NumberRange("a number"),
    )
    gate: tuple[str, ...] = option(
        (),
        (
            "Fail (exit 1) unless this condition is true: [set:][path.]metric operator number, "
            "such as line_items.price.recall>=0.9. Repeatable."
        ),
        "EXPR",
    )
