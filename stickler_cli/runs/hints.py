"""Hints: the option that would help where predictions do not fit the schema.

Whether every document is like that, the counts of the run say; what it looks like, a few documents
do that are read again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import Path, field_path
from stickler_cli.documents.document_pair import DocumentPair, read_pair
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.documents.roots import root_text
from stickler_cli.documents.sources import pattern_for
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.folds import PathCounts

if TYPE_CHECKING:
    from stickler_cli.score.record import Run
    from .assembly import Assembly

LOOKED_AT: Final = 20  # pairs of which a shape is made out
DEEPEST_ROOT: Final = 3
NAMED: Final = 3  # keys that a hint names

_CONFIDENCES: Final = ("confidence", "score", "probability", "conf")


def hints(assembly: "Assembly", run: "Run") -> Iterator[str]:
    """Yield hints, a line each."""
    evaluation, paths = run.evaluation, [info.field for info in run.fields if info.field]
    pattern = name_pattern(evaluation)
    if pattern is not None and not run.nothing_paired:  # which is an error that says it
        yield pattern
    settings, evaluated = assembly.settings, evaluation.statuses[Status.EVALUATED]
    if not evaluated or STANDARD_INPUT in (settings.gt, settings.pred):
        return
    keys = evaluation.fold(PathCounts)
    extras = [path for path, count in sorted(keys.extra_keys.items()) if count >= evaluated]
    undeclared = [
        path for path, count in sorted(keys.undeclared_keys.items()) if count >= evaluated
    ]
    names = {path[0] for path in paths if len(path) == 1}
    both = (ref for ref in assembly.pairs.refs() if ref.gt is not None and ref.pred is not None)
    pairs = [*map(read_pair, islice(both, LOOKED_AT))]
    if any(len(path) == 1 for path in extras):
        preds = [pair.pred for pair in pairs if isinstance(pair.pred, dict)]
        yield from _root_hint("--pred-root", "prediction", preds, names)
    if any(len(path) == 1 for path in undeclared):
        gts = [pair.gt for pair in pairs if isinstance(pair.gt, dict)]
        yield from _root_hint("--gt-root", "ground truth", gts, names)
    yield from _case_hints(extras, paths)
    leaves = [it.field[0] for it in run.fields if it.kind == "leaf" and len(it.field) == 1]
    yield from _wrapper_hint(assembly, pairs, leaves)


def name_pattern(evaluation: Evaluation) -> str | None:
    """Return the option by which documents that are alone would pair; None where there is none."""
    gts, preds = alone(evaluation)
    found = pattern_for(gts, preds) if gts and preds else None
    if found is None:
        return None
    pattern, count = found
    return f"--pair-by '{pattern}' would pair {count} of the names that stand alone"


def alone(evaluation: Evaluation) -> tuple[list[str], list[str]]:
    """Return the documents that have no prediction, and those that have no ground truth."""
    gts, preds = (
        sorted({it.document for it in evaluation.problems if it.status is status})
        for status in (Status.MISSING, Status.UNMATCHED)
    )
    return gts, preds


def _root_hint(
    option: str, side: str, documents: Sequence[JsonObject], names: Iterable[object]
) -> Iterator[str]:
    known = {name for name in names if isinstance(name, str)}
    roots = {_root_in(document, known) for document in documents}
    if len(roots) == 1 and (root := roots.pop()):
        yield f"{option} {root_text(root)}: every {side} has the fields of the schema there"


def _root_in(document: JsonObject, known: set[str]) -> tuple[str, ...]:
    """Return the keys that lead to the first object with a field of the schema; empty for none."""
    level: list[tuple[tuple[str, ...], JsonObject]] = [((), document)]
    for _ in range(DEEPEST_ROOT):
        for path, entry in level:
            if known & entry.keys():
                return path
        level = [
            ((*path, key), value)
            for path, entry in level
            for key, value in entry.items()
            if isinstance(value, dict)
        ]
    return next((path for path, entry in level if known & entry.keys()), ())


def _case_hints(extras: Iterable[Path], fields: Sequence[Path]) -> Iterator[str]:
    """Yield which keys differ from declared ones in case and separators only."""
    spelt = {(*path[:-1], _letters_of(path[-1])): path for path in fields}
    meant = [(path, spelt.get((*path[:-1], _letters_of(path[-1])))) for path in extras]
    found = [(path, declared) for path, declared in meant if declared not in (None, path)]
    if found:
        named = [f"{field_path(path)!r} for {field_path(it)!r}" for path, it in found if it]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        yield (
            f"every prediction spells keys otherwise than the schema: {', '.join(named[:NAMED])}"
            f"{more}; rename them in one of the two, since keys are compared exactly"
        )


def _letters_of(name: object) -> str:
    return "".join(filter(str.isalnum, str(name).casefold()))


def _wrapper_hint(
    assembly: "Assembly", pairs: Sequence[DocumentPair], leaves: Iterable[object]
) -> Iterator[str]:
    """Yield the form of objects that hold most values, if it is not taken off already."""
    sides = [pair.pred for pair in pairs if isinstance(pair.pred, dict)]
    found = [side.get(name) for side in sides for name in leaves if isinstance(name, str)]
    values = [value for value in found if value is not None]
    wrapped = [value for value in values if isinstance(value, dict)]
    if not wrapped or 2 * len(wrapped) < len(values):
        return
    if assembly.settings.wrapped == "none":
        usual = Unwrapper(assembly.job.plan.root)
        if all(usual(side).wrappers for side in sides):
            yield "--wrapped auto: most values of predictions stand in objects with metadata"
            return
    unwrapper = assembly.job.unwrapper
    if unwrapper is not None and any(unwrapper.form_of(value, None) for value in wrapped):
        return
    form = _form_of(wrapped)
    if form:
        yield f"--wrapped {form}: most values of predictions stand in objects with that key"


def _form_of(wrapped: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return the keys of the value and of its confidence in objects most of which are alike."""
    counts = Counter(key for value in wrapped for key in value)
    common = [key for key, count in counts.items() if 2 * count > len(wrapped)]
    confidence = next((key for key in _CONFIDENCES if key in common), "")
    keys = [key for key in common if "val" in key.lower() or key.lower() in ("text", "content")]
    keys = keys or ([key for key in common if key != confidence] if confidence else [])
    if len(keys) != 1:
        return ""
    return f"{keys[0]}:{confidence}" if confidence else keys[0]
