"""`Evaluation`: the results of many documents, and their views for Python and notebooks."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib import import_module
from typing import Any, Final, Self

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

LIBRARIES: Final = ("pandas", "polars")  # packages of data frames; neither is a dependency

REPORTS: Final = ("table", "markdown", "html", "json")
"""The formats of `report`. They are for people; programs use `to_dict` and `to_frame`."""


class Evaluation(score.Evaluation):
    """The results of a set of documents. Two evaluations can be added, in any order.

    Two evaluations are equal if they have the same results, even if their documents were added in a
    different order.
    """

    __slots__ = ()

    @classmethod
    def of(cls, evaluation: score.Evaluation) -> "Evaluation":
        """Return an object of this class with the results of another evaluation."""
        return cls(**{field.name: getattr(evaluation, field.name) for field in fields(evaluation)})

    @classmethod
    def from_dict(cls, record: Mapping[str, object], source: str = "") -> "Evaluation":
        """Restore an evaluation from its record. No detail is lost.

        Args:
            record: what `to_dict` returned, or a run that `stickler eval --format json` wrote.
            source: the file of the record, for messages.

        Raises:
            UsageError: the record is something else, or has another version.
        """
        return cls.of(read_evaluation(record, source))

    @property
    def precision(self) -> float | None:
        """Precision of all documents, TP / (TP + FP). It uses the counting mode chosen for reports.

        None if no prediction has a value.
        """
        return self._rates.precision

    @property
    def recall(self) -> float | None:
        """Recall of all documents, in the counting mode chosen for reports.

        This is TP / (TP + FN), or TP / (TP + FN + FD) with `recall_with_fd`. None if the
        denominator is 0.
        """
        return self._rates.recall

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None if neither side has a value."""
        return self._rates.f1

    @property
    def _rates(self) -> Rates:
        return self.rule.rates(self.tally.counts(self.rule.counting))

    def to_frame(self, library: str | None = None, *, wide: bool = False) -> Any:
        """Return a data frame with the rows and columns of the CSV report.

        Args:
            library: `pandas` or `polars`; None for the first one that is installed.
            wide: whether to include all columns, as `--csv wide` does.

        Returns:
            A `DataFrame`. Its first row has the figures of whole documents and an empty `field`.
            Each of the other rows has the figures of one field. Undefined figures are missing
            values. Confidence intervals have the confidence level of the run, or 95% if the run has
            none.

        Raises:
            UnavailableError: the library is not installed.
            UsageError: there is no such library.
        """
        if library not in (None, *LIBRARIES):
            expected, hint = f"one of {', '.join(LIBRARIES)}", did_you_mean(str(library), LIBRARIES)
            raise UsageError(
                [
                    Problem(
                        source="argument 'library'",
                        found=f"the value is {library!r}",
                        expected=expected,
                        hint=hint,
                    )
                ]
            )
        for name in LIBRARIES if library is None else (library,):
            try:
                # Imported late: only data frames need it.
                module = import_module(name)
            except ModuleNotFoundError as error:
                if error.name != name:  # the library is installed, but broken
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
        """Return the report that `stickler eval` prints. It ends with a line break.

        Args:
            format_name: `table`, `markdown`, `html` or `json`.
            title: name of the documents in the report.
            width: maximum width of a line in columns of a terminal, above 0; None for no limit.

        Raises:
            UsageError: there is no such format.
        """
        if format_name not in REPORTS:
            expected, hint = f"one of {', '.join(REPORTS)}", did_you_mean(format_name, REPORTS)
            raise UsageError(
                [
                    Problem(
                        source="argument 'format_name'",
                        found=f"the value is {format_name!r}",
                        expected=expected,
                        hint=hint,
                    )
                ]
            )
        run = self._run(title)
        if format_name != "json":  # JSON has the intervals that the evaluation has
            run = replace(run, evaluation=self._with_intervals())
        return render(format_name, run, TableStyle(width, plain=False))

    def _with_intervals(self) -> Self:
        """Return these results with confidence intervals.

        The confidence level is that of the run, or 95 % if the run has none.
        """
        return replace(self, interval_settings=self.interval_settings or IntervalSettings())

    def _run(self, title: str) -> Run:
        options = self.conditions.options if self.conditions else DecidingOptions()
        read = RunOptions(**asdict(options), counting=self.rule.counting)
        schema = SchemaSignature("", "", title or "documents", inferred=None)
        return Run(evaluation=self, schema=schema, options=read, fields=self.fields)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: verdict, causes, and a table with a row for each field."""
        # Compute intervals for display even if none were requested.
        run = replace(self._run(""), evaluation=self._with_intervals())
        view = RunView(run, visible, page=True)
        first_causes, other_causes = causes(view)
        lines = [headline(view), values(view)]
        lines += (f"{number_of(cause.values, 'value')}: {cause.sentence}" for cause in first_causes)
        lines += [more_causes(other_causes)] if other_causes else []
        lines_shown = [Span(verdict(view), "title"), *map(Span, lines)]
        return html_table(
            lines_shown, self._notebook_table(view), ("to_frame() returns every field.")
        )

    def _notebook_table(self, view: RunView) -> Table:
        """Return the figures of all documents and of each field as the rows of a table.

        The first row is for all documents together. Then come the fields, the one with the most
        lost values first.
        """
        fields = named_rows(self.sums, self.fields, self.rule)
        fields.sort(key=lambda row: -row.lost)
        table = field_table(view, [view.whole, *fields])
        rows = [list(row[1:]) for row in table.rows]  # drop the column with marks
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
