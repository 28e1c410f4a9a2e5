"""What `--run-dir` asks of `stickler eval`: a directory for the run, and the run file in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stickler_cli.cli.console import warn
from stickler_cli.core.problems import Problem, UsageError

if TYPE_CHECKING:
    from stickler_cli.runs.chunk import Job, Wants
    from stickler_cli.runs.run_directory import RunDirectory
    from stickler_cli.score.record import Run


def check_run_dir(
    run_dir: str | None, *, restart: bool, line_files: Mapping[str, str | None], gt: str, pred: str
) -> None:
    """Refuse what does not go with a run directory.

    Args:
        run_dir: the directory; None where nobody asked for one.
        restart: whether to begin again.
        line_files: the option of each file of JSON Lines, and the file.
        gt: the name of the ground truth.
        pred: the name of the predictions.

    Raises:
        UsageError: something does not.
    """
    if run_dir is None:
        if restart:
            raise UsageError([Problem("--restart", "there is no --run-dir", "one to begin again")])
        return
    from stickler_cli.runs.run_directory import (  # --help loads no runs
        OPTION,
        refuse_standard_input,
    )

    refuse_standard_input({"GT": gt, "PRED": pred})
    for option, file in line_files.items():
        if file is not None:
            hint = "the run directory has those lines too"
            raise UsageError([Problem(option, f"there is {OPTION}", "one of the two", hint)])


def wants_to_keep(wants: "Wants") -> "Wants":
    """Give what a run with a directory is asked for: all that there is to keep."""
    from dataclasses import replace

    from stickler_cli.runs.run_directory import KEPT_NON_MATCHES  # as above

    return replace(
        wants,
        document_lines=True,
        non_match_lines=True,
        first_non_matches=max(wants.first_non_matches, KEPT_NON_MATCHES),
        accounts=True,
        intervals_of_fields=True,
        fingerprints=True,
    )


@contextmanager
def kept_in(
    run_dir: str | None,
    job: "Job",
    sources: Mapping[str, object],
    *,
    restart: bool,
    quiet: bool,
) -> "Iterator[RunDirectory | None]":
    """Have the run directory while the block runs, if there is to be one.

    Raises:
        UsageError: it cannot be used for this run.
    """
    if run_dir is None:
        yield None
        return
    from stickler_cli.runs.run_directory import run_directory, settings_of  # as above

    def tell(text: str) -> None:
        if not quiet:
            warn(text)

    settings = settings_of(job, sources)
    with run_directory(run_dir, settings, restart=restart, tell=tell) as directory:
        yield directory


def write_run(directory: "RunDirectory", run: "Run") -> None:
    """Write the run file; that of a run that ended early is not where others look for one.

    Raises:
        OSError: it cannot be written; names the file.
    """
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.reports.registry import render  # as above
    from stickler_cli.runs.files import whole_file
    from stickler_cli.runs.run_directory import OPTION
    from stickler_cli.runs.saved import RUN_FILE

    with whole_file(directory.place(RUN_FILE), OPTION, partial=lambda: run.partial) as stream:
        stream.write(render("json", run, TableStyle()).encode("utf-8", "backslashreplace"))
    if not run.partial:
        directory.finish()
