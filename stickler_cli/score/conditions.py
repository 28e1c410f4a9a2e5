"""What an evaluation was made under: the options that decide its counts, and the fields."""

import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import field
from dataclasses import fields as fields_of

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import ANY_KEY, Path
from stickler_cli.core.values import dataclass
from stickler_cli.settings.deciding import Counting, CountingOptions, DecidingOptions
from .sums import Sums


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all documents of an evaluation were compared under."""

    options: DecidingOptions
    fields: tuple[FieldInfo, ...]
    """In schema order, parents first."""
    counting: Counting = field(default=CountingOptions.counting, compare=False)
    """What reports of it read."""

    def differences(self, other: "Conditions") -> Iterator[str]:
        """Yield in what two evaluations disagree, a clause each."""
        for option in fields_of(DecidingOptions):
            here, there = getattr(self.options, option.name), getattr(other.options, option.name)
            if here != there:
                yield f"{option.name} is {here!r} here and {there!r} there"
        if self.fields != other.fields:
            yield "the fields of their schemas differ"


def pattern_of(path: Path, known: Container[Path]) -> Path:
    """Return the path under which the schema describes a field."""
    pattern: Path = ()
    for name in path:
        pattern = (*pattern, step_of(str(name), known, pattern))
    return pattern


def step_of(name: str, known: Container[Path], pattern: Path) -> str:
    """Return the step by which the schema describes a name below a pattern: its own, or `*`."""
    declared = (*pattern, name) in known or (*pattern, ANY_KEY) not in known
    return name if declared else ANY_KEY


def in_schema_order(sums: Sums, fields: Iterable[FieldInfo]) -> Sums:
    """Return sums whose fields stand as in the schema; names that only documents have follow.

    Documents may meet fields in any order; a result must not show it.
    """
    rank: dict[Path, int] = {}
    for position, info in enumerate(fields):
        rank.setdefault(info.path, position)

    def place(path: Path) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        pattern: Path = ()
        for name in map(str, path):
            found.append((rank.get((*pattern, name), math.inf), name))
            pattern = (*pattern, step_of(name, rank, pattern))
        return found

    return Sums((path, sums[path]) for path in sorted(sums, key=place))
