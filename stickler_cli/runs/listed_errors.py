"""The errors of a run that was made before, as a page lists them."""

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from stickler_cli.core.locations import Path, field_names
from stickler_cli.score.conditions import ANY_KEY
from stickler_cli.score.detail import Detail, non_match_row
from stickler_cli.score.errors.causes import Group, Kind, told_kind
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.kept_errors import SeenError
from stickler_cli.score.record import Run
from .saved import errors_of


def load_detail(name: str, run: Run) -> Detail | None:
    """Return what is kept of the errors of a run, but nothing else that a page could show.

    A run directory has them in a file, and the run of one pair has them itself; None for others.

    Raises:
        UsageError: the file cannot be read; with the line.
    """
    errors = errors_of(name, run)
    if errors is None:
        return None
    ledger = run.evaluation.ledger
    scores = {it.id: it.score for it in ledger.documents()} if ledger else {}
    known = frozenset(each.path for each in run.fields)
    detail = Detail(knows_values=False)
    for document, entries in groupby(errors, itemgetter(0)):
        seen = [
            SeenError(_cause(error, known), partial(non_match_row, document, error))
            for _, error in entries
        ]
        detail.errors.add((scores.get(document) or 0.0, document), seen)
    detail.errors.settle()
    return detail


def _cause(error: Mapping[str, Any], known: frozenset[Path]) -> tuple[Group, Kind] | None:
    """Return the cause that an error in a file belongs to, if it does not repeat another one."""
    names = field_names(error["field_path"])
    sides = error.get("ground_truth_value"), error.get("prediction_value")
    differing = tuple((error.get("details") or {}).get("differing_fields", ()))
    kind = told_kind(names, differing, sides, error.get("values"), error.get("inside"))
    if kind is None:
        return None
    pattern: tuple[str, ...] = ()
    for step in names:
        pattern = own if (own := (*pattern, step)) in known else (*pattern, ANY_KEY)
    return (pattern, ErrorClass(error.get("class", ErrorClass.OTHER))), kind
