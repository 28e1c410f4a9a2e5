"""Where results go: to files, each in its format, to standard output, and into the exit code."""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from stickler_cli.cli.console import wants_color, warn, write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown_text import SUMMARY_LIMIT
from stickler_cli.reports.registry import FORMATS, SAY_PARTIAL, SUFFIXES, format_of, pieces
from stickler_cli.runs.whole_files import PARTIAL, whole_file
from stickler_cli.score.evaluation import Status
from stickler_cli.score.gates import GateResult
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings import TerminalOptions

OUTPUT: Final = "--output"

SUMMARY_FILE: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable by which GitHub's runner names the summary of a step. Source:
docs.github.com, Workflow commands for GitHub Actions."""


NAMED: Final = 5
"""Documents that an error names on standard error; the results name all."""

_CODES: Final = {
    Verdict.PASSED: ExitCode.OK,
    Verdict.FAILED: ExitCode.GATE_FAILED,
    Verdict.INCOMPLETE: ExitCode.INCOMPLETE,
}


def output_formats(
    outputs: Iterable[str], known: Collection[str] = tuple(FORMATS)
) -> dict[str, str]:
    """Return the format of each output file by its suffix.

    Args:
        outputs: the files.
        known: the formats that there are.

    Raises:
        UsageError: with every file whose suffix is that of no such format.
    """
    formats, problems = {}, []
    for output in outputs:
        name = format_of(output)
        if name is None or name not in known:
            suffixes = [suffix for suffix, name in SUFFIXES.items() if name in known]
            expected = f"one that ends in {', '.join(suffixes)}"
            problems.append(Problem(OUTPUT, f"the file is {output}", expected))
        else:
            formats[output] = name
    if problems:
        raise UsageError(problems)
    return formats


def write_outputs(
    formats: Mapping[str, str], run: Run, style: TableStyle, settings: TerminalOptions
) -> None:
    """Write a run to files, each in its format."""
    in_files = style_in_files(style)
    for path, name in formats.items():
        place = f"{path}{PARTIAL}" if run.partial and name not in SAY_PARTIAL else path
        write_text(place, pieces(name, run, in_files), settings)


def write_text(path: str, text: Iterable[str], settings: TerminalOptions) -> None:
    """Write text, piece by piece, to a file; it is there whole or not at all."""
    with whole_file(path, OUTPUT) as stream:
        stream.writelines(map(encoded, text))
    if settings.verbose:
        warn(f"wrote {path}")


def encoded(text: str) -> bytes:
    """Return text as it is in files: what is no Unicode is escaped."""
    return text.encode("utf-8", "backslashreplace")


def show_results(run: Run, format_name: str, style: TableStyle, settings: TerminalOptions) -> None:
    """Print a run, unless quiet; name failed gates where they are not in what a person sees."""
    if not settings.quiet:
        for piece in pieces(format_name, run, style):
            write_result(piece)
    if format_name == "github":
        from stickler_cli.reports.github import summary  # other formats do not load it

        append_summary(lambda room: summary(run, style, room))
    tell_failed_gates(run.gates, format_name, settings)


def tell_failed_gates(
    gates: Iterable[GateResult], format_name: str, settings: TerminalOptions
) -> None:
    """Name failed gates where they are not in what a person sees."""
    if settings.quiet or format_name != "table" or not sys.stdout.isatty():
        for result in gates:
            if not result.passed:
                warn(f"gate failed: {result.reason}")


def append_summary(page: Callable[[int], str]) -> None:
    """Append Markdown to the summary of a step, if there is one, as far as there is room in it.

    A summary that cannot be written is no reason for another exit code: the figures stand.

    Args:
        page: returns the Markdown that fits into so many bytes.
    """
    named = os.environ.get(SUMMARY_FILE)
    if not named:
        return
    try:
        file = Path(named)
        written = file.stat().st_size if file.exists() else 0
        text = page(max(0, SUMMARY_LIMIT - written))
        with file.open("ab") as stream:
            stream.write(encoded(text))
    except OSError as error:
        warn(f"warning: the summary was not written to {named} ({error.strerror})")


def exit_code_of(run: Run) -> ExitCode:
    """Return the exit code of a run; say on standard error what could not be evaluated."""
    found = run.verdict
    if found is Verdict.INCOMPLETE:
        _name_unfit(run)
    elif not run.evaluation.statuses[Status.EVALUATED]:
        warn("warning: no ground truth has a prediction that can be used; all counts as missed")
    return _CODES[found]


def _name_unfit(run: Run) -> None:
    """Say how many documents could not be evaluated, and name the first of them."""
    if not run.unfit:
        warn("error: no document was evaluated")
        return
    total, named = run.evaluation.documents["total"], run.unfit_problems
    warn(f"error: {run.unfit} of {total} documents could not be evaluated")
    for entry in named[:NAMED]:
        warn(f"  {entry.document}: {entry.problem}")
    if len(named) > NAMED:
        warn(f"  and {len(named) - NAMED} more, all in the JSON results")


def terminal_style(settings: TerminalOptions) -> TableStyle:
    """Return the style that fits standard output: a terminal of some width, or a pipe."""
    terminal = sys.stdout.isatty()
    color = wants_color(no_color=settings.no_color)
    colored_pipe = color and not terminal  # FORCE_COLOR, as CI logs want it
    return TableStyle(
        width=shutil.get_terminal_size().columns if terminal else None,
        color=color,
        plain=not terminal and not colored_pipe,
    )


def style_in_files(style: TableStyle) -> TableStyle:
    """Return a style as it is for files: whatever the terminal is like."""
    return replace(style, width=None, color=False, plain=True)
