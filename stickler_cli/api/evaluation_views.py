"""`Evaluation`: what many documents come to, with what Python and notebooks show of it."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, Final

from stickler_cli.api.notebook import summary_html
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.core.spelling import did_you_mean
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.reports.csv_report import HEADERS, Row, run_rows
from stickler_cli.reports.rows import named_rows
from stickler_cli.score import evaluation as score

LIBRARIES: Final = ("pandas", "polars")
"""What makes data frames, the most common first; neither is a dependency."""


class Evaluation(score.Evaluation):
    """The results of a set of documents, a commutative monoid: the empty one is no documents.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    __slots__ = ()

    @classmethod
    def of(cls, evaluation: score.Evaluation) -> "Evaluation":
        """Return the same results, with these views of them."""
        return cls(**{each.name: getattr(evaluation, each.name) for each in fields(evaluation)})

    @classmethod
    def from_dict(cls, record: Mapping[str, object], source: str = "") -> "Evaluation":
        """Return the evaluation that a record tells of, exactly.

        Args:
            record: what `to_dict` gave, or a run as `stickler eval --format json` writes it.
            source: the file it comes from, for messages.

        Raises:
            UsageError: it is neither, or of another version; with what was found and expected.
        """
        return cls.of(read_evaluation(record, source))

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with the rows and columns of the CSV report.

        Args:
            library: `pandas` or `polars`; None takes the first of them that is installed.

        Returns:
            A `pandas.DataFrame` or `polars.DataFrame`: a row for whole documents, whose `field` is
            empty, then one for each field.

        Raises:
            UnavailableError: the library is not installed.
            UsageError: there is no such library.
        """
        return data_frame(run_rows(self, self.fields, self.rule), library)

    def _repr_html_(self) -> str:
        """Return the results as a notebook shows them."""
        return summary_html(self, named_rows(self.tally, self.fields, self.rule), self.rule)


def data_frame(rows: Iterable[Row], library: str | None = None) -> Any:
    """Return rows as a data frame; a cell without anything is missing in it.

    Args:
        rows: with a cell for each of `HEADERS`.
        library: one of `LIBRARIES`; None takes the first of them that is installed.

    Raises:
        UnavailableError: the library is not installed.
        UsageError: there is no such library.
    """
    if library not in (None, *LIBRARIES):
        expected, hint = f"one of {', '.join(LIBRARIES)}", did_you_mean(str(library), LIBRARIES)
        raise UsageError([Problem("library", f"it is {library!r}", expected, hint)])
    for name in LIBRARIES if library is None else (library,):
        try:
            # Whoever makes no data frame must not pay for loading this.
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # it is there, and broken
                raise
            continue
        columns = map(list, zip(*rows, strict=True))
        return module.DataFrame(dict(zip(HEADERS, columns, strict=True)))
    wanted = " or ".join(LIBRARIES) if library is None else library
    found = f"a data frame needs {wanted}, which is not installed"
    raise UnavailableError([Problem("", found, "", f"pip install {library or LIBRARIES[0]}")])
