"""Figures of whole runs beside those of the engine: the family of metrics, and those of a run."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import orjson

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import Family, Problem, UnknownNameError, UsageError


@dataclass(frozen=True, slots=True)
class MeasuredDocument:
    """A document that was compared."""

    id: str
    """As the run names it."""
    gt: JsonValue
    """The ground truth, values without metadata."""
    pred: JsonValue
    """The prediction, likewise; None of a document without one, which counts as missed."""
    score: float
    """Its overall score, in [0, 1]."""


class Metric(ABC):
    """The family of metrics: a figure over documents, or several.

    A subclass is made without arguments. What it keeps in its attributes must be JSON values, and
    its size should not grow with the documents: attributes go to other processes, to journals and
    to run files, and are set again on an instance that was made without `__init__`. Documents come
    in any order and in parts, so `merge` must give what adding all documents gives.
    """

    @abstractmethod
    def add(self, document: MeasuredDocument) -> None:
        """Take a document into account."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take into account all documents that another instance has."""

    @abstractmethod
    def result(self) -> float | Mapping[str, float | None] | None:
        """Return the figure, or figures by name; None where there is nothing to divide by."""


METRICS: Final = Family(
    "metric",
    Metric,  # type: ignore[type-abstract] # what others are subclasses of
    {
        "anls_star": "stickler_cli.comparators.anls:AnlsStar",
        "anls_star_numbers": "stickler_cli.comparators.anls:AnlsStarNumbers",
    },
    "stickler_cli.metrics",
)


@dataclass(slots=True, eq=False)
class Measure:
    """A metric of a run: at work, or as a file has it, which runs no code."""

    name: str
    metric: Metric | None = None
    kept: Mapping[str, Any] | None = None
    """The attributes of the metric, where there is none."""
    known: Mapping[str, float | None] | None = None
    """The figures of the metric, likewise."""
    problem: str = ""
    """Why it has no figures, which ends no run: the error at the first document by id;
    of one from a file that keeps something, that its result failed."""

    def add(self, document: MeasuredDocument) -> None:
        """Take a document into account."""
        metric = self.live()
        try:
            metric.add(document)
        except Exception as error:  # noqa: BLE001 - code of others, and all else is still right
            found = f"document {document.id}: {_failure(error)}"
            self.problem = min(found, self.problem or found)

    def merge(self, other: "Measure") -> None:
        """Take into account the documents of another one of the same name.

        Raises:
            UsageError: both come of files, and there is no metric of their name.
        """
        metric = self.metric or other.metric
        cls = type(metric) if metric is not None else _metric_class(self.name)
        self.problem = min(filter(None, (self.lasting, other.lasting)), default="")
        self.metric = self.live(cls)
        if self.problem:
            return
        try:
            self.metric.merge(other.live(cls))
        except Exception as error:  # noqa: BLE001 - likewise
            self.problem = f"merge: {_failure(error)}"

    @property
    def lasting(self) -> str:
        """A problem that more documents do not mend; a result that failed is asked for again."""
        return "" if self.metric is None and self.kept else self.problem

    def live(self, cls: type[Metric] | None = None) -> Metric:
        """Return the metric; one that was read from a file is made, of a class or by its name."""
        if self.metric is not None:
            return self.metric
        metric = object.__new__(cls or _metric_class(self.name))
        vars(metric).update(orjson.loads(orjson.dumps(self.kept)))
        return metric

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by name: of the metric, or below it as `name.part`; None if it failed."""
        return self.outcome()[0]

    def outcome(self) -> tuple[dict[str, float | None], str]:
        """Return the figures by name, and why there are none."""
        if self.metric is None:
            return dict(self.known or {}), self.problem
        none: dict[str, float | None] = {self.name: None}
        if problem := self.problem or self._unkept():
            return none, problem
        try:
            found = self.metric.result()
        except Exception as error:  # noqa: BLE001 - likewise
            return none, f"result: {_failure(error)}"
        parts = found if isinstance(found, Mapping) else {"": found}
        figures = {f"{self.name}.{part}" if part else self.name: parts[part] for part in parts}
        for name, figure in figures.items():
            is_figure = isinstance(figure, int | float) and not isinstance(figure, bool)
            if figure is not None and not (is_figure and math.isfinite(figure)):
                return none, f"result: {name} is {figure!r}, expected a finite number"
        return figures, ""

    @property
    def state(self) -> Mapping[str, Any]:
        """The attributes of the metric; nothing of one that failed."""
        if self.metric is None:
            return self.kept or {}
        return {} if self.problem or self._unkept() else vars(self.metric)

    def _unkept(self) -> str:
        """Return which attribute of the metric is no JSON."""
        for key, value in vars(self.metric).items():
            try:
                same = orjson.loads(orjson.dumps(value)) == value
            except (TypeError, ValueError):
                same = False
            if not same:
                return f"its attribute {key} is {type(value).__name__}, expected JSON values"
        return ""

    def record(self) -> dict[str, object]:
        """Return its record in run files."""
        figures, problem = self.outcome()
        said = {"problem": problem} if problem else {}
        return {"name": self.name, "figures": figures, "state": self.state, **said}

    def copied(self) -> "Measure":
        """Return one of the same documents, which others may be added to."""
        if self.metric is None:
            return Measure(self.name, None, self.kept, self.known, self.problem)
        measure = self.empty()
        measure.merge(self)
        return measure

    def empty(self) -> "Measure":
        """Return the same metric of no documents."""
        return Measure(self.name, None if self.metric is None else type(self.metric)())


def measures_of(
    asked: Iterable[str | type[Metric]], *, allow_plugins: bool = False
) -> dict[str, Measure]:
    """Return metrics of no documents by their names; a class has its own name.

    Raises:
        UsageError: there is no such metric, or it cannot be used.
    """
    found = {}
    for each in asked:
        name, cls = each if isinstance(each, str) else each.__name__, each
        if isinstance(cls, str):
            cls = _metric_class(name, allow_plugins=allow_plugins)
        found[name] = Measure(name, _instance_of(name, cls))
    return found


def _metric_class(name: str, *, allow_plugins: bool = False) -> type[Metric]:
    try:
        return METRICS.find(name, allow_plugins=allow_plugins)
    except UnknownNameError as error:
        found = f"there is no metric {name}"
        raise UsageError([Problem("--metric", found, error.expected, error.hint)]) from error


def load_metrics(measures: Iterable[Measure], *, allow_plugins: bool) -> None:
    """Put metrics from files to work, so that they can be merged.

    Raises:
        UsageError: there is none of a name.
    """
    for measure in measures:
        metric = measure.live(_metric_class(measure.name, allow_plugins=allow_plugins))
        measure.problem, measure.metric = measure.lasting, metric


def _instance_of(name: str, cls: type[Metric]) -> Metric:
    try:
        return cls()
    except Exception as error:
        raise UsageError([Problem(f"metric {name}", _failure(error))]) from error


def _failure(error: Exception) -> str:
    return f"it fails with {type(error).__name__}: {error}"
