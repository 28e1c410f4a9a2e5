"""How documents stand in what is read: inside of text, below a key, under names with a pattern."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import JsonObject, JsonValue, brief, kind_of
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.settings.inputs import DocumentOptions
from .document import Reference, Wrapping

PAIR_BY: Final = "--pair-by"

Naming: TypeAlias = re.Pattern[str] | None  # finds in a name what pairs; None takes all of it


class Shape(NamedTuple):
    """How the documents of a pair stand in what is read; can be pickled."""

    wrapping: Wrapping = "hinted"
    """What becomes of a prediction that is inside other text."""
    gt_root: tuple[str, ...] = ()
    """The keys, or indexes, that lead to a ground truth."""
    pred_root: tuple[str, ...] = ()


DEFAULT_SHAPE: Final = Shape()


def shape_of(settings: DocumentOptions) -> Shape:
    """Return the shape that settings tell of."""
    wrapping: Wrapping = "taken" if settings.lenient_json else "hinted"
    return Shape(wrapping, root_steps(settings.gt_root), root_steps(settings.pred_root))


def root_steps(said: str | None) -> tuple[str, ...]:
    """Return the steps of a key, or of a JSON Pointer. Source: RFC 6901."""
    if not said:
        return ()
    if not said.startswith("/"):
        return (said,)
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in said[1:].split("/"))


def root_text(steps: tuple[str, ...]) -> str:
    """Return steps as the option has them."""
    (first, *others) = steps
    if not others and not first.startswith("/"):
        return first
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)


def at_root(
    document: JsonObject | Problem | None,
    root: tuple[str, ...],
    option: str,
    reference: Reference | None,
) -> JsonObject | Problem | None:
    """Return the document that stands below a root, or what stands there instead."""
    if not root or not isinstance(document, dict):
        return document
    value: JsonValue = document
    place = Problem("", "") if reference is None else reference
    for step in root:
        expected = f"the document at {option} {root_text(root)}"
        if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            hint = did_you_mean(step, value) if isinstance(value, dict) else ""
            return Problem(
                place.source, f"there is no {brief(step)}", expected, hint, None, place.line
            )
    if isinstance(value, dict):
        return value
    found = f"{option} {root_text(root)} is of type {kind_of(value)}"
    return Problem(place.source, found, "a JSON object", "", None, place.line)


def naming_of(said: str | None) -> Naming:
    """Return the pattern that finds in a name what pairs; None where nobody said one.

    Raises:
        UsageError: it is no regular expression.
    """
    if said is None:
        return None
    try:
        return re.compile(said)
    except re.error as error:
        expected = "a regular expression"
        raise UsageError([Problem(PAIR_BY, f"{brief(said)} is none ({error})", expected)]) from None


def name_by(naming: re.Pattern[str], name: str) -> str:
    """Return what pairs in a name: the first group, or all that matches; else all of the name."""
    match = naming.search(name)
    if match is None:
        return name
    return (match[1] if naming.groups else match[0]) or name


def renamed(
    documents: Iterable[tuple[str, Reference]], naming: re.Pattern[str], source: str
) -> Iterator[tuple[str, Reference]]:
    """Yield documents under what a pattern finds in their names.

    Raises:
        UsageError: it finds the same in two of them.
    """
    names: dict[str, str] = {}
    for name, reference in documents:
        found = name_by(naming, name)
        if found in names:
            twice = f"it finds {found!r} in {names[found]!r} and in {name!r} of {source}"
            raise UsageError([Problem(PAIR_BY, twice, "another name for each document")])
        names[found] = name
        yield found, reference
