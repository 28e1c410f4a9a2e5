"""Settings of the commands about schemas."""

from stickler_cli.core.option import Number, Settings, option
from .allowed import COUNT, LEVEL, SHARE, FailOn, LintFormat
from .deciding import ComparisonOptions
from .inputs import (
    DocumentOptions,
    FindingOptions,
    OptionalSchemaSource,
    PluginOptions,
    SchemaOptions,
    SchemaSource,
    SourceOptions,
    TruthSource,
    WrapperOptions,
)
from .running import ConsoleOptions, ModelOptions, TerminalOptions
from .showing import StudyFiles, StudyOptions, printed


class CheckSettings(SchemaOptions, ConsoleOptions):
    """Settings of `stickler check`."""


class InitSettings(PluginOptions, FindingOptions, ConsoleOptions):
    """Settings of `stickler init`."""

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
    """Settings of `stickler show`."""


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
    fail_on: FailOn = option(
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
    format: LintFormat = printed()


class TuneSettings(
    SourceOptions,
    DocumentOptions,
    WrapperOptions,
    SchemaOptions,
    ComparisonOptions,
    ModelOptions,
    StudyOptions,
):
    """Settings of `stickler tune`."""

    verdicts: str | None = option(
        None,
        "Tune on these pairs of values: JSON Lines of path, gt, pred and verdict, which is same "
        "or different; or the verdicts that the HTML report has downloaded.",
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
        values=SHARE,
        panel="statistics",
    )
    seed: int = option(
        0, "Draw other halves and other random samples.", "N", values=COUNT, panel="statistics"
    )


class LabelledSource(Settings):
    """The source of people's labels."""

    pairs: str = option(
        "",
        "Labelled pairs: JSON Lines of path, gt, pred and verdict, which is same or different.",
        "PAIRS",
        is_path=True,
        argument=True,
        in_file="none",
    )


class JudgeSettings(SchemaSource, LabelledSource, SchemaOptions, ModelOptions, StudyOptions):
    """Settings of `stickler judge-check`."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if kappa over all fields is below this, at most 1.",
        "KAPPA",
        values=Number("a number"),
        in_file="none",
        panel="gates",
    )
    ci: float = option(
        LEVEL,
        "Give confidence intervals of this level.",
        "LEVEL",
        values=SHARE,
        panel="statistics",
    )
