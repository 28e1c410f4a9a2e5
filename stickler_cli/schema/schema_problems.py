"""What is wrong with a schema, all of it at once: as JSON Schema, and as annotations."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.comparators.keywords import KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem
from .annotations import ON_VALUE, PREFIX, Merged, annotation_problems, read_annotations
from .dialects import Schema, walk
from .files import is_uri
from .metaschema import invalid_places
from .references import SchemaFiles

CONFIG: Final = f"{PREFIX}comparator-config"


class Problems:
    """The problems found so far, one a place, in the order in which they were found."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Problem] = {}

    def add(self, schema: Schema, steps: Path, found: str, expected: str, hint: str = "") -> None:
        """Note a problem `steps` below a schema; the first at a place is the one that is kept."""
        place = self._files.at(schema)
        pointer = json_pointer((*place.path, *steps))
        self.note(Problem(place.source, found, expected, hint, pointer))

    def add_keyword(self, schema: Schema, error: KeywordError) -> None:
        """Note what a comparator says of its config."""
        steps = (CONFIG,) if error.keyword is None else (CONFIG, error.keyword)
        self.add(schema, steps, error.found, error.expected, error.hint)

    def note(self, *problems: Problem) -> None:
        """Note problems whose place is known."""
        for problem in problems:
            self._found.setdefault((problem.source, problem.pointer or ""), problem)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)


def check(
    files: SchemaFiles, schema: Schema, problems: Problems, *, comparators: Comparators
) -> bool:
    """Note all that is wrong with a schema by itself; return whether it is valid JSON Schema."""
    before = len(problems)
    for wrong, *said in invalid_places(schema, files.at(schema).dialect):
        problems.add(schema, wrong, *said)
    valid = len(problems) == before
    here = files.at(schema)
    for path, part in walk(schema):
        keyword = files.at(part).dialect.id_keyword
        identifier = part.get(keyword)
        if isinstance(identifier, str) and not is_uri(identifier):
            problems.add(schema, (*path, keyword), f"{keyword} is {brief(identifier)}", "a URI")
            valid = False
        problems.note(*annotation_problems(part, here.source, (*here.path, *path)))
        _check_comparator(part, problems, comparators)
    return valid


def _check_comparator(schema: Schema, problems: Problems, comparators: Comparators) -> None:
    own = read_annotations(schema)
    try:
        if own.comparator is not None and own.comparator_config is not None:
            comparators.construct(own.comparator, own.comparator_config)
        elif own.comparator is not None:
            comparators.check(own.comparator)
    except UnknownComparatorError as error:
        problems.add(schema, (f"{PREFIX}comparator",), error.found, error.expected, error.hint)
    except KeywordError as error:
        problems.add_keyword(schema, error)


ON_OBJECT: Final = ("match_threshold", "model_name")
ANYWHERE: Final = {
    "pairing_floor": "it on an array",
    **dict.fromkeys(ON_VALUE, "it on a leaf or an array"),
    **dict.fromkeys(ON_OBJECT, "it on an object schema"),
}
"""The annotations that cannot stand anywhere, and where each has its effect."""

OBJECTS: Final = "an array of objects"
_HINTS: Final = {
    OBJECTS: "objects are compared field by field: put it on their properties",
    "an array": 'put it on "items"',
    "an object": "an object is compared field by field: put it on the properties",
}


class Usage:
    """Which annotations had an effect at some place, and which had none at another.

    One schema may serve several places, or several kinds: only if none of them can use an
    annotation is it misplaced.
    """

    def __init__(self, files: SchemaFiles, problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._used: set[tuple[str, Path, str]] = set()
        self._unused: dict[tuple[str, Path, str], tuple[Schema, str, str, str]] = {}

    def note(self, merged: Merged, kind: str, *used: str) -> None:
        """Note the annotations of a place: what it is (`a string`), and which have an effect."""
        for name, expected in ANYWHERE.items():
            said = (schema for schema, own in merged.own if getattr(own, name) is not None)
            if (holder := next(said, None)) is None:
                continue
            place = self._files.at(holder)
            key = place.source, place.path, PREFIX + name.replace("_", "-")
            if name in used:
                self._used.add(key)
                continue
            here = "an array" if kind == OBJECTS and name in ON_OBJECT else kind
            hint = "" if name == "pairing_floor" else _HINTS.get(here, "")
            found = f"{name.replace('_', '-')} is on {here}"
            self._unused[key] = (holder, found, expected, hint)

    def report(self) -> None:
        """Turn what had no effect anywhere into problems."""
        for key, (schema, *said) in self._unused.items():
            if key not in self._used:
                self._problems.add(schema, (key[2],), *said)
