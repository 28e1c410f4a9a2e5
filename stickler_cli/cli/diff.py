"""`stickler diff`: parse the options, read two runs, compare, report, exit."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from stickler_cli.cli import options
from stickler_cli.cli.console import wants_color, warn, write_result
from stickler_cli.cli.exit_codes import ExitCode, exit_code_help
from stickler_cli.cli.outputs import output_formats, terminal_style
from stickler_cli.cli.statistics import interval_settings
from stickler_cli.core.problems import NotComparableError, Problem, UsageError

if TYPE_CHECKING:
    from stickler_cli.diff.changes import Difference
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.score.gates import Gate

EPILOG: Final = f"""\b
Examples:
  stickler diff base.json new.json
  stickler diff base.json new.json --gate 'f1>=-0.01' --gate 'documents.worse<=3'
  stickler diff base.json new.json -o diff.json -o comment.md

{exit_code_help()}"""

DEFAULT_MARGIN: Final = 0.05
"""Stated here for `--help`, which must not load the statistics; a test holds it to theirs."""

Base = Annotated[
    str,
    typer.Argument(
        metavar="BASE", help="The run that was: a run file or directory.", show_default=False
    ),
]
New = Annotated[
    str, typer.Argument(metavar="NEW", help="The run that is: likewise.", show_default=False)
]
ChangeGate = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="EXPR",
        help="Fail (exit 1) unless the change [set:][path.]metric op number holds, such as "
        "f1>=-0.01: no worse than that. Repeatable.",
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--ci",
        metavar="LEVEL",
        help="Give confidence intervals of this level; a change is significant at the rest.",
    ),
]
Margin = Annotated[
    float, typer.Option(metavar="CHANGE", help="A change smaller than this counts as none.")
]
DiffSeed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Draw other swaps and resamples.")
]
AllowDifferent = Annotated[
    bool,
    typer.Option("--allow-different", help="Compare runs under different schemas or options too."),
]


@dataclass(frozen=True, slots=True)
class _Request:
    """What the user asks for."""

    runs: tuple[str, str]
    format: str
    outputs: Sequence[str]
    gates: "Sequence[Gate]"
    level: str
    seed: int
    margin: float
    allow_different: bool
    quiet: bool
    style: "TableStyle"


def diff(
    base: Base,
    new: New,
    format: options.Format = "table",
    output: options.Output = None,
    junit_fields: options.JunitFields = False,
    gate: ChangeGate = None,
    ci: Level = "0.95",
    seed: DiffSeed = 0,
    margin: Margin = DEFAULT_MARGIN,
    allow_different: AllowDifferent = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Compare two runs of the same documents: what got better or worse, and is it chance?

    BASE and NEW are run files, as stickler eval -o run.json writes them, or run directories.
    """
    from stickler_cli.diff.gates import LOWEST  # --help loads no metrics
    from stickler_cli.score.gates import parse_gate

    if not 0 < margin < 1:
        found = f"the margin is {margin:g}"
        raise UsageError([Problem("--margin", found, "a number between 0 and 1")])
    request = _Request(
        runs=(base, new),
        format=format,
        outputs=tuple(output or ()),
        gates=[parse_gate(text, lowest=LOWEST) for text in gate or ()],
        level=ci,
        seed=seed,
        margin=margin,
        allow_different=allow_different,
        quiet=quiet,
        style=replace(
            terminal_style(color=wants_color(no_color=no_color)), junit_fields=junit_fields
        ),
    )
    raise typer.Exit(_execute(request))


def _execute(request: _Request) -> ExitCode:
    """Compare the runs and report."""
    from stickler_cli.diff.changes import DiffSettings
    from stickler_cli.diff.comparison import compare_runs
    from stickler_cli.diff.contrasts import deciding
    from stickler_cli.reports.registry import require
    from stickler_cli.runs.files import check_outputs
    from stickler_cli.runs.saved import load_run

    formats = output_formats(request.outputs)
    require({request.format, *formats.values()})
    check_outputs(
        [("--output", path) for path in request.outputs],
        zip(("BASE", "NEW"), request.runs, strict=True),
    )
    intervals = interval_settings(request.level, request.seed)
    if intervals is None:
        raise UsageError([Problem("--ci", "it is none", "a level: the verdicts rest on it")])
    base, new = map(load_run, request.runs)
    against = deciding(base, new)
    if against and not request.allow_different:
        hint = "--allow-different compares them all the same"
        raise NotComparableError(
            Problem("", f"the runs are not comparable: {contrast}", hint=hint)
            for contrast in against
        )
    settings = DiffSettings(intervals, request.margin)
    difference = compare_runs(base, new, request.runs, request.gates, settings)
    _report(request, formats, difference)
    passed = all(result.passed for result in difference.gates)
    return ExitCode.OK if passed else ExitCode.GATE_FAILED


def _report(request: _Request, formats: dict[str, str], difference: "Difference") -> None:
    """Write the results where they were asked for."""
    from stickler_cli.cli.step_summary import append_page
    from stickler_cli.reports.github import summary
    from stickler_cli.reports.registry import render_difference
    from stickler_cli.runs.files import whole_file

    style = request.style
    in_files = replace(style, width=None, color=False, plain=True)
    for path, name in formats.items():
        with whole_file(path, "--output") as stream:
            text = render_difference(name, difference, in_files)
            stream.write(text.encode("utf-8", "backslashreplace"))
    if not request.quiet:
        write_result(render_difference(request.format, difference, style))
    if request.format == "github":
        append_page(lambda room: summary(difference, style, room))
    if request.quiet or request.format != "table" or not sys.stdout.isatty():
        for result in difference.gates:
            if not result.passed:
                warn(f"gate failed: {result.reason}")
