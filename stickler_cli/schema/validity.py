"""What is wrong with a schema, all of it at once: as JSON Schema, and as annotations."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError
from stickler_cli.core.json_values import JsonObject, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.schema.annotations import PREFIX, annotation_problems, own_keys, read_annotations
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.index import is_uri
from stickler_cli.schema.metaschema import invalid_places
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.schema.vocabulary import walk

COMPARATOR: Final = f"{PREFIX}comparator"
CONFIG: Final = f"{PREFIX}comparator-config"


class Problems:
    """The problems found so far, one a place, in the order in which they were found."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Problem] = {}

    def add(
        self, schema: Schema, steps: Path, found: str, expected: str = "", hint: str = ""
    ) -> None:
        """Note a problem `steps` below a schema; the first at a place is the one that is kept."""
        source, path = self._files.place_of(schema)
        self.note(Problem(source, found, expected, hint, json_pointer((*path, *steps))))

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
    """Note all that is wrong with a schema by itself, used or not.

    Returns:
        Whether it is valid JSON Schema in its dialect; what is not has no meaning to compile.
    """
    before = len(problems)
    source, outer = files.place_of(schema)
    for wrong in invalid_places(schema, files.dialect_at(schema)):
        pointer = json_pointer((*outer, *wrong.path))
        problems.note(Problem(source, wrong.found, wrong.expected, wrong.hint, pointer))
    valid = len(problems) == before
    for path, part in walk(schema):
        keyword = files.dialect_at(part).id_keyword
        identifier = part.get(keyword)
        if isinstance(identifier, str) and not is_uri(identifier):
            found = f"{keyword} is {brief(identifier)}"
            problems.note(
                Problem(source, found, "a URI", "", json_pointer((*outer, *path, keyword)))
            )
            valid = False
        if own_keys(part):
            for problem in annotation_problems(part, source, (*outer, *path)):
                problems.note(problem)
            own = read_annotations(part)
            if own.comparator is not None:
                _check_comparator(
                    part,
                    own.comparator,
                    own.comparator_config,
                    problems,
                    comparators=comparators,
                )
    return valid


def _check_comparator(
    schema: Schema,
    name: str,
    config: JsonObject | None,
    problems: Problems,
    *,
    comparators: Comparators,
) -> None:
    """Note a comparator that does not exist or does not take its config."""
    try:
        comparators.check(name)
        if config is not None:
            comparators.construct(name, config)
    except UnknownComparatorError as error:
        problems.add(schema, (COMPARATOR,), error.found, error.expected, error.hint)
    except KeywordError as error:
        problems.add_keyword(schema, error)
