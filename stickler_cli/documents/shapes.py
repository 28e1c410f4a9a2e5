"""The places of documents in files: inside of text, below a key, under names with a pattern."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import (
    OBJECTS,
    OBJECTS_OR_ARRAYS,
    DocumentKind,
    JsonDocument,
    JsonValue,
    brief,
    kind_of,
)
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.settings.inputs import DocumentOptions
from .document import Data, Reading, Reference, Side, Wrapping, read_document
from .reading import of_kinds

PAIR_BY: Final = "--pair-by"

Naming: TypeAlias = re.Pattern[str] | None  # finds in a name what pairs; None takes all of it


class Shape(NamedTuple):
    """The places of the documents of a pair in their files; can be pickled."""

    wrapping: Wrapping = "hinted"
    """What becomes of a prediction that is inside other text."""
    gt_root: tuple[str, ...] = ()
    """The keys, or indexes, that lead to a ground truth."""
    pred_root: tuple[str, ...] = ()
    kinds: tuple[DocumentKind, ...] = OBJECTS
    """What documents are."""

    def root(self, side: Side) -> tuple[str, ...]:
        """Return the keys, or indexes, that lead to the document of a side."""
        return self.gt_root if side == "gt" else self.pred_root

    def read(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the document of a side; see `read_document`."""
        reading, root = self.read_around(reference, side, data), self.root(side)
        if not root:
            return reading
        value = at_root(reading.value, root, f"--{side}-root", reference, self.kinds)
        return replace(reading, value=value)

    def read_around(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the value that the document of a side stands in."""
        kinds = OBJECTS_OR_ARRAYS if self.root(side) and self.kinds != OBJECTS else self.kinds
        wrapping: Wrapping = "refused" if side == "gt" else self.wrapping
        return read_document(reference, wrapping, data, kinds)


DEFAULT_SHAPE: Final = Shape()
ANY_SHAPE: Final = Shape(kinds=OBJECTS_OR_ARRAYS)


def shape_of(settings: DocumentOptions, kinds: tuple[DocumentKind, ...] = OBJECTS) -> Shape:
    """Return the shape that settings tell of documents of some kinds."""
    wrapping: Wrapping = "taken" if settings.lenient_json else "hinted"
    return Shape(wrapping, root_steps(settings.gt_root), root_steps(settings.pred_root), kinds)


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
    document: JsonDocument | Problem | None,
    root: tuple[str, ...],
    option: str,
    reference: Reference | None,
    kinds: Sequence[DocumentKind],
) -> JsonDocument | Problem | None:
    """Return the document that stands below a root, or a problem."""
    if document is None or isinstance(document, Problem):
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
    found = of_kinds(value, kinds, place.source, place.line)
    if not isinstance(found, Problem):
        return found
    return replace(found, found=f"{option} {root_text(root)} is of type {kind_of(value)}", hint="")


def naming_of(said: str | None) -> Naming:
    """Return the pattern for the part of a name that pairs; None where nobody gave one.

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
    """Return the part of a name that pairs: the first group, or the match; else all of the name."""
    match = naming.search(name)
    if match is None:
        return name
    return (match[1] if naming.groups else match[0]) or name


def renamed(
    documents: Iterable[tuple[str, Reference]], naming: re.Pattern[str], source: str
) -> Iterator[tuple[str, Reference]]:
    """Yield documents under the part of their names that a pattern finds.

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
