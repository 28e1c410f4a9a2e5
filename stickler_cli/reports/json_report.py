"""Runs, comparisons and differences as JSON text.

The JSON text has every value that any other report shows.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import orjson

from stickler_cli import __version__
from stickler_cli.compare.tree import TreePart
from stickler_cli.core.deferred import DEFERRED, DeferredObject
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

_INDENT: Final = "  "
_PIECE_CHARACTERS: Final = 65_536  # a write to a file for each field would take longer

_MOST_INDENTED: Final = 100
"""Maximum depth up to which JSON is indented. A deeper value is on one line, because its
indentation would need more room than the value itself."""


def render(
    subject: Run | Difference | ComparedPair | Report, style: TableStyle
) -> str | Iterator[str]:
    """Return the JSON report on a run, a difference, a pair or a study.

    The report on a run is returned as an iterator over pieces of the text.
    """
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
    """Yield a run as JSON text, in pieces of about `_PIECE_CHARACTERS`."""
    texts: list[str] = []
    n_characters = 0
    for text in _run_texts(run):
        texts.append(text)
        n_characters += len(text)
        if n_characters >= _PIECE_CHARACTERS:
            yield "".join(texts)
            texts, n_characters = [], 0
    yield "".join(texts)


def _run_texts(run: Run) -> Iterator[str]:
    """Yield the record of a run as JSON text. The documents come last, one on each line."""
    between = "{"
    for name, value in _deferred_record(run).items():
        yield f"{between}\n{_INDENT}{_to_json_text(name)}: "
        yield from _value_texts(value, depth=1)
        between = ","
    if (blocks := run.evaluation.ledger.blocks) is not None:
        yield f',\n{_INDENT}"{PER_DOCUMENT}": ['
        between = f"\n{_INDENT * 2}"
        for _, line in blocks.lines():
            yield between + line.decode()
            between = f",\n{_INDENT * 2}"
        yield f"\n{_INDENT}]" if len(blocks) else "]"
    yield "\n}\n"


def _deferred_record(run: Run) -> dict[str, Any]:
    """Return the record of a run. The sentence of a cause, if it has one, is added as `text`.

    Large values in the record are built only when they are read.
    """
    record: dict[str, Any] = run_record(run, per_document=False, deferred=True)
    first_causes, other_causes = causes(RunView(run))
    texts = {cause.number: cause.sentence for cause in (*first_causes, *other_causes)}
    record["causes"] = [
        {**cause, "text": texts[cause["number"]]} if cause.get("number") in texts else cause
        for cause in record["causes"]
    ]
    return record


def _value_texts(value: object, depth: int, *, is_refused: bool = False) -> Iterator[str]:
    """Yield a value as indented JSON text.

    Deferred values, which are built only when they are needed, are built one entry at a time. If
    orjson cannot write the value, the caller sets `is_refused`. The value is then written entry by
    entry without orjson. The function is not recursive, because values may be nested deeper than
    the call stack allows.
    """
    open_levels = [_split_one_level(value, depth, is_refused=is_refused)]
    while open_levels:
        text_or_value = next(open_levels[-1], None)
        if text_or_value is None:
            open_levels.pop()
        elif isinstance(text_or_value, str):
            yield text_or_value
        else:
            inner_value, inner_depth = text_or_value
            open_levels.append(_split_one_level(inner_value, inner_depth, is_refused=is_refused))


def _split_one_level(
    value: Any, depth: int, *, is_refused: bool
) -> Iterator[str | tuple[object, int]]:
    """Split a list or an object into pieces of JSON text and the values inside it.

    The pieces of text are brackets, commas, names and line breaks. A value inside the list or
    object is yielded as (value, depth), because the caller must still write it. If `is_refused` is
    True, strings and integers inside are yielded as JSON text at once.

    Some values are not split, but yielded as a single text: every value that is neither deferred
    nor refused by orjson, and every refused value that is not a list or an object.
    """
    if not is_refused and not isinstance(value, DEFERRED):
        yield _to_json_text(value, depth)
        return
    if is_refused and not isinstance(value, dict | list | tuple):
        yield _refused_text(value)
        return

    write_name: Callable[[str], str] = json.dumps if is_refused else _to_json_text
    entries: Iterable[tuple[str, object]] = (("", entry) for entry in value)
    opening, closing = "[]"
    if isinstance(value, DeferredObject | dict):
        entries = ((f"{write_name(name)}: ", entry) for name, entry in value.items())
        opening, closing = "{}"

    line_start = _line_start(depth + 1)
    between = opening
    for name, entry in entries:
        yield f"{between}{line_start}{name}"
        if is_refused and isinstance(entry, int | str):  # the usual case
            yield json.dumps(entry)
        else:
            yield entry, depth + 1
        between = ","
    yield f"{_last_line_start(depth)}{closing}" if value else f"{opening}{closing}"


def _line_start(depth: int) -> str:
    """Return the line break and indentation before a value at a depth."""
    return f"\n{_INDENT * depth}" if depth <= _MOST_INDENTED else ""


def _last_line_start(depth: int) -> str:
    """Return the line break and the indentation before a closing bracket."""
    return _line_start(depth) if depth < _MOST_INDENTED else ""


def _to_json_text(value: object, depth: int = 0) -> str:
    """Return a value as JSON text. All lines but the first are indented by `depth` levels."""
    try:
        if depth > _MOST_INDENTED:
            return orjson.dumps(value).decode()
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        return text.replace("\n", _line_start(depth)) if depth else text
    except orjson.JSONEncodeError:  # an id or a name with half a surrogate pair in it
        return json_text(value, depth)


def _record_text(record: object) -> str:
    return _to_json_text(record) + "\n"


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
        "places": [_unit_record(pair, unit) for unit in pair.chosen],
    }


def _unit_record(pair: ComparedPair, unit: TreePart) -> dict[str, object]:
    """Return a compared value, item or object as JSON values, with everything inside it.

    Keys without a value are left out.
    """
    error_class, pred_path = pair.class_of(unit), field_path(unit.pred_path)
    difference = diff_values(unit.own_gt, unit.own_pred) if differs(unit) else []
    entries: dict[str, object] = {
        "path": field_path(unit.gt_path),
        "prediction_path": None if unit.pred_path == unit.gt_path else pred_path,
        "kind": unit.kind,
        "outcome": unit.outcome.name,
        "class": error_class,
        "swapped_with": pair.swapped_with(unit) or None,
        "difference": [{"text": segment.text, "in": segment.side} for segment in difference]
        or None,
        "comparator": unit.comparator or None,
        "reason": unit.reason or None,
        "alternatives": list(unit.other_alternatives) or None,
        "similarity": unit.similarity,
        "score": unit.score,
        "threshold": None if unit.is_extra_key else unit.threshold,
        "threshold_source": None if unit.is_extra_key else unit.threshold_source,
        "weight": unit.weight,
        "adds": unit.adds,
        "pairing_floor": unit.floor,
        "pairing_floor_source": None if unit.floor is None else unit.floor_source,
        "pairing": encoded(unit.pairing),
        "sum": encoded(unit.sum),
        "undeclared_keys": list(unit.undeclared_keys) or None,
        "parts": [_unit_record(pair, child) for child in unit.parts] or None,
    }
    record = {key: value for key, value in entries.items() if value is not None}
    if unit.kind == "leaf" or unit.sum is None:
        record |= {"ground_truth_value": unit.own_gt, "prediction_value": unit.own_pred}
    return record


def json_text(value: object, depth: int = 0) -> str:
    r"""Return JSON text for values that orjson refuses, such as large integers and deep nesting.

    NaN and infinities become null, as with orjson. The text is ASCII, because lone surrogates can
    only be written escaped. `depth` is the nesting level of `value`. Values at a level above
    `_MOST_INDENTED` are on one line. The function is not recursive, because documents may be nested
    deeper than the call stack allows.

    >>> json_text({"a": [2**64, {}]})
    '{\n  "a": [\n    18446744073709551616,\n    {}\n  ]\n}'
    """
    return "".join(_value_texts(value, depth, is_refused=True))


def _refused_text(value: object) -> str:
    """Return the JSON text, in ASCII, of a value that orjson does not accept.

    The value is neither an object nor a list. NaN and infinities become null.
    """
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return json.dumps(value) if is_finite else "null"
