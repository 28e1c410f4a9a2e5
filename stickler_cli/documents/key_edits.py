"""Rename or drop keys of documents, as the user asks, before the documents are compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import JsonObject, JsonValue, is_absent
from stickler_cli.core.locations import (
    ANY_NAMES,
    Path,
    field_path,
    matches_pattern,
    parse_field_path,
)
from stickler_cli.core.problems import Problem, UsageError

IGNORE: Final = "--ignore"
RENAME: Final = "--rename"

KeySteps: TypeAlias = tuple[str, ...]  # names that lead to a key, without list indexes


class Renaming(NamedTuple):
    """A new name for a key at one path in predictions."""

    pattern: KeySteps
    """Path of the key. `*` stands for any one key and `**` for any number of keys."""
    name: str
    """The new name of the key."""


@dataclass(frozen=True, slots=True)
class KeyEdits:
    """The keys of documents that are renamed or dropped."""

    ignored: tuple[KeySteps, ...] = ()
    """Paths of keys that are dropped from ground truths and predictions. They may contain `*` and
    `**`."""
    renamings: tuple[Renaming, ...] = ()
    """New names for keys of predictions. The pattern of a renaming ends with the old name of the
    key. If an object around the key is renamed as well, the pattern has the new name of that
    object."""

    def __bool__(self) -> bool:
        return bool(self.ignored or self.renamings)

    def edit(self, value: JsonObject, parent: Path, *, is_truth: bool) -> JsonObject:
        """Return an object with its own keys renamed and dropped.

        Keys inside its values do not change.

        If there is nothing to rename or drop, the result is the same object.
        """
        names = tuple(step for step in parent if isinstance(step, str))
        new_names = {} if is_truth else self._find_new_names(value, names)
        # An absent value under the new name is replaced.
        gives_way = {new for new in new_names.values() if new not in new_names}
        edited = {
            new_names.get(key, key): child
            for key, child in value.items()
            if key not in gives_way and not self._ignores((*names, new_names.get(key, key)))
        }
        return edited if new_names or len(edited) < len(value) else value

    def _find_new_names(self, value: JsonObject, parent: KeySteps) -> dict[str, str]:
        """Return a dict from the old name to the new name of each key that is renamed.

        No value may be lost. Therefore a key is not renamed if the object already has a value under
        the new name.
        """
        wanted = {key: self._rename((*parent, key)) for key in value}
        new_names: dict[str, str] = {}
        for key, name in wanted.items():
            is_free = is_absent(value.get(name)) or wanted[name] != name
            if name != key and is_free and name not in new_names.values():
                new_names[key] = name
        # A key that keeps its name after all can block the new name of another one.
        while blocked := [
            key
            for key, name in new_names.items()
            if name not in new_names and not is_absent(value.get(name))
        ]:
            for key in blocked:
                del new_names[key]
        return new_names

    def edit_all(self, value: JsonValue, *, is_truth: bool, parent: Path = ()) -> JsonValue:
        """Return a document with keys renamed and dropped in all its objects."""
        if isinstance(value, dict):
            edited = self.edit(value, parent, is_truth=is_truth)
            return {
                key: self.edit_all(child, is_truth=is_truth, parent=(*parent, key))
                for key, child in edited.items()
            }
        if isinstance(value, list):
            return [self.edit_all(item, is_truth=is_truth, parent=parent) for item in value]
        return value

    def _rename(self, names: KeySteps) -> str:
        for renaming in self.renamings:
            if matches_pattern(renaming.pattern, names):
                return renaming.name
        return names[-1]

    def _ignores(self, names: KeySteps) -> bool:
        return bool(self.ignored) and _matches_any(self.ignored, names)


NO_EDITS: Final = KeyEdits()


@lru_cache(10_000)  # documents of a run mostly have the same keys
def _matches_any(patterns: tuple[KeySteps, ...], names: KeySteps) -> bool:
    return any(matches_pattern(pattern, names) for pattern in patterns)


def parse_key_edits(ignored: Sequence[str], renamed: Sequence[str]) -> KeyEdits:
    """Parse the values of `--ignore` and `--rename`.

    Raises:
        UsageError: some values are invalid; the error lists all of them.
    """
    problems: list[Problem] = []
    patterns: list[KeySteps] = []
    pairs: list[tuple[KeySteps, KeySteps]] = []
    for text in ignored:
        pattern = _parse_names(text)
        if pattern is None or all(name == ANY_NAMES for name in pattern):
            expected = "the path of a field to ignore, such as id, meta.id or **.score"
            problems.append(Problem(IGNORE, f"the value is {text!r}", expected))
        else:
            patterns.append(pattern)
    for text in renamed:
        pair = _parse_renaming(text)
        if pair is None:
            hint = (
                "NEW must be a single name, or a path that differs from OLD only in its last part"
            )
            expected = "OLD=NEW, such as vendor=seller or lines.descr=description"
            problems.append(
                Problem(source=RENAME, found=f"the value is {text!r}", expected=expected, hint=hint)
            )
        else:
            pairs.append(pair)
    if problems:
        raise UsageError(problems)
    return KeyEdits(ignored=tuple(patterns), renamings=_order_renamings(pairs))


def _parse_names(text: str) -> KeySteps | None:
    """Return the names in a field path; None if it is invalid, is empty, or has a list index."""
    try:
        path = parse_field_path(text)
    except ValueError:
        return None
    names = tuple(step for step in path if isinstance(step, str))
    return names if names and len(names) == len(path) else None


def _parse_renaming(text: str) -> tuple[KeySteps, KeySteps] | None:
    """Return the old and the new path in a text such as `vendor=seller`.

    Return None if the text is not a renaming, or if it would move the key to another object.
    """
    for index in (index for index, character in enumerate(text) if character == "="):
        old, new = _parse_names(text[:index]), _parse_names(text[index + 1 :])
        if old is None or new is None or old[-1] in ("*", ANY_NAMES):
            continue
        if len(new) == 1:
            new = (*old[:-1], *new)
        return (old, new) if old[:-1] == new[:-1] else None
    return None


def _order_renamings(pairs: Iterable[tuple[KeySteps, KeySteps]]) -> tuple[Renaming, ...]:
    """Return renamings sorted so that outer keys come before the keys inside them.

    `pairs` has (old path, new path) for each key. When an inner key is renamed, the objects around
    it already have their new names. Therefore the pattern for the inner key has these new names,
    too.
    """
    new_names: dict[str, KeySteps] = {}
    renamings = []
    for old, new in sorted(pairs, key=lambda pair: len(pair[0])):
        parent = old[:-1]
        for end in range(len(parent), 0, -1):
            if renamed_parent := new_names.get(field_path(parent[:end])):
                parent = (*renamed_parent, *parent[end:])
                break
        new_names[field_path(old)] = (*parent, new[-1])
        renamings.append(Renaming(pattern=(*parent, old[-1]), name=new[-1]))
    return tuple(renamings)
