"""Notes on patterns of `--ignore` and `--rename` that match no key, probably because of a typo."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path, matches_pattern
from stickler_cli.core.problems import did_you_mean
from stickler_cli.documents.document_pair import read_pair
from stickler_cli.documents.key_edits import IGNORE, NO_EDITS, RENAME, KeyEdits, KeySteps
from stickler_cli.documents.reading import STANDARD_INPUT
from .chunk import unwrapped
from .job import unwrapper_of

if TYPE_CHECKING:
    from .assembly import Assembly

MAX_PAIRS: Final = 1_000  # number of pairs that are searched for keys


def note_unused_keys(assembly: "Assembly") -> Iterator[str]:
    """Yield a note for each pattern that matches no key.

    The first documents are read again for this.
    """
    settings = assembly.settings
    unwrapper = unwrapper_of(assembly.schema.plan.root, settings)
    edits = unwrapper.edits if unwrapper else NO_EDITS
    if unwrapper is None or not edits or STANDARD_INPUT in (settings.gt, settings.pred):
        return
    unwrapper.edits = NO_EDITS
    refs = islice(assembly.pairs.refs(), MAX_PAIRS)
    pairs = [unwrapped(unwrapper, read_pair(ref)) for ref in refs]
    gts, preds = [pair.gt for pair in pairs], [pair.pred for pair in pairs]

    pred_paths = _key_paths(preds, KeyEdits(renamings=edits.renamings))
    paths = _key_paths(gts) | pred_paths
    for pattern in edits.ignored:
        if not _matches_any(pattern, paths):
            yield _word_note(IGNORE, field_path(pattern), pattern, paths)
    for renaming in edits.renamings:
        others = tuple(other for other in edits.renamings if other is not renaming)
        old_paths = _key_paths(preds, KeyEdits(renamings=others))
        if not _matches_any(renaming.pattern, old_paths):
            text = f"{field_path(renaming.pattern)}={renaming.name}"
            yield _word_note(RENAME, text, renaming.pattern, old_paths)


def _key_paths(documents: Iterable[object], edits: KeyEdits = NO_EDITS) -> set[KeySteps]:
    """Return the paths of all keys in documents, after keys are renamed by `edits`."""
    paths: set[KeySteps] = set()
    for document in documents:
        if isinstance(document, dict | list):
            paths.update(_paths_of(edits.edit_all(document, is_truth=False), ()))
    return paths


def _paths_of(value: JsonValue, parent: KeySteps) -> Iterator[KeySteps]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield (*parent, name)
            yield from _paths_of(child, (*parent, name))
    elif isinstance(value, list):
        for item in value:
            yield from _paths_of(item, parent)


def _matches_any(pattern: KeySteps, paths: set[KeySteps]) -> bool:
    return any(matches_pattern(pattern, path) for path in paths)


def _word_note(option: str, text: str, pattern: KeySteps, paths: set[KeySteps]) -> str:
    path_of_name = {path[-1]: field_path(path) for path in sorted(paths, reverse=True)}
    meant = did_you_mean(pattern[-1], path_of_name, display=path_of_name.__getitem__)
    hint = f"; {meant}" if meant else ""
    return f"`{option} {text}` has no effect, because no document has a key with this path{hint}"
