"""The dict that users of one comparison know: scores, confusion matrix, non-matches."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import Path
from .batch import Batch
from .counts import Counts
from .errors.error_rows import Error, error_record
from .field_counts import Names
from .tally import COUNTING_MODES, SCORE_UNIT, Tally, units_of

DOCUMENT_KEYS: Final = ("field_scores", "all_fields_matched", "non_matches", "errors")
"""Those of `document_view`."""

NON_MATCH_TYPES: Final = {
    "FD": "false_discovery",
    "FA": "false_alarm",
    "FN": "false_negative",
}

More: TypeAlias = Callable[[Path, Tally], Mapping[str, object]]


def comparison_view(batch: Batch, *, recall_with_fd: bool = False) -> dict[str, object]:
    """Return the results of a batch of one document as JSON values.

    Keys: `overall_score`, `confusion_matrix`, and those of `document_view`; docs/results.md
    describes each.
    """
    return {
        "overall_score": batch.results[0].score,
        "confusion_matrix": {"fields": {}, **counts_view(batch, recall_with_fd=recall_with_fd)},
        **document_view(batch, 0),
    }


def counts_view(
    batch: Batch, document: int = 0, *, recall_with_fd: bool = False, derived: bool = True
) -> dict[str, Any]:
    """Return the counts, scores and fields of a document of a batch as results show them."""
    counts = batch.counts
    views: dict[Names, dict[str, Any]] = {}
    if counts is None:  # nothing was compared
        return {**tally_view(Tally(), recall_with_fd=recall_with_fd)}
    sums, scores, paths = counts.sums, counts.scores, counts.paths
    if len(counts.documents) > len(paths):  # of several documents
        rows = np.flatnonzero(counts.documents == document)
        sums, scores = sums[:, rows], scores[:, rows]
        fields = np.searchsorted(counts.starts, rows, "right") - 1
        paths = [paths[field] for field in fields.tolist()]
    for path, *modes, scored, raw, score, weight in zip(
        paths, *sums.tolist(), *scores.tolist(), strict=True
    ):
        view: dict[str, Any] = {}
        for mode, of_mode in zip(COUNTING_MODES, modes, strict=True):
            shown, rates = _with_rates(tuple(of_mode), recall_with_fd)
            view[mode] = of_it = shown.copy()
            if derived:
                of_it["derived"] = rates.copy()
        if scored:
            similarity = units_of(raw) / SCORE_UNIT
            view["raw_similarity_score"] = view["similarity_score"] = similarity
            view["threshold_applied_score"] = units_of(score) / SCORE_UNIT
            view["weight"] = weight
        views[path] = view
        if path:
            views[path[:-1]].setdefault("fields", {})[path[-1]] = view
    return views[()]


@lru_cache(4096)  # most fields of a document have one value
def _with_rates(
    counts: tuple[int, ...], recall_with_fd: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    view = Counts(*counts).view(recall_with_fd=recall_with_fd)
    rates: Any = view.pop("derived")
    return view, rates


def tally_of(batch: Batch) -> Tally:
    """Return the counts of the documents of a batch."""
    tally = Tally()
    if batch.counts is not None:
        tally.add(batch.counts)
    return tally


def document_view(batch: Batch, document: int) -> dict[str, object]:
    """Return what results say of one document beyond its counts."""
    errors = batch.errors(document)
    comparison = batch.comparison(document)
    return {
        "field_scores": comparison.field_scores if comparison else {},
        "all_fields_matched": not errors,
        "non_matches": [non_match(error) for error in errors],
        "errors": [error_record(error) for error in errors],
    }


def non_match(error: Error) -> dict[str, Any]:
    """Return an error by the names of stickler-eval, as an entry of `non_matches`."""
    details = {"reason": error.reason, "differing_fields": [*error.differing], "judge": error.judge}
    figures = {
        "similarity_score": error.similarity,
        "inside": error.inside,
        "values": error.values,
    }
    return {
        "field_path": error.path,
        "non_match_type": NON_MATCH_TYPES[error.outcome],
        "class": error.error_class.value,
        "ground_truth_value": error.gt,
        "prediction_value": error.pred,
        **{key: figure for key, figure in figures.items() if figure is not None},
        "details": {key: said for key, said in details.items() if said},
    }


def tally_view(
    node: Tally, *, recall_with_fd: bool, more: More | None = None, path: Path = ()
) -> dict[str, object]:
    """Return a node's counts, mean scores and fields as results show them; `more` says more."""
    view: dict[str, object] = {
        mode: node.counts(mode).view(recall_with_fd=recall_with_fd) for mode in COUNTING_MODES
    }
    if node.scored:
        view["raw_similarity_score"] = node.mean_raw
        view["similarity_score"] = node.mean_raw
        view["threshold_applied_score"] = node.mean_score
        view["weight"] = node.weight
    if more is not None:
        view |= more(path, node)
    if node.fields:
        view["fields"] = {
            name: tally_view(child, recall_with_fd=recall_with_fd, more=more, path=(*path, name))
            for name, child in node.fields.items()
        }
    return view


def tally_of_view(view: Mapping[str, Any]) -> Tally:
    """Return the counts of one document that `tally_view` showed.

    Raises:
        KeyError: with what is missing.
    """
    overall, aggregate, leaves = (
        [view[mode][outcome.name.lower()] for outcome in Outcome] for mode in COUNTING_MODES
    )
    node = Tally(overall, aggregate, leaves)
    if "threshold_applied_score" in view:
        node.scored, node.weight = 1, view["weight"]
        node.raw_units = units_of(view["raw_similarity_score"])
        node.score_units = units_of(view["threshold_applied_score"])
    node.fields = {name: tally_of_view(part) for name, part in view.get("fields", {}).items()}
    return node
