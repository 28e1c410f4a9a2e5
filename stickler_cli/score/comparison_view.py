"""The dict that users of one comparison know: scores, confusion matrix, non-matches."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import plain_path
from .batch import Batch
from .errors.error_rows import Error, error_record
from .field_counts import BESIDE, OF_MODES, OUTCOMES, RAW, SCORE, SCORED, WEIGHT
from .sums import COUNTING_MODES, KEYS, NAMES, SCORE_UNIT, Counts, Sums, Tally, sparse, units_of

DOCUMENT_KEYS: Final = ("field_scores", "all_fields_matched", "non_matches", "errors")
"""Those of `document_view`."""

NON_MATCH_TYPES: Final = {
    "FD": "false_discovery",
    "FA": "false_alarm",
    "FN": "false_negative",
}

More: TypeAlias = Callable[[FieldNames, Tally], Mapping[str, object]]


def counts_view(
    batch: Batch, document: int = 0, *, recall_with_fd: bool = False, derived: bool = True
) -> dict[str, Any]:
    """Return the counts, scores and fields of a document of a batch as results show them."""
    counts = batch.counts
    views: dict[FieldNames, dict[str, Any]] = {}
    if counts is None:  # nothing was compared
        return sums_view(Sums({(): Tally()}), recall_with_fd=recall_with_fd)
    cells, scores, paths = counts.cells, counts.scores, counts.paths
    if len(counts.documents) > len(paths):  # of several documents
        rows = np.flatnonzero(counts.documents == document)
        cells, scores = cells[rows], scores[:, rows]
        fields = np.searchsorted(counts.starts, rows, "right") - 1
        paths = [paths[field] for field in fields.tolist()]
    if cells[:, OF_MODES].any():  # not evaluated
        kept = cells[:, OF_MODES] == 0
        paths = [path for path, it in zip(paths, kept.tolist(), strict=True) if it]
        cells, scores = cells[kept], scores[:, kept]
    figures = (np.trunc(scores[RAW : SCORE + 1] * SCORE_UNIT) / SCORE_UNIT).tolist()
    beside = scores[SCORED].tolist(), *figures, scores[WEIGHT].tolist()
    modes = cells[:, :OF_MODES].tolist()
    for path, of_modes, scored, raw, score, weight in zip(paths, modes, *beside, strict=True):
        view: dict[str, Any] = {}
        for mode, known in _with_rates((*of_modes,), recall_with_fd):
            view[mode] = of_mode = known.copy()
            if derived:
                of_mode["derived"] = known["derived"].copy()
            else:
                del of_mode["derived"]
        if scored and path:
            view["raw_similarity_score"] = view["similarity_score"] = raw
            view["threshold_applied_score"] = score
            view["weight"] = weight
        views[path] = view
        if path:
            views[path[:-1]].setdefault("fields", {})[path[-1]] = view
    return views[()]


@lru_cache(4096)  # most fields of a document have one value
def _with_rates(row: tuple[int, ...], recall_with_fd: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return each mode with its counts, which follow each other, and their rates."""
    known = (Counts(*row[at : at + OUTCOMES]) for at in range(0, len(row), OUTCOMES))
    views: Any = (counts.view(recall_with_fd=recall_with_fd) for counts in known)
    return [*zip(COUNTING_MODES, views, strict=True)]


def document_view(batch: Batch, document: int) -> dict[str, object]:
    """Return what results say of one document beyond its counts."""
    errors = batch.errors(document)
    tree = batch.tree(document)
    return {
        "field_scores": tree.field_scores if tree else {},
        "all_fields_matched": not errors,
        "non_matches": [non_match(error) for error in errors],
        "errors": [error_record(error) for error in errors],
    }


def non_match(error: Error) -> dict[str, Any]:
    """Return an error by the names of stickler-eval, as an entry of `non_matches`."""
    details = {"reason": error.reason, "differing_fields": [*error.differing], "judge": error.judge}
    figures = {
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
        **{key: figure for key, figure in figures.items() if figure is not None},
        "details": {key: said for key, said in details.items() if said},
    }


def sums_view(
    sums: Sums, *, recall_with_fd: bool = False, more: More | None = None
) -> dict[str, Any]:
    """Return the counts, mean scores and fields of documents as results show them.

    Parents come first; `more` says more of a field.
    """
    views: dict[FieldNames, dict[str, Any]] = {}
    for path, tally in sums.items():
        if not tally.evaluated:
            continue
        view: dict[str, Any] = {
            mode: tally.counts(mode).view(recall_with_fd=recall_with_fd) for mode in COUNTING_MODES
        }
        if tally.scored and path:
            view["raw_similarity_score"] = view["similarity_score"] = tally.mean_raw
            view["threshold_applied_score"] = tally.mean_score
            view["weight"] = tally.weight
        if more is not None:
            view |= more(path, tally)
        views[path] = view
        if path:
            views[path[:-1]].setdefault("fields", {})[path[-1]] = view
    return views[()]


def sums_record(tally: Tally, *, whole: bool) -> dict[str, object]:
    """Return what a node has beside its counts, from which runs are merged."""
    said: dict[str, object] = {}
    if tally.scored and not whole:
        said["documents"] = tally.scored
        said["score_sums"] = {
            "raw_similarity_score": str(tally.raw_units),
            "threshold_applied_score": str(tally.score_units),
            "threshold_applied_squares": str(tally.score_squares),
        }
    if moments := sparse(tally.moments, KEYS):
        said["moments"] = moments
    beside = zip(BESIDE, tally.cell[OF_MODES:], strict=True)
    said |= {name: count for name, count in beside if count}
    if tally.items:
        said["exact"] = tally.exact._asdict()
    return said


def sums_of_view(view: Mapping[str, Any], score: float) -> Sums:
    """Return the sums of one document that `counts_view` showed, and of its overall score.

    Raises:
        KeyError: with what is missing.
    """
    found = Sums()
    todo: list[tuple[FieldNames, Mapping[str, Any]]] = [((), view)]
    for path, node in todo:
        counts = [node[mode][name] for mode in COUNTING_MODES for name in NAMES]
        tally = found[path] = Tally([*counts, *[0] * len(BESIDE)])
        if not path:
            tally.scored, tally.score_units = 1, units_of(score)
        elif "threshold_applied_score" in node:
            tally.scored, tally.weight = 1, node["weight"]
            tally.raw_units = units_of(node["raw_similarity_score"])
            tally.score_units = units_of(node["threshold_applied_score"])
        todo += (((*path, name), part) for name, part in node.get("fields", {}).items())
    return found
