"""Verdicts of people on pairs of values: lines of JSON with `path`, `gt`, `pred` and `verdict`.

Verdicts on errors, as the HTML report has them downloaded, are such lines too.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from stickler_cli.compare.field_listing import node_at
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.one_of import followed
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.core.json_values import JsonObject, JsonValue, brief
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document import read_document
from stickler_cli.documents.lines import lines_of
from stickler_cli.documents.reading import source_of
from stickler_cli.records.account_format import VERDICT_FORMAT
from stickler_cli.score.errors.marks import VERDICTS

T = TypeVar("T")

SAME: Final = {"same": True, "different": False}
"""Words of verdicts; true and false mean the same."""

_EXPECTED: Final = "same or different"
_KEYS: Final = ("path", "gt", "pred", "verdict")


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A verdict on two values."""

    names: tuple[str, ...]
    """The path of the field, without list indexes."""
    node: Node
    """The node that judges its values."""
    gt: JsonValue
    pred: JsonValue
    same: bool
    unit: str
    """Unit of resampling: the document, if the line names it, else the two values."""


def read_lines(
    file: str, limit: int, read: Callable[[JsonObject], T | Problem | None]
) -> Iterator[T]:
    """Yield what is read of the objects in a file of lines; None of one is left out.

    Raises:
        UsageError: with every line that is wrong.
    """
    problems = []
    for line in lines_of(file, limit):
        value = read_document(line).value
        found = read(value) if isinstance(value, dict) else None
        if isinstance(found, Problem):
            value = replace(found, source=source_of(file), line=line.line)
        elif found is not None:
            yield found
        if isinstance(value, Problem):
            problems.append(value)
    if problems:
        raise UsageError(problems)


def read_verdicts(file: str, plan: Plan, limit: int) -> tuple[list[VerdictLine], int]:
    """Read a file of verdicts, and tell how many on errors were left out for want of two values.

    Raises:
        UsageError: with every line that is wrong.
    """
    left_out = 0

    def verdict(value: JsonObject) -> VerdictLine | Problem | None:
        nonlocal left_out
        if value.get("format") == VERDICT_FORMAT:
            if None in (value.get("gt"), value.get("pred")):
                left_out += 1
                return None
            said = value.get("verdict")
            if isinstance(said, str) and said in VERDICTS:
                # A wrong ground truth is no other way to write the prediction: a comparator that
                # took the two for the same would be wrong elsewhere.
                value = {**value, "verdict": all(VERDICTS[said])}
        return _line(value, plan)

    found = [*read_lines(file, limit, verdict)]
    if not found:
        what = "no verdict is on two values" if left_out else "there are no verdicts"
        raise UsageError([Problem(source_of(file), what, "one on each line")])
    return found, left_out


def _line(value: JsonObject, plan: Plan) -> VerdictLine | Problem:
    """Return a verdict, or what was found instead and what was expected."""
    missing = [key for key in _KEYS if key not in value]
    if missing:
        return Problem(
            "", f"there is no {' and no '.join(missing)}", f"the keys {', '.join(_KEYS)}"
        )
    path, verdict = value["path"], value["verdict"]
    try:
        steps = parse_field_path(path if isinstance(path, str) else "")
    except ValueError:
        steps = ()
    names = tuple(step for step in steps if isinstance(step, str))
    node = node_at(plan, names)
    if not names or node is None:
        return Problem("", f"path is {brief(path)}", "the path of a field of the schema")
    same = SAME.get(verdict) if isinstance(verdict, str) else verdict
    if not isinstance(same, bool):
        return Problem("", f"verdict is {brief(verdict)}", _EXPECTED)
    unit = value.get("document")
    if not isinstance(unit, str):
        unit = json.dumps([value["gt"], value["pred"]], sort_keys=True)
    return VerdictLine(names, node, value["gt"], value["pred"], same, unit)


def judging_node(line: VerdictLine) -> Node:
    """Return the node that judges two values of a field, or of an element of a list."""
    node = followed(line.node.chosen(line.gt))
    while isinstance(node, ListNode) and not isinstance(line.gt, list):
        node = followed(node.items.chosen(line.gt))
    return node
