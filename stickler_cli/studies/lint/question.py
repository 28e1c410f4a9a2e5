"""`stickler lint`: its options and its help."""

from typing import Final, Literal

from stickler_cli.core.option import option
from stickler_cli.settings.deciding import (
    COUNT,
    FindingOptions,
    OptionalSchemaSource,
    SchemaOptions,
    TruthSource,
    WrapperOptions,
)
from stickler_cli.settings.running import StudyFiles, printed
from stickler_cli.studies.study import FORMATS, Study


class LintSettings(
    OptionalSchemaSource,
    TruthSource,
    FindingOptions,
    WrapperOptions,
    SchemaOptions,
    StudyFiles,
):
    """Settings of `stickler lint`."""

    ignore: tuple[str, ...] = option((), "Skip this rule. Repeatable.", "RULE", in_file="none")
    fail_on: Literal["error", "warning", "note", "never"] = option(
        "error",
        "Exit with code 1 if there is a finding of this severity or a worse severity.",
        in_file="none",
    )
    places: int = option(
        3,
        "Show only the first N places for each finding.",
        "N",
        values=COUNT,
        in_file="none",
        panel="output",
    )
    format: Literal["table", "json", "csv", "tsv", "jsonl", "markdown", "html", "github"] = (
        printed()
    )


LINT: Final = Study(
    settings=LintSettings,
    record="studies.lint.findings:LintRecord",
    help="""Find what is wrong in the ground truth.

    Checks values against the schema and against each other. Each finding has a rule id, a severity
    and a list of places, each with file, line and JSON Pointer.
    """,
    examples="""
  stickler lint schema.json gt/
  stickler lint schema.json gt.jsonl --id-field id --fail-on warning
  stickler lint schema.json gt/ --ignore near-duplicate -f github -o lint.json""",
    gate="there is a finding with the severity of --fail-on, or a worse severity",
    formats=(*FORMATS, "github"),
)
