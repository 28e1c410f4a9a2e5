"""The inputs, and how they are read: schemas, documents and wrappers of values."""

from stickler_cli.core.option import Settings, Size, option
from .allowed import SOME, Infer, Validate


class SchemaSource(Settings):
    """The source of the schema; empty where nobody named one, as the others."""

    schema: str = option("", "The annotated JSON Schema.", "SCHEMA", is_path=True, argument=True)


def optional_schema() -> str:
    """Declare the same where the ground truth can stand in for it."""
    what = "The annotated JSON Schema. Left out, it is inferred from the ground truth."
    return option("", what, "[SCHEMA]", is_path=True, argument=True, needed=False)


class OptionalSchemaSource(SchemaSource):
    """The schema, or nothing."""

    schema: str = optional_schema()


class TruthSource(Settings):
    """The source of ground truth."""

    gt: str = option(
        "",
        "Ground truth: a JSON file, a directory, a .jsonl file, a .parquet or .arrow table, or - "
        "for standard input.",
        "GT",
        is_path=True,
        argument=True,
    )


class PredictionSource(Settings):
    """The source of predictions."""

    pred: str = option("", "Predictions: likewise.", "PRED", is_path=True, argument=True)


class PairsSource(Settings, panel="input"):
    """Both in one."""

    pairs: str | None = option(
        None,
        "Instead of GT and PRED: a table of pairs, .parquet, .arrow or .jsonl, with the columns "
        "ground_truth, prediction and, if there are ids, id.",
        "FILE",
        is_path=True,
        in_file="none",
        instead_of=("gt", "pred"),
    )


class SourceOptions(OptionalSchemaSource, TruthSource, PredictionSource, PairsSource):
    """The sources of a run."""


class SelectionOptions(Settings, panel="input"):
    """Which of the documents are evaluated."""

    limit: int | None = option(None, "Evaluate the first N documents only.", "N", values=SOME)
    sample: int | None = option(
        None,
        "Evaluate N documents, drawn by their ids and --seed, in whatever order they come.",
        "N",
        values=SOME,
    )


class PluginOptions(Settings, panel="input"):
    """Whose code may run."""

    allow_plugins: bool = option(
        False, "Let schema, comparators and metrics be named as module:Class, and run their code."
    )


class SchemaOptions(PluginOptions, panel="input"):
    """How a schema is read."""

    infer: Infer = option(
        "auto",
        "Infer how to compare by kinds and names: auto if the schema has no annotation at all, "
        "always where it has none, never.",
    )


class LenientOptions(Settings, panel="input"):
    """Options of lenient reading."""

    lenient_json: bool = option(
        False, "Take predictions out of code fences, other text and lists of one, and count those."
    )


class FindingOptions(Settings, panel="input"):
    """How documents are found and read."""

    id_field: str | None = option(
        None,
        "Pair JSON Lines by this field; without it, by line. Of tables, the column of ids, "
        "which is id otherwise.",
        "PATH",
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
    """Options of wrappers around values."""

    wrapped: str = option(
        "auto",
        "Take values out of objects with metadata, such as confidences: auto knows the usual "
        "forms, none takes nothing, VALUE_KEY[:CONFIDENCE_KEY] is a form of your own.",
        "FORM",
    )


class MetricOptions(Settings, panel="statistics"):
    """Options of metrics over whole documents."""

    metric: tuple[str, ...] = option(
        (),
        "Also give this metric of all documents: anls_star (the mean ANLS* of whole documents), "
        "one that a package offers, or module:Class. Repeatable.",
        "NAME",
    )


class ValidationOptions(Settings, panel="input"):
    """Options of validation."""

    validate: Validate = option(
        "none", "Hold these documents against the schema too, and report how many are valid."
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


class MetadataOptions(Settings, panel="statistics"):
    """Options of metadata."""

    by_file: str | None = option(
        None,
        "What is known of documents, by id: a CSV file with a header, or JSON Lines.",
        "FILE",
        is_path=True,
    )


class SeveralSchemas(MetadataOptions, panel="input"):
    """Which schema a document has, where there are several."""

    schema_by: str | None = option(
        None,
        "SCHEMA is a directory, and this says which VALUE.json in it a document has: a field of "
        "the ground truth, @directory, or @COLUMN of the --by-file.",
        "KEY",
    )
