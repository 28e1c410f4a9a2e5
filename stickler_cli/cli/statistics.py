"""What the options of confidence intervals and of breakdowns ask for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stickler_cli.core.problems import Problem, UsageError

if TYPE_CHECKING:
    from stickler_cli.runs.grouping import Grouping
    from stickler_cli.score.intervals import IntervalSettings

NO_INTERVALS: Final = "none"


def interval_settings(level: str, seed: int) -> "IntervalSettings | None":
    """Read the confidence level; None where the user wants no intervals.

    Raises:
        UsageError: it is no number between 0 and 1.
    """
    if level == NO_INTERVALS:
        return None
    from stickler_cli.score.intervals import IntervalSettings  # --help loads no numpy

    try:
        number = float(level)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        hint = f"did you mean {number / 100:g}?" if 1 < number < 100 else ""
        expected = f"a number between 0 and 1, or {NO_INTERVALS}"
        raise UsageError([Problem("--ci", f"the level is {level!r}", expected, hint)])
    return IntervalSettings(number, seed)


def groupings(keys: Sequence[str], file: str | None) -> "tuple[Grouping, ...]":
    """Read by what documents are to be grouped, and the metadata file if there is one.

    Raises:
        UsageError: a key or the file cannot be used.
    """
    if not keys and file is None:
        return ()
    from stickler_cli.runs.grouping import parse_groupings  # --help loads no runs

    return parse_groupings(keys, file)
