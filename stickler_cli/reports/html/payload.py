"""Data of the page's script: errors, documents and comparisons, packed as text."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from struct import Struct
from typing import Any, Final

from stickler_cli.core.figures import truncate
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import Path, field_names
from stickler_cli.core.sorted_lines import SortedLines
from stickler_cli.core.values import dataclass
from stickler_cli.reports.cause_sentences import CauseText
from stickler_cli.reports.view import RunView
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.detail import Detail
from stickler_cli.score.errors.causes import keys_in
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.sums import counts_by_mode
from .field_tree import FieldView, places_of, rows_around

LEVEL: Final = 6  # of compression; 9 takes twice the time for 2% less
WORST_DOCUMENTS: Final = 10  # documents that are named without the script, and on paper
FIRST_ERRORS: Final = 200  # errors that are named without the script, and on paper

_LONGEST: Final = 100
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode
_ON_PAGE: Final = Error._fields.index("judge")  # columns of an error that the script reads
_PATHS_REMEMBERED: Final = 10_000
_SHOWN: Final = ("tp", "fd", "fa", "fn")
"""The counts of a document, in the order in which the script reads them."""

_LOST: Final = _SHOWN[1:]

_RANK: Final = Struct(">d")  # numbers that are not negative are in the order of these bytes


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """The documents of a run, the lowest score first, then by id; those without a score last."""

    count: int
    lines: SortedLines
    """Of each its id, status, score, the counts of its values, the groups that it is in, and of
    each field that lost values its row and how many."""
    lost: int
    """How many lost values."""

    def listed(self, most: int) -> Iterator[bytes]:
        """Return the first of them."""
        return (line for _, line in islice(self.lines, most))

    @property
    def worst(self) -> list[Any]:
        """The first `WORST_DOCUMENTS`."""
        return [*map(json.loads, self.listed(WORST_DOCUMENTS))]


def packed(lines: Iterable[bytes]) -> str:
    """Return JSON values as text in which nothing can be markup: compressed, base64."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    parts, before = [], b"["
    for line in lines:
        parts.append(packer.compress(before + line))
        before = b",\n"
    parts += packer.compress(b"]" if before != b"[" else b"[]"), packer.flush()
    return base64.b64encode(b"".join(parts)).decode("ascii")


def error_rows(
    errors: Iterable[Error], places: Mapping[Path, int], causes: Iterable[CauseText]
) -> Iterator[tuple[Any, ...]]:
    """Yield shown errors as the script reads them: their row, or -1, and columns to `_ON_PAGE`.

    Then what they were swapped with; last is the position of their cause among texts, or -1 of one
    that repeats another, or has none.
    """
    known = {cause.key: at for at, text in enumerate(causes) for cause in text.causes}

    @lru_cache(_PATHS_REMEMBERED)
    def row_of(field: str) -> int:
        return (rows_around(field_names(field), places) or [-1])[-1]

    for error in errors:
        group, own = keys_in(error.cause)
        cause = known.get(own, known.get(group, -1))
        yield row_of(error.field), *error[:_ON_PAGE], error.swapped_with, cause


def first_errors(detail: Detail) -> list[tuple[str, str, str]]:
    """Return document, path and change of the errors to read without the script, and on paper.

    An item that failed as a whole is one, of the fields in which it differs.
    """
    found = (it for it in detail.errors.rows() if it.cause)
    return [(it.document, it.path, _in_short(it)) for it in islice(found, FIRST_ERRORS)]


def _in_short(error: Error) -> str:
    """Return both sides of a shown error; of two items only the fields that differ."""
    sides = [side[0] if isinstance(side, list) else side for side in (error.gt, error.pred)]
    cut = isinstance(error.gt, list) or isinstance(error.pred, list)
    if not error.differing or cut:
        return " → ".join("absent" if it is None else _in_row(it, cut=cut) for it in sides)
    gt, pred = map(json.loads, sides)
    changes = []
    for name in error.differing:
        texts = (_AS_JSON(it[name]) if name in it else "absent" for it in (gt, pred))
        changes.append(f"{name} {' → '.join(truncate(text, _LONGEST) for text in texts)}")
    return "; ".join(changes)


def _in_row(side: str, *, cut: bool) -> str:
    """Return one side of a shown error; of an item its values are enough."""
    if side.startswith("{") and not cut:
        side = " · ".join(map(_AS_JSON, json.loads(side).values()))
    return truncate(side, _LONGEST)


def facts(
    view: RunView,
    detail: Detail,
    causes: Iterable[CauseText],
    documents: ListedDocuments | None,
) -> bytes:
    """Return the numbers and causes of all errors, kept or not, and the identity of the run."""
    places, errors = places_of(view), view.run.evaluation.errors
    totals = sorted(  # in an order that does not depend on whether the run was read back
        [(rows_around(path, places) or [-1])[-1], error_class.value, count]
        for path in {*errors.fields, *errors.units}
        for error_class, count in errors.at(path).items()
    )
    return json_line(
        {
            "total": detail.errors.total,
            "documents": documents.count if documents else 0,
            "lost": documents.lost if documents else 0,
            "totals": totals,
            "causes": [
                [it.key, it.text, it.errors, it.values, it.number, [*it.origins]] for it in causes
            ],
            "schema": view.run.schema.digest,
            "semantics": view.run.evaluation.semantics,
            "explaining": view.run.explaining,
        }
    )


def documents_of(blocks: Blocks, fields: Sequence[FieldView]) -> ListedDocuments:
    """Return the documents of a run; memory does not grow with their number."""
    lines = SortedLines()
    losing = 0
    places = {it.row.path: at for at, it in enumerate(fields)}

    @lru_cache(_PATHS_REMEMBERED)
    def row_of(path: str) -> int | None:
        names = field_names(path)
        around = rows_around(names, places)
        known = len(around) == len(names) and around and fields[around[-1]].is_innermost
        return around[-1] if known else None

    for account in blocks.records():
        name, score = account["id"], account["score"]
        rank = _RANK.pack(2.0 if score is None else score).decode("latin-1")
        values = counts_by_mode(account["fields"].get("", {}))[-1]
        counts = [values.get(outcome, 0) for outcome in _SHOWN]
        losing += any(counts[1:])
        lost: Counter[int] = Counter()
        for path, entry in account["fields"].items():
            row, found = row_of(path), counts_by_mode(entry)[-1]
            if row is not None:
                lost[row] += sum(found.get(outcome, 0) for outcome in _LOST)
        cells = [number for cell in lost.items() if cell[1] for number in cell]
        told = [name, account["status"], score, *counts, account.get("by", {}), cells]
        lines.append((rank + name, json_line(told)[:-1]))
    return ListedDocuments(len(lines), lines, losing)
