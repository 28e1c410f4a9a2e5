"""Where results go: to files, each in its format, and to standard output."""

import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from stickler_cli.cli.console import warn, write_result
from stickler_cli.core.problems import Problem, UsageError

if TYPE_CHECKING:
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.score.record import Run


def output_formats(outputs: Iterable[str], known: Collection[str] | None = None) -> dict[str, str]:
    """Give the format of each output file by its suffix.

    Args:
        outputs: the files.
        known: the formats that there are; None stands for those of a run.

    Raises:
        UsageError: with every file whose suffix is that of no such format.
    """
    from stickler_cli.reports.registry import FORMATS, SUFFIXES, format_of  # --help loads none

    known = FORMATS if known is None else known
    formats, problems = {}, []
    for output in outputs:
        name = format_of(output)
        if name is None or name not in known:
            suffixes = [suffix for suffix, name in SUFFIXES.items() if name in known]
            expected = f"one that ends in {', '.join(suffixes)}"
            problems.append(Problem("--output", f"the file is {output}", expected))
        else:
            formats[output] = name
    if problems:
        raise UsageError(problems)
    return formats


def write_outputs(
    formats: Mapping[str, str], run: "Run", style: "TableStyle", *, verbose: bool
) -> None:
    """Write a run to files, each in its format."""
    from dataclasses import replace

    from stickler_cli.reports.registry import SAY_PARTIAL, render
    from stickler_cli.runs.files import PARTIAL, whole_file

    for path, name in formats.items():
        text = render(name, run, replace(style, width=None, color=False, plain=True))
        place = f"{path}{PARTIAL}" if run.partial and name not in SAY_PARTIAL else path
        with whole_file(place, "--output") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
        if verbose:
            warn(f"wrote {place}")


def show_results(run: "Run", format_name: str, style: "TableStyle", *, quiet: bool) -> None:
    """Print a run, unless quiet; name failed gates where they are not in what a person sees."""
    from stickler_cli.cli.step_summary import append_summary
    from stickler_cli.reports.registry import render

    if not quiet:
        write_result(render(format_name, run, style))
    if format_name == "github":
        append_summary(run, style)
    if quiet or format_name != "table" or not sys.stdout.isatty():
        for result in run.gates:
            if not result.passed:
                warn(f"gate failed: {result.reason}")


def terminal_style(*, color: bool) -> "TableStyle":
    """Give the style that fits standard output: a terminal of some width, or a pipe."""
    from stickler_cli.reports.layout import TableStyle

    terminal = sys.stdout.isatty()
    colored_pipe = color and not terminal  # FORCE_COLOR, as CI logs want it
    return TableStyle(
        width=shutil.get_terminal_size().columns if terminal else None,
        color=color,
        plain=not terminal and not colored_pipe,
    )
