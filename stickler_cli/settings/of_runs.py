"""Settings of the commands about finished runs."""

from stickler_cli.core.option import Settings, option
from .allowed import COUNT, LEVEL, MARGIN, SHARE, Counting, RunFormat
from .deciding import DecidingOptions, GateOptions, IntervalOptions
from .inputs import (
    DocumentOptions,
    PluginOptions,
    SchemaOptions,
    SeveralSchemas,
)
from .running import ModelOptions, TerminalOptions
from .showing import (
    BreakdownOptions,
    LinkOptions,
    OutputOptions,
    ReportOptions,
    TableOptions,
    WidthOptions,
)


class FinishedOptions(Settings, panel="counting"):
    """How finished runs are read."""

    counting: Counting | None = option(
        None, "What everything but JSON counts, as for eval.  [default: as the run was made]"
    )


class DiffSettings(
    FinishedOptions,
    SeveralSchemas,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    ReportOptions,
    IntervalOptions,
    WidthOptions,
    TerminalOptions,
):
    """Settings of `stickler diff`; those of documents are for runs that it makes."""

    ci: float = option(
        LEVEL,
        "Give confidence intervals of this level; a change is significant at the rest.",
        "LEVEL",
        values=SHARE,
        panel="statistics",
    )
    margin: float = option(
        MARGIN,
        "A change whose interval shows that it is smaller than this counts as none.",
        "CHANGE",
        values=SHARE,
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


class MergeSettings(
    ReportOptions, TableOptions, GateOptions, FinishedOptions, PluginOptions, TerminalOptions
):
    """Settings of `stickler merge`."""


class ReportSettings(
    OutputOptions,
    LinkOptions,
    TableOptions,
    BreakdownOptions,
    FinishedOptions,
    PluginOptions,
    TerminalOptions,
):
    """Settings of `stickler report`."""

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


class ViewSettings(LinkOptions, TerminalOptions):
    """Settings of `stickler view`."""

    port: int = option(0, "Serve on this port; 0 is one that is free.", "N", values=COUNT)
    open: bool = option(False, "Open the page in a browser.", in_file="none")
