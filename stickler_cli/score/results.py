"""The results of a set of documents, be it all of a run or a group of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final, Literal, cast

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.core.values import dataclass
from .batch import Batch
from .cells import BESIDE, sparse
from .comparison_view import tally_view
from .conditions import in_schema_order
from .confidence.confidences import Confidences, counted_view
from .counts import RateRule
from .document_result import Status, warnings_view
from .errors.causes import ErrorCounts
from .folds import FOLDS, WhollyRight
from .intervals import FieldIntervals, IntervalSettings, ScoreSums, field_intervals
from .moments import KEYS
from .tally import SCORE_UNIT, Tally, predicted, sums_of_units

NO_GROUP: Final = "(none)"
"""The group of documents that have no single value of a key."""


@dataclass(slots=True, eq=False)
class Results:
    """Sums over documents, a commutative monoid: the empty one is no documents."""

    tally: Tally = field(default_factory=Tally)
    evaluated: int = 0
    """Documents that were compared, those against an empty prediction included."""
    score_units: int = 0
    """The sum of their overall scores, in `SCORE_UNIT`s."""
    score_squares: int = 0
    """The sum of the squares of those, likewise."""
    statuses: Counter[Status] = field(default_factory=lambda: Counter(dict.fromkeys(Status, 0)))
    """Documents by what became of them."""
    warnings: Counter[str] = field(default_factory=Counter)
    """How many documents there were with each warning; see `score/document_result.py`."""
    errors: ErrorCounts = field(default_factory=ErrorCounts)
    interval_settings: IntervalSettings | None = None
    """What decides the confidence intervals; None unless asked for, and there of all documents."""
    confidences: Confidences = field(default_factory=Confidences)
    unwrapped: Counter[str] = field(default_factory=Counter)
    """How many values were in wrappers, by the key of the wrapper, and `INHERITED` ones."""
    folds: dict[str, WhollyRight] = field(
        default_factory=lambda: {key: FOLDS[key]() for key in FOLDS}
    )
    """Further statistics, by their keys in run files."""

    def add(self, batch: Batch, some: Mask | None = None) -> None:
        """Add documents: all of a batch, or some of them."""
        for document, result in enumerate(batch.results):
            if some is None or some[document]:
                self.statuses[result.status] += 1
                self.warnings.update(result.warnings)
                self.unwrapped.update(result.unwrapped)
        if batch.counted is None:
            return
        self.confidences.add([result.id for result in batch.results], batch.leaves, some)
        rows = None if some is None else some[[row is not None for row in batch.rows]]
        scores = batch.scores if rows is None else batch.scores[rows]
        if not len(scores):
            return
        self.errors.add(batch.classified(rows), batch.plain_errors, rows)
        self.evaluated += len(scores)
        start = np.zeros(1, np.intp)
        self.score_units += sum(sums_of_units(scores, start))
        self.score_squares += sum(sums_of_units(scores**2, start))
        self.tally.add(batch.counted if rows is None else batch.counted.among(rows))
        for fold in self.folds.values():
            fold.add(batch, rows)

    def add_all(self, other: "Results") -> None:
        """Add the documents of others; intervals stay only if there are some of all documents.

        Raises:
            UsageError: the intervals of both are made under different settings.
        """
        mine, theirs = self.interval_settings, other.interval_settings
        if mine is not None and theirs is not None and mine != theirs:
            found = f"the intervals are made with {theirs} and {mine}"
            raise UsageError([Problem("", found, "the same level and seed")])
        if mine is None and not self.any_documents:
            self.interval_settings = theirs
        if theirs is None and other.any_documents:
            self.interval_settings = None
        self.tally.merge(other.tally)
        self.evaluated += other.evaluated
        self.score_units += other.score_units
        self.score_squares += other.score_squares
        self.statuses.update(other.statuses)
        self.warnings.update(other.warnings)
        self.errors.merge(other.errors)
        self.unwrapped.update(other.unwrapped)
        self.confidences.merge(other.confidences)
        for key, fold in self.folds.items():
            fold.merge(other.folds[key])

    @property
    def wholly_right(self) -> WhollyRight:
        """The documents without a wrong, invented or missed value."""
        return self.folds["wholly_right"]

    @property
    def any_documents(self) -> bool:
        """Whether there is any document, evaluated or not."""
        return any(self.statuses.values())

    @property
    def overall_score(self) -> float | None:
        """The mean overall score, in [0, 1]; None of no documents."""
        return self.score_units / (self.evaluated * SCORE_UNIT) if self.evaluated else None

    @property
    def documents(self) -> dict[str, int]:
        """How many documents there were, by what became of them."""
        return {
            "total": sum(self.statuses.values()),
            "evaluated": self.evaluated,
            **{status.value: self.statuses[status] for status in Status if status != "evaluated"},
        }

    def intervals(self, rule: RateRule, path: str = "") -> FieldIntervals | None:
        """Return the confidence intervals of a field or of the whole; None where none are asked."""
        settings, with_fd = self.interval_settings, rule.recall_with_fd
        if settings is None:
            return None
        node = self.tally.find(parse_field_path(path) if path else ()) or Tally()
        sums = (node.scored, node.score_units, node.score_squares)
        whole = (self.evaluated, self.score_units, self.score_squares)
        scores = ScoreSums(*(sums if path else whole))
        return field_intervals(node, scores, settings.level, recall_with_fd=with_fd)

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
        leaves = predicted(self.tally, parse_field_path(path))
        return self.confidences.view(path, leaves, self.interval_settings)

    def undeclared(self) -> list[tuple[Path, int]]:
        """Return the keys of ground truths that the schema does not declare, and how often each."""
        return self._keys("undeclared")

    def extras(self) -> list[tuple[Path, int]]:
        """Return undeclared keys that only predictions have, false alarms, and how often each."""
        return self._keys("extras")

    def _keys(self, which: Literal["undeclared", "extras"]) -> list[tuple[Path, int]]:
        return sorted(
            ((*path, name), count)
            for path, node in self.tally.walk()
            for name, count in getattr(node, which).items()
        )

    def never_present(self) -> list[Path]:
        """Return the fields that had no value on either side in any document, outermost only."""
        found: list[Path] = []
        for path, node in self.tally.walk():
            values = sum(node.leaves[:4]) + sum(node.overall[:4])
            is_inside = bool(found) and path[: len(found[-1])] == found[-1]  # parents come first
            if path and not values and not is_inside:
                found.append(path)
        return found

    def results_view(
        self, fields: Sequence[FieldInfo], *, recall_with_fd: bool, bounds_of_fields: bool = False
    ) -> dict[str, Any]:
        """Return the results as the run format has them, of the whole or of a group."""

        def more(path: Path, node: Tally) -> dict[str, object]:
            said = _sums_view(node)
            if whole is not None and (bounds_of_fields or not path):
                intervals = self.intervals(rule, field_path(path)) if path else whole
                if found := intervals and intervals.view(whole=not path):
                    said["intervals"] = found
            return said

        rule = RateRule(recall_with_fd)
        settings, whole = self.interval_settings, self.intervals(rule)
        ordered = in_schema_order(self.tally, fields)
        matrix = tally_view(ordered, recall_with_fd=recall_with_fd, more=more)
        shown: dict[str, Any] = {
            "documents": {**self.documents, **warnings_view(self.warnings)},
            "overall_score": self.overall_score,
            "score_sum": str(self.score_units),
            "score_squares": str(self.score_squares),
            "confusion_matrix": {"fields": {}, **matrix},
            "error_classes": self.errors.view(),
        }
        for key, fold in self.folds.items():
            shown[key] = {**cast("dict[str, Any]", encoded(fold)), **fold.figures(settings)}
        if self.unwrapped:
            shown["unwrapped"] = dict(sorted(self.unwrapped.items()))
        if self.confidences:
            shown["confidence"] = self.confidences_view()
        if self.confidences.counted:
            shown["confidence_counts"] = counted_view(self.confidences.counted)
        if settings is not None and whole is not None:
            bounds = None if whole.score is None else [*whole.score]
            shown["intervals"] = {**settings.view(), "overall_score": bounds}
        return shown


def _sums_view(node: Tally) -> dict[str, object]:
    """Return what a node has beside its counts, from which runs are merged."""
    said: dict[str, object] = {}
    if node.scored:
        said["documents"] = node.scored
        said["score_sums"] = {
            "raw_similarity_score": str(node.raw_units),
            "threshold_applied_score": str(node.score_units),
            "threshold_applied_squares": str(node.score_squares),
        }
    if moments := sparse(node.moments, KEYS):
        said["moments"] = moments
    return {**said, **{name: count for name in BESIDE if (count := getattr(node, name))}}
