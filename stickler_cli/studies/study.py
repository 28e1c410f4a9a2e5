"""What the command line must know about a study: its options, its formats and its JSON record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FORMATS: Final = ("table", "json", "markdown", "html", "csv", "tsv", "jsonl", "parquet", "arrow")
"""Formats of the report of every study."""

LINE_FORMATS: Final = ("jsonl", "csv", "tsv")
"""Formats of a study's answer that consists of lines of data, not of a report."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """The keys with which the JSON records of all studies begin."""

    format: str
    """Name of the format; its number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that wrote the record."""


@dataclass(frozen=True, slots=True)
class Study:
    """A question about documents, with a command of its own.

    The package of its settings also has `answer.py`, whose function `answer(settings, desk)`
    returns the report.
    """

    settings: Any
    """Class of the study's settings."""
    record: str
    """Type of the record that is written as JSON, as `module:Class` relative to this package."""
    help: str
    examples: str
    gate: str = ""
    """Clause for the help that says when the study's gate fails, such as `kappa is below
    --fail-under`; empty for a study without a gate."""
    incomplete: str = ""
    """Clause for the help that says when the answer is incomplete, such as `some documents could
    not be compared`; empty if the answer is never incomplete."""
    formats: Sequence[str] = FORMATS
    lines: str = ""
    """Option with which the study writes lines of data instead of a report; empty if it has
    none."""
    line_formats: Sequence[str] = LINE_FORMATS
    """Formats in which the option `lines` can write lines."""

    @property
    def folder(self) -> str:
        """The package of the study."""
        module: str = self.settings.__module__
        return module.rpartition(".")[0]
