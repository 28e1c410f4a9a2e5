"""What was odd about documents that could be read, counted by name.

A module of its own because reading names the remarks, the run format lists them and reports word
them; here is the list.
"""

from collections.abc import Iterable, Mapping
from typing import Final

LENIENT: Final = "lenient"
"""The remark on a prediction that is JSON only after `--lenient-json` found it in its text."""

WAYS: Final = ("fence", "prose", "string", "list")
"""In what the JSON was: a Markdown code fence, other text, a JSON string, a one-element list."""

ODDITIES: Final = ("duplicate_keys", "byte_order_mark")


def add_remarks(counts: dict[str, int], names: Iterable[str] | Mapping[str, int]) -> None:
    """Count a document's remarks, or add the counts of other documents."""
    for name in names:
        counts[name] = counts.get(name, 0) + (names[name] if isinstance(names, Mapping) else 1)


def remarks_view(counts: Mapping[str, int]) -> dict[str, object]:
    """Give how many documents there were with each remark, as the run format shows it."""
    ways = {way: counts.get(f"{LENIENT}_{way}", 0) for way in WAYS}
    return {
        **{name: counts.get(name, 0) for name in ODDITIES},
        LENIENT: {"documents": counts.get(LENIENT, 0), **ways},
    }
