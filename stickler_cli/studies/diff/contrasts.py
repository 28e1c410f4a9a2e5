"""In what two runs differ besides their figures, and whether that makes them incomparable."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final, TypeAlias

from stickler_cli.core.locations import field_path
from stickler_cli.score.record import Run
from .changes import Contrast

_Both: TypeAlias = tuple[str, object, object, bool]
"""What may differ, what it is in either run, and whether that keeps figures from being compared."""


def contrasts(base: Run, new: Run) -> list[Contrast]:
    """Return everything in which two runs differ, what decides first."""
    found = [
        Contrast(what, _shown(before), _shown(after), decides)
        for what, before, after, decides in _every(base, new)
        if before != after
    ]
    return sorted(found, key=lambda contrast: not contrast.decides)


def deciding(base: Run, new: Run) -> list[Contrast]:
    """Return that for which the figures of two runs cannot be compared."""
    return [contrast for contrast in contrasts(base, new) if contrast.decides]


_WHOLE: Final = {True: "interrupted", False: "whole"}
_DECLARED: Final = {True: "declared", False: "not declared"}


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


def _every(base: Run, new: Run) -> Iterator[_Both]:
    before, after = base.schema, new.schema
    yield "schema digest", before.digest, after.digest, True
    yield "inferred annotations", before.inferred, after.inferred, True
    yield "schema by", before.by, after.by, True
    yield "semantics", base.evaluation.semantics, new.evaluation.semantics, True
    if (before.digest, before.inferred) != (after.digest, after.inferred):
        yield "schema", before.path, after.path, False
        yield "model name", before.model_name, after.model_name, False
        old, now = ({info.path: asdict(info) for info in run.fields} for run in (base, new))
        for path in dict.fromkeys([*old, *now]):
            name = f"field {field_path(path)}" if path else "documents"
            yield name, _DECLARED[path in old], _DECLARED[path in now], False
            if path in old and path in now:
                for key in ("kind", "comparator", "threshold", "weight"):
                    yield f"{name}, {key}", old[path][key], now[path][key], False
    options = asdict(new.options)  # `strict` and `rows` decide no figure, `counting` which are read
    for name, value in asdict(base.options).items():
        yield f"option {name}", value, options[name], name not in ("strict", "rows", "counting")
    yield "run", _WHOLE[base.partial], _WHOLE[new.partial], True
    yield "version", base.version, new.version, False
