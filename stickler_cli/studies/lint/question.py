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

    ignore: tuple[str, ...] = option(
        (), "Leave out what this rule finds. Repeatable.", "RULE", in_file="none"
    )
    fail_on: Literal["error", "warning", "note", "never"] = option(
        "error", "Exit 1 if anything as bad as this is found, or worse.", in_file="none"
    )
    places: int = option(
        3,
        "Show the first N places of each finding.",
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

    GT is what eval takes. Each finding has the id of its rule, a severity, and its places:
    file, line and JSON Pointer. Values are held against the schema and against each other.
    """,
    examples="""
  stickler lint schema.json gt/
  stickler lint schema.json gt.jsonl --id-field id --fail-on warning
  stickler lint schema.json gt/ --ignore near-duplicate -f github -o lint.json""",
    gate="something as bad as --fail-on says was found",
    formats=(*FORMATS, "github"),
)
