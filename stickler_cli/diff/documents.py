"""The documents that got better or worse, and which fields of them broke or were fixed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stickler_cli.core.locations import parse_field_path
from stickler_cli.diff.changes import DIFFERENT, HARD, DocumentChange
from stickler_cli.diff.paired_runs import Pair, Record, missed_counts
from stickler_cli.score.accounts import NAMES, SCORE, counts_by_mode
from stickler_cli.score.tally import COUNTING_MODES

ERRORS: Final = ("fd", "fa", "fn")


def document_changes(pairs: Sequence[Pair]) -> list[DocumentChange]:
    """Return what changed in each document in which anything did, the greatest loss first.

    Documents that lost as much stand in the order of their new errors, then of their ids.
    """
    changes = [
        _change(pair.id, pair.before, pair.after, pair.status_after)
        for pair in pairs
        if pair.line_before != pair.line_after
    ]
    differing = [change for change in changes if change is not None]
    return sorted(differing, key=lambda it: (it.change, it.errors_before - it.errors_after, it.id))


def _change(
    name: str, account: Record, next_account: Record | None, status: str
) -> DocumentChange | None:
    """Return what changed in a document; None if only its status or group did."""
    before = {path: _overall(entry) for path, entry in account["fields"].items()}
    if next_account is None:
        after = {
            path: missed_counts(counts, COUNTING_MODES[0], len(parse_field_path(path)))
            for path, counts in before.items()
        }
    elif account["fields"] == next_account["fields"] and account[SCORE] == next_account[SCORE]:
        return None
    else:
        after = {path: _overall(entry) for path, entry in next_account["fields"].items()}
    paths = [path for path in dict.fromkeys([*before, *after]) if path]
    right_before = {path: _is_right(before.get(path, {})) for path in paths}
    right_after = {path: _is_right(after.get(path, {})) for path in paths}
    score = 0.0 if next_account is None else next_account[SCORE]
    change, lost = score - account[SCORE], next_account is None
    return DocumentChange(
        id=name,
        status_before=account["status"],
        status_after=status,
        lost=lost,
        score_before=account[SCORE],
        score_after=score,
        errors_before=_errors(before.get("", {})),
        errors_after=_errors(after.get("", {})),
        broken=[path for path in paths if (right_before[path], right_after[path]) == (True, False)],
        fixed=[path for path in paths if (right_before[path], right_after[path]) == (False, True)],
        change=change,
        hard=lost or change <= -HARD + DIFFERENT,
    )


def _overall(entry: Mapping[str, Any]) -> Mapping[str, int]:
    return counts_by_mode(entry)[0]


def _errors(counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in ERRORS)


def _is_right(counts: Mapping[str, int]) -> bool | None:
    """Return whether nothing is wrong; None where nothing was counted."""
    if not any(counts.get(name) for name in NAMES):
        return None
    return not _errors(counts)
