"""The run format as JSON text: the artifact that every other report is a view of."""

import json
import math
from typing import Final

import orjson

from stickler_cli.reports.style import TableStyle
from stickler_cli.score.record import PER_DOCUMENT, Run, run_record

_OPTIONS: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_INDENT: Final = "  "


def render(run: Run, style: TableStyle) -> str:
    """Write a run in the run format; ends with a line break."""
    record = run_record(run, per_document=False)
    accounts = run.evaluation.accounts
    if accounts is not None:
        # As they are: a line each, and nothing to take apart and put together again.
        record[PER_DOCUMENT] = [orjson.Fragment(line) for line in accounts.ordered()]
    try:
        return orjson.dumps(record, option=_OPTIONS).decode()
    except orjson.JSONEncodeError:
        return json_text(run_record(run)) + "\n"


def json_text(value: object) -> str:
    r"""Write what orjson refuses: integers over 64 bits, deep nesting, lone surrogates.

    As orjson does, NaN and infinities are written as null. Without recursion, since documents may
    be nested deeper than the stack; in ASCII, so that whatever is in a string can be encoded.

    >>> print(json_text({"a": [2**64, {}]}))
    {
      "a": [
        18446744073709551616,
        {}
      ]
    }
    """
    written: list[str] = []
    todo: list[str | tuple[object, int]] = [(value, 0)]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            written.append(part)
        else:
            todo += reversed(_parts(*part))
    return "".join(written)


def _parts(value: object, depth: int) -> list[str | tuple[object, int]]:
    """Take a value apart by one level: text, and the values in it with their depth."""
    line = "\n" + _INDENT * (depth + 1)
    parts: list[str | tuple[object, int]] = []
    match value:
        case dict() if value:
            for key, entry in value.items():
                parts += ["," if parts else "{", f"{line}{json.dumps(key)}: ", (entry, depth + 1)]
            return [*parts, "\n" + _INDENT * depth + "}"]
        case list() | tuple() if value:
            for entry in value:
                parts += ["," if parts else "[", line, (entry, depth + 1)]
            return [*parts, "\n" + _INDENT * depth + "]"]
        case float() if not math.isfinite(value):
            return ["null"]
        case _:
            return [json.dumps(value)]
