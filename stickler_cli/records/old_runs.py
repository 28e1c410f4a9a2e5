"""Run files of earlier versions, as those of today."""

from collections.abc import Mapping
from typing import Any, Final

OLD_FORMATS: Final = ("stickler-run/1", "stickler-evaluation/1")
_APART: Final = "apart"  # confidences of values that the counts of the whole document left out
_SIDES: Final = ("right", "wrong")


def of_today(record: Mapping[str, Any], of: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the record of a run or evaluation in the format of today, whatever it was written in.

    `of` has the format of today by that of the first version. Figures stay as they were written:
    the first version of the semantics made them.
    """
    if record.get("format") not in OLD_FORMATS:
        return record
    found = {**record, "format": of[record["format"]], "semantics": 1}
    accounts = record.get("per_document")
    if isinstance(accounts, list):
        found["per_document"] = [
            {**account, "confidences": _together(account["confidences"])}
            if isinstance(account, dict) and isinstance(account.get("confidences"), dict)
            else account
            for account in accounts
        ]
    return found


def _together(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return confidences of which those of fields that the whole left out stand with the others."""
    apart = known.get(_APART)
    if not isinstance(apart, dict):
        return dict(known)
    sides = ((side, {**known.get(side, {}), **apart.get(side, {})}) for side in _SIDES)
    return {side: by_field for side, by_field in sides if by_field}
