"""Scores for the splitting of packets, with the names and results of `stickler.doc_split`.

docs/packets.md explains why only this module has the packet score of stickler-eval.
"""

import csv
import math
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Any, Final

from stickler_cli.core.problems import Problem
from stickler_cli.reports.layout import TableStyle, draw
from stickler_cli.studies.packets.answer import PacketAccount, make_report, split_report
from stickler_cli.studies.packets.packet import (
    PacketSection,
    SectionOutcome,
    compare_packet,
    parse_sections,
    score_partitions,
)

_PLACES: Final = ("group_id", "group_id_predicted", "page_number", "page_number_predicted")
_CLASSES: Final = ("class_label", "class_label_predicted")
_ROUNDING: Final = 1e-8  # tolerance of sums of weights

_UNKNOWN: Final = "Unknown"
_SIDES: Final = {"gt": "ground truth", "pred": "predictions"}


class DocSplitClassificationMetrics:
    """Measures how well a packet was split, by the classes of pages and by whole sections."""

    def __init__(self) -> None:
        """Create an object without sections."""
        self.errors: list[str] = []
        """Messages about unusual sections, such as a page in two sections."""
        self._load((), ())

    def load_sections(
        self,
        ground_truth_sections: Sequence[Mapping[str, Any]],
        predicted_sections: Sequence[Mapping[str, Any]],
    ) -> None:
        """Load the sections of a packet. Sections that were loaded earlier are dropped.

        docs/packets.md describes the keys of a section.

        If two sections of the same side have the same page, the page belongs to the first section.
        `errors` lists such pages.

        Raises:
            ValueError: a section cannot be read.
        """
        self.errors = []
        gt = self._read_sections("gt", ground_truth_sections)
        self._load(gt, self._read_sections("pred", predicted_sections))

    def _read_sections(
        self, side: str, entries: Sequence[Mapping[str, Any]]
    ) -> tuple[PacketSection, ...]:
        named: list[Any] = [
            {"section_id": f"{side}_{position}", **entry} for position, entry in enumerate(entries)
        ]
        sections = parse_sections(named, _SIDES[side])
        if isinstance(sections, Problem):
            raise ValueError(str(sections))  # noqa: TRY004 - the value is wrong
        if sections.claimed_again:
            claimed = (
                f"number of pages in two sections: {sections.claimed_again}; such a page counts "
                "only for the first of its sections"
            )
            self.errors.append(f"{_SIDES[side]}: {claimed}")
        return sections.sections

    def _load(self, gt: Sequence[PacketSection], pred: Sequence[PacketSection]) -> None:
        self._gt, self._result = gt, compare_packet(gt, pred)
        self._pred = {frozenset(section.pages): section for section in pred}
        self.sections_gt, self.sections_pred = ([*map(_entry, side)] for side in (gt, pred))

    def calculate_page_level_accuracy(self) -> dict[str, Any]:
        """Return the share of pages that belong to a section of the right class, with details."""
        gt, pred = (
            {page: _class_label(section) for section in side for page in section.pages}
            for side in (self._gt, self._pred.values())
        )
        total, right = (int(self._result.sums[name]) for name in ("pages", "pages.right"))
        details = [
            {
                "page_index": page,
                "ground_truth_class": gt.get(page, "Missing"),
                "predicted_class": pred.get(page, "Missing"),
                "correct": page in gt and gt[page] == pred.get(page),
            }
            for page in sorted(gt.keys() | pred.keys())
        ]
        return {
            "accuracy": right / total if total else 0.0,
            "total_pages": total,
            "correct_pages": right,
            "page_details": details,
        }

    def calculate_split_accuracy_without_order(self) -> dict[str, Any]:
        """Return the share of true sections predicted with their class and pages, in any order."""
        return self._split_accuracy(ordered=False)

    def calculate_split_accuracy_with_order(self) -> dict[str, Any]:
        """Return the share of true sections predicted with their class, pages and page order."""
        return self._split_accuracy(ordered=True)

    def _split_accuracy(self, *, ordered: bool) -> dict[str, Any]:
        total = len(self._gt)
        right = int(self._result.sums["exact.order" if ordered else "exact.class"])
        outcomes = zip(self._gt, self._result.outcomes[:total], strict=True)
        return {
            "accuracy": right / total if total else 0.0,
            "total_sections": total,
            "correct_sections": right,
            "section_details": [self._detail(*outcome, ordered=ordered) for outcome in outcomes],
        }

    def _detail(self, gt: PacketSection, found: SectionOutcome, *, ordered: bool) -> dict[str, Any]:
        """Return the outcome of one true section, as a dict with the keys of stickler-eval."""
        same = found.outcome in ("exact", "order")
        in_order = found.outcome == "exact"
        pages = [*self._pred[frozenset(gt.pages)].pages] if same else []
        return {
            "section_id": gt.name,
            "ground_truth_class": _class_label(gt),
            "ground_truth_pages": [*gt.pages] if ordered else sorted(gt.pages),
            "matched": in_order if ordered else same,
            **({"order_matched": in_order} if ordered else {}),
            "matched_section_id": found.pred if same else None,
            "predicted_class": _class_label(gt) if same else "No Match",
            "predicted_pages": pages if ordered else sorted(pages),
        }

    def calculate_all_metrics(self) -> dict[str, Any]:
        """Return all three accuracies, with the details of each page and section."""
        return {
            "page_level_accuracy": self.calculate_page_level_accuracy(),
            "split_accuracy_without_order": self.calculate_split_accuracy_without_order(),
            "split_accuracy_with_order": self.calculate_split_accuracy_with_order(),
            "errors": self.errors,
        }

    def generate_markdown_report(self, metrics: Mapping[str, Any]) -> str:
        """Return `metrics` as Markdown, with the table that `stickler split` prints.

        `metrics` are the result of `calculate_all_metrics`.
        """
        accuracies = [
            f"- {name.replace('_', ' ')}: {metrics[name]['accuracy']:.4f}"
            for name in metrics
            if name != "errors"
        ]
        account = PacketAccount(
            id="packet", status="compared", problem="", sections=self._result.outcomes
        )
        report = split_report((_SIDES["gt"], _SIDES["pred"]), [(account, self._result)], None)
        table = draw(make_report(report).sections, TableStyle(None, plain=True))
        errors = [f"- {error}" for error in metrics["errors"]]
        head = ["# Document split classification", "", *accuracies, *errors]
        return "\n".join([*head, "", f"```text\n{table}```", ""])


def _class_label(section: PacketSection) -> str:
    return section.kind or _UNKNOWN


def _entry(section: PacketSection) -> dict[str, Any]:
    return {
        "section_id": section.name,
        "document_class": _class_label(section),
        "page_indices": [*section.pages],
    }


def evaluate_packet(
    data: Any,
    v_measure_weight: float = 0.5,
    alpha: float = 0.5,
    beta: float = 0.5,
    strict_clustering: bool = False,
) -> dict[str, Any]:
    """Score how well the pages of a packet are grouped and ordered, as stickler-eval does.

    Args:
        data: a row for each page, as dicts, a pandas frame, or the path of a CSV file. The columns
            are `group_id`, `page_number`, `group_id_predicted` and `page_number_predicted`. Group
            ids in a CSV file are texts.
        v_measure_weight: weight of the V-measure in `clustering_score`, in [0, 1]. The Rand index
            has the remaining weight.
        alpha: weight of `clustering_score` in `final_score`.
        beta: weight of `avg_ordering_score` in `final_score`.
        strict_clustering: whether a page counts as a group of its own if its `class_label` differs
            from its `class_label_predicted`.

    Raises:
        TypeError: `data` has another type.
        KeyError: a row lacks a column.
        ValueError: a weight is out of range, or a page number is invalid.
    """
    if not 0 <= v_measure_weight <= 1:
        raise ValueError(f"v_measure_weight is {v_measure_weight!r}, expected a number in [0, 1]")
    if abs(alpha + beta - 1) > _ROUNDING:
        finding = f"alpha and beta add up to {alpha + beta:g}, expected 1"
        warnings.warn(
            f"{finding}; final_score may be outside its usual range, 0 to 1", stacklevel=2
        )
    rows = _pages(data, (*_PLACES, *(_CLASSES if strict_clustering else ())))
    groups: defaultdict[Any, list[tuple[float, float]]] = defaultdict(list)
    for position, row in enumerate(rows):
        pages = _page_number(row, position, ""), _page_number(row, position, "_predicted")
        groups[row["group_id"]].append(pages)
    orders = {name: _tau(pages) for name, pages in groups.items()}
    order = sum(orders.values()) / len(orders) if orders else 0.0
    v_measure = rand = 0.0
    if rows:
        strict = strict_clustering
        has_wrong_class = [
            strict and row["class_label"] != row["class_label_predicted"] for row in rows
        ]
        alike = score_partitions(
            (
                row["group_id"],
                ("alone", position)
                if has_wrong_class[position]
                else ("of", row["group_id_predicted"]),
            )
            for position, row in enumerate(rows)
        )
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


def _pages(data: Any, columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return a row for each page, from dicts, a data frame or a CSV file.

    Raises:
        TypeError: `data` has another type.
        KeyError: a row lacks a column.
    """
    if isinstance(data, str):
        with File(data).open(encoding="utf-8-sig", newline="") as file:
            rows: list[Any] = [*csv.DictReader(file, strict=True)]
    elif isinstance(data, list):
        rows = data
    elif hasattr(data, "to_dict"):
        rows = data.to_dict("records")
    else:
        finding = f"data is {type(data).__name__}"
        raise TypeError(
            f"{finding}, expected a list of dicts, the path of a CSV file, or a data frame"
        )
    for position, row in enumerate(rows):
        if missing := [column for column in columns if column not in row]:
            raise KeyError(f"row {position} has no {', '.join(missing)}")
    return rows


def _page_number(row: Mapping[str, Any], position: int, side: str) -> float:
    column = f"page_number{side}"
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise ValueError(
            f"{column} of row {position} is {row[column]!r}, expected a number"
        ) from None


def _tau(pages: Sequence[tuple[float, float]]) -> float:
    """Return Kendall's tau-b between the true and the predicted page numbers of a group.

    Return 1 for a single page, and 0 if tau-b is undefined.
    """
    from scipy.stats import kendalltau

    if len(pages) == 1:
        return 1.0
    tau = float(kendalltau(*zip(*pages, strict=True)).statistic)
    return 0.0 if math.isnan(tau) else tau
