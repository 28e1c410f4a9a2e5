"""In what two runs differ besides their figures, and whether that makes them incomparable."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from stickler_cli.core.locations import Path, field_path
from stickler_cli.diff.changes import Contrast
from stickler_cli.score.record import FieldInfo, Run

NOT_DECIDING = frozenset({"strict"})
"""Options that decide the exit code, and no figure."""


def contrasts(base: Run, new: Run) -> list[Contrast]:
    """Return everything in which two runs differ, what decides first."""
    found = [
        *_schemas(base, new),
        *_options(base, new),
        *_whole_or_not(base, new),
        *_one("version", base.version, new.version, decides=False),
    ]
    return sorted(found, key=lambda contrast: not contrast.decides)


def deciding(base: Run, new: Run) -> list[Contrast]:
    """Return that for which the figures of two runs cannot be compared."""
    return [contrast for contrast in contrasts(base, new) if contrast.decides]


def _one(what: str, base: object, new: object, *, decides: bool) -> Iterator[Contrast]:
    if base != new:
        yield Contrast(what, _shown(base), _shown(new), decides)


def _shown(value: object) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case None:
            return "none"
        case _:
            return str(value)


def _schemas(base: Run, new: Run) -> Iterator[Contrast]:
    before, after = base.schema, new.schema
    yield from _one("schema digest", before.digest, after.digest, decides=True)
    if before.digest != after.digest:
        yield from _one("schema", before.path, after.path, decides=False)
        yield from _one("model name", before.model_name, after.model_name, decides=False)
        yield from _fields(base.fields, new.fields)


def _fields(base: Sequence[FieldInfo], new: Sequence[FieldInfo]) -> Iterator[Contrast]:
    before: dict[Path, FieldInfo] = {info.path: info for info in base}
    after: dict[Path, FieldInfo] = {info.path: info for info in new}
    for path in dict.fromkeys([*before, *after]):
        name = f"field {field_path(path)}"
        if path not in before or path not in after:
            words = {True: "declared", False: "not declared"}
            yield from _one(name, words[path in before], words[path in after], decides=False)
            continue
        here, now = asdict(before[path]), asdict(after[path])
        for key in ("kind", "comparator", "threshold", "weight"):
            yield from _one(f"{name}, {key}", here[key], now[key], decides=False)


def _options(base: Run, new: Run) -> Iterator[Contrast]:
    before, after = asdict(base.options), asdict(new.options)
    for name in before:
        decides = name not in NOT_DECIDING
        yield from _one(f"option {name}", before[name], after[name], decides=decides)


def _whole_or_not(base: Run, new: Run) -> Iterator[Contrast]:
    words = {True: "interrupted", False: "whole"}
    yield from _one("run", words[base.partial], words[new.partial], decides=True)
