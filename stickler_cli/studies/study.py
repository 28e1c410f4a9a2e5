"""Studies: command, options, formats, and the package of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FORMATS: Final = ("table", "json", "markdown", "html", "csv", "tsv", "jsonl", "parquet", "arrow")
"""The formats that the report of every study has."""

LINE_FORMATS: Final = ("jsonl", "csv", "tsv")
"""The formats of answers in lines."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """The keys that all records of studies begin with."""

    format: str
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program."""


@dataclass(frozen=True, slots=True)
class Study:
    """A question about documents.

    In the folder of its settings, `answer.py` has `answer(settings, desk)`, which returns the
    report of its record.
    """

    settings: Any
    """The class of its settings."""
    record: str
    """The type of the record that is written as JSON, `module:Class` of this package."""
    help: str
    examples: str
    gate: str = ""
    """The condition under which its gate fails; empty without a gate."""
    incomplete: str = ""
    """The condition under which it is incomplete; empty if it never is."""
    formats: Sequence[str] = FORMATS
    lines: str = ""
    """The option with which the answer is lines instead of a report."""
    line_formats: Sequence[str] = LINE_FORMATS
    """The formats of lines."""

    @property
    def folder(self) -> str:
        """The package of the study."""
        module: str = self.settings.__module__
        return module.rpartition(".")[0]
