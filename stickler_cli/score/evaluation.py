"""The evaluation of many documents: sums that can be merged in any order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final, Self, TypeVar, cast

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import SEMANTICS, FieldInfo
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.deferred import DeferredList, DeferredObject, defer
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

FORMAT: Final = "stickler-evaluation/1"  # format of `Evaluation.to_dict`; see docs/results.md
RUN_FORMAT: Final = "stickler-run/1"  # format of an evaluation with schema, options and sources
NO_GROUP: Final = "(none)"
"""Name of the group for documents that belong to no other group. A document belongs to no other
group if its value for the breakdown key is absent or empty, or is a list or an object."""
MAX_GROUPS: Final = 200  # groups of one breakdown key: more than anyone reads
MAX_ROWS: Final = 100_000
"""With `rows="auto"`, single documents are kept if a run has at most this many. They need about 50
MB in a run file."""
MAX_NAMED_PROBLEMS: Final = 1_000  # problems that are listed if no rows are kept

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Conditions:
    """The options and the fields that were used for comparing all documents of an evaluation."""

    options: DecidingOptions
    fields: tuple[FieldInfo, ...]
    """The fields of the schema in schema order, parents first."""
    counting: Counting = field(default=CountingOptions.counting, compare=False)
    """The counting mode that reports show."""

    @property
    def by_name(self) -> dict[str, object]:
        """Maps the name of each condition to its value.

        Two evaluations can be merged only if these dicts are equal.
        """
        return {**asdict(self.options), "fields": self.fields}


def find_differences(
    first: Mapping[str, object], second: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield (name, first value, second value) for each condition that differs.

    Both mappings must have the same names.
    """
    return ((name, first[name], second[name]) for name in first if first[name] != second[name])


@dataclass(slots=True, eq=False)
class Results:
    """Sums over the documents of a run, or over one group of its documents.

    Results can be merged in any order. New results have no documents, so merging them changes
    nothing (a commutative monoid).
    """

    ledger: Ledger = field(default_factory=Ledger)
    statuses: Counter[Status] = field(default_factory=lambda: Counter(dict.fromkeys(Status, 0)))
    """Number of documents with each status."""
    warnings: Counter[str] = field(default_factory=Counter)
    """Number of documents with each warning. The names are in `score/document_result.py`."""
    unwrapped: Counter[str] = field(default_factory=Counter)
    """Maps each form of wrapper to the number of values that were taken out of wrappers of this
    form. A wrapper is an object around a value. There is one other key, `INHERITED`: it counts the
    predicted values that have no confidence of their own, and took the confidence of the object or
    list that contains them."""
    skipped_keys: Counter[str] = field(default_factory=Counter)
    """Maps each metadata key that is not evaluated, such as `page`, to the number of values with
    this key."""
    confidences: Confidences = field(default_factory=Confidences)
    folds: dict[type, Fold] = field(default_factory=lambda: {kind: kind() for kind in FOLDS})
    """Further statistics of the documents. Maps each class in `FOLDS` to an object of this
    class."""
    interval_settings: IntervalSettings | None = None
    """The settings of confidence intervals, or None if no intervals are computed."""

    def add(self, batch: Batch) -> None:
        """Add all documents of a batch."""
        self._add(batch, None)

    def add_members(self, batch: Batch, is_member: Mask) -> None:
        """Add those documents of a batch that belong to this group.

        `is_member` has an entry for each document of the batch.
        """
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

        # The masks of ledger and folds have an entry for each compared document only.
        selected = None if is_member is None else is_member[batch.compared_documents]
        self.ledger.add(batch, selected)
        for fold in self.folds.values():
            fold.add(batch, selected)

    def merge(self, other: Self) -> None:
        """Add all documents of other results.

        Raises:
            UsageError: these results and `other` have different interval settings.
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
        """Set the interval settings of these results for a merge with `other`.

        If documents were added without interval settings on either side, the merged results have no
        interval settings. A side without documents and settings does not matter.

        Raises:
            UsageError: both sides have interval settings, and the settings differ.
        """
        settings, other_settings = self.interval_settings, other.interval_settings
        if settings is not None and other_settings is not None and settings != other_settings:
            found = (
                f"the intervals were made with different settings: {other_settings} and {settings}"
            )
            raise UsageError([Problem("", found, "intervals with the same level and seed")])
        if settings is None and not self.has_documents:
            self.interval_settings = other_settings
        if other_settings is None and other.has_documents:
            self.interval_settings = None

    def fold(self, kind: type[F]) -> F:
        """Return the statistic of the given class."""
        return cast("F", self.folds[kind])

    @property
    def wholly_right(self) -> WhollyRight:
        """How many documents lost no value, one value, two values and so on.

        A value is lost if it is wrong, invented or missed.
        """
        return self.fold(WhollyRight)

    @property
    def errors(self) -> ErrorCounts:
        """The counts of errors by field and class."""
        return self.fold(ErrorCounts)

    @property
    def sums(self) -> FieldTallies:
        """The counts and scores of every field, summed over documents.

        Keys are the paths of the fields.
        """
        return self.ledger.sums

    @property
    def tally(self) -> Tally:
        """The counts and scores of whole documents, summed over documents."""
        return self.ledger.sums[()]

    @property
    def evaluated(self) -> int:
        """Number of compared documents.

        A document compared with an empty prediction counts, too.
        """
        return self.tally.n_scored

    @property
    def has_documents(self) -> bool:
        """Whether any document was added, compared or not."""
        return any(self.statuses.values())

    @property
    def overall_score(self) -> float | None:
        """The mean overall score, in [0, 1]; None if no document was compared."""
        return self.tally.mean_score

    @property
    def documents(self) -> dict[str, int]:
        """Number of documents in total, and for each status such as `evaluated` or `missing`."""
        return {
            "total": sum(self.statuses.values()),
            "evaluated": self.evaluated,
            **{status.value: self.statuses[status] for status in Status if status != "evaluated"},
        }

    def intervals(
        self, rule: RateRule, path: str = "", settings: IntervalSettings | None = None
    ) -> FieldIntervals | None:
        """Return the confidence intervals of a field, or of whole documents if the path is empty.

        `settings` replace the settings of the run. If both are None, the result is None.
        """
        settings = settings or self.interval_settings
        if settings is None:
            return None
        tally = self.sums.tally(parse_field_path(path) if path else ())
        return field_intervals(tally, settings.level, recall_with_fd=rule.recall_with_fd)

    def confidences_view(self) -> dict[str, Any]:
        """Return figures on predicted confidences, in total and by field, for a run file.

        They show how well confidences predict errors. If `interval_settings` is set, they include
        intervals.
        """
        views = {path: self._confidence_view(path) for path in self.confidences.by_field()}
        return {**views.pop(""), "fields": views}

    def confidence(self, path: str = "") -> dict[str, Any] | None:
        """Return figures that show how well the confidences of a field predict its errors.

        An empty path stands for all fields together. Return None if no value has a confidence.
        """
        units = self.confidences.by_field().get(path)
        return None if units is None or not len(units.is_right) else self._confidence_view(path)

    def _confidence_view(self, path: str) -> dict[str, Any]:
        n_values = self.sums.tally(parse_field_path(path)).n_predicted_values
        return self.confidences.view(path, n_values, self.interval_settings)

    def results_view(
        self,
        fields: Sequence[FieldInfo],
        *,
        recall_with_fd: bool,
        bounds_of_fields: bool = False,
        deferred: bool = False,
    ) -> dict[str, Any]:
        """Return these results as they are written to a run file.

        Whole documents always have confidence intervals if the settings ask for them. Fields have
        them only if `bounds_of_fields` is True. If `deferred` is True, the counts of a field are
        built only when they are read.
        """
        settings = self.interval_settings

        def further_keys(path: FieldNames, tally: Tally) -> dict[str, object]:
            """Return the sums of a field, and its confidence intervals if they are requested."""
            is_root = not path
            record = sums_record(tally, whole=is_root)
            if settings is not None and (is_root or bounds_of_fields):
                intervals = field_intervals(tally, settings.level, recall_with_fd=recall_with_fd)
                intervals_view = intervals.view(whole=is_root)
                if intervals_view:
                    record["intervals"] = intervals_view
            return record

        ordered = in_schema_order(self.sums, fields)
        sums = sums_view(
            ordered, recall_with_fd=recall_with_fd, further_keys=further_keys, deferred=deferred
        )
        matrix = {"fields": {}, **sums}
        view: dict[str, Any] = {
            "documents": {**self.documents, **warnings_view(self.warnings)},
            "overall_score": self.overall_score,
            "score_sum": str(self.tally.score_sum),
            "score_squares": str(self.tally.score_square_sum),
            "confusion_matrix": defer(matrix) if deferred else matrix,
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
    """The results of a whole run and of each of its groups.

    Two evaluations are equal if their results are equal. The order of documents does not matter.
    """

    folds: dict[type, Fold] = field(
        default_factory=lambda: {kind: kind() for kind in (*FOLDS, *RUN_FOLDS)}
    )
    problems: list[DocumentProblem] = field(default_factory=list)
    n_unnamed: Counter[Status] = field(default_factory=Counter)
    """Maps the status of documents to the number of their problems that `problems` does not list.
    Empty if the results of single documents are kept (see `rows`), because `problems` then lists
    every problem."""
    conditions: Conditions | None = None
    """The options and fields of the comparison; None if unknown."""
    metrics: dict[str, Measure] = field(default_factory=dict)
    """The user's metrics, by name."""
    by: dict[str, dict[str, Results]] = field(default_factory=dict)
    """The results of each group: `by[breakdown key][name of the group]`."""
    rows: KeptRows = "auto"
    """Whether single documents are kept. `auto` keeps them if there are at most `MAX_ROWS`
    documents."""

    def add(self, batch: Batch) -> None:
        """Add all documents of a batch to the run and to their groups."""
        Results.add(self, batch)  # dataclasses with slots break `super()`
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
        """Whether the results of single documents may be kept.

        With the setting `rows="inline"`, they may always be kept. With `rows="auto"`, they may be
        kept if there are at most `MAX_ROWS` documents.
        """
        is_small = self.statuses.total() <= MAX_ROWS
        return self.rows == "inline" or (self.rows == "auto" and is_small)

    def _drop_rows_of_large_runs(self) -> None:
        """If rows are not kept, drop everything that grows with the number of documents."""
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
        """Yield the results of the whole run, then those of each group."""
        yield self
        for groups in self.by.values():
            yield from groups.values()

    def _group(self, key: str, name: str) -> Results:
        """Return the results of a group. If the group is new, its results are empty.

        Raises:
            UsageError: the key has more than `MAX_GROUPS` groups.
        """
        groups = self.by.setdefault(key, {})
        if name not in groups:
            if len(groups) == MAX_GROUPS:
                found = f"the key gives more than {MAX_GROUPS} groups"
                expected = "a key with fewer values"
                raise UsageError([Problem(f"--by {key}", found, expected)])
            groups[name] = Results(interval_settings=self.interval_settings)
        return groups[name]

    def merge(self, other: Self) -> None:
        """Add the documents of another evaluation.

        Raises:
            UsageError: the two were made under different conditions.
        """
        self._merge_conditions(other)
        self._merge_metrics(other)
        self._merge_row_keeping(other)
        Results.merge(self, other)  # dataclasses with slots break `super()`
        self.problems += other.problems
        self.n_unnamed.update(other.n_unnamed)
        for key, groups in other.by.items():
            for name, group in groups.items():
                self._group(key, name).merge(group)
        self._drop_rows_of_large_runs()

    def _merge_row_keeping(self, other: Self) -> None:
        """Keep the results of single documents only if both evaluations have kept all of them.

        An evaluation without documents has nothing to keep, so that the other one decides.
        """
        ledger = self.ledger
        if ledger.blocks is None and other.ledger.blocks is not None and not self.has_documents:
            ledger.blocks = Blocks()
        if other.ledger.blocks is None and other.has_documents:
            ledger.blocks = None

    def _merge_conditions(self, other: Self) -> None:
        """Adopt the conditions of the other evaluation if this one has none.

        Raises:
            UsageError: both have conditions, and they differ.
        """
        if self.conditions is None:
            self.conditions = other.conditions
        elif other.conditions is not None and other.conditions != self.conditions:
            conditions, other_conditions = self.conditions.by_name, other.conditions.by_name
            listed = "; ".join(
                "the two schemas have different fields"
                if name == "fields"
                else f"the option {name} is {value!r} in one evaluation and {other_value!r} in the "
                "other"
                for name, value, other_value in find_differences(conditions, other_conditions)
            )
            found = f"the evaluations cannot be combined: {listed}"
            raise UsageError([Problem("", found, "evaluations with the same schema and options")])

    def _merge_metrics(self, other: Self) -> None:
        """Merge each of the user's metrics with the same metric of the other evaluation.

        Raises:
            UsageError: a metric measured the documents of only one evaluation.
        """
        for name in self.metrics.keys() | other.metrics.keys():
            measure, other_measure = self.metrics.get(name), other.metrics.get(name)
            if measure is not None and other_measure is not None:
                measure.merge(other_measure)
            elif (self if measure is None else other).has_documents:
                found = (
                    f"the evaluations cannot be combined: only one of them has the metric {name}"
                )
                raise UsageError([Problem("", found, "evaluations with the same metrics")])
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
        """Maps each metric without a figure to the reason why it has none."""
        problems = {name: measure.outcome()[1] for name, measure in sorted(self.metrics.items())}
        return {name: problem for name, problem in problems.items() if problem}

    @property
    def validity(self) -> dict[Side, Validity]:
        """The results of validating documents against the schema.

        Maps each side that was validated to its result.
        """
        return self.fold(Validities).sides

    def document_figures(self) -> dict[str, float | None]:
        """Return the document figures that a gate can check.

        Keys are the names used in gates, such as `missing`. Values are counts, or shares in [0, 1].
        A value is None if it is undefined, for instance because predictions were not validated.
        """
        validity = self.validity.get("pred")
        return {
            **self.documents,
            **{name: self.warnings[name] for name in (*ODDITIES, LENIENT)},
            RIGHT_SHARE: self.wholly_right.share,
            "schema_invalid": validity.invalid if validity else None,
            "schema_valid_share": validity.share if validity else None,
        }

    def view(
        self, fields: Sequence[FieldInfo], *, recall_with_fd: bool, deferred: bool = False
    ) -> dict[str, object]:
        """Return the evaluation as it is written to a run file.

        Equal evaluations give equal results. If `deferred` is True, large values (fields, their
        counts, and groups) are built only when they are read.
        """
        options: Any = {"recall_with_fd": recall_with_fd, "deferred": deferred}
        view = self.results_view(fields, bounds_of_fields=True, **options)
        if self.validity:
            view["documents"]["schema_invalid"] = {
                side: self.validity[side].invalid for side in SIDES if side in self.validity
            }
        # This is the order of keys in run files: verdicts, then fields, then other folds.
        validities, *other_folds = (
            self.folds[kind].view(self.interval_settings) for kind in RUN_FOLDS
        )

        def build_group_view(groups: Mapping[str, Results], name: str) -> object:
            group_view = groups[name].results_view(fields, **options)
            return defer(group_view) if deferred else group_view

        field_records = DeferredList(fields, encoded) if deferred else encoded(fields)
        view |= {**validities, "semantics": SEMANTICS, "fields": field_records}
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
            views_by_group = DeferredObject(sorted(groups), partial(build_group_view, groups))
            view.setdefault("by", {})[key] = views_by_group if deferred else {**views_by_group}
        if deferred and "by" in view:
            view["by"] = defer(view["by"])
        return view

    def to_dict(self) -> dict[str, object]:
        """Return the whole evaluation as JSON values, in the format `stickler-evaluation/1`.

        Equal evaluations give equal bytes. The order of their documents does not matter.
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
        """The fields of the schema in schema order; empty if unknown."""
        return self.conditions.fields if self.conditions else ()

    @property
    def rule(self) -> RateRule:
        """How rates are computed: the counting mode and the definition of recall."""
        if self.conditions is None:
            return RateRule()
        return RateRule(self.conditions.options.recall_with_fd, self.conditions.counting)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self.documents.items() if count)
        return f"<Evaluation {counts or 'total=0'}, overall_score={self.overall_score}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()
