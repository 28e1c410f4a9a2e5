"""A Tally as the run format writes it: what people read, and what it takes to add to it later."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from stickler_cli.score.accounts import path_below
from stickler_cli.score.comparison_view import tally_view
from stickler_cli.score.tally import Tally

RAW_SCORE: Final = "raw_similarity_score"
SCORE: Final = "threshold_applied_score"

IntervalsOf: TypeAlias = Callable[[str], Mapping[str, object]]


def tally_record(
    node: Tally, intervals: IntervalsOf | None = None, path: str = "", *, recall_with_fd: bool
) -> dict[str, object]:
    """Give a node and its fields as JSON values; `records.run_reading` gives it back, exactly.

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
