"""What many documents come to: sums that may be merged in any order with the same result."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, field
from typing import Final

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import SEMANTICS, FieldInfo
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.core.values import dataclass
from stickler_cli.metrics.metric import Measure
from stickler_cli.settings.deciding import Rows
from .batch import Batch, batch_of
from .conditions import Conditions
from .counts import RateRule
from .document_result import LENIENT, ODDITIES, DocumentProblem, Status
from .errors.causes import Causes
from .gates import RIGHT
from .known_ids import KnownIds
from .ledger import Ledger
from .results import Results
from .validity import SIDES, Side, Validity

FORMAT: Final = "stickler-evaluation/2"  # of `Evaluation.to_dict`; see docs/results.md
RUN_FORMAT: Final = "stickler-run/2"  # an evaluation and how it came about
MOST_GROUPS: Final = 200  # of one key: more than anyone reads
MOST_ROWS: Final = 100_000
"""Documents of which `auto` keeps rows: some 50 MB in a run file."""
MOST_PROBLEMS: Final = 1_000  # that are named where no rows are kept


@dataclass(slots=True, eq=False)
class Evaluation(Results):
    """The results of a set of documents, a commutative monoid: the empty one is no documents.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    problems: list[DocumentProblem] = field(default_factory=list)
    validity: dict[Side, Validity] = field(default_factory=dict)
    """The verdicts of the schema about each side that was checked."""
    causes: Causes = field(default_factory=Causes)
    conditions: Conditions | None = None
    """What the documents were compared under, where that is known."""
    ledger: Ledger | None = None
    """What was counted in each document; None where nobody asked for it, or some are not in it."""
    metrics: dict[str, Measure] = field(default_factory=dict)
    """Metrics that were asked for, by name."""
    by: dict[str, dict[str, Results]] = field(default_factory=dict)
    """The documents of each group, by the key that they are broken down by and its name."""
    rows: Rows = "auto"
    """Whether anything is kept of each document; `auto` is up to `MOST_ROWS` of them."""
    known: KnownIds = field(default_factory=KnownIds)
    """Which documents these are."""
    semantics: int = SEMANTICS
    """The version of what was counted, and how."""
    unnamed: Counter[Status] = field(default_factory=Counter)
    """Where no rows are kept, how many problems there are beside those that are named."""

    def update(self, documents: Batch | Comparison) -> None:
        """Add documents; a comparison by itself is a document that was evaluated."""
        batch = documents if isinstance(documents, Batch) else batch_of(documents)
        self.add(batch)
        self.known.add(result.id for result in batch.results)
        self.causes.add(batch.classified(), batch.plain_errors)
        if self.ledger is not None:
            self.ledger.add(batch)
        groups: dict[tuple[str, str], list[int]] = {}
        for document, result in enumerate(batch.results):
            for group in result.groups.items():
                groups.setdefault(group, []).append(document)
            for side, verdict in result.verdicts.items():
                self.validity.setdefault(side, Validity()).update(result.id, verdict)
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
        self.ledger = None
        for results in self.all_results():
            results.confidences.drop_rows()
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
        if other.ledger is not None and not self.any_documents and self.ledger is None:
            self.ledger = Ledger()
        if other.ledger is None and other.any_documents:
            self.ledger = None
        if self.ledger is not None and other.ledger is not None:
            self.ledger.merge(other.ledger)
        self.add_all(other)
        self.causes.merge(other.causes)
        self.problems += other.problems
        for side, validity in other.validity.items():
            self.validity.setdefault(side, Validity()).merge(validity)
        for key, groups in other.by.items():
            for name, group in groups.items():
                self._group(key, name).add_all(group)
        self.known.merge(other.known)
        self.unnamed.update(other.unnamed)
        self._settle()

    def _agree(self, other: "Evaluation") -> None:
        """Take over the conditions of another evaluation, or refuse it."""
        if not self.any_documents:
            self.semantics = other.semantics
        elif other.any_documents and other.semantics != self.semantics:
            found = f"version {other.semantics} of the semantics made one, {self.semantics} another"
            raise UsageError([Problem("", found, "evaluations of one version", "evaluate again")])
        if self.conditions is None:
            self.conditions = other.conditions
        elif other.conditions is not None and other.conditions != self.conditions:
            differences = "; ".join(self.conditions.differences(other.conditions))
            found = f"the evaluations do not go together: {differences}"
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

    def document_figures(self) -> dict[str, float | None]:
        """Return what gates may ask of documents: counts, and the share of valid predictions."""
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
        if sides := {side: self.validity[side] for side in SIDES if side in self.validity}:
            shown["documents"]["schema_invalid"] = {side: sides[side].invalid for side in sides}
            shown["validity"] = {side: sides[side].view() for side in sides}
        shown |= {
            "semantics": self.semantics,
            "fields": encoded(fields),
            "causes": self.causes.view(),
            "undeclared_keys": _keys_view(self.undeclared()),
            "extra_keys": _keys_view(self.extras()),
            "never_present": sorted(field_path(path) for path in self.never_present()),
            "problems": encoded(sorted(self.problems)),
        }
        if self.unnamed:
            shown["problems_unnamed"] = {it.value: self.unnamed[it] for it in sorted(self.unnamed)}
        if self.metrics:
            shown["metrics"] = [
                _metric_view(name, measure) for name, measure in sorted(self.metrics.items())
            ]
        for key, groups in self.by.items():
            shown.setdefault("by", {})[key] = {
                name: group.results_view(fields, recall_with_fd=recall_with_fd)
                for name, group in sorted(groups.items())
            }
        return shown

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON values, in the format `stickler-evaluation/2`.

        Equal evaluations give equal bytes, whatever the order of their documents was.
        """
        return {
            "format": FORMAT,
            "version": __version__,
            "options": asdict(self.conditions.options) | {"counting": self.conditions.counting}
            if self.conditions
            else None,
            **self.view(self.fields, recall_with_fd=self.rule.recall_with_fd),
            **({} if self.ledger is None else {"per_document": self.ledger.view()}),
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


def evaluate(batches: Iterable[Batch | Comparison]) -> Evaluation:
    """Add up documents, in any order."""
    evaluation = Evaluation()
    for batch in batches:
        evaluation.update(batch)
    return evaluation


def _metric_view(name: str, measure: Measure) -> dict[str, object]:
    figures, problem = measure.outcome()
    said = {"problem": problem} if problem else {}
    return {"name": name, "figures": figures, "state": measure.state, **said}


def _keys_view(keys: list[tuple[Path, int]]) -> list[dict[str, object]]:
    return [{"path": field_path(path), "count": count} for path, count in keys]
