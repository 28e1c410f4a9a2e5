"""`Evaluation`: the results of many documents, and how Python and notebooks show them."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib import import_module
from typing import Any, Final

from stickler_cli.core.figures import number_of, visible
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UnavailableError, UsageError, did_you_mean
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.reports.cause_sentences import causes, more_causes
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle, html_table
from stickler_cli.reports.row_reports import TIDY, WIDE, run_rows
from stickler_cli.reports.run_sentences import headline, values, verdict
from stickler_cli.reports.tables import field_table
from stickler_cli.reports.view import RunView, named_rows
from stickler_cli.score import evaluation as score
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.score.sums import Rates
from stickler_cli.settings.deciding import DecidingOptions, RunOptions

LIBRARIES: Final = ("pandas", "polars")  # for data frames; neither is a dependency

REPORTS: Final = ("table", "markdown", "html", "json")
"""Formats of reports for people; programs use `to_dict` and `to_frame`."""


class Evaluation(score.Evaluation):
    """The results of a set of documents. Results add up in any order; empty results change nothing.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    __slots__ = ()

    @classmethod
    def of(cls, evaluation: score.Evaluation) -> "Evaluation":
        """Return the same results, with these views of them."""
        return cls(**{field.name: getattr(evaluation, field.name) for field in fields(evaluation)})

    @classmethod
    def from_dict(cls, record: Mapping[str, object], source: str = "") -> "Evaluation":
        """Return the evaluation of a record, exactly.

        Args:
            record: the result of `to_dict`, or a run as `stickler eval --format json` writes it.
            source: the file it comes from, for messages.

        Raises:
            UsageError: it is neither, or of another version; with what was found and expected.
        """
        return cls.of(read_evaluation(record, source))

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP) of all documents, of the values that reports count; None without any."""
        return self._rates.precision

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN) of all documents, of the values that reports count; None without any."""
        return self._rates.recall

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where neither side has a value."""
        return self._rates.f1

    @property
    def _rates(self) -> Rates:
        return self.rule.rates(self.tally.counts(self.rule.counting))

    def to_frame(self, library: str | None = None, *, wide: bool = False) -> Any:
        """Return a data frame with the rows and columns of the CSV report.

        Args:
            library: `pandas` or `polars`; None takes the first of them that is installed.
            wide: whether it has all columns that there are, as with `--csv wide`.

        Returns:
            Its `DataFrame`: a row for whole documents, whose `field` is empty, then one for each
            field. A cell without anything is missing in it. Intervals have the level of the run,
            else 95%.

        Raises:
            UnavailableError: the library is not installed.
            UsageError: there is no such library.
        """
        if library not in (None, *LIBRARIES):
            expected, hint = f"one of {', '.join(LIBRARIES)}", did_you_mean(str(library), LIBRARIES)
            raise UsageError(
                [
                    Problem(
                        source="library", found=f"it is {library!r}", expected=expected, hint=hint
                    )
                ]
            )
        for name in LIBRARIES if library is None else (library,):
            try:
                # Whoever makes no data frame must not pay for loading this.
                module = import_module(name)
            except ModuleNotFoundError as error:
                if error.name != name:  # it is there, and broken
                    raise
                continue
            settings = self.interval_settings or IntervalSettings()
            rows = run_rows(self, self.fields, self.rule, wide=wide, settings=settings)
            columns = map(list, zip(*rows, strict=True))
            return module.DataFrame(dict(zip(WIDE if wide else TIDY, columns, strict=True)))
        wanted = " or ".join(LIBRARIES) if library is None else library
        finding = f"a data frame needs {wanted}, which is not installed"
        raise UnavailableError(
            [
                Problem(
                    source="",
                    found=finding,
                    expected="",
                    hint=f"pip install {library or LIBRARIES[0]}",
                )
            ]
        )

    def report(
        self, format_name: str = "table", *, title: str = "", width: int | None = None
    ) -> str:
        """Return a report as `stickler eval` prints it; ends with a line break.

        Args:
            format_name: `table`, `markdown` or `html`.
            title: what the documents are called.
            width: the columns that a table may take, above 0; None for as many as it takes.

        Raises:
            UsageError: there is no such format.
        """
        if format_name not in REPORTS:
            expected, hint = f"one of {', '.join(REPORTS)}", did_you_mean(format_name, REPORTS)
            raise UsageError(
                [
                    Problem(
                        source="format_name",
                        found=f"it is {format_name!r}",
                        expected=expected,
                        hint=hint,
                    )
                ]
            )
        return render(format_name, self._run(title), TableStyle(width, plain=False))

    def _run(self, title: str) -> Run:
        options = self.conditions.options if self.conditions else DecidingOptions()
        read = RunOptions(**asdict(options), counting=self.rule.counting)
        schema = SchemaSignature("", "", title or "documents", inferred=None)
        return Run(evaluation=self, schema=schema, options=read, fields=self.fields)

    def _repr_html_(self) -> str:
        """Return the verdict, the causes, and a table with a row for each field."""
        # The sums give an interval whether or not a report was asked for one.
        settings = self.interval_settings or IntervalSettings()
        run = replace(self._run(""), evaluation=replace(self, interval_settings=settings))
        view = RunView(run, visible, page=True)
        first_causes, other_causes = causes(view)
        lines = [headline(view), values(view)]
        lines += (f"{number_of(cause.values, 'value')}: {cause.text}" for cause in first_causes)
        lines += [more_causes(other_causes)] if other_causes else []
        lines_shown = [Span(verdict(view), "title"), *map(Span, lines)]
        return html_table(lines_shown, self._notebook_table(view), "to_frame() gives every field.")

    def _notebook_table(self, view: RunView) -> Table:
        """Return a row for the whole, then one for each field, those that lost most first."""
        fields = named_rows(self.sums, self.fields, self.rule)
        fields.sort(key=lambda row: -row.lost)
        table = field_table(view, [view.whole, *fields])
        rows = [list(row[1:]) for row in table.rows]  # without the column of marks
        rows[0][0] = Span("all fields")
        columns = list(table.columns[1:])
        if view.interval_title:
            position = 1 + next(
                index for index, column in enumerate(columns) if column.title == "F1"
            )
            columns.insert(position, Column(view.interval_title.removesuffix(" of F1")))
            for row, field_row in zip(rows, [view.whole, *fields], strict=True):
                path = field_path(field_row.path)
                intervals = view.run.evaluation.intervals(self.rule, path)
                interval = view.shown_bounds(intervals, self.evaluated)
                row.insert(position, Span(view.interval(interval) if interval else ""))
        return table._replace(columns=columns, rows=rows)
