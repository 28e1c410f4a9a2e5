"""A Tally as the run format writes it: what people read, and what it takes to add to it later."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from stickler_cli.compare.result import Outcome
from stickler_cli.score.accounts import path_below
from stickler_cli.score.comparison_view import tally_view
from stickler_cli.score.parts import Part
from stickler_cli.score.tally import READINGS, Tally

NO_SUMS: Final = "it was written by an older version: evaluate again"

RAW_SCORE: Final = "raw_similarity_score"
SCORE: Final = "threshold_applied_score"

IntervalsOf: TypeAlias = Callable[[str], Mapping[str, object]]

_COUNTS: Final[Mapping[Outcome, str]] = {outcome: outcome.name.lower() for outcome in Outcome}


def tally_record(
    node: Tally, intervals: IntervalsOf | None = None, path: str = "", *, recall_with_fd: bool
) -> dict[str, object]:
    """Give a node and its fields as JSON values; `read_tally` gives it back, exactly.

    Sums of scores are text: in JSON, few programs keep all digits of so large a number.

    Args:
        node: what was counted.
        intervals: gives the confidence intervals of a field as JSON values, by its path.
        path: of the node.
        recall_with_fd: whether recall also counts false discoveries as not found.
    """
    record = tally_view(replace(node, fields={}), recall_with_fd=recall_with_fd)
    if node.scored:
        record["documents"] = node.scored
        record["score_sums"] = {RAW_SCORE: str(node.raw_units), SCORE: str(node.score_units)}
    if intervals is not None and (found := intervals(path)):
        record["intervals"] = found
    if node.fields:
        record["fields"] = {
            name: tally_record(
                child, intervals, path_below(path, name), recall_with_fd=recall_with_fd
            )
            for name, child in node.fields.items()
        }
    return record


def read_tally(record: Part) -> Tally:
    """Read what `tally_record` wrote; rates and means are not looked at.

    Undeclared keys are not in it, as a run lists them elsewhere.

    Raises:
        UsageError: it is no such record.
    """
    root = Tally()
    todo = [(root, record)]
    while todo:
        node, part = todo.pop()
        _read_node(node, part)
        fields = part.find("fields")
        for name, child in fields.entries() if fields else ():
            todo.append((node.below(name), child))
    return root


def _read_node(node: Tally, part: Part) -> None:
    for reading, counts in zip(READINGS, (node.overall, node.aggregate, node.leaves), strict=True):
        written = part.at(reading)
        for outcome, name in _COUNTS.items():
            counts[outcome] = written.at(name).count()
    if part.find(SCORE):
        node.scored = part.at("documents", NO_SUMS).count()
        sums = part.at("score_sums", NO_SUMS)
        node.raw_units, node.score_units = sums.at(RAW_SCORE).total(), sums.at(SCORE).total()
        node.weight = part.at("weight").number()
