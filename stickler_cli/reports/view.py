"""A run prepared for reports: fields and groups of documents as rows, and texts.

Rates depend on two settings of the run: the counting mode, and whether recall counts wrong values.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.figures import Quoting, digits_of, interval_text, number_of, rate
from stickler_cli.core.locations import ANY_KEY, Path, field_path
from stickler_cli.score.folds import PathCounts
from stickler_cli.score.intervals import MIN_DOCUMENTS, FieldIntervals, Interval
from stickler_cli.score.sums import (
    DEFAULT_RULE,
    Counts,
    FieldTallies,
    RateRule,
    Rates,
    Tally,
    in_schema_order,
    schema_pattern,
    schema_step,
)

if TYPE_CHECKING:
    from stickler_cli.score.evaluation import Results
    from stickler_cli.score.record import Run

WORST: Final = 3
NEARLY: Final = 2  # a field is marked if it lost at least half as many values as the worst field


# Kind of a field that the schema leaves open: its values decide how it is compared.
UNKNOWN_KIND: Final = "any"

MOST_UNKNOWN_NAMES: Final = 50
"""Maximum number of undeclared keys of an object that get a row of their own. If there are more,
the object is treated as a map, and all keys share one row."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """The figures of one field over all documents."""

    path: Path
    kind: str
    """Kind of the field, such as `leaf` or `list`. Kind and comparator are empty if the schema does
    not describe the field."""
    comparator: str
    threshold: float | None
    weight: float | None
    tally: Tally
    rule: RateRule
    worst: bool = False

    @property
    def counts(self) -> Counts:
        """Numbers of the field's values by outcome, in the counting mode of the run."""
        return self.tally.counts(self.rule.counting)

    @property
    def rates(self) -> Rates:
        """Precision, recall and F1 of the field's values."""
        return self.rule.rates(self.counts)

    @property
    def accuracy(self) -> float | None:
        """Share of values that are right or rightly absent; None if nothing was counted."""
        dividend, divisor = self.rule.rate_fractions(self.counts)["accuracy"]
        return dividend / divisor if divisor else None

    @property
    def lost(self) -> int:
        """Number of the field's values that are wrong, invented or missed."""
        return self.counts.lost

    @property
    def whole(self) -> str:
        """Text with the number of exactly right items or objects.

        It is empty for a field of single values.
        """
        noun = "object" if self.kind == "object" else "item"
        right, items = self.tally.n_exact_items, self.tally.n_items
        return f"{right:,} of {number_of(items, noun)}" if items else ""

    @property
    def score(self) -> float | None:
        """Mean score of the field over documents; None if no document has a score for it."""
        return self.tally.mean_score

    @property
    def name(self) -> str:
        """The name of the field without its parents, written as in a path."""
        return field_path(self.path[-1:])

    @property
    def depth(self) -> int:
        """Nesting depth of the field; 0 for a field of the document itself."""
        return len(self.path) - 1

    @property
    def compared_by(self) -> str:
        """Names of the comparators without the word "Comparator", such as `Date`.

        For a field without a comparator, it is the kind of the field.
        """
        names = self.comparator.split(" | ")
        return " | ".join(name.removesuffix("Comparator") for name in names) or self.kind


def field_rows(run: "Run") -> list[FieldRow]:
    """Return a row for each field of the schema, then for fields that only the documents have.

    Parents come before their fields. All keys of a map share one row, `*`, because a map can have
    any number of keys. A key that the schema does not declare has a row of its own, unless there
    are more than `MOST_UNKNOWN_NAMES`.
    """
    fields_by_path = _by_path(run.fields)
    reached = [
        path
        for path, field in fields_by_path.items()
        if path[-1:] != (ANY_KEY,) or field.kind != UNKNOWN_KIND
    ]
    by_pattern = _by_pattern(in_schema_order(run.evaluation.sums, run.fields), fields_by_path)
    rows = _tally_rows(by_pattern, fields_by_path, reached, run.rule)
    own_losses = _own_losses(rows)
    ranked = [row.path for row in by_values_lost(rows)[:WORST]]
    worst = [path for path in ranked if own_losses[path] * NEARLY >= own_losses[ranked[0]]]
    return [replace(row, worst=True) if row.path in worst else row for row in rows]


def named_rows(
    sums: FieldTallies, described: Sequence[FieldInfo], rule: RateRule
) -> list[FieldRow]:
    """Return the rows of all fields. Unlike in `field_rows`, each key of a map has its own row."""
    fields_by_path = _by_path(described)
    reached = [path for path in fields_by_path if ANY_KEY not in path]
    return _tally_rows(in_schema_order(sums, described), fields_by_path, reached, rule)


def _by_path(described: Iterable[FieldInfo]) -> dict[Path, FieldInfo]:
    fields_by_path: dict[Path, FieldInfo] = {}
    for field in described:
        fields_by_path.setdefault(field.field, field)
    return fields_by_path


def _tally_rows(
    sums: FieldTallies,
    fields_by_path: Mapping[Path, FieldInfo],
    schema_paths: Iterable[Path],
    rule: RateRule,
) -> list[FieldRow]:
    """Return a row for each path of the schema, then for each other field in `sums`."""
    rows = []
    for path, tally in sums.sort_parents_first(
        tuple(map(str, path)) for path in schema_paths
    ).items():
        field = fields_by_path.get(schema_pattern(path, fields_by_path))
        description = (field.kind, field.comparator, field.threshold) if field else ("", "", None)
        weight = field.weight if field and tally.weight is None else tally.weight
        rows.append(FieldRow(path, *description, weight, tally, rule))
    return rows[1:]  # leave out the first row, which is the whole document


def _by_pattern(sums: FieldTallies, fields_by_path: Mapping[Path, FieldInfo]) -> FieldTallies:
    """Add up the tallies of all keys of a map under the name `*`, and return all tallies.

    Undeclared keys of an object keep their own tallies, unless there are more than
    `MOST_UNKNOWN_NAMES`. A field comes before the fields inside it.
    """
    total = FieldTallies({(): sums.tally(())})
    n_children = Counter(path[:-1] for path in sums if path)
    shown_and_pattern: dict[Path, tuple[tuple[str, ...], Path]] = {(): ((), ())}
    for path, tally in sums.items():
        if path:
            parent, pattern = shown_and_pattern[path[:-1]]
            any_key = fields_by_path.get((*pattern, ANY_KEY))
            has_many_names = n_children[path[:-1]] > MOST_UNKNOWN_NAMES
            step = schema_step(path[-1], fields_by_path, pattern)
            name = (
                step if any_key and (any_key.kind != UNKNOWN_KIND or has_many_names) else path[-1]
            )
            shown_and_pattern[path] = (*parent, name), (*pattern, step)
            total.add_tally(shown_and_pattern[path][0], tally)
    return total


def rows_shown(
    rows: Sequence[FieldRow], sort: str, fields: str, *, only_errors: bool
) -> list[FieldRow]:
    """Return the rows of fields whose paths match the glob `fields`, sorted by `sort`.

    With `only_errors`, fields that lost no values are left out.
    """
    matching_rows = [
        row
        for row in rows
        if fnmatchcase(field_path(row.path), fields) and (row.lost or not only_errors)
    ]
    keys: dict[str, Callable[[FieldRow], tuple[float | str, ...]]] = {
        "f1": lambda row: (2.0 if row.rates.f1 is None else row.rates.f1, -row.lost),
        "errors": lambda row: (-row.lost, 2.0 if row.rates.f1 is None else row.rates.f1),
        "name": lambda row: (field_path(row.path),),
    }
    return sorted(matching_rows, key=keys[sort]) if sort in keys else matching_rows


def by_values_lost(rows: Sequence[FieldRow]) -> list[FieldRow]:
    """Return the fields that lost values, those with the most lost values first.

    If two fields lost equally many, the one with the lower F1 comes first.
    """
    lost = _own_losses(rows)
    ranked = sorted(rows, key=lambda row: (-lost[row.path], row.rates.f1 or 0.0))
    return [row for row in ranked if lost[row.path] > 0]


def _own_losses(rows: Sequence[FieldRow]) -> dict[Path, int]:
    """Return the number of lost values of each field, not counting losses of fields inside it."""
    lost = {row.path: row.lost for row in rows}
    for row in rows:
        if row.path[:-1] in lost:
            lost[row.path[:-1]] -= row.lost
    return lost


@dataclass(frozen=True)
class RunView:
    """A run as reports show it. Figures, rows and texts are computed when they are first read."""

    run: "Run"
    quoted: Quoting = str
    """Formats a name inside a sentence."""
    page: bool = False
    """Whether the report is a Markdown page. If not, it is text for a terminal or a pipe."""

    @property
    def leaves_wrong_out(self) -> bool:
        """Whether the run has wrong values, but recall ignores them.

        `f1_with_wrong_as_missed` is the F1 if recall counts them.
        """
        return bool(self.whole.counts.fd) and not self.run.rule.recall_with_fd

    @property
    def f1_with_wrong_as_missed(self) -> float | None:
        """F1 of all documents if recall also counts wrong values as missed."""
        return replace(self.run.rule, recall_with_fd=True).rates(self.whole.counts).f1

    @cached_property
    def limits(self) -> frozenset[float]:
        """The limits of all gates.

        If a figure differs from a limit, rounding must not make the two look equal.
        """
        return frozenset(result.gate.limit for result in self.run.gates)

    @cached_property
    def digits(self) -> int:
        """Number of decimals of rates.

        A wide confidence interval of the total F1 gives few decimals.
        """
        return digits_of(self.bounds("f1"))

    def rate(self, value: float | None) -> str:
        """Format a rate or score."""
        return rate(value, self.limits, self.digits)

    def interval(self, interval: Interval | None) -> str:
        """Format a confidence interval."""
        return interval_text(interval, self.limits, self.digits)

    @cached_property
    def whole(self) -> FieldRow:
        """The figures of all documents together."""
        return FieldRow(
            path=(),
            kind="",
            comparator="",
            threshold=None,
            weight=None,
            tally=self.run.evaluation.tally,
            rule=self.run.rule,
        )

    def bounds(self, name: str, intervals: FieldIntervals | None = None) -> Interval | None:
        """Return the confidence interval of a rate such as `f1`; None if the run has no intervals.

        The interval is taken from `intervals`. If `intervals` is None, the interval for all
        documents together is returned.
        """
        field_intervals = intervals or self.intervals
        return field_intervals.rates[self.run.rule.counting][name] if field_intervals else None

    @property
    def counts_values(self) -> bool:
        """Whether the run uses the default counting mode, which counts every single value."""
        return self.run.rule.counting == DEFAULT_RULE.counting

    @cached_property
    def intervals(self) -> FieldIntervals | None:
        """Confidence intervals of all documents together; None if the run has none."""
        return self.run.evaluation.intervals(self.run.rule)

    @property
    def has_too_few_documents(self) -> bool:
        """Whether there are too few documents for intervals, so that reports show none."""
        return self.run.evaluation.evaluated < MIN_DOCUMENTS

    @cached_property
    def shown_level(self) -> float | None:
        """Confidence level of the intervals that reports show; None if they show none."""
        settings = self.run.evaluation.interval_settings
        return None if settings is None or self.has_too_few_documents else settings.level

    @cached_property
    def interval_title(self) -> str:
        """Title of the column with confidence intervals of F1; empty if no intervals are shown."""
        return "" if self.shown_level is None else f"{100 * self.shown_level:g}% CI of F1"

    def shown_bounds(self, intervals: FieldIntervals | None, documents: int) -> Interval | None:
        """Return the confidence interval of F1 in `intervals`, or None if reports do not show it.

        `documents` is the number of documents from which the interval was computed. No interval is
        shown if there are too few.
        """
        is_shown = self.shown_level is not None and documents >= MIN_DOCUMENTS
        return self.bounds("f1", intervals) if is_shown and intervals else None

    @cached_property
    def rows(self) -> list[FieldRow]:
        """The rows of the fields, in schema order, parents first."""
        return field_rows(self.run)

    def labelled(self, row: FieldRow) -> str:
        """Return the share of documents whose ground truth has the field, as text.

        The text is empty if all documents have it.
        """
        evaluation = self.run.evaluation
        share = evaluation.fold(PathCounts).share_labelled(evaluation.sums, row.path)
        return "" if share in (None, 1) else self.rate(share)

    @cached_property
    def groups(self) -> dict[str, list[tuple[str, "Results"]]]:
        """Maps each key by which documents are grouped, such as `language`, to its groups.

        A group is a pair of name and results. Groups with the lowest F1 come first.
        """

        def order(group: tuple[str, "Results"]) -> tuple[bool, float, str]:
            f1 = self.f1_of(group[1])
            return f1 is None, f1 or 0.0, group[0]

        return {
            key: sorted(groups_of_key.items(), key=order)
            for key, groups_of_key in self.run.evaluation.by.items()
        }

    def f1_of(self, results: "Results") -> float | None:
        """Return the F1 of all documents of a group."""
        return self.run.rule.rates(results.tally.counts(self.run.rule.counting)).f1

    @cached_property
    def confidence(self) -> dict[str, Any] | None:
        """Figures of how reliable confidences are; None if predictions have no confidences."""
        evaluation = self.run.evaluation
        if not evaluation.confidences:
            return None
        confidence = evaluation.confidences_view()
        if self.has_too_few_documents:
            confidence.pop("intervals", None)
            for bin_entry in confidence["bins"]:
                bin_entry.pop("interval", None)
        return confidence
