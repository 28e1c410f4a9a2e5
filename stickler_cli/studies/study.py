"""Describes a study: its command, options and formats, and the package with its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FORMATS: Final = ("table", "json", "markdown", "html", "csv", "tsv", "jsonl", "parquet", "arrow")
"""Formats of the report of every study."""

LINE_FORMATS: Final = ("jsonl", "csv", "tsv")
"""Formats of an answer that is written as lines."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """The keys with which the records of all studies begin."""

    format: str
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that wrote the record."""


@dataclass(frozen=True, slots=True)
class Study:
    """A question about documents, with a command of its own.

    The package of its settings also has `answer.py`, whose function `answer(settings, desk)`
    returns the report.
    """

    settings: Any
    """Class of its settings."""
    record: str
    """Type of the record that is written as JSON, as `module:Class` relative to this package."""
    help: str
    examples: str
    gate: str = ""
    """Condition under which its gate fails, for the help; empty without a gate."""
    incomplete: str = ""
    """Condition under which its answer is incomplete, for the help; empty if it never is."""
    formats: Sequence[str] = FORMATS
    lines: str = ""
    """Option that requests lines instead of a report; empty without one."""
    line_formats: Sequence[str] = LINE_FORMATS
    """Formats in which the option `lines` can write lines."""

    @property
    def folder(self) -> str:
        """The package of the study."""
        module: str = self.settings.__module__
        return module.rpartition(".")[0]
