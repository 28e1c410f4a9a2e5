"""The metrics of a run by name: made, added to, put together, kept, and shown."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from stickler_cli.core.plugins import Family, UnknownNameError
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from .metric import MeasuredDocument, Metric

ANLS: Final = "anls_star"

METRICS: Final = Family(
    "metric",
    Metric,  # type: ignore[type-abstract] # what others are subclasses of
    {ANLS: "stickler_cli.metrics.anls_star:AnlsStar"},
    "stickler_cli.metrics",
)


@dataclass(slots=True, eq=False)
class Measure:
    """A metric of a run: at work, or as a file tells of it, which runs no code."""

    name: str
    metric: Metric | None = None
    kept: Mapping[str, Any] | None = None
    """The attributes of the metric, where there is none."""
    known: Mapping[str, float | None] | None = None
    """The figures of the metric, likewise."""

    def add(self, document: MeasuredDocument) -> None:
        """Take a document into account.

        Raises:
            UsageError: the metric fails.
        """
        metric = self.live()
        try:
            metric.add(document)
        except Exception as error:
            raise _failed(self.name, f"document {document.id}: ", error) from error

    def merge(self, other: "Measure") -> None:
        """Take into account the documents of another one of the same name.

        Raises:
            UsageError: the metric fails, or both come of files, and there is none of its name.
        """
        metric = self.metric or other.metric
        cls = type(metric) if metric is not None else _class(self.name)
        self.metric = self.live(cls)
        try:
            self.metric.merge(other.live(cls))
        except Exception as error:
            raise _failed(self.name, "", error) from error

    def live(self, cls: type[Metric] | None = None) -> Metric:
        """Return the metric; one that was read from a file is made, of a class or by its name."""
        if self.metric is not None:
            return self.metric
        metric = object.__new__(cls or _class(self.name))
        vars(metric).update(orjson.loads(orjson.dumps(self.kept)))
        return metric

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by name: that of the metric, or below it as `name.part`.

        Raises:
            UsageError: the metric fails, or gives what is no figure.
        """
        if self.metric is None:
            return dict(self.known or {})
        try:
            found = self.metric.result()
        except Exception as error:
            raise _failed(self.name, "", error) from error
        parts = found if isinstance(found, Mapping) else {"": found}
        figures = {f"{self.name}.{part}" if part else self.name: parts[part] for part in parts}
        for name, figure in figures.items():
            is_figure = isinstance(figure, int | float) and not isinstance(figure, bool)
            if figure is not None and not (is_figure and math.isfinite(figure)):
                raise UsageError([Problem(name, f"the result is {figure!r}", "a finite number")])
        return figures

    @property
    def state(self) -> Mapping[str, Any]:
        """What the metric keeps.

        Raises:
            UsageError: it is no JSON.
        """
        if self.metric is None:
            return self.kept or {}
        state = vars(self.metric)
        for key, value in state.items():
            try:
                same = orjson.loads(orjson.dumps(value)) == value
            except (TypeError, ValueError):
                same = False
            if not same:
                found = f"its attribute {key} is {type(value).__name__}"
                raise UsageError([Problem(self.name, found, "JSON values")])
        return state

    def copied(self) -> "Measure":
        """Return one of the same documents, which others may be added to."""
        if self.metric is None:
            return Measure(self.name, None, self.kept, self.known)
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
            cls = _class(name, allow_plugins=allow_plugins)
        found[name] = Measure(name, _made(name, cls))
    return found


def _class(name: str, *, allow_plugins: bool = False) -> type[Metric]:
    try:
        return METRICS.find(name, allow_plugins=allow_plugins)
    except UnknownNameError as error:
        found = f"there is no metric {name}"
        raise UsageError([Problem("--metric", found, error.expected, error.hint)]) from error


def _made(name: str, cls: type[Metric]) -> Metric:
    try:
        return cls()
    except Exception as error:
        raise _failed(name, "", error) from error


def _failed(name: str, where: str, error: Exception) -> UsageError:
    if isinstance(error, UsageError):
        return error
    found = f"{where}it fails with {type(error).__name__}: {error}"
    return UsageError([Problem(f"metric {name}", found)])
