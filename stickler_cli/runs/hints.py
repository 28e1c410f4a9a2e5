"""Hints at options that would help if predictions do not fit the schema.

The counts of the run show whether most documents have the same problem. If so, a few documents are
read again to find the option that helps.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import Path, field_path
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.document_pair import DocumentPair, PairRef, read_pair
from stickler_cli.documents.pairs import name_of_line
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.documents.roots import Steps, read_inner_json, root_text
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.folds import PathCounts
from .chunk import unwrapped
from .value_hints import DocumentValues, hint_annotations, hint_id_field

if TYPE_CHECKING:
    from stickler_cli.score.record import Run
    from .assembly import Assembly

LOOKED_AT: Final = 20  # number of pairs from which the shape of documents is determined
MAX_IDS: Final = 1_000  # number of pairs whose ids are compared
GOOD_F1: Final = 0.9  # F1 from which the shape of predictions must be right
DEEPEST_ROOT: Final = 5
MAX_NAMED_KEYS: Final = 3  # number of keys that a hint lists

_CONFIDENCES: Final = ("confidence", "score", "probability", "conf")


def hints(assembly: "Assembly", run: "Run") -> Iterator[str]:
    """Yield hints for the user, one line each. There are none if predictions are mostly right."""
    evaluation, settings = run.evaluation, assembly.settings
    f1 = run.rule.rates(evaluation.tally.counts(run.rule.counting)).f1
    if f1 is not None and f1 >= GOOD_F1:
        return
    pattern = name_pattern(evaluation)
    if pattern is not None and not run.nothing_paired:  # an error reports that nothing was paired
        yield pattern
    evaluated = evaluation.statuses[Status.EVALUATED]
    if not evaluated or STANDARD_INPUT in (settings.gt, settings.pred):
        return
    complete_refs = (
        ref for ref in assembly.pairs.refs() if ref.gt is not None and ref.pred is not None
    )
    refs = [*islice(complete_refs, MAX_IDS)]
    pairs = [*map(read_pair, refs[:LOOKED_AT])]
    yield from _shape_hints(assembly, run, pairs)
    is_by_place = settings.id_field is None and settings.pairs is None
    by_line = [*map(_is_paired_by_line, refs)]
    if is_by_place and (all(by_line) or not any(by_line)):
        documents = [*_documents_of(assembly, map(read_pair, refs))]
        yield from hint_id_field(documents, by_name=not any(by_line))
    if not assembly.job.schemas:
        documents = [*_documents_of(assembly, pairs)]
        yield from hint_annotations(documents, assembly.job.plan.root)


def _is_paired_by_line(ref: PairRef) -> bool:
    return isinstance(ref.gt, LineReference) and ref.id == name_of_line(ref.gt.line)


def _documents_of(assembly: "Assembly", pairs: Iterable[DocumentPair]) -> Iterator[DocumentValues]:
    """Yield (ground truth, prediction) for each pair in which both documents can be read.

    Values in wrapper objects are taken out of them first.
    """
    for pair in pairs:
        bare = unwrapped(assembly.job.unwrapper, pair)
        if isinstance(bare.gt, dict | list) and isinstance(bare.pred, dict | list):
            yield bare.gt, bare.pred


def _shape_hints(assembly: "Assembly", run: "Run", pairs: Sequence[DocumentPair]) -> Iterator[str]:
    """Yield hints at options that help if no document has the shape of the schema."""
    evaluated = run.evaluation.statuses[Status.EVALUATED]
    paths = [field.field for field in run.fields if field.field]
    names = {str(path[0]) for path in paths if len(path) == 1}

    # Undeclared keys that occur in every document: of predictions, then of ground truths.
    counts = run.evaluation.fold(PathCounts)
    extras = [path for path, count in sorted(counts.extra_keys.items()) if count >= evaluated]
    undeclared = [
        path for path, count in sorted(counts.undeclared_keys.items()) if count >= evaluated
    ]
    pred_names = {str(path[0]) for path in extras if len(path) == 1}

    preds = [pair.pred for pair in pairs if isinstance(pair.pred, dict)]
    gts = [pair.gt for pair in pairs if isinstance(pair.gt, dict)]
    pred_hints = [*_root_hint("--pred-root", "prediction", preds, names)] if pred_names else []
    yield from pred_hints
    if any(len(path) == 1 for path in undeclared):
        yield from _root_hint("--gt-root", "ground truth", gts, names)
    elif pred_names and not pred_hints:
        # The schema may have been inferred from ground truths that are nested under other keys.
        yield from _root_hint("--gt-root", "ground truth", gts, pred_names)
    yield from _case_hints(extras, paths)

    leaves = [
        field.field[0] for field in run.fields if field.kind == "leaf" and len(field.field) == 1
    ]
    yield from _wrapper_hint(assembly, pairs, leaves)


def name_pattern(evaluation: Evaluation) -> str | None:
    """Return a hint at a `--pair-by` pattern that would pair more documents.

    Return None if no pattern would pair any of the documents that have no partner.
    """
    # Imported late: few runs have documents without a partner.
    from stickler_cli.documents.name_patterns import propose_pattern

    gts, preds = documents_without_partner(evaluation)
    proposal = propose_pattern(gts, preds) if gts and preds else None
    if proposal is None:
        return None
    pattern, count = proposal
    return f"`--pair-by '{pattern}'` would pair {number_of(count, 'more document')}"


def documents_without_partner(evaluation: Evaluation) -> tuple[list[str], list[str]]:
    """Return two sorted lists of ids: unpaired ground truths, and unpaired predictions."""
    gts, preds = (
        sorted({problem.document for problem in evaluation.problems if problem.status is status})
        for status in (Status.MISSING, Status.UNMATCHED)
    )
    return gts, preds


def _root_hint(
    option: str, side: str, documents: Sequence[JsonObject], names: set[str]
) -> Iterator[str]:
    """Yield a hint at an option such as `--pred-root KEY`.

    There is a hint only if the fields of all documents are under the same key. `names` are the
    names of these fields. `side` is the word for the documents in the text of the hint: either
    `prediction` or `ground truth`.
    """
    roots = {_find_root(document, names) for document in documents}
    if len(roots) == 1 and (root := roots.pop()):
        yield (
            f"try `{option} {root_text(root)}`: in every {side}, the schema's fields are "
            "under this key"
        )


def _find_root(document: JsonObject, names: set[str]) -> Steps:
    """Return the keys that lead to the object with the fields of the schema; empty if unclear.

    `names` are the names of the fields. The document and the objects inside it are compared by
    their number of keys that are in `names`. The best object has the most such keys. The function
    chooses the outermost object that has at least half as many such keys as the best object.

    The result is empty in two cases, because no inner object is clearly the right one:

    - The chosen object is the document itself.
    - The document itself has a key in `names`, and the best object has fewer than half of `names`.
    """
    level: list[tuple[Steps, JsonValue]] = [((), document)]
    counts: dict[Steps, int] = {}
    for _ in range(DEEPEST_ROOT + 1):
        counts |= {steps: _count_names(value, names) for steps, value in level}
        level = [
            ((*steps, key), read_inner_json(child))
            for steps, value in level
            for key, child in _list_children(value)
        ]
    max_names = max(counts.values())
    if max_names <= counts[()] or 2 * max_names < len(names) * (counts[()] > 0):
        return ()
    return next(steps for steps, count in counts.items() if 2 * count >= max_names)


def _count_names(value: JsonValue, names: set[str]) -> int:
    return len(names & value.keys()) if isinstance(value, dict) else 0


def _list_children(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield the key and the value of each child of an object, or of a list with one element."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list) and len(value) == 1:
        yield "0", value[0]


def _case_hints(extras: Iterable[Path], fields: Sequence[Path]) -> Iterator[str]:
    """Yield a hint if undeclared keys are names of the schema in another spelling.

    An example is `totalAmount` for `total_amount`: case and separators differ.
    """
    fields_by_letters = {(*path[:-1], _letters_of(path[-1])): path for path in fields}
    candidates = [
        (path, fields_by_letters.get((*path[:-1], _letters_of(path[-1])))) for path in extras
    ]
    renamed = [(path, declared) for path, declared in candidates if declared not in (None, path)]
    if renamed:
        renamings = [
            f"{field_path(path)!r} for {field_path(declared_path)!r}"
            for path, declared_path in renamed
            if declared_path
        ]
        n_more = len(renamings) - MAX_NAMED_KEYS
        more_text = f" and {n_more} more" if n_more > 0 else ""
        yield (
            "every prediction spells some keys differently from the schema: "
            f"{', '.join(renamings[:MAX_NAMED_KEYS])}{more_text}. Keys must be equal to "
            "be compared; "
            "rename keys with --rename OLD=NEW"
        )


def _letters_of(name: object) -> str:
    return "".join(filter(str.isalnum, str(name).casefold()))


def _wrapper_hint(
    assembly: "Assembly", pairs: Sequence[DocumentPair], leaves: Iterable[object]
) -> Iterator[str]:
    """Yield a hint at `--wrapped` if most values are still inside wrapper objects."""
    sides = [pair.pred for pair in pairs if isinstance(pair.pred, dict)]
    field_values = [side.get(name) for side in sides for name in leaves if isinstance(name, str)]
    values = [value for value in field_values if value is not None]
    wrapped = [value for value in values if isinstance(value, dict)]
    if not wrapped or 2 * len(wrapped) < len(values):
        return
    if assembly.settings.wrapped == "none":
        default_unwrapper = Unwrapper(assembly.job.plan.root)
        if all(default_unwrapper(side).wrappers for side in sides):
            yield "try `--wrapped auto`: most predicted values are inside objects with metadata"
            return
    unwrapper = assembly.job.unwrapper
    if unwrapper is not None and any(unwrapper.form_of(value, None) for value in wrapped):
        return
    form = _form_of(wrapped)
    if form:
        yield f"try `--wrapped {form}`: most predicted values are inside objects with this key"


def _form_of(wrapped: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return the value key of wrapper objects, followed by their confidence key if they have one.

    Examples are `value` and `value:confidence`. Only keys that more than half of the objects have
    are considered. The text is empty if it is unclear which key has the value.
    """
    counts = Counter(key for value in wrapped for key in value)
    common = [key for key, count in counts.items() if 2 * count > len(wrapped)]
    confidence = next((key for key in _CONFIDENCES if key in common), "")
    keys = [key for key in common if "val" in key.lower() or key.lower() in ("text", "content")]
    keys = keys or ([key for key in common if key != confidence] if confidence else [])
    if len(keys) != 1:
        return ""
    return f"{keys[0]}:{confidence}" if confidence else keys[0]
