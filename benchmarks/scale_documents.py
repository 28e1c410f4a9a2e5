"""Make documents whose counts are known in advance, since mistakes occur at fixed distances.

For each kind of mistake there is a distance and a remainder: document `i` has the mistake if `i`
divided by the distance leaves this remainder. All distances are coprime. A division therefore gives
the number of documents, among the first `n`, that have certain mistakes together.
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
"""The prediction lacks the last item."""
WRONG_QUANTITY: Final = {23: 6}
"""The quantity of the first item is wrong. `LOST_ITEM` drops the last item, so an item can only
have both mistakes if it is the only one in its document."""

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


def has_mistake(mistake: Mapping[int, int], index: int) -> bool:
    """Return whether document `index` has a mistake, given as {distance: remainder}."""
    return all(index % distance == remainder for distance, remainder in mistake.items())


def pair(index: int) -> tuple[str, str]:
    """Return the ground truth and the prediction of document `index`, as JSON texts."""
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
    if has_mistake(WRONG_NUMBER, index):
        pred["number"] = f"M-{index:012}"
    if has_mistake(NO_VENDOR, index):
        del pred["vendor"]
    if has_mistake(INVENTED_NOTE, index):
        pred["note"] = "paid"
    if has_mistake(WRONG_TOTAL, index):
        pred["total"] = gt["total"] + 1
    if has_mistake(WRONG_QUANTITY, index):
        pred["items"] = [{**items[0], "quantity": 50}, *items[1:]]
    if has_mistake(LOST_ITEM, index):
        pred["items"] = pred["items"][:-1]
    return json.dumps(gt), json.dumps(pred)


def write(place: Path, documents: int) -> Written:
    """Write the first `documents` documents as two JSON Lines files below `place`."""
    written = Written(
        schema=place / "schema.json",
        gt=place / "gt.jsonl",
        pred=place / "pred.jsonl",
        documents=documents,
    )
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


def count_documents(documents: int, *conditions: Mapping[int, int]) -> int:
    """Return how many of the first `documents` documents meet all conditions.

    A condition is {distance: remainder}, as for mistakes.
    """
    remainders = dict(remainder for condition in conditions for remainder in condition.items())
    period = prod(remainders)
    first = next(_solutions(remainders), 0)
    return (documents - first + period - 1) // period if documents > first else 0


def _solutions(remainders: Mapping[int, int]) -> Iterator[int]:
    """Yield the smallest number that leaves each remainder when it is divided by the distance.

    The distances, which are the keys, must be coprime.
    """
    solution, period = 0, 1
    for distance, remainder in remainders.items():
        while solution % distance != remainder:
            solution += period
        period *= distance
    yield solution


def count_expected(documents: int) -> dict[str, dict[str, int]]:
    """Return the expected counts of each field of single values, as `counts[path][outcome]`.

    The outcomes are `tp` (right), `fd` (wrong), `fa` (invented) and `fn` (missed).
    """

    def counts(tp: int, fd: int = 0, fa: int = 0, fn: int = 0) -> dict[str, int]:
        return {"tp": tp, "fd": fd, "fa": fa, "fn": fn}

    wrong_number = count_documents(documents, WRONG_NUMBER)
    no_vendor = count_documents(documents, NO_VENDOR)
    wrong_total = count_documents(documents, WRONG_TOTAL)
    items = sum((1 + extra) * count_documents(documents, {ITEMS: extra}) for extra in range(ITEMS))
    lost = count_documents(documents, LOST_ITEM)
    # A quantity is not wrong in an item that is lost: where it is the first and the last one.
    wrong_quantity = count_documents(documents, WRONG_QUANTITY) - count_documents(
        documents, WRONG_QUANTITY, LOST_ITEM, {ITEMS: 0}
    )
    leaves = {f"items[].{leaf}": counts(items - lost, fn=lost) for leaf in _LEAVES}
    right = items - lost - wrong_quantity
    return {
        "number": counts(documents - wrong_number, fd=wrong_number),
        "vendor": counts(documents - no_vendor, fn=no_vendor),
        "note": counts(0, fa=count_documents(documents, INVENTED_NOTE)),
        "total": counts(documents - wrong_total, fd=wrong_total),
        **leaves,
        "items[].quantity": counts(right, fd=wrong_quantity, fn=lost),
    }
