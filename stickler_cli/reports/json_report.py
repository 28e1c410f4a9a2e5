"""Runs, comparisons and differences as JSON text; all other reports show the same values."""

import json
import math
from collections.abc import Iterator
from typing import Any, Final

import orjson

from stickler_cli import __version__
from stickler_cli.compare.tree import TreePart
from stickler_cli.core.locations import field_path
from stickler_cli.core.rules import encoded
from stickler_cli.core.sections import Report
from stickler_cli.score.record import PER_DOCUMENT, Run, run_record
from stickler_cli.studies.diff.record import Difference
from .cause_sentences import causes
from .layout import TableStyle
from .pair import ComparedPair, diff_values, differs
from .view import RunView

COMPARISON_FORMAT: Final = "stickler-comparison/1"

_OPTIONS: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_INDENT: Final = "  "
_END: Final = "\n}\n"

_MOST_INDENTED: Final = 100
"""Depth up to which lines are indented; below it, indentation would take more room than the
values."""


def render(
    subject: Run | Difference | ComparedPair | Report, style: TableStyle
) -> str | Iterator[str]:
    """Return a subject as JSON text; a run is yielded in pieces, one for each document."""
    match subject:
        case Run():
            return _run_pieces(subject)
        case Report():
            return _record_text(encoded(subject.record))
        case ComparedPair():
            return _record_text(comparison_record(subject))
        case _:
            return _record_text(encoded(subject))


def _run_pieces(run: Run) -> Iterator[str]:
    yield _run_text(run).removesuffix(_END)
    if (blocks := run.evaluation.ledger.blocks) is not None:
        yield f',\n{_INDENT}"{PER_DOCUMENT}": ['
        between = f"\n{_INDENT * 2}"
        for _, line in blocks.lines():
            yield between + line.decode()
            between = f",\n{_INDENT * 2}"
        yield f"\n{_INDENT}]" if len(blocks) else "]"
    yield _END


def _run_text(run: Run) -> str:
    record: dict[str, Any] = run_record(run, per_document=False)
    first_causes, other_causes = causes(RunView(run))
    texts = {cause.number: cause.text for cause in (*first_causes, *other_causes)}
    record["causes"] = [
        {**cause, "text": texts[cause["number"]]} if cause.get("number") in texts else cause
        for cause in record["causes"]
    ]
    return _record_text(record)


def _record_text(record: object) -> str:
    try:
        return orjson.dumps(record, option=_OPTIONS).decode()
    except orjson.JSONEncodeError:  # an id or name contains a lone surrogate
        return json_text(record) + "\n"


def comparison_record(pair: ComparedPair) -> dict[str, object]:
    """Return a comparison as JSON values; docs/compare.md describes its keys."""
    return {
        "format": COMPARISON_FORMAT,
        "version": __version__,
        "document": pair.document,
        "schema": {"path": pair.schema, "model_name": pair.model_name},
        "options": {
            "pairing_floor": pair.pairing_floor,
            "extra_fields": pair.extra_fields,
            "partial_gt": pair.partial_gt,
        },
        "overall_score": pair.overall_score,
        "places": [_place_record(pair, place) for place in pair.chosen],
    }


def _place_record(pair: ComparedPair, place: TreePart) -> dict[str, object]:
    """Return the record of a unit and of all units inside it, without keys that have no value."""
    error_class, pred_path = pair.class_of(place), field_path(place.pred_path)
    difference = diff_values(place.own_gt, place.own_pred) if differs(place) else []
    entries: dict[str, object] = {
        "path": field_path(place.gt_path),
        "prediction_path": None if place.pred_path == place.gt_path else pred_path,
        "kind": place.kind,
        "outcome": place.outcome.name,
        "class": error_class,
        "swapped_with": pair.swapped_with(place) or None,
        "difference": [{"text": segment.text, "in": segment.side} for segment in difference]
        or None,
        "comparator": place.comparator or None,
        "reason": place.reason or None,
        "alternatives": list(place.other_alternatives) or None,
        "similarity": place.similarity,
        "score": place.score,
        "threshold": None if place.is_extra_key else place.threshold,
        "threshold_source": None if place.is_extra_key else place.threshold_source,
        "weight": place.weight,
        "adds": place.adds,
        "pairing_floor": place.floor,
        "pairing_floor_source": None if place.floor is None else place.floor_source,
        "pairing": encoded(place.pairing),
        "sum": encoded(place.sum),
        "undeclared_keys": list(place.undeclared_keys) or None,
        "parts": [_place_record(pair, child) for child in place.parts] or None,
    }
    record = {key: value for key, value in entries.items() if value is not None}
    if place.kind == "leaf" or place.sum is None:
        record |= {"ground_truth_value": place.own_gt, "prediction_value": place.own_pred}
    return record


def json_text(value: object) -> str:
    r"""Return JSON text for values that orjson refuses, such as large integers and deep nesting.

    Like orjson, it writes NaN and infinities as null. It does not recurse, as documents may be
    nested deeper than the stack. The text is ASCII, so that lone surrogates are escaped. Values
    more than `_MOST_INDENTED` levels deep are on one line.

    >>> json_text({"a": [2**64, {}]})
    '{\n  "a": [\n    18446744073709551616,\n    {}\n  ]\n}'
    """
    texts: list[str] = []
    pending: list[str | tuple[object, int]] = [(value, 0)]
    while pending:
        text_or_value = pending.pop()
        if isinstance(text_or_value, str):
            texts.append(text_or_value)
        else:
            pending += reversed(_split_one_level(*text_or_value))
    return "".join(texts)


def _split_one_level(value: object, depth: int) -> list[str | tuple[object, int]]:
    """Split a value by one level: into pieces of text, and inner values with their depth."""
    entries: list[tuple[str, object]]
    match value:
        case dict() if value:
            brackets = "{}"
            entries = [(f"{json.dumps(key)}: ", entry) for key, entry in value.items()]
        case list() | tuple() if value:
            brackets, entries = "[]", [("", entry) for entry in value]
        case float() if not math.isfinite(value):
            return ["null"]
        case _:
            return [json.dumps(value)]
    line_start, last_line_start = (f"\n{_INDENT * level}" for level in (depth + 1, depth))
    if depth >= _MOST_INDENTED:
        line_start, last_line_start = "", ""
    segments: list[str | tuple[object, int]] = []
    for key, entry in entries:
        text = f"{',' if segments else brackets[0]}{line_start}{key}"
        if isinstance(entry, int | str):  # the usual case
            segments.append(text + json.dumps(entry))
        else:
            segments += [text, (entry, depth + 1)]
    return [*segments, f"{last_line_start}{brackets[1]}"]
