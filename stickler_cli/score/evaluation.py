"""The evaluation of many documents: sums that may be merged in any order with the same result."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TypeVar, cast

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import SEMANTICS, FieldInfo
from stickler_cli.compare.tree import UnitTree
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.option import options_record
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.metrics import Measure
from stickler_cli.settings.deciding import Counting, CountingOptions, DecidingOptions, KeptRows
from .batch import Batch, batch_of
from .blocks import Blocks
from .comparison_view import sums_record, sums_view
from .confidence.confidences import Confidences, counted_view
from .document_result import LENIENT, ODDITIES, SIDES, DocumentProblem, Side, Status, warnings_view
from .errors.causes import Causes, ErrorCounts
from .folds import FOLDS, OF_RUNS, Fold, PathCounts, Validities, Validity, WhollyRight
from .gates import RIGHT
from .intervals import FieldIntervals, IntervalSettings, field_intervals
from .ledger import Ledger
from .sums import RateRule, Sums, Tally, in_schema_order

FORMAT: Final = "stickler-evaluation/1"  # of `Evaluation.to_dict`; see docs/results.md
RUN_FORMAT: Final = "stickler-run/1"  # an evaluation and how it came about
NO_GROUP: Final = "(none)"
"""The group of documents that have no single value of a key."""
MOST_GROUPS: Final = 200  # of one key: more than anyone reads
MOST_ROWS: Final = 100_000
"""Documents of which `auto` keeps rows: some 50 MB in a run file."""
MOST_PROBLEMS: Final = 1_000  # that are named where no rows are kept

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all documents of an evaluation were compared under."""

    options: DecidingOptions
    fields: tuple[FieldInfo, ...]
    """In schema order, parents first."""
    counting: Counting = field(default=CountingOptions.counting, compare=False)
    """What reports of it read."""

    @property
    def named(self) -> dict[str, object]:
        """What must be the same in evaluations that are added up, by name."""
        return {**asdict(self.options), "fields": self.fields}


def differences(
    mine: Mapping[str, object], its: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield in what conditions of the same names differ: its name, and both values."""
    return ((what, mine[what], its[what]) for what in mine if mine[what] != its[what])


@dataclass(slots=True, eq=False)
class Results:
    """Sums over documents, of all or of a group: a commutative monoid, empty of no documents."""

    ledger: Ledger = field(default_factory=Ledger)
    statuses: Counter[Status] = field(default_factory=lambda: Counter(dict.fromkeys(Status, 0)))
    """Documents by what became of them."""
    warnings: Counter[str] = field(default_factory=Counter)
    """How many documents there were with each warning; see `score/document_result.py`."""
    unwrapped: Counter[str] = field(default_factory=Counter)
    """How many values were in wrappers, by the key of the wrapper, and `INHERITED` ones."""
    skipped_keys: Counter[str] = field(default_factory=Counter)
    """Number of values of each metadata key of wrappers that was not evaluated."""
    confidences: Confidences = field(default_factory=Confidences)
    folds: dict[type, Fold] = field(default_factory=lambda: {kind: kind() for kind in FOLDS})
    """Further statistics."""
    interval_settings: IntervalSettings | None = None
    """What decides the confidence intervals; None unless asked for, and there of all documents."""

    def add(self, batch: Batch, some: Mask | None = None) -> None:
        """Add documents: all of a batch, or some of them."""
        for document, result in enumerate(batch.results):
            if some is None or some[document]:
                self.statuses[result.status] += 1
                self.warnings.update(result.warnings)
                self.unwrapped.update(result.unwrapped)
                self.skipped_keys.update(result.skipped_keys)
        self.confidences.add([result.id for result in batch.results], batch.leaves, some)
        rows = None if some is None else some[batch.compared]
        self.ledger.add(batch, rows)
        for fold in self.folds.values():
            fold.add(batch, rows)

    def add_all(self, other: "Results") -> None:
        """Add all documents of another one.

        Raises:
            UsageError: their intervals are made in different ways.
        """
        mine, theirs = self.interval_settings, other.interval_settings
        if mine is not None and theirs is not None and mine != theirs:
            found = f"the intervals are made with {theirs} and {mine}"
            raise UsageError([Problem("", found, "the same level and seed")])
        if mine is None and not self.any_documents:
            self.interval_settings = theirs
        if theirs is None and other.any_documents:
            self.interval_settings = None
        self.ledger.merge(other.ledger)
        self.statuses.update(other.statuses)
        self.warnings.update(other.warnings)
        self.unwrapped.update(other.unwrapped)
        self.skipped_keys.update(other.skipped_keys)
        self.confidences.merge(other.confidences)
        for kind, fold in self.folds.items():
            fold.merge(other.folds[kind])

    def fold(self, kind: type[F]) -> F:
        """Return the statistic of a kind."""
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
    def sums(self) -> Sums:
        """The sums of all fields."""
        return self.ledger.sums

    @property
    def tally(self) -> Tally:
        """The sums of whole documents."""
        return self.ledger.sums[()]

    @property
    def evaluated(self) -> int:
        """Documents that were compared, those against an empty prediction included."""
        return self.tally.scored

    @property
    def any_documents(self) -> bool:
        """Whether there is any document, evaluated or not."""
        return any(self.statuses.values())

    @property
    def overall_score(self) -> float | None:
        """The mean overall score, in [0, 1]; None of no documents."""
        return self.tally.mean_score

    @property
    def documents(self) -> dict[str, int]:
        """How many documents there were, by what became of them."""
        return {
            "total": sum(self.statuses.values()),
            "evaluated": self.evaluated,
            **{status.value: self.statuses[status] for status in Status if status != "evaluated"},
        }

    def intervals(
        self, rule: RateRule, path: str = "", settings: IntervalSettings | None = None
    ) -> FieldIntervals | None:
        """Return the confidence intervals of a field or of all documents, by settings.

        Without settings they are made as the run asks for; None where it asks for none.
        """
        settings = settings or self.interval_settings
        if settings is None:
            return None
        tally = self.sums.at(parse_field_path(path) if path else ())
        return field_intervals(tally, settings.level, recall_with_fd=rule.recall_with_fd)

    def confidences_view(self) -> dict[str, Any]:
        """Return how far the confidences of predictions can be trusted, as the run format has it.

        There are intervals where those of rates were asked for.
        """
        found = {path: self._trust(path) for path in self.confidences.by_field()}
        return {**found.pop(""), "fields": found}

    def confidence(self, path: str = "") -> dict[str, Any] | None:
        """Return the same of one field, or of whole documents; None where nothing is known."""
        units = self.confidences.by_field().get(path)
        return None if units is None or not len(units.right) else self._trust(path)

    def _trust(self, path: str) -> dict[str, Any]:
        leaves = self.sums.at(parse_field_path(path)).predicted
        return self.confidences.view(path, leaves, self.interval_settings)

    def results_view(
        self, fields: Sequence[FieldInfo], *, recall_with_fd: bool, bounds_of_fields: bool = False
    ) -> dict[str, Any]:
        """Return the results as the run format has them, of the whole or of a group."""

        def more(path: FieldNames, tally: Tally) -> dict[str, object]:
            said = sums_record(tally, whole=not path)
            if settings is not None and (bounds_of_fields or not path):
                ends = field_intervals(tally, settings.level, recall_with_fd=recall_with_fd)
                if found := ends.view(whole=not path):
                    said["intervals"] = found
            return said

        settings, whole = self.interval_settings, self.tally
        ordered = in_schema_order(self.sums, fields)
        matrix = sums_view(ordered, recall_with_fd=recall_with_fd, more=more)
        shown: dict[str, Any] = {
            "documents": {**self.documents, **warnings_view(self.warnings)},
            "overall_score": self.overall_score,
            "score_sum": str(whole.score_units),
            "score_squares": str(whole.score_squares),
            "confusion_matrix": {"fields": {}, **matrix},
        }
        if never := self.sums.never_labelled():
            shown["never_labelled"] = never
        for kind in FOLDS:
            shown |= self.folds[kind].view(settings)
        key_counts = {"unwrapped": self.unwrapped, "skipped_keys": self.skipped_keys}
        shown |= {
            name: dict(sorted(counts.items())) for name, counts in key_counts.items() if counts
        }
        if self.confidences:
            shown["confidence"] = self.confidences_view()
        if self.confidences.counted:
            shown["confidence_counts"] = counted_view(self.confidences.counted)
        if settings is not None:
            ends = field_intervals(whole, settings.level, recall_with_fd=recall_with_fd).score
            shown["intervals"] = {**settings.view(), "overall_score": ends and [*ends]}
        return shown


@dataclass(slots=True, eq=False)
class Evaluation(Results):
    """The results of a set of documents, a commutative monoid: the empty one is no documents.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    folds: dict[type, Fold] = field(
        default_factory=lambda: {kind: kind() for kind in (*FOLDS, *OF_RUNS)}
    )
    problems: list[DocumentProblem] = field(default_factory=list)
    unnamed: Counter[Status] = field(default_factory=Counter)
    """Where no rows are kept, how many problems there are beside those that are named."""
    conditions: Conditions | None = None
    """What the documents were compared under, where that is known."""
    metrics: dict[str, Measure] = field(default_factory=dict)
    """Metrics that were asked for, by name."""
    by: dict[str, dict[str, Results]] = field(default_factory=dict)
    """The documents of each group, by the key that they are broken down by and its name."""
    rows: KeptRows = "auto"
    """Whether anything is kept of each document; `auto` is up to `MOST_ROWS` of them."""

    def update(self, documents: Batch | UnitTree) -> None:
        """Add documents; a comparison by itself is a document that was evaluated."""
        batch = documents if isinstance(documents, Batch) else batch_of(documents)
        self.add(batch)
        groups: dict[tuple[str, str], list[int]] = {}
        for document, result in enumerate(batch.results):
            for group in result.groups.items():
                groups.setdefault(group, []).append(document)
            for problem in result.problems:
                self.problems.append(DocumentProblem(result.id, result.status, str(problem)))
        for (key, name), members in groups.items():
            some = np.zeros(len(batch.results), np.bool_)
            some[members] = True
            self._group(key, name).add(batch, some)
        self._settle()

    @property
    def keeps_rows(self) -> bool:
        """Whether something may be kept of each document."""
        few = self.statuses.total() <= MOST_ROWS
        return self.rows == "inline" or (self.rows == "auto" and few)

    def _settle(self) -> None:
        """Where no rows are kept, drop all that grows with documents."""
        if self.keeps_rows:
            return
        self.ledger.blocks = None
        for results in self.all_results():
            results.confidences.drop_rows()
        self.fold(Causes).drop_rows()
        if len(self.problems) > MOST_PROBLEMS:
            self.problems.sort()
            self.unnamed.update(problem.status for problem in self.problems[MOST_PROBLEMS:])
            del self.problems[MOST_PROBLEMS:]

    def all_results(self) -> Iterator[Results]:
        """Yield the results of all documents, then those of each group."""
        yield self
        for groups in self.by.values():
            yield from groups.values()

    def _group(self, key: str, name: str) -> Results:
        """Return the results of a group, those of no documents if it is new."""
        groups = self.by.setdefault(key, {})
        if name not in groups:
            if len(groups) == MOST_GROUPS:
                found = f"there are more than {MOST_GROUPS} groups"
                expected = "a key with few values"
                raise UsageError([Problem(f"--by {key}", found, expected)])
            groups[name] = Results(interval_settings=self.interval_settings)
        return groups[name]

    def merge(self, other: "Evaluation") -> None:
        """Add the documents of another evaluation.

        Raises:
            UsageError: the two are known to have been made under different conditions.
        """
        self._agree(other)
        self._merge_metrics(other)
        mine, its = self.ledger, other.ledger
        if mine.blocks is None and its.blocks is not None and not self.any_documents:
            mine.blocks = Blocks()
        if its.blocks is None and other.any_documents:
            mine.blocks = None
        self.add_all(other)
        self.problems += other.problems
        self.unnamed.update(other.unnamed)
        for key, groups in other.by.items():
            for name, group in groups.items():
                self._group(key, name).add_all(group)
        self._settle()

    def _agree(self, other: "Evaluation") -> None:
        """Take over the conditions of another evaluation, or refuse it."""
        if self.conditions is None:
            self.conditions = other.conditions
        elif other.conditions is not None and other.conditions != self.conditions:
            apart = "; ".join(
                "the fields of their schemas differ"
                if what == "fields"
                else f"{what} is {mine!r} here and {its!r} there"
                for what, mine, its in differences(self.conditions.named, other.conditions.named)
            )
            found = f"the evaluations do not go together: {apart}"
            raise UsageError([Problem("", found, "the same schema and options")])

    def _merge_metrics(self, other: "Evaluation") -> None:
        for name in self.metrics.keys() | other.metrics.keys():
            mine, theirs = self.metrics.get(name), other.metrics.get(name)
            if mine is not None and theirs is not None:
                mine.merge(theirs)
            elif (self if mine is None else other).any_documents:
                found = f"only some of the documents were measured by {name}"
                raise UsageError([Problem("", found, "the same metrics")])
            elif theirs is not None:
                self.metrics[name] = theirs.copied()

    @property
    def metric_figures(self) -> dict[str, float | None]:
        """The figures of all metrics that were asked for, by name."""
        return {
            name: figure
            for measure in self.metrics.values()
            for name, figure in measure.figures.items()
        }

    @property
    def metric_problems(self) -> dict[str, str]:
        """Why metrics have no figures, by the name of the metric; those that have are left out."""
        said = ((name, measure.outcome()[1]) for name, measure in sorted(self.metrics.items()))
        return {name: problem for name, problem in said if problem}

    @property
    def validity(self) -> dict[Side, Validity]:
        """The verdicts of the schema about each side that was checked."""
        return self.fold(Validities).sides

    def document_figures(self) -> dict[str, float | None]:
        """Return the figures of documents for gates: counts, and the share of valid predictions."""
        pred = self.validity.get("pred")
        return {
            **self.documents,
            **{name: self.warnings[name] for name in (*ODDITIES, LENIENT)},
            RIGHT: self.wholly_right.share,
            "schema_invalid": pred.invalid if pred else None,
            "schema_valid_share": pred.share if pred else None,
        }

    def view(self, fields: Sequence[FieldInfo], *, recall_with_fd: bool) -> dict[str, object]:
        """Return the results as the run format shows them; equal results give equal bytes."""
        shown = self.results_view(fields, recall_with_fd=recall_with_fd, bounds_of_fields=True)
        if sides := self.validity:
            invalid = {side: sides[side].invalid for side in SIDES if side in sides}
            shown["documents"]["schema_invalid"] = invalid
        validities, *others = (self.folds[kind].view(self.interval_settings) for kind in OF_RUNS)
        shown |= {**validities, "semantics": SEMANTICS, "fields": encoded(fields)}
        for each in others:
            shown |= each
        shown |= self.fold(PathCounts).shares_labelled(self.sums)
        shown["never_present"] = sorted(map(field_path, self.sums.never_present()))
        shown["problems"] = encoded(sorted(self.problems))
        if self.unnamed:
            shown["problems_unnamed"] = {it.value: self.unnamed[it] for it in sorted(self.unnamed)}
        if self.metrics:
            shown["metrics"] = [measure.record() for _, measure in sorted(self.metrics.items())]
        for key, groups in self.by.items():
            shown.setdefault("by", {})[key] = {
                name: group.results_view(fields, recall_with_fd=recall_with_fd)
                for name, group in sorted(groups.items())
            }
        return shown

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON values, in the format `stickler-evaluation/1`.

        Equal evaluations give equal bytes, whatever the order of their documents was.
        """
        blocks = self.ledger.blocks
        return {
            "format": FORMAT,
            "version": __version__,
            "options": options_record(self.conditions.options)
            | {"counting": self.conditions.counting}
            if self.conditions
            else None,
            **self.view(self.fields, recall_with_fd=self.rule.recall_with_fd),
            **({} if blocks is None else {"per_document": blocks.view()}),
        }

    @property
    def fields(self) -> Sequence[FieldInfo]:
        """What the schema says of its fields, where that is known."""
        return self.conditions.fields if self.conditions else ()

    @property
    def rule(self) -> RateRule:
        """How counts are read."""
        if self.conditions is None:
            return RateRule()
        return RateRule(self.conditions.options.recall_with_fd, self.conditions.counting)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self.documents.items() if count)
        return f"<Evaluation {counts or 'total=0'}, overall_score={self.overall_score}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()
