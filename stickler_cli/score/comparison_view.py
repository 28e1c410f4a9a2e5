"""Results as nested dictionaries: counts, rates, scores and errors of a document or of a run."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from stickler_cli.compare.units import FieldNames
from stickler_cli.core.deferred import DeferredObject, defer
from stickler_cli.core.locations import plain_path
from .batch import Batch
from .errors.error_rows import Error, error_record
from .field_counts import (
    FURTHER_COUNTS,
    N_OUTCOMES,
    N_UNIT_COUNTS,
    SCORE,
    SIMILARITY,
)
from .sums import (
    COUNTING_MODES,
    MOMENT_NAMES,
    OUTCOME_NAMES,
    SCORE_SCALE,
    Counts,
    FieldTallies,
    Tally,
    scale_score,
    sparse_record,
)

DOCUMENT_KEYS: Final = ("field_scores", "all_fields_matched", "non_matches", "errors")
"""The keys of the dictionary that `document_view` returns."""

NON_MATCH_TYPES: Final = {
    "FD": "false_discovery",
    "FA": "false_alarm",
    "FN": "false_negative",
}

FurtherKeys: TypeAlias = Callable[[FieldNames, Tally], Mapping[str, object]]
"""A function that returns additional keys for the dictionary of a field. It takes the path and the
sums of the field."""


def counts_view(
    batch: Batch, document: int = 0, *, recall_with_fd: bool = False, derived: bool = True
) -> dict[str, Any]:
    """Return the counts and scores of one document and of its fields, as nested dictionaries.

    The key `fields` of a document or field contains the dictionaries of the fields in it.
    `document` is the document's position among the compared documents. If `derived` is true, rates
    are added to the counts.
    """
    counts = batch.counts
    if counts is None:  # no document was compared
        return sums_view(FieldTallies({(): Tally()}), recall_with_fd=recall_with_fd)
    cells, scores, paths = counts.cells, counts.scores, counts.paths
    if len(counts.documents) > len(paths):  # the batch has several documents
        rows = np.flatnonzero(counts.documents == document)
        cells, scores = cells[rows], scores[:, rows]
        fields = np.searchsorted(counts.starts, rows, "right") - 1
        paths = [paths[field] for field in fields.tolist()]
    is_evaluated = cells[:, N_UNIT_COUNTS] == 0  # the count after those of units
    if not is_evaluated.all():
        paths = [paths[row] for row in np.flatnonzero(is_evaluated).tolist()]
        cells, scores = cells[is_evaluated], scores[:, is_evaluated]

    figures = scores.copy()  # the scores of a batch are cached
    figures[[SIMILARITY, SCORE]] = np.trunc(scores[[SIMILARITY, SCORE]] * SCORE_SCALE) / SCORE_SCALE
    unit_counts = cells[:, :N_UNIT_COUNTS].tolist()
    views: dict[FieldNames, dict[str, Any]] = {}
    for path, row_counts, (is_scored, similarity, score, weight) in zip(
        paths, unit_counts, figures.T.tolist(), strict=True
    ):
        view: dict[str, Any] = {}
        for mode, mode_view in _views_by_mode((*row_counts,), recall_with_fd):
            view[mode] = copied = mode_view.copy()  # the cached view must not change
            if derived:
                copied["derived"] = mode_view["derived"].copy()
            else:
                del copied["derived"]
        if is_scored and path:
            view["raw_similarity_score"] = view["similarity_score"] = similarity
            view["threshold_applied_score"] = score
            view["weight"] = weight
        views[path] = view
        if path:
            views[path[:-1]].setdefault("fields", {})[path[-1]] = view
    return views[()]


@lru_cache(4096)  # fields with one value have the same few counts
def _views_by_mode(
    unit_counts: tuple[int, ...], recall_with_fd: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Return (counting mode, dictionary of counts and rates) for each mode.

    `unit_counts` has the five outcome counts of the first mode, then those of the second, and so
    on.
    """
    views: list[tuple[str, dict[str, Any]]] = []
    for position, mode in enumerate(COUNTING_MODES):
        start = position * N_OUTCOMES
        counts = Counts(*unit_counts[start : start + N_OUTCOMES])
        views.append((mode, counts.view(recall_with_fd=recall_with_fd)))
    return views


def document_view(batch: Batch, document: int) -> dict[str, object]:
    """Return the field scores and errors of one document, as a dict.

    The keys are `field_scores`, `all_fields_matched`, `non_matches` and `errors`.
    """
    errors = batch.errors(document)
    tree = batch.tree(document)
    return {
        "field_scores": tree.field_scores if tree else {},
        "all_fields_matched": not errors,
        "non_matches": [non_match(error) for error in errors],
        "errors": [error_record(error) for error in errors],
    }


def non_match(error: Error) -> dict[str, Any]:
    """Return an error as an entry of `non_matches`, with the keys that stickler-eval uses."""
    details = {"reason": error.reason, "differing_fields": [*error.differing], "judge": error.judge}
    optional_figures = {
        "similarity_score": error.similarity,
        "inside": error.inside and plain_path(error.inside),
        "values": error.values,
    }
    return {
        "field_path": plain_path(error.path),
        "non_match_type": NON_MATCH_TYPES[error.outcome],
        "class": error.error_class.value,
        "ground_truth_value": error.gt,
        "prediction_value": error.pred,
        **{key: figure for key, figure in optional_figures.items() if figure is not None},
        "details": {key: detail for key, detail in details.items() if detail},
    }


def sums_view(
    sums: FieldTallies,
    *,
    recall_with_fd: bool = False,
    further_keys: FurtherKeys | None = None,
    deferred: bool = False,
) -> dict[str, Any]:
    """Return the counts and mean scores of documents and of their fields, as nested dictionaries.

    The key `fields` of a dictionary contains the dictionaries of the fields in it. In `sums`,
    parents must come before their children. `further_keys` returns additional keys for each field.
    If `deferred` is true, a field's dictionary is built only when it is read.
    """
    names_by_path: dict[FieldNames, list[str]] = {}  # fields, with the names of the fields in them
    for path, tally in sums.items():
        if tally.is_evaluated:
            names_by_path[path] = []
            if path:
                names_by_path[path[:-1]].append(path[-1])

    def build_view(path: FieldNames, fields: Mapping[str, object]) -> dict[str, Any]:
        view = _tally_view(path, sums[path], further_keys, recall_with_fd=recall_with_fd)
        return {**view, "fields": fields} if fields else view

    def build_deferred_view(path: FieldNames) -> dict[str, Any]:
        def build_field(name: str) -> object:
            view = build_deferred_view((*path, name))
            return defer(view) if "fields" in view else view

        return build_view(path, DeferredObject(names_by_path[path], build_field))

    if deferred:
        return build_deferred_view(())
    views: dict[FieldNames, dict[str, Any]] = {}
    for path in reversed(names_by_path):  # children come before their parents
        fields = {name: views.pop((*path, name)) for name in names_by_path[path]}
        views[path] = build_view(path, fields)
    return views[()]


def _tally_view(
    path: FieldNames, tally: Tally, further_keys: FurtherKeys | None, *, recall_with_fd: bool
) -> dict[str, Any]:
    """Return the counts, mean scores and additional keys of a field, without its inner fields."""
    view: dict[str, Any] = {
        mode: tally.counts(mode).view(recall_with_fd=recall_with_fd) for mode in COUNTING_MODES
    }
    if tally.n_scored and path:
        view["raw_similarity_score"] = view["similarity_score"] = tally.mean_similarity
        view["threshold_applied_score"] = tally.mean_score
        view["weight"] = tally.weight
    if further_keys is not None:
        view |= further_keys(path, tally)
    return view


def sums_record(tally: Tally, *, whole: bool) -> dict[str, object]:
    """Return the sums that a run file has in addition to the counts, so that runs can be merged.

    `whole` must be true if `tally` is about whole documents, and false if it is about a field. For
    whole documents, the number of scored documents and the sums of scores are left out, because
    another part of the run file has them.
    """
    record: dict[str, object] = {}
    if tally.n_scored and not whole:
        record["documents"] = tally.n_scored
        record["score_sums"] = {
            "raw_similarity_score": str(tally.similarity_sum),
            "threshold_applied_score": str(tally.score_sum),
            "threshold_applied_squares": str(tally.score_square_sum),
        }
    if moments := sparse_record(tally.moments, MOMENT_NAMES):
        record["moments"] = moments
    further_counts = zip(FURTHER_COUNTS, tally.cell[N_UNIT_COUNTS:], strict=True)
    record |= {name: count for name, count in further_counts if count}
    if tally.n_items:
        record["exact"] = tally.exact_rates._asdict()
    return record


def sums_of_view(view: Mapping[str, Any], score: float) -> FieldTallies:
    """Recover the sums of one document from what `counts_view` returned.

    `score` is the overall score of the document.

    Raises:
        KeyError: a key is missing.
    """
    sums = FieldTallies()
    nodes: list[tuple[FieldNames, Mapping[str, Any]]] = [((), view)]
    for path, node in nodes:  # the loop appends children to `nodes`: breadth first
        counts = [node[mode][name] for mode in COUNTING_MODES for name in OUTCOME_NAMES]
        tally = sums[path] = Tally([*counts, *[0] * len(FURTHER_COUNTS)])
        if not path:
            tally.n_scored, tally.score_sum = 1, scale_score(score)
        elif "threshold_applied_score" in node:
            tally.n_scored, tally.weight = 1, node["weight"]
            tally.similarity_sum = scale_score(node["raw_similarity_score"])
            tally.score_sum = scale_score(node["threshold_applied_score"])
        children = node.get("fields", {})
        nodes += (((*path, name), child) for name, child in children.items())
    return sums
