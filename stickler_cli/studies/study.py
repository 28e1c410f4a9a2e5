"""What the command line must know about a study: its options, formats and JSON record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FORMATS: Final = ("table", "json", "markdown", "html", "csv", "tsv", "jsonl", "parquet", "arrow")
"""Formats of the report of every study."""

LINE_FORMATS: Final = ("jsonl", "csv", "tsv")
"""Formats of studies whose answer is not a report but lines of data."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """The keys with which the JSON records of all studies begin."""

    format: str
    """Name of the format. Its number goes up when a key gets another meaning or is removed."""
    version: str
    """Version of the program that wrote the record."""


@dataclass(frozen=True, slots=True)
class Study:
    """A question about documents that has its own command.

    Each study is a package with a class for its settings, and a module `answer.py`. The function
    `answer(settings, desk)` in this module returns the report and a verdict, as a `StudyAnswer`.
    """

    settings: Any
    """Class of the study's settings."""
    record: str
    """The class of the record that is written as JSON, as `module:Class` relative to this
    package."""
    help: str
    examples: str
    gate: str = ""
    """Part of a sentence in the help. It says when the study's gate fails, such as `kappa is below
    --fail-under`. Empty for a study without a gate."""
    incomplete: str = ""
    """Part of a sentence in the help. It says when the answer is incomplete, such as `some
    documents could not be compared`. Empty if the answer is never incomplete."""
    formats: Sequence[str] = FORMATS
    lines: str = ""
    """Name of the option with which the study writes lines of data instead of a report. Empty if
    the study has no option for this."""
    line_formats: Sequence[str] = LINE_FORMATS
    """Formats in which the option `lines` can write lines."""

    @property
    def folder(self) -> str:
        """Dotted name of the package that contains the study."""
        module: str = self.settings.__module__
        return module.rpartition(".")[0]
