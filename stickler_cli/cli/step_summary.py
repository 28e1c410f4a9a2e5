"""The summary of a step of GitHub Actions: a file that the runner names in the environment."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stickler_cli.cli.console import warn
from stickler_cli.reports.github import summary
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown_text import SUMMARY_LIMIT
from stickler_cli.score.record import Run

SUMMARY_FILE: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable. Source: docs.github.com, Workflow commands for GitHub Actions."""


def append_summary(run: Run, style: TableStyle) -> None:
    """Append the Markdown report of a run, if there is a summary."""
    append_page(lambda room: summary(run, style, room))


def append_page(page: Callable[[int], str]) -> None:
    """Append Markdown to the summary, if there is one, as far as there is room in it.

    A summary that cannot be written is no reason for another exit code: the figures stand.

    Args:
        page: gives the Markdown that fits into so many bytes.
    """
    named = os.environ.get(SUMMARY_FILE)
    if not named:
        return
    try:
        file = Path(named)
        written = file.stat().st_size if file.exists() else 0
        text = page(max(0, SUMMARY_LIMIT - written))
        with file.open("ab") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        warn(f"warning: the summary was not written to {named} ({error.strerror})")
