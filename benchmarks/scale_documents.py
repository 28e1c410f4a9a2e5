"""Documents whose counts are known without comparing any: mistakes come at fixed distances.

Document `i` has a mistake where `i` leaves a certain remainder; how many of the first `n` leave
some remainders together is a division, since all distances are prime to each other.
"""

import json
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

from benchmarks import schemas
from benchmarks.sets import Written

ITEMS: Final = 2  # document i has 1 + i % ITEMS
WRONG_NUMBER: Final = {7: 3}
NO_VENDOR: Final = {11: 5}
INVENTED_NOTE: Final = {13: 1}
WRONG_TOTAL: Final = {17: 2}
LOST_ITEM: Final = {19: 4}
"""The last one."""
WRONG_QUANTITY: Final = {23: 6}
"""Of the first item, so that an item that is lost has no other mistake, but where it is the only
one."""

_LEAVES: Final = ("sku", "name", "quantity", "price")

SCHEMA: Final[dict[str, Any]] = schemas.record(
    {
        "number": schemas.exact(),
        "vendor": schemas.text(),
        "note": schemas.text(),
        "total": schemas.number(),
        "items": {
            "type": "array",
            "items": schemas.record(
                {
                    "sku": schemas.exact(),
                    "name": schemas.text(),
                    "quantity": schemas.number(),
                    "price": schemas.number(),
                },
                "Item",
            ),
        },
    },
    "Invoice",
)


def has(mistake: Mapping[int, int], index: int) -> bool:
    """Say whether a document has a mistake."""
    return all(index % distance == remainder for distance, remainder in mistake.items())


def pair(index: int) -> tuple[str, str]:
    """Write a ground truth and its prediction."""
    items = [
        {
            "sku": f"S{index % 97}-{place}",
            "name": f"part {'abcd'[place] * 9} of {index % 89}",
            "quantity": place + 1,
            "price": 100 * place + index % 83,
        }
        for place in range(1 + index % ITEMS)
    ]
    gt: dict[str, Any] = {
        "number": f"N-{index:012}",
        "vendor": f"Vendor {index % 1009} and Sons",
        "total": index % 9973,
        "items": items,
    }
    pred = dict(gt)
    if has(WRONG_NUMBER, index):
        pred["number"] = f"M-{index:012}"
    if has(NO_VENDOR, index):
        del pred["vendor"]
    if has(INVENTED_NOTE, index):
        pred["note"] = "paid"
    if has(WRONG_TOTAL, index):
        pred["total"] = gt["total"] + 1
    if has(WRONG_QUANTITY, index):
        pred["items"] = [{**items[0], "quantity": 50}, *items[1:]]
    if has(LOST_ITEM, index):
        pred["items"] = pred["items"][:-1]
    return json.dumps(gt), json.dumps(pred)


def write(place: Path, documents: int) -> Written:
    """Write the first documents as two JSON Lines files."""
    written = Written(place / "schema.json", place / "gt.jsonl", place / "pred.jsonl", documents)
    place.mkdir(parents=True, exist_ok=True)
    written.schema.write_text(json.dumps(SCHEMA), "utf-8")
    with (
        written.gt.open("w", encoding="utf-8") as gts,
        written.pred.open("w", encoding="utf-8") as preds,
    ):
        for gt, pred in map(pair, range(documents)):
            print(gt, file=gts)
            print(pred, file=preds)
    return written


def how_many(documents: int, *conditions: Mapping[int, int]) -> int:
    """Count the documents, of the first so many, that meet all conditions: by a division."""
    remainders = dict(one for condition in conditions for one in condition.items())
    period = prod(remainders)
    first = next(_solutions(remainders), 0)
    return (documents - first + period - 1) // period if documents > first else 0


def _solutions(remainders: Mapping[int, int]) -> Iterator[int]:
    """Give the least number that leaves all remainders: distances are prime to each other."""
    found, period = 0, 1
    for distance, remainder in remainders.items():
        while found % distance != remainder:
            found += period
        period *= distance
    yield found


def expected(documents: int) -> dict[str, dict[str, int]]:
    """Give the counts of each leaf: found right (tp), wrong (fd), invented (fa), missed (fn)."""

    def counts(tp: int, fd: int = 0, fa: int = 0, fn: int = 0) -> dict[str, int]:
        return {"tp": tp, "fd": fd, "fa": fa, "fn": fn}

    wrong_number = how_many(documents, WRONG_NUMBER)
    no_vendor = how_many(documents, NO_VENDOR)
    wrong_total = how_many(documents, WRONG_TOTAL)
    items = sum((1 + extra) * how_many(documents, {ITEMS: extra}) for extra in range(ITEMS))
    lost = how_many(documents, LOST_ITEM)
    # A quantity is not wrong in an item that is lost: where it is the first and the last one.
    wrong_quantity = how_many(documents, WRONG_QUANTITY) - how_many(
        documents, WRONG_QUANTITY, LOST_ITEM, {ITEMS: 0}
    )
    leaves = {f"items[].{leaf}": counts(items - lost, fn=lost) for leaf in _LEAVES}
    right = items - lost - wrong_quantity
    return {
        "number": counts(documents - wrong_number, fd=wrong_number),
        "vendor": counts(documents - no_vendor, fn=no_vendor),
        "note": counts(0, fa=how_many(documents, INVENTED_NOTE)),
        "total": counts(documents - wrong_total, fd=wrong_total),
        **leaves,
        "items[].quantity": counts(right, fd=wrong_quantity, fn=lost),
    }
