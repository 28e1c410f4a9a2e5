"""The score that stickler-eval gives a packet; docs/packets.md says why it is only here."""

import csv
import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as File
from typing import Any, Final

from stickler_cli.studies.packets.partitions import likeness

_PLACES: Final = ("group_id", "group_id_predicted", "page_number", "page_number_predicted")
_CLASSES: Final = ("class_label", "class_label_predicted")
_ROUNDING: Final = 1e-8  # what weights may lack of 1


def evaluate_packet(
    data: Any,
    v_measure_weight: float = 0.5,
    alpha: float = 0.5,
    beta: float = 0.5,
    strict_clustering: bool = False,
) -> dict[str, Any]:
    """Return how well the pages of a packet are grouped and ordered, as stickler-eval does.

    Args:
        data: a row for each page: dicts, a pandas frame, or the path of a CSV file, with
            `group_id`, `page_number` and both again with `_predicted`. Groups of a CSV file are
            named by text.
        v_measure_weight: of V-measure in `clustering_score`, in [0, 1]; the rest is of Rand.
        alpha: of `clustering_score` in `final_score`.
        beta: of `avg_ordering_score` in it.
        strict_clustering: whether a page whose `class_label` is not `class_label_predicted` is in a
            group of its own.

    Raises:
        TypeError: `data` is something else.
        KeyError: a row lacks a column.
        ValueError: a weight is out of range, or a page number is none.
    """
    if not 0 <= v_measure_weight <= 1:
        raise ValueError(f"v_measure_weight is {v_measure_weight!r}, expected a number in [0, 1]")
    if abs(alpha + beta - 1) > _ROUNDING:
        found = f"alpha and beta add up to {alpha + beta:g}, expected 1"
        warnings.warn(f"{found}: final_score is on another scale", stacklevel=2)
    rows = _rows(data, (*_PLACES, *(_CLASSES if strict_clustering else ())))
    orders = _orders(rows)
    order = sum(orders.values()) / len(orders) if orders else 0.0
    v_measure = rand = 0.0
    if rows:
        alike = likeness(_groups(rows, strict=strict_clustering))
        v_measure, rand = alike.v_measure, alike.rand
    clustering = v_measure_weight * v_measure + (1 - v_measure_weight) * rand
    return {
        "final_score": alpha * clustering + beta * order,
        "clustering_score": clustering,
        "v_measure": v_measure,
        "rand_index": rand,
        "avg_ordering_score": order,
        "group_ordering_scores": orders,
        "strict_clustering": strict_clustering,
    }


def _rows(data: Any, columns: Sequence[str]) -> list[Mapping[str, Any]]:
    if isinstance(data, str):
        with File(data).open(encoding="utf-8-sig", newline="") as file:
            rows: list[Any] = [*csv.DictReader(file)]
    elif isinstance(data, list):
        rows = data
    elif hasattr(data, "to_dict"):
        rows = data.to_dict("records")
    else:
        found = f"data is {type(data).__name__}"
        raise TypeError(f"{found}, expected a list of dicts, the path of a CSV file, or a frame")
    for at, row in enumerate(rows):
        if missing := [column for column in columns if column not in row]:
            raise KeyError(f"row {at} has no {', '.join(missing)}")
    return rows


def _groups(rows: Iterable[Mapping[str, Any]], *, strict: bool) -> Iterable[tuple[Any, Any]]:
    for at, row in enumerate(rows):
        alone = strict and row["class_label"] != row["class_label_predicted"]
        yield row["group_id"], ("alone", at) if alone else ("of", row["group_id_predicted"])


def _orders(rows: Iterable[Mapping[str, Any]]) -> dict[Any, float]:
    """Return Kendall's tau-b of the page numbers of each group; 1 of one page, 0 if undefined."""
    groups: defaultdict[Any, list[tuple[float, float]]] = defaultdict(list)
    for at, row in enumerate(rows):
        pages = _number(row, at, "page_number"), _number(row, at, "page_number_predicted")
        groups[row["group_id"]].append(pages)
    return {name: _tau(pages) for name, pages in groups.items()}


def _number(row: Mapping[str, Any], at: int, column: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise ValueError(f"{column} of row {at} is {row[column]!r}, expected a number") from None


def _tau(pages: Sequence[tuple[float, float]]) -> float:
    from scipy.stats import kendalltau

    if len(pages) == 1:
        return 1.0
    tau = float(kendalltau(*zip(*pages, strict=True)).statistic)
    return 0.0 if math.isnan(tau) else tau
