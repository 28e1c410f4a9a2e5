"""A difference as JSON text, in the format `stickler-diff/1`."""

import orjson

from stickler_cli.diff.changes import Difference
from stickler_cli.diff.record import diff_record
from stickler_cli.reports.json_report import json_text
from stickler_cli.reports.style import TableStyle


def render(difference: Difference, style: TableStyle) -> str:
    """Write a difference; ends with a line break."""
    record = diff_record(difference)
    try:
        return orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    except orjson.JSONEncodeError:  # an id or a name with half a surrogate pair in it
        return json_text(record) + "\n"
