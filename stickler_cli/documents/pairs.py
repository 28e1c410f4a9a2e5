"""Two sources put together: which ground truth goes with which prediction.

References are apart from reading: a run hands out `PairRef`s in chunks, and `read_pair` turns each
into documents where they are compared. Memory holds ids, never the documents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document import Reading, Wrapping
from stickler_cli.documents.lines import (
    STANDARD_INPUT,
    LineReader,
    Place,
    gt_by_id,
    lines_of,
    preds_by_id,
)
from stickler_cli.documents.reading import MAX_DOCUMENT_BYTES, decoded
from stickler_cli.documents.references import (
    FileReference,
    Fingerprint,
    Reference,
    bytes_of,
    digest_of,
    read_document,
)
from stickler_cli.documents.sources import (
    Kind,
    difference,
    folded,
    id_of_file,
    kind_of_source,
    list_directory,
)

ID_FIELD_OPTION: Final = "--id-field"
"""How a message names the option that says where a document has its id."""


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """What is to be compared under one id."""

    id: str
    """Unique in a run."""
    gt: JsonObject | Problem | None
    """None where there is only a prediction; a problem where there is no reading it."""
    pred: JsonObject | Problem | None
    """None where there is only ground truth; a problem where there is no reading it."""
    remarks: tuple[str, ...] = ()
    """What is odd about either, by name, each once: `duplicate_keys`."""
    warnings: tuple[Problem, ...] = ()
    """What of that a person should look at."""
    hint: str = ""
    """What may be wrong with the id of a document that stands alone."""
    fingerprint: Fingerprint | None = None
    """Of both sides; None where nobody asked for it."""


class PairRef(NamedTuple):
    """Where the two documents of a pair are; can be pickled."""

    id: str
    """Unique in a run."""
    gt: Reference | None
    """None where there is only a prediction."""
    pred: Reference | None
    """None where there is only ground truth."""
    hint: str = ""
    """What may be wrong with the id of a document that stands alone."""
    wrapping: Wrapping = Wrapping.HINTED
    """What becomes of a prediction that is inside other text."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """How the documents of two sources are read."""

    limit: int
    """The most bytes of one document, unpacked."""
    wrapping: Wrapping
    """What becomes of a prediction that is inside other text."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of two sources."""

    refs: Callable[[], Iterator[PairRef]]
    """Return the references of all pairs, each id once; again if no source is standard input."""
    total: int | None = None
    """The number of pairs; None where only reading to the end would tell."""
    single: bool = False
    """Whether this is the form with two JSON files."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files left out of each directory, by its name, because they do not end in .json."""
    problems: tuple[Problem, ...] = ()
    """What seems wrong with the sources as a whole; nothing that concerns one pair."""

    def __iter__(self) -> Iterator[DocumentPair]:
        return map(read_pair, self.refs())


def read_pair(ref: PairRef, *, fingerprinted: bool = False) -> DocumentPair:
    """Read and parse the documents of a pair; never raises for what is in them.

    Args:
        ref: where they are.
        fingerprinted: whether to give their fingerprint too.
    """
    gt, gt_digest = _read_side(ref.gt, Wrapping.REFUSED, fingerprinted=fingerprinted)
    pred, pred_digest = _read_side(ref.pred, ref.wrapping, fingerprinted=fingerprinted)
    read = [side for side in (gt, pred) if side]
    return DocumentPair(
        ref.id,
        gt.value if gt else None,
        pred.value if pred else None,
        tuple(dict.fromkeys(remark for side in read for remark in side.remarks)),
        tuple(warning for side in read for warning in side.warnings),
        ref.hint,
        Fingerprint(gt_digest, pred_digest, ref.hint) if fingerprinted else None,
    )


def fingerprint_of(ref: PairRef) -> Fingerprint:
    """Return the fingerprint of a pair, as `read_pair` does; nothing is parsed."""
    gt, pred = ("" if side is None else digest_of(bytes_of(side)) for side in (ref.gt, ref.pred))
    return Fingerprint(gt, pred, ref.hint)


def _read_side(
    reference: Reference | None, wrapping: Wrapping, *, fingerprinted: bool
) -> tuple[Reading | None, str]:
    if reference is None:
        return None, ""
    data = bytes_of(reference)
    digest = digest_of(data) if fingerprinted else ""
    return read_document(reference, wrapping, data), digest


def open_pairs(
    gt: str,
    pred: str,
    *,
    id_field: str | None = None,
    limit: int = MAX_DOCUMENT_BYTES,
    lenient: bool = False,
) -> Pairs:
    """Find out which document goes with which.

    Two JSON files are one pair. Two directories pair by relative path without suffix. Two JSON
    Lines sources pair by id if there is an id field, else by position among the lines that are
    not blank. A directory and a JSON Lines source pair by id. Ids without ground truth come last.

    Args:
        gt: a .json file, a directory, a .jsonl or .ndjson file, or `-` for standard input.
        pred: the same; only one of the two can be standard input.
        id_field: the field path of a string or an integer.
        limit: the most bytes of one document, unpacked.
        lenient: whether predictions may be inside other text, as models write it.

    Raises:
        UsageError: a source cannot be used, or the two do not go together.
    """
    if gt == pred == STANDARD_INPUT:
        found = "standard input is named for both sides"
        raise UsageError([Problem(STANDARD_INPUT, found, "- for one of them")])
    gt_kind, pred_kind = kind_of_source(gt), kind_of_source(pred)
    if isinstance(gt_kind, Problem) or isinstance(pred_kind, Problem):
        raise UsageError(kind for kind in (gt_kind, pred_kind) if isinstance(kind, Problem))
    rules = _Rules(limit, Wrapping.TAKEN if lenient else Wrapping.HINTED)
    id_path = () if id_field is None else _parse_id_field(id_field)
    match gt_kind, pred_kind, bool(id_path):
        case Kind.FILE, Kind.FILE, False:
            return _one_pair(gt, pred, rules)
        case Kind.LINES, Kind.LINES, False:
            return Pairs(partial(_by_line, gt, pred, rules))
        case (
            (Kind.DIRECTORY, Kind.DIRECTORY, False)
            | (Kind.DIRECTORY, Kind.LINES, True)
            | (Kind.LINES, Kind.DIRECTORY | Kind.LINES, True)
        ):
            return _by_id(gt, pred, (gt_kind, pred_kind), id_path, rules)
        case _:
            raise UsageError([_mismatch(gt, pred, (gt_kind, pred_kind), bool(id_path))])


def _parse_id_field(text: str) -> FieldPath:
    expected = "a field path such as id or meta.id"
    try:
        path = parse_field_path(text)
    except ValueError as error:
        raise UsageError([Problem(ID_FIELD_OPTION, str(error), expected)]) from error
    if not path:
        raise UsageError([Problem(ID_FIELD_OPTION, "the field path is empty", expected)])
    return path


def _mismatch(gt: str, pred: str, kinds: tuple[Kind, Kind], with_id_field: bool) -> Problem:
    """Return what goes with what."""
    if with_id_field and Kind.LINES not in kinds:
        found = f"neither {decoded(gt)} nor {decoded(pred)} is a JSON Lines file"
        hint = "leave it out: files and directories pair by name"
        return Problem(ID_FIELD_OPTION, found, "an id field for JSON Lines only", hint)
    found = f"this is {kinds[1].value}, but {decoded(gt)} is {kinds[0].value}"
    if Kind.FILE in kinds:
        return Problem(decoded(pred), found, "two of the same kind")
    hint = f"give {ID_FIELD_OPTION} to pair a directory with JSON Lines"
    return Problem(decoded(pred), found, "two of the same kind", hint)


def _one_pair(gt: str, pred: str, rules: _Rules) -> Pairs:
    document = id_of_file(Path(gt).name) or decoded(gt)
    files = FileReference(gt, rules.limit), FileReference(pred, rules.limit)
    ref = PairRef(document, *files, wrapping=rules.wrapping)
    return Pairs(partial(iter, (ref,)), total=1, single=True)


def _by_line(gt: str, pred: str, rules: _Rules) -> Iterator[PairRef]:
    lines = zip_longest(lines_of(gt, rules.limit), lines_of(pred, rules.limit))
    for gt_line, pred_line in lines:
        name = f"line {gt_line.line}" if gt_line else f"pred line {pred_line.line}"
        yield PairRef(name, gt_line, pred_line, wrapping=rules.wrapping)


def _by_id(
    gt: str, pred: str, kinds: tuple[Kind, Kind], id_path: FieldPath, rules: _Rules
) -> Pairs:
    """Pair two sources of which each is a directory or JSON Lines."""
    limit, wrapping = rules.limit, rules.wrapping
    listings = {
        name: list_directory(name, limit)
        for name, kind in zip((gt, pred), kinds, strict=True)
        if kind is Kind.DIRECTORY
    }
    preds: Mapping[str, Reference | Place]
    if pred in listings:
        preds = listings[pred].documents
    else:
        preds = preds_by_id(pred, id_path, limit, wrapping)
    skipped = {decoded(name): listing.skipped for name, listing in listings.items()}
    problems = [problem for listing in listings.values() for problem in listing.problems]
    if gt not in listings:
        refs = partial(_joined, partial(gt_by_id, gt, id_path, limit), preds, pred, wrapping)
        return Pairs(refs, skipped=skipped, problems=tuple(problems))
    gts = listings[gt].documents
    total = len(gts.keys() | preds.keys())
    if gts and preds and gts.keys().isdisjoint(preds):
        found = (
            f"no id is also in {decoded(gt)}: {next(iter(preds))!r} here, {next(iter(gts))!r} there"
        )
        problems.append(Problem(decoded(pred), found, "the same ids on both sides"))
    refs = partial(_joined, gts.items, preds, pred, wrapping)
    return Pairs(refs, total=total, skipped=skipped, problems=tuple(problems))


def _joined(
    gts: Callable[[], Iterable[tuple[str, Reference]]],
    preds: Mapping[str, Reference | Place],
    pred_file: str,
    wrapping: Wrapping,
) -> Iterator[PairRef]:
    met: set[str] = set()
    alike: dict[str, str] | None = None
    with closing(LineReader(pred_file)) as lines:
        for document, gt in gts():
            met.add(document)
            pred = preds.get(document)
            if pred is None and alike is None:
                alike = {folded(name): name for name in preds}
            hint = difference(document, alike.get(folded(document))) if not pred and alike else ""
            if isinstance(pred, Place):
                pred = lines.read(pred)
            yield PairRef(document, gt, pred, hint, wrapping)
        for document, pred in preds.items():
            if document not in met:
                found = lines.read(pred) if isinstance(pred, Place) else pred
                yield PairRef(document, None, found, wrapping=wrapping)
