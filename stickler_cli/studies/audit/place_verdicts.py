"""Verdicts on places: those that were drawn, or that the page of a run has downloaded."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import JsonObject, JsonValue, json_key
from stickler_cli.core.problems import Problem
from stickler_cli.documents.lines import TABLE_SUFFIX
from stickler_cli.records.account_format import VERDICT_FORMAT
from stickler_cli.studies.verdict_lines import read_lines

VERDICTS: Final = {
    "ground_truth_right": (True, False),
    "prediction_right": (True, True),
    "both_acceptable": (True, True),
    "ground_truth_wrong": (False, True),
    "neither": (False, False),
}
"""By verdict, whether the ground truth is right, and the other answer."""


class Mark(NamedTuple):
    """A verdict on a place."""

    gt_right: bool
    right: tuple[JsonValue, ...]
    """What else is right, or is instead; empty where the verdict does not say it."""
    by_votes: bool = False
    """Whether that is the answer of most runs."""
    seen: tuple[JsonValue, ...] = ()
    """The ground truth that was judged, if it is known."""
    drawn: bool = True
    """Whether the place was drawn, and stands for others."""

    def on(self, gt: JsonValue) -> "Mark | None":
        """Return what the verdict says of a ground truth; None if it was on another one."""
        if not self.seen or json_key(self.seen[0]) == json_key(gt):
            return self
        mended = json_key(gt) in map(json_key, self.right)
        return self._replace(gt_right=True, right=()) if mended else None


Marks: TypeAlias = Mapping[tuple[str, str], Mark]
"""Verdicts by document and path."""


def read_marks(file: str, limit: int) -> Marks:
    """Read verdicts; lines without one are left out, of several on a place the last one counts.

    Raises:
        UsageError: with every line that is none.
    """
    is_table = TABLE_SUFFIX.search(file) is not None

    def mark(line: JsonObject) -> tuple[tuple[str, str], Mark] | Problem | None:
        said = _of_cells(line) if is_table else line
        match said.get("document"), said.get("path"), said.get("verdict"):
            case str(), str(), None:
                return None
            case str(document), str(path), str(verdict) if verdict in VERDICTS:
                return (document, path), _mark_of(said, verdict)
        expected = f"document, path and one of {', '.join(VERDICTS)}"
        return Problem("", "this is no verdict", expected)

    return dict(read_lines(file, limit, mark))


def _of_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a spreadsheet, which may have written `gt` in its own way; no empty cells."""
    said = {key: cell for key, cell in row.items() if cell is not None and key != "gt"}
    said["document"] = str(said.get("document")).removeprefix("'")  # before "=1"
    for key in ("right", "others"):
        with suppress(KeyError, ValueError):  # text is as good as JSON
            said[key] = json.loads(str(said[key]))
    return said


def _mark_of(said: Mapping[str, Any], verdict: str) -> Mark:
    gt_right, other_right = VERDICTS[verdict]
    right: tuple[JsonValue, ...] = ()
    by_votes = False
    if "right" in said and (other_right or not gt_right):
        right = (said["right"],)
    elif other_right and said.get("format") == VERDICT_FORMAT:
        right = (said["pred"],) if "pred" in said else ()
    elif other_right and isinstance(said.get("others"), list):
        right = tuple(it["answer"] for it in said["others"][:1])
    else:
        by_votes = other_right
    seen = (said["gt"],) if "gt" in said else ()
    return Mark(gt_right, right, by_votes, seen, said.get("probability") is not None)
