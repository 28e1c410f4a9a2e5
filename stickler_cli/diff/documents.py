"""The documents that got better or worse, and which fields of them broke or were fixed."""

from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.diff.changes import DIFFERENT, HARD, DocumentChange
from stickler_cli.diff.paired_runs import Pair
from stickler_cli.score.accounts import NAMES, SCORE, counts_by_mode

ERRORS: Final = ("fd", "fa", "fn")


def document_changes(pairs: Sequence[Pair]) -> list[DocumentChange]:
    """Return what changed in each document in which anything did, the greatest loss first.

    Documents that lost as much stand in the order of their new errors, then of their ids.
    """
    found = [_change(pair) for pair in pairs if pair.line_before != pair.line_after]
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda it: (it.change, it.errors_before - it.errors_after, it.id))


def _change(pair: Pair) -> DocumentChange | None:
    """Return what changed in a document; None if only its status or group did."""
    old, new, lost = pair.before, pair.after, pair.line_after is None
    if not lost and old["fields"] == new["fields"] and old[SCORE] == new[SCORE]:
        return None
    before, after = (
        {path: counts_by_mode(entry)[0] for path, entry in account["fields"].items()}
        for account in (old, new)
    )
    right = {
        path: (_is_right(before.get(path, {})), _is_right(after.get(path, {})))
        for path in dict.fromkeys([*before, *after])
        if path
    }
    change = new[SCORE] - old[SCORE]
    return DocumentChange(
        id=pair.id,
        status_before=old["status"],
        status_after=pair.status_after,
        lost=lost,
        score_before=old[SCORE],
        score_after=new[SCORE],
        errors_before=_errors(before.get("", {})),
        errors_after=_errors(after.get("", {})),
        broken=[path for path in right if right[path] == (True, False)],
        fixed=[path for path in right if right[path] == (False, True)],
        change=change,
        hard=lost or change <= -HARD + DIFFERENT,
    )


def _errors(counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in ERRORS)


def _is_right(counts: Mapping[str, int]) -> bool | None:
    """Return whether nothing is wrong; None where nothing was counted."""
    if not any(counts.get(name) for name in NAMES):
        return None
    return not _errors(counts)
