"""The evaluation of many documents: sums that may be merged in any order with the same result."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self, TypeVar, cast

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import SEMANTICS, FieldInfo
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.option import options_record
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.metrics import Measure
from stickler_cli.settings.deciding import Counting, CountingOptions, DecidingOptions, KeptRows
from .batch import Batch
from .blocks import Blocks
from .comparison_view import sums_record, sums_view
from .confidence.confidences import Confidences, counted_view
from .document_result import LENIENT, ODDITIES, SIDES, DocumentProblem, Side, Status, warnings_view
from .errors.causes import Causes, ErrorCounts
from .folds import FOLDS, RUN_FOLDS, Fold, PathCounts, Validities, Validity, WhollyRight
from .gates import RIGHT_SHARE
from .intervals import FieldIntervals, IntervalSettings, field_intervals
from .ledger import Ledger
from .sums import FieldTallies, RateRule, Tally, in_schema_order

FORMAT: Final = "stickler-evaluation/1"  # of `Evaluation.to_dict`; see docs/results.md
RUN_FORMAT: Final = "stickler-run/1"  # an evaluation and how it came about
NO_GROUP: Final = "(none)"
"""The group of documents that have no single value of a key."""
MAX_GROUPS: Final = 200  # groups of one key: more than anyone reads
MAX_ROWS: Final = 100_000
"""Documents up to which `auto` keeps rows: some 50 MB in a run file."""
MAX_NAMED_PROBLEMS: Final = 1_000  # problems that are named where no rows are kept

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Conditions:
    """The options and fields under which all documents of an evaluation were compared."""

    options: DecidingOptions
    fields: tuple[FieldInfo, ...]
    """The fields in schema order, parents first."""
    counting: Counting = field(default=CountingOptions.counting, compare=False)
    """The counting mode that reports of the evaluation read."""

    @property
    def by_name(self) -> dict[str, object]:
        """The conditions that evaluations must share to be added up, by name."""
        return {**asdict(self.options), "fields": self.fields}


def find_differences(
    first: Mapping[str, object], second: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the name and both values of each condition that differs; names are the same in both."""
    return ((name, first[name], second[name]) for name in first if first[name] != second[name])


@dataclass(slots=True, eq=False)
class Results:
    """Sums over documents: of a run, or of one of its groups.

    A commutative monoid: results merge in any order, and empty results are of no documents.
    """

    ledger: Ledger = field(default_factory=Ledger)
    statuses: Counter[Status] = field(default_factory=lambda: Counter(dict.fromkeys(Status, 0)))
    """Number of documents of each status."""
    warnings: Counter[str] = field(default_factory=Counter)
    """Number of documents with each warning; see `score/document_result.py`."""
    unwrapped: Counter[str] = field(default_factory=Counter)
    """Number of values taken out of wrappers, by the wrapper's key, and of `INHERITED` ones."""
    skipped_keys: Counter[str] = field(default_factory=Counter)
    """Number of values of each metadata key of wrappers that was not evaluated."""
    confidences: Confidences = field(default_factory=Confidences)
    folds: dict[type, Fold] = field(default_factory=lambda: {kind: kind() for kind in FOLDS})
    """Further statistics, by their class."""
    interval_settings: IntervalSettings | None = None
    """How the confidence intervals of all documents are made; None without intervals."""

    def add(self, batch: Batch) -> None:
        """Add all documents of a batch."""
        self._add(batch, None)

    def add_members(self, batch: Batch, is_member: Mask) -> None:
        """Add the documents of a batch that belong to this group; the mask is (documents,)."""
        self._add(batch, is_member)

    def _add(self, batch: Batch, is_member: Mask | None) -> None:
        for document, result in enumerate(batch.results):
            if is_member is None or is_member[document]:
                self.statuses[result.status] += 1
                self.warnings.update(result.warnings)
                self.unwrapped.update(result.unwrapped)
                self.skipped_keys.update(result.skipped_keys)
        ids = [result.id for result in batch.results]
        self.confidences.add(ids, batch.confident_values, is_member)

        # Ledger and folds select among the documents that were compared.
        selected = None if is_member is None else is_member[batch.compared_documents]
        self.ledger.add(batch, selected)
        for fold in self.folds.values():
            fold.add(batch, selected)

    def merge(self, other: Self) -> None:
        """Add all documents of other results.

        Raises:
            UsageError: the intervals of both are made in different ways.
        """
        self._merge_interval_settings(other)
        self.ledger.merge(other.ledger)
        self.statuses.update(other.statuses)
        self.warnings.update(other.warnings)
        self.unwrapped.update(other.unwrapped)
        self.skipped_keys.update(other.skipped_keys)
        self.confidences.merge(other.confidences)
        for kind, fold in self.folds.items():
            fold.merge(other.folds[kind])

    def _merge_interval_settings(self, other: Self) -> None:
        """Keep interval settings that hold for the documents of both sides, else none."""
        settings, other_settings = self.interval_settings, other.interval_settings
        if settings is not None and other_settings is not None and settings != other_settings:
            found = f"the intervals are made with {other_settings} and {settings}"
            raise UsageError([Problem("", found, "the same level and seed")])
        if settings is None and not self.has_documents:
            self.interval_settings = other_settings
        if other_settings is None and other.has_documents:
            self.interval_settings = None

    def fold(self, kind: type[F]) -> F:
        """Return the statistic of a class."""
        return cast("F", self.folds[kind])

    @property
    def wholly_right(self) -> WhollyRight:
        """The documents without a wrong, invented or missed value."""
        return self.fold(WhollyRight)

    @property
    def errors(self) -> ErrorCounts:
        """The errors by field and class."""
        return self.fold(ErrorCounts)

    @property
    def sums(self) -> FieldTallies:
        """The sums of all fields."""
        return self.ledger.sums

    @property
    def tally(self) -> Tally:
        """The sums of whole documents."""
        return self.ledger.sums[()]

    @property
    def evaluated(self) -> int:
        """Documents that were compared, those against an empty prediction included."""
        return self.tally.n_scored

    @property
    def has_documents(self) -> bool:
        """Whether there are documents, evaluated or not."""
        return any(self.statuses.values())

    @property
    def overall_score(self) -> float | None:
        """The mean overall score, in [0, 1]; None of no documents."""
        return self.tally.mean_score

    @property
    def documents(self) -> dict[str, int]:
        """AnyArray of documents: all, compared ones, and those of each further status."""
        return {
            "total": sum(self.statuses.values()),
            "evaluated": self.evaluated,
            **{status.value: self.statuses[status] for status in Status if status != "evaluated"},
        }

    def intervals(
        self, rule: RateRule, path: str = "", settings: IntervalSettings | None = None
    ) -> FieldIntervals | None:
        """Return the confidence intervals of a field, or of all documents for an empty path.

        `settings` replace those of the run; None if neither asks for intervals.
        """
        settings = settings or self.interval_settings
        if settings is None:
            return None
        tally = self.sums.tally(parse_field_path(path) if path else ())
        return field_intervals(tally, settings.level, recall_with_fd=rule.recall_with_fd)

    def confidences_view(self) -> dict[str, Any]:
        """Return how well confidences of predictions predict errors, as the run format has it.

        Figures have intervals if rates have them.
        """
        views = {path: self._confidence_view(path) for path in self.confidences.by_field()}
        return {**views.pop(""), "fields": views}

    def confidence(self, path: str = "") -> dict[str, Any] | None:
        """Return how well confidences predict errors of a field, or of all fields without a path.

        None if no value has a confidence.
        """
        units = self.confidences.by_field().get(path)
        return None if units is None or not len(units.is_right) else self._confidence_view(path)

    def _confidence_view(self, path: str) -> dict[str, Any]:
        n_values = self.sums.tally(parse_field_path(path)).n_predicted_values
        return self.confidences.view(path, n_values, self.interval_settings)

    def results_view(
        self, fields: Sequence[FieldInfo], *, recall_with_fd: bool, bounds_of_fields: bool = False
    ) -> dict[str, Any]:
        """Return the results of a run or a group as the run format has them.

        `bounds_of_fields` adds the confidence intervals of every field to those of all documents.
        """
        settings = self.interval_settings

        def further_keys(path: FieldNames, tally: Tally) -> dict[str, object]:
            """Return the keys of a field beside its counts."""
            record = sums_record(tally, whole=not path)
            if settings is not None and (bounds_of_fields or not path):
                intervals = field_intervals(tally, settings.level, recall_with_fd=recall_with_fd)
                if intervals_view := intervals.view(whole=not path):
                    record["intervals"] = intervals_view
            return record

        ordered = in_schema_order(self.sums, fields)
        matrix = sums_view(ordered, recall_with_fd=recall_with_fd, further_keys=further_keys)
        view: dict[str, Any] = {
            "documents": {**self.documents, **warnings_view(self.warnings)},
            "overall_score": self.overall_score,
            "score_sum": str(self.tally.score_sum),
            "score_squares": str(self.tally.score_square_sum),
            "confusion_matrix": {"fields": {}, **matrix},
        }
        if never_labelled := self.sums.count_never_labelled():
            view["never_labelled"] = never_labelled
        for kind in FOLDS:
            view |= self.folds[kind].view(settings)
        key_counts = {"unwrapped": self.unwrapped, "skipped_keys": self.skipped_keys}
        view |= {
            name: dict(sorted(counts.items())) for name, counts in key_counts.items() if counts
        }
        if self.confidences:
            view["confidence"] = self.confidences_view()
        if self.confidences.counts:
            view["confidence_counts"] = counted_view(self.confidences.counts)
        if settings is not None:
            intervals = field_intervals(self.tally, settings.level, recall_with_fd=recall_with_fd)
            score_interval = intervals.score and [*intervals.score]
            view["intervals"] = {**settings.view(), "overall_score": score_interval}
        return view


@dataclass(slots=True, eq=False)
class Evaluation(Results):
    """The results of a run and of each of its groups.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    folds: dict[type, Fold] = field(
        default_factory=lambda: {kind: kind() for kind in (*FOLDS, *RUN_FOLDS)}
    )
    problems: list[DocumentProblem] = field(default_factory=list)
    n_unnamed: Counter[Status] = field(default_factory=Counter)
    """Number of problems by status that are not in `problems`, where no rows are kept."""
    conditions: Conditions | None = None
    """Options and fields of the comparison; None if unknown."""
    metrics: dict[str, Measure] = field(default_factory=dict)
    """The user's metrics, by name."""
    by: dict[str, dict[str, Results]] = field(default_factory=dict)
    """The results of each group, by the key of the breakdown and the name of the group."""
    rows: KeptRows = "auto"
    """Whether single documents are kept; `auto` keeps up to `MAX_ROWS` documents."""

    def add(self, batch: Batch) -> None:
        """Add all documents of a batch, and each of them to its groups."""
        Results.add(self, batch)  # not super(): dataclasses with slots break it
        documents_by_group: dict[tuple[str, str], list[int]] = {}
        for document, result in enumerate(batch.results):
            for group in result.groups.items():
                documents_by_group.setdefault(group, []).append(document)
            for problem in result.problems:
                self.problems.append(DocumentProblem(result.id, result.status, str(problem)))
        for (key, name), documents in documents_by_group.items():
            is_member = np.zeros(len(batch.results), np.bool_)
            is_member[documents] = True
            self._group(key, name).add_members(batch, is_member)
        self._drop_rows_of_large_runs()

    @property
    def keeps_rows(self) -> bool:
        """Whether single documents may be kept: always, never, or up to `MAX_ROWS` of them."""
        is_small = self.statuses.total() <= MAX_ROWS
        return self.rows == "inline" or (self.rows == "auto" and is_small)

    def _drop_rows_of_large_runs(self) -> None:
        """Drop all state that grows with the number of documents, unless rows are kept."""
        if self.keeps_rows:
            return
        self.ledger.blocks = None
        for results in self.all_results():
            results.confidences.drop_rows()
        self.fold(Causes).drop_rows()
        if len(self.problems) > MAX_NAMED_PROBLEMS:
            self.problems.sort()
            unnamed = self.problems[MAX_NAMED_PROBLEMS:]
            self.n_unnamed.update(problem.status for problem in unnamed)
            del self.problems[MAX_NAMED_PROBLEMS:]

    def all_results(self) -> Iterator[Results]:
        """Yield the results of all documents, then those of each group."""
        yield self
        for groups in self.by.values():
            yield from groups.values()

    def _group(self, key: str, name: str) -> Results:
        """Return the results of a group, of no documents if the group is new.

        Raises:
            UsageError: a key has more than `MAX_GROUPS` groups.
        """
        groups = self.by.setdefault(key, {})
        if name not in groups:
            if len(groups) == MAX_GROUPS:
                found = f"there are more than {MAX_GROUPS} groups"
                expected = "a key with few values"
                raise UsageError([Problem(f"--by {key}", found, expected)])
            groups[name] = Results(interval_settings=self.interval_settings)
        return groups[name]

    def merge(self, other: Self) -> None:
        """Add the documents of another evaluation.

        Raises:
            UsageError: the two are known to have been made under different conditions.
        """
        self._merge_conditions(other)
        self._merge_metrics(other)
        self._merge_row_keeping(other)
        Results.merge(self, other)  # not super(): dataclasses with slots break it
        self.problems += other.problems
        self.n_unnamed.update(other.n_unnamed)
        for key, groups in other.by.items():
            for name, group in groups.items():
                self._group(key, name).merge(group)
        self._drop_rows_of_large_runs()

    def _merge_row_keeping(self, other: Self) -> None:
        """Keep rows only if all documents have rows."""
        ledger = self.ledger
        if ledger.blocks is None and other.ledger.blocks is not None and not self.has_documents:
            ledger.blocks = Blocks()
        if other.ledger.blocks is None and other.has_documents:
            ledger.blocks = None

    def _merge_conditions(self, other: Self) -> None:
        """Adopt the conditions of another evaluation if this one has none.

        Raises:
            UsageError: both have conditions, and these differ.
        """
        if self.conditions is None:
            self.conditions = other.conditions
        elif other.conditions is not None and other.conditions != self.conditions:
            conditions, other_conditions = self.conditions.by_name, other.conditions.by_name
            listed = "; ".join(
                "the fields of their schemas differ"
                if name == "fields"
                else f"{name} is {value!r} here and {other_value!r} there"
                for name, value, other_value in find_differences(conditions, other_conditions)
            )
            found = f"the evaluations do not go together: {listed}"
            raise UsageError([Problem("", found, "the same schema and options")])

    def _merge_metrics(self, other: Self) -> None:
        """Add up each metric of both sides.

        Raises:
            UsageError: a metric measured the documents of one side only.
        """
        for name in self.metrics.keys() | other.metrics.keys():
            measure, other_measure = self.metrics.get(name), other.metrics.get(name)
            if measure is not None and other_measure is not None:
                measure.merge(other_measure)
            elif (self if measure is None else other).has_documents:
                found = f"only some of the documents were measured by {name}"
                raise UsageError([Problem("", found, "the same metrics")])
            elif other_measure is not None:
                self.metrics[name] = other_measure.copied()

    @property
    def metric_figures(self) -> dict[str, float | None]:
        """The figures of the user's metrics, by name."""
        return {
            name: figure
            for measure in self.metrics.values()
            for name, figure in measure.figures.items()
        }

    @property
    def metric_problems(self) -> dict[str, str]:
        """Why metrics have no figures, by the name of each such metric."""
        problems = {name: measure.outcome()[1] for name, measure in sorted(self.metrics.items())}
        return {name: problem for name, problem in problems.items() if problem}

    @property
    def validity(self) -> dict[Side, Validity]:
        """The verdicts of the schema about each side that was checked."""
        return self.fold(Validities).sides

    def document_figures(self) -> dict[str, float | None]:
        """Return figures of whole documents for gates, by name: numbers and shares of documents."""
        validity = self.validity.get("pred")
        return {
            **self.documents,
            **{name: self.warnings[name] for name in (*ODDITIES, LENIENT)},
            RIGHT_SHARE: self.wholly_right.share,
            "schema_invalid": validity.invalid if validity else None,
            "schema_valid_share": validity.share if validity else None,
        }

    def view(self, fields: Sequence[FieldInfo], *, recall_with_fd: bool) -> dict[str, object]:
        """Return the results as the run format has them; equal results give equal bytes."""
        view = self.results_view(fields, recall_with_fd=recall_with_fd, bounds_of_fields=True)
        if self.validity:
            view["documents"]["schema_invalid"] = {
                side: self.validity[side].invalid for side in SIDES if side in self.validity
            }
        # Keys of the record keep this order: verdicts stand before the fields, other folds after.
        validities, *other_folds = (
            self.folds[kind].view(self.interval_settings) for kind in RUN_FOLDS
        )
        view |= {**validities, "semantics": SEMANTICS, "fields": encoded(fields)}
        for fold_view in other_folds:
            view |= fold_view
        view |= self.fold(PathCounts).shares_labelled(self.sums)
        view["never_present"] = sorted(map(field_path, self.sums.find_never_present()))
        view["problems"] = encoded(sorted(self.problems))
        if self.n_unnamed:
            view["problems_unnamed"] = {
                status.value: self.n_unnamed[status] for status in sorted(self.n_unnamed)
            }
        if self.metrics:
            view["metrics"] = [measure.record() for _, measure in sorted(self.metrics.items())]
        for key, groups in self.by.items():
            view.setdefault("by", {})[key] = {
                name: group.results_view(fields, recall_with_fd=recall_with_fd)
                for name, group in sorted(groups.items())
            }
        return view

    def to_dict(self) -> dict[str, object]:
        """Return the whole evaluation as JSON values, in the format `stickler-evaluation/1`.

        Equal evaluations give equal bytes, however their documents were ordered.
        """
        options: dict[str, object] | None = None
        if self.conditions:
            options = options_record(self.conditions.options)
            options = {**options, "counting": self.conditions.counting}
        record = {
            "format": FORMAT,
            "version": __version__,
            "options": options,
            **self.view(self.fields, recall_with_fd=self.rule.recall_with_fd),
        }
        if self.ledger.blocks is not None:
            record["per_document"] = self.ledger.blocks.view()
        return record

    @property
    def fields(self) -> Sequence[FieldInfo]:
        """The fields of the schema, in schema order; empty if unknown."""
        return self.conditions.fields if self.conditions else ()

    @property
    def rule(self) -> RateRule:
        """Counting mode, and whether recall counts wrong values as missed."""
        if self.conditions is None:
            return RateRule()
        return RateRule(self.conditions.options.recall_with_fd, self.conditions.counting)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self.documents.items() if count)
        return f"<Evaluation {counts or 'total=0'}, overall_score={self.overall_score}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()
