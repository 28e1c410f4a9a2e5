"""Parts of large JSON reports. Their values are built when read, and not kept in memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias


class DeferredObject(Mapping[str, Any]):
    """A JSON object whose values are built each time they are read."""

    def __init__(self, names: Sequence[str], build: Callable[[str], object]) -> None:
        self._names = names
        self._build = build

    def __getitem__(self, name: str) -> Any:
        return self._build(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class DeferredList(Sequence[Any]):
    """A JSON array of records that are encoded each time they are read."""

    def __init__(self, records: Sequence[object], encode: Callable[[Any], object]) -> None:
        self._records = records
        self._encode = encode

    def __getitem__(self, index: Any) -> Any:
        return self._encode(self._records[index])

    def __len__(self) -> int:
        return len(self._records)


Deferred: TypeAlias = DeferredObject | DeferredList
DEFERRED: Final = (DeferredObject, DeferredList)


def defer(record: dict[str, Any]) -> DeferredObject:
    """Return a record as a `DeferredObject`. Its values may be deferred or plain."""
    return DeferredObject([*record], record.__getitem__)
