"""Options of output: formats, files, and their contents."""

from typing import Any

from stickler_cli.core.option import Settings, option
from .allowed import COUNT, SOME, BoxFormat, CsvShape, Order, RunFormat, StudyFormat
from .inputs import MetadataOptions
from .running import TerminalOptions


def printed(in_file: str = "none") -> Any:
    """Declare the format of standard output."""
    what = "What to print on standard output."
    return option("table", what, short="-f", in_file=in_file, panel="output")


def written(what: str, in_file: str = "none") -> tuple[str, ...]:
    """Declare the files that results go to."""
    return option((), what, "FILE", short="-o", in_file=in_file, is_path=True, panel="output")


class OutputOptions(TerminalOptions, panel="output"):
    """The files that results go to."""

    output: tuple[str, ...] = written(
        "Also write the results to this file; its suffix (.html, .json, .csv, .tsv, .jsonl, "
        ".parquet, .arrow, .md, .txt, .junit.xml, .metrics.txt) says the format. Parquet needs "
        "'stickler-cli[parquet]'. Repeatable.",
        in_file="eval",
    )
    csv: CsvShape = option(
        "tidy",
        "The columns of CSV, TSV, JSON Lines and Parquet: those that one would chart, or all.",
    )
    junit_fields: bool = option(False, "In JUnit XML, also give a test case for each field.")


class WidthOptions(Settings, panel="output"):
    """The width of drawn text."""

    width: int | None = option(
        None, "Columns of the table.  [default: those of the terminal]", "N", values=SOME
    )


class StudyFiles(WidthOptions, TerminalOptions, panel="output"):
    """The files that the answer of a study goes to."""

    output: tuple[str, ...] = written(
        "Also write it to this file; its suffix (.html, .json, .csv, .tsv, .jsonl, .parquet, "
        ".arrow, .md, .txt) says the format. Repeatable."
    )


class StudyOptions(StudyFiles, panel="output"):
    """Output of a study."""

    format: StudyFormat = printed()


class ReportOptions(OutputOptions, panel="output"):
    """Output of a run."""

    format: RunFormat = printed(in_file="eval")


class BoxOptions(Settings, panel="input"):
    """How boxes are read."""

    boxes: BoxFormat = option(
        "xyxy", "What four numbers are: two corners, or a corner, width and height."
    )


class LinkOptions(Settings, panel="output"):
    """Where the images and PDFs are that documents were read from."""

    sources: str | None = option(
        None,
        "In the HTML page, link documents to what they were read from: the images and PDFs in a "
        "directory that have their names, or an address such as "
        "'https://host/{id}.pdf#page={page}'.",
        "DIR|URL",
        is_path=True,
    )


class PictureOptions(BoxOptions, LinkOptions, panel="output"):
    """Pictures of documents in an HTML page."""

    embed_sources: int = option(
        0,
        "Put pictures of the N documents with the lowest scores into the HTML page, with the "
        "boxes of their values. Needs 'stickler-cli[sources]'.",
        "N",
        values=COUNT,
    )


class TableOptions(WidthOptions, panel="output"):
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
        values=COUNT,
    )


class BreakdownOptions(MetadataOptions, panel="statistics"):
    """Options of groups of documents."""

    by: tuple[str, ...] = option(
        (),
        "Also report groups of documents: by a field of the ground truth, by @directory, or by "
        "@COLUMN of the --by-file. Repeatable.",
        "KEY",
    )
