"""Metrics that a user adds to runs: their base class, and their state in a run."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import orjson

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import Family, Problem, UnknownNameError, UsageError


@dataclass(frozen=True, slots=True)
class MeasuredDocument:
    """A compared document, as a metric sees it."""

    id: str
    """Id of the document in the run."""
    gt: JsonValue
    """The ground truth without wrappers and metadata."""
    pred: JsonValue
    """The prediction without wrappers and metadata. None if there is no prediction and all values
    count as missed."""
    score: float
    """Overall score of the document, in [0, 1]."""


class Metric(ABC):
    """Base class of metrics. A metric computes one or several figures from documents.

    A subclass is created without arguments. Its attributes must be JSON values, whose size should
    not grow with the number of documents. They are sent to other processes and written to journals
    and run files. Later they are set on another instance, whose `__init__` is not called.

    Documents come in any order and are spread over several instances. `merge` must therefore give
    the same result as adding all documents to one instance.
    """

    @abstractmethod
    def add(self, document: MeasuredDocument) -> None:
        """Add a document to the metric."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add all documents that were added to another instance."""

    @abstractmethod
    def result(self) -> float | Mapping[str, float | None] | None:
        """Return the figure, or a mapping from name to figure. None is an undefined figure."""


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
    """The state of one metric in a run.

    A measure holds either an instance of `Metric`, or the figures and attributes that were read
    from a run file.
    """

    name: str
    metric: Metric | None = None
    recorded_state: Mapping[str, Any] | None = None
    """Attributes of the metric, read from a run file; None if `metric` is set."""
    recorded_figures: Mapping[str, float | None] | None = None
    """Figures of the metric, read from a run file; None if `metric` is set."""
    problem: str = ""
    """Message about an error of the metric; empty if there was none. After such an error, the
    metric has no figures, but the run goes on. If several documents failed, the message is about
    the one with the lowest id. If there is a `recorded_state`, the documents were added without
    errors, and the error occurred in `result`."""

    def add(self, document: MeasuredDocument) -> None:
        """Add a document to the metric."""
        self.problem = self.lasting_problem
        self.metric = self.load_instance()
        try:
            self.metric.add(document)
        except Exception as error:  # noqa: BLE001 - code of others, and all else is still right
            problem = f"document {document.id}: {_failure(error)}"
            self.problem = min(problem, self.problem or problem)

    def merge(self, other: "Measure") -> None:
        """Add the documents of another measure of the same metric.

        Raises:
            UsageError: both measures were read from run files, and no metric class has the name of
                the measures.
        """
        metric = self.metric or other.metric
        cls = type(metric) if metric is not None else _metric_class(self.name)
        self.problem = min(filter(None, (self.lasting_problem, other.lasting_problem)), default="")
        self.metric = self.load_instance(cls)
        if self.problem:
            return
        try:
            self.metric.merge(other.load_instance(cls))
        except Exception as error:  # noqa: BLE001 - code of others
            self.problem = f"merge: {_failure(error)}"

    @property
    def lasting_problem(self) -> str:
        """The problem, if adding more documents cannot solve it; else empty.

        A problem that was read from a file together with attributes occurred in `result`. With more
        documents, `result` may succeed.
        """
        return "" if self.metric is None and self.recorded_state else self.problem

    def load_instance(self, cls: type[Metric] | None = None) -> Metric:
        """Return the instance of the metric.

        If the measure was read from a file, the instance is created. Its class is `cls`, or else
        the class with the metric's name.
        """
        if self.metric is not None:
            return self.metric
        metric = object.__new__(cls or _metric_class(self.name))
        vars(metric).update(orjson.loads(orjson.dumps(self.recorded_state)))
        return metric

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures of the metric, keyed by name.

        If the metric has several figures, their names are `metric.figure`. If the metric failed,
        the only key is the name of the metric, and its value is None.
        """
        return self.outcome()[0]

    def outcome(self) -> tuple[dict[str, float | None], str]:
        """Return (figures as in `figures`, problem).

        The problem is empty if the metric succeeded.
        """
        if self.metric is None:
            return dict(self.recorded_figures or {}), self.problem
        no_figures: dict[str, float | None] = {self.name: None}
        if problem := self.problem or self._unkept():
            return no_figures, problem
        try:
            result = self.metric.result()
        except Exception as error:  # noqa: BLE001 - code of others
            return no_figures, f"result: {_failure(error)}"
        figures_by_key = result if isinstance(result, Mapping) else {"": result}
        figures = {
            f"{self.name}.{key}" if key else self.name: figures_by_key[key]
            for key in figures_by_key
        }
        for name, figure in figures.items():
            is_figure = isinstance(figure, int | float) and not isinstance(figure, bool)
            if figure is not None and not (is_figure and math.isfinite(figure)):
                return no_figures, (
                    f"the metric returned {figure!r} for {name}, expected a finite number"
                )
        return figures, ""

    @property
    def state(self) -> Mapping[str, Any]:
        """The attributes of the instance; empty if the metric failed."""
        if self.metric is None:
            return self.recorded_state or {}
        return {} if self.problem or self._unkept() else vars(self.metric)

    def _unkept(self) -> str:
        """Return a problem if an attribute of the instance is not a JSON value, else empty."""
        for key, value in vars(self.metric).items():
            try:
                same = orjson.loads(orjson.dumps(value)) == value
            except (TypeError, ValueError):
                same = False
            if not same:
                return (
                    f"the attribute {key} of the metric is {type(value).__name__}, expected "
                    "JSON values"
                )
        return ""

    def record(self) -> dict[str, object]:
        """Return the measure as it is written to run files."""
        figures, problem = self.outcome()
        problems = {"problem": problem} if problem else {}
        return {"name": self.name, "figures": figures, "state": self.state, **problems}

    def copied(self) -> "Measure":
        """Return a copy. Merging other measures into the copy leaves this measure unchanged."""
        if self.metric is None:
            return replace(self)
        measure = self.empty()
        measure.merge(self)
        return measure

    def empty(self) -> "Measure":
        """Return a measure of the same metric without documents."""
        return Measure(self.name, None if self.metric is None else type(self.metric)())


def measures_of(
    metrics: Iterable[str | type[Metric]], *, allow_plugins: bool = False
) -> dict[str, Measure]:
    """Return a new measure without documents for each metric, keyed by the name of the metric.

    `metrics` has the name or the class of each metric.

    Raises:
        UsageError: there is no such metric, or it cannot be used.
    """
    measures = {}
    for metric in metrics:
        name, cls = metric if isinstance(metric, str) else metric.__name__, metric
        if isinstance(cls, str):
            cls = _metric_class(name, allow_plugins=allow_plugins)
        measures[name] = Measure(name, _instance_of(name, cls))
    return measures


def _metric_class(name: str, *, allow_plugins: bool = False) -> type[Metric]:
    try:
        return METRICS.find(name, allow_plugins=allow_plugins)
    except UnknownNameError as error:
        finding = f"unknown metric {name}"
        raise UsageError([Problem("--metric", finding, error.expected, error.hint)]) from error


def load_metrics(measures: Iterable[Measure], *, allow_plugins: bool) -> None:
    """Create the instances of measures that were read from files, so that they can be merged.

    Raises:
        UsageError: no metric has the name of one of the measures.
    """
    for measure in measures:
        metric = measure.load_instance(_metric_class(measure.name, allow_plugins=allow_plugins))
        measure.problem, measure.metric = measure.lasting_problem, metric


def _instance_of(name: str, cls: type[Metric]) -> Metric:
    try:
        return cls()
    except Exception as error:
        raise UsageError([Problem(f"metric {name}", _failure(error))]) from error


def _failure(error: Exception) -> str:
    return f"the metric failed with {type(error).__name__}: {error}"
