"""Open sources of documents, alone or in pairs of ground truth and prediction.

This module also selects some pairs of a run: the first ones, or a sample. Pairs of consecutive
lines are stored as a range, given by the offsets of its first and last lines.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from heapq import nsmallest
from itertools import islice, zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import OBJECTS, DocumentKind
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import Problem, Undelivered, UsageError
from stickler_cli.settings.deciding import (
    DocumentOptions,
    FindingOptions,
    PairsSource,
    PredictionSource,
    SelectionOptions,
)
from .document import FileReference, LineReference, Reference, Side
from .document_pair import (
    ANY_SHAPE,
    DEFAULT_SHAPE,
    DocumentPair,
    PairRef,
    PairShape,
    read_pair,
    shape_of,
)
from .document_tables import (
    column_names,
    count_rows,
    documents_of_table,
    rows_of,
)
from .lines import ById, Ids, documents_by_id, holds_array, is_stream, lines_of, open_stream
from .reading import STANDARD_INPUT, decoded, source_of, too_large, unreadable
from .sources import (
    Listing,
    SourceKind,
    difference,
    folded,
    id_of_file,
    kind_of_source,
    list_directory,
)
from .table_columns import SIDES, USUAL_COLUMNS, TableColumns, notes_on_columns

PAIRS: Final = "--pairs"

_DEFAULTS: Final = DocumentOptions()


_References: TypeAlias = Callable[[], Iterable[tuple[str, Reference]]]
"""A function that returns (id, reference) for each document of a source."""


class DocumentSet(NamedTuple):
    """All documents of one source."""

    source: str
    """The source, as the user named it."""
    refs: _References
    """Returns (id, reference) for each document. If a document is unusable, its reference is a
    problem."""
    listing: Listing | None = None
    """The listing of a directory; None for other sources."""
    notes: tuple[Problem, ...] = ()
    """Notes on the columns of a table of pairs."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the source as a whole."""
        return self.listing.problems if self.listing else self.notes


def open_documents(source: str, settings: FindingOptions, side: Side = "gt") -> DocumentSet:
    """Return the documents of a source, with the ids that they have in a run.

    If `source` is a table, the result has the documents of the side `side`. If it is the table of
    pairs (`--pairs`), the result has the ground truths. If a document should have an id but has
    none, it gets a made-up id that contains `side`, such as `gt line 7`.

    Raises:
        UsageError: the source cannot be used.
    """
    if isinstance(settings, PairsSource) and settings.pairs == source:
        limit, columns = settings.max_document_size, columns_of(settings)
        pairs = pairs_of_table(source, limit, columns)
        return DocumentSet(
            source,
            lambda: ((pair.id, pair.gt) for pair in pairs.refs() if pair.gt is not None),
            notes=pairs.problems,
        )
    (kind,) = _kinds(source)
    limit = settings.max_document_size
    other = settings.pred if isinstance(settings, PredictionSource) else ""
    if (
        is_stream(source)
        and other
        and _kinds(other) == [SourceKind.FILE]
        and settings.id_field is None
    ):
        name = id_of_file(other) or decoded(other)
        return DocumentSet(source, lambda: [(name, _only(source, limit))])
    if kind is SourceKind.FILE:
        document = id_of_file(source) or decoded(source), FileReference(source, limit)
        return DocumentSet(source, lambda: [document])
    if kind is SourceKind.LINES and settings.id_field is None:
        return DocumentSet(
            source, lambda: ((name_of_line(pair.line), pair) for pair in lines_of(source, limit))
        )
    return _with_ids(source, kind, side, settings)


def _kinds(*sources: str) -> list[SourceKind]:
    """Return the kinds of sources; raise UsageError if one is unusable."""
    kinds = [kind_of_source(source) for source in sources]
    if problems := [kind for kind in kinds if isinstance(kind, Problem)]:
        raise UsageError(problems)
    return [kind for kind in kinds if not isinstance(kind, Problem)]


def _with_ids(  # noqa: PLR0913 - where they are, and how they are read
    source: str,
    kind: SourceKind,
    side: Side,
    settings: FindingOptions,
    *,
    shape: PairShape = ANY_SHAPE,
    tell: Callable[[str], None] | None = None,
) -> DocumentSet:
    """Return the documents of a source whose documents have ids.

    The files of a directory are listed immediately. Other sources are read later.
    """
    limit, id_field = settings.max_document_size, settings.id_field
    if kind is SourceKind.DIRECTORY:
        listing = list_directory(source, limit, tell)
        return DocumentSet(source, listing.documents.items, listing)
    if kind is SourceKind.TABLE:
        columns = columns_of(settings)
        return DocumentSet(source, partial(documents_of_table, source, side, limit, columns))
    path = parse_id_field(id_field or "")
    return DocumentSet(source, partial(documents_by_id, source, side, path, limit, shape))


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of two sources."""

    refs: Callable[[], Iterator[PairRef]]
    """Returns references to all pairs. Each id occurs once. The function can be called again,
    unless a source is standard input."""
    total: int | None = None
    """Number of pairs; None if it is known only after all pairs were read."""
    expected: int | None = None
    """Approximate number of pairs, for a progress bar; None if it is unknown."""
    single: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)
    """For each directory, the number of files that were skipped because they do not have the suffix
    of a document, such as `.json` or `.json.gz`."""
    hidden: Mapping[str, int] = field(default_factory=dict)
    """For each directory, the number of files and subdirectories that were skipped because their
    names begin with a dot."""
    problems: tuple[Problem, ...] = ()
    """Problems of the sources as a whole, not of single pairs."""

    def __iter__(self) -> Iterator[DocumentPair]:
        return map(read_pair, self.refs())


def open_pairs(
    gt: str,
    pred: str,
    settings: DocumentOptions = _DEFAULTS,
    kinds: tuple[DocumentKind, ...] = OBJECTS,
    tell: Callable[[str], None] | None = None,
) -> Pairs:
    """Pair the documents of two sources.

    Two JSON files are one pair. The documents of two directories are paired by relative path
    without suffix. The lines of two JSON Lines files are paired by id if `id_field` is set. If it
    is not set, they are paired by position among the lines that are not blank.

    The rows of a table have ids. A table is therefore paired by id with another table or a
    directory, or with a JSON Lines file if `id_field` is set. If the settings name a table of
    pairs, its rows are the pairs. Predictions without ground truth come last.

    `kinds` are the JSON types of documents. `tell` is called to print a line if a step takes long.

    Raises:
        UsageError: a source is unusable, or the two sources cannot be paired.
    """
    limit, shape = settings.max_document_size, shape_of(settings, kinds)
    if isinstance(settings, PairsSource) and settings.pairs is not None:
        if settings.pair_by is not None:
            finding = f"{PAIRS} already pairs the documents"
            raise UsageError([Problem("--pair-by", finding, f"either --pair-by or {PAIRS}")])
        return pairs_of_table(settings.pairs, limit, columns_of(settings), shape)
    if gt == pred == STANDARD_INPUT:
        finding = "standard input (-) is given for both GT and PRED"
        raise UsageError([Problem(STANDARD_INPUT, finding, "- for GT or for PRED, not for both")])
    kinds_of_sides, notes = _kinds_of_pair(gt, pred, settings, kinds)
    _check_columns(settings, kinds_of_sides)
    gt_kind, pred_kind = kinds_of_sides
    by_id = settings.id_field is not None and bool(parse_id_field(settings.id_field))
    single = (
        kind is SourceKind.FILE or is_stream(source)
        for source, kind in zip((gt, pred), kinds_of_sides, strict=True)
    )
    if SourceKind.FILE in kinds_of_sides and all(single) and not by_id:
        document = id_of_file(Path(decoded(pred if is_stream(gt) else gt)).name) or decoded(gt)
        ref = PairRef(document, _only(gt, limit), _only(pred, limit), shape=shape)
        return Pairs(partial(iter, (ref,)), total=1, single=True)
    if kinds_of_sides == [SourceKind.LINES, SourceKind.LINES] and not by_id:
        if settings.pair_by is not None:
            finding = "without --id-field, JSON Lines files are paired by line number"
            raise UsageError(
                [
                    Problem(
                        "--pair-by",
                        finding,
                        hint="give --id-field as well; --pair-by then applies to the ids",
                    )
                ]
            )
        return Pairs(partial(_by_line, gt, pred, limit, shape), problems=notes)
    takes_id = SourceKind.LINES in kinds_of_sides or SourceKind.TABLE in kinds_of_sides
    if (
        SourceKind.FILE in kinds_of_sides
        or (by_id and not takes_id)
        or (SourceKind.LINES in kinds_of_sides and not by_id)
    ):
        raise UsageError([_mismatch(gt, pred, kinds_of_sides, by_id)])
    gts = _with_ids(gt, gt_kind, "gt", settings, shape=shape, tell=tell)
    preds = _with_ids(pred, pred_kind, "pred", settings, shape=shape, tell=tell)
    rename = _renaming(settings.pair_by)
    pairs = _pair_by_id(rename(gts), rename(preds), shape)
    return replace(pairs, problems=(*notes, *pairs.problems))


def _pair_by_id(gts: DocumentSet, preds: DocumentSet, shape: PairShape) -> Pairs:
    """Pair two sets of documents by id.

    The predictions are put into a mapping, keyed by id. For a directory this is a dict. For other
    sources it is a `ById`, which moves to disk when it grows.
    """
    listings = {decoded(side.source): side.listing for side in (gts, preds) if side.listing}
    predictions = ById(preds.refs()) if preds.listing is None else dict(preds.refs())
    total = None
    if gts.listing is not None:
        total = len(predictions) + sum(name not in predictions for name, _ in gts.refs())
    return Pairs(
        partial(_paired, gts, predictions, shape),
        total,
        len(predictions) if total is None else total,
        skipped={name: listing.skipped for name, listing in listings.items()},
        hidden={name: listing.hidden for name, listing in listings.items()},
        problems=tuple(problem for listing in listings.values() for problem in listing.problems),
    )


def _renaming(pattern: str | None) -> Callable[[DocumentSet], DocumentSet]:
    """Return a function that gives new ids to documents.

    The new id is the part of the name that the pattern matches. `pattern` is the value of
    `--pair-by`. If it is None, ids do not change.

    Raises:
        UsageError: the pattern is not a regular expression.
    """
    if pattern is None:
        return lambda documents: documents
    # Imported late: most runs need no pattern.
    from .name_patterns import parse_name_pattern, rename_by_pattern

    name_pattern = parse_name_pattern(pattern)

    def rename(documents: DocumentSet) -> DocumentSet:
        source = decoded(documents.source)
        refs = partial(rename_by_pattern, documents.refs, name_pattern, source)
        return documents._replace(refs=refs)

    return rename


def _check_columns(settings: DocumentOptions, kinds: Sequence[SourceKind]) -> None:
    """Raise UsageError if the settings name a column for a source that is not a table."""
    stated = (("gt", settings.gt_column), ("pred", settings.pred_column))
    problems = [
        Problem(
            source=f"--{side}-column",
            found=f"{side.upper()} is {kind.value}",
            expected=SourceKind.TABLE.value,
            hint=hint,
        )
        for (side, column), kind in zip(stated, kinds, strict=True)
        if column is not None and kind is not SourceKind.TABLE
        for hint in [
            (
                f"if documents are inside a larger JSON object, use --{side}-root; if one "
                "table has both sides, use --pairs"
            )
        ]
    ]
    if problems:
        raise UsageError(problems)


def _kinds_of_pair(
    gt: str, pred: str, settings: DocumentOptions, kinds: tuple[DocumentKind, ...]
) -> tuple[list[SourceKind], tuple[Problem, ...]]:
    """Return the kinds of both sources, and notes for the user.

    A note says that a JSON file with an array is read as one document for each element.
    """
    both_kinds = _kinds(gt, pred)
    if both_kinds[0] is not SourceKind.FILE or kinds != OBJECTS or not holds_array(gt):
        return both_kinds, ()
    how_paired = "by --id-field" if settings.id_field else "by their position"
    note = Problem(
        decoded(gt),
        (
            "this file is a JSON array, so each element is one document; documents are "
            f"paired {how_paired}"
        ),
    )
    return [SourceKind.LINES if kind is SourceKind.FILE else kind for kind in both_kinds], (note,)


def _only(source: str, limit: int) -> Reference:
    """Return a reference to the only document of a file or stream. A stream is read immediately."""
    if not is_stream(source):
        return FileReference(source, limit)
    try:
        with open_stream(source) as opened:
            data = opened.read(limit + 1)
    except OSError as error:  # for example a device, which may be endless
        raise UsageError([unreadable(source_of(source), error)]) from None
    if len(data) > limit:
        return too_large(source_of(source), "the document is too large", limit)
    return LineReference(file=source, line=1, size=len(data), offset=None, data=data)


def parse_id_field(text: str) -> FieldPath:
    """Parse the path of the field that has the id; raise UsageError if it is not a path."""
    try:
        path = parse_field_path(text)
        finding = "the path of the field is empty"
    except ValueError as error:
        path, finding = (), str(error)
    if not path:
        raise UsageError([Problem("--id-field", finding, "a field path such as id or meta.id")])
    return path


def _mismatch(gt: str, pred: str, kinds: list[SourceKind], with_id_field: bool) -> Problem:
    """Return a problem that says why two sources cannot be paired with each other."""
    if with_id_field and not {SourceKind.LINES, SourceKind.TABLE} & {*kinds}:
        finding = f"neither {decoded(gt)} nor {decoded(pred)} is a JSON Lines file or a table"
        hint = "leave out --id-field: files and directories are paired by name"
        return Problem(
            source="--id-field",
            found=finding,
            expected="JSON Lines or tables",
            hint=hint,
        )
    finding = f"this is {kinds[1].value}, but the ground truth ({decoded(gt)}) is {kinds[0].value}"
    hint = (
        ""
        if SourceKind.FILE in kinds
        else ("to pair JSON Lines with another kind of source, give --id-field")
    )
    return Problem(
        source=decoded(pred), found=finding, expected="GT and PRED of the same kind", hint=hint
    )


def _by_line(gt: str, pred: str, limit: int, shape: PairShape) -> Iterator[PairRef]:
    for gt_line, pred_line in zip_longest(lines_of(gt, limit), lines_of(pred, limit)):
        name = name_of_line(gt_line.line) if gt_line else f"pred line {pred_line.line}"
        yield PairRef(name, gt_line, pred_line, shape=shape)


def name_of_line(number: int | None) -> str:
    """Return the made-up id of a pair whose documents have no id, such as `line 7`."""
    return f"line {number}"


def _paired(
    gts: DocumentSet, preds: Mapping[str, Reference], shape: PairShape
) -> Iterator[PairRef]:
    """Yield a pair for each id. Predictions without ground truth come last.

    Suppose that a ground truth has no prediction, but the id of some prediction differs only in
    case or Unicode form. The pair of the ground truth then gets a hint that names this id.
    """
    paired_ids, alike = ById[bool](), None
    for document, gt in gts.refs():
        paired_ids.put(document, True)
        pred, hint = preds.get(document), ""
        if pred is None:
            if alike is None:
                alike = ById((folded(name), name) for name in preds)
            hint = difference(document, alike.get(folded(document)))
        yield PairRef(id=document, gt=gt, pred=pred, hint=hint, shape=shape)
    for document in preds:
        if document not in paired_ids:
            yield PairRef(document, None, preds[document], shape=shape)


def columns_of(settings: FindingOptions) -> TableColumns:
    """Return the names of table columns that the settings contain."""
    pred_column = settings.pred_column if isinstance(settings, DocumentOptions) else None
    return TableColumns(id=settings.id_field, gt=settings.gt_column, pred=pred_column)


def pairs_of_table(
    file: str,
    limit: int,
    columns: TableColumns = USUAL_COLUMNS,
    shape: PairShape = DEFAULT_SHAPE,
) -> Pairs:
    """Return the rows of a table as pairs. A row without an id is named by its number.

    Raises:
        UsageError: the file is not a table of pairs.
    """
    (kind,) = _kinds(file)
    if kind is SourceKind.FILE and holds_array(file):
        kind = SourceKind.LINES
    if kind not in {SourceKind.TABLE, SourceKind.LINES}:
        without_array = " without an array" if kind is SourceKind.FILE else ""
        finding = f"{decoded(file)} is {kind.value}{without_array}"
        expected = "an array of pairs in a .json file, or a table of pairs such as a .csv file"
        raise UsageError([Problem(PAIRS, finding, expected)])
    word: Literal["line", "row"] = "line" if kind is SourceKind.LINES else "row"

    def refs() -> Iterator[PairRef]:
        ids, has_ids = Ids(source_of(file), "gt", word), False
        for row in rows_of(file, tuple(SIDES), limit, columns):
            gt, pred = row.documents
            if row.id is not None and not has_ids:
                has_ids = True
                # An id of this or a later row may equal the number that names an earlier row.
                for number in range(1, row.number):
                    ids.assign_id(f"{word} {number}", number)
            if not has_ids:  # names by row number are always different
                yield PairRef(f"{word} {row.number}", gt, pred, shape=shape)
                continue
            name, problem = ids.assign_id(row.id or f"{word} {row.number}", row.number)
            # If a row has no id, or a repeated one, neither of its documents is used.
            yield PairRef(name, problem or gt, problem or pred, shape=shape)

    notes = notes_on_columns(column_names(file, limit), columns, decoded(file))
    total = count_rows(file) if kind is SourceKind.TABLE else None
    return Pairs(refs, total, problems=tuple(notes))


def with_confidences(pairs: Pairs, source: str, settings: FindingOptions) -> Pairs:
    """Add confidences to pairs, from a separate source.

    A document of `source` has the confidences of the pair with the same id. If `pairs.single` is
    true and `source` has one document, this document belongs to the pair whatever its id is.

    Raises:
        UsageError: the source cannot be used.
    """
    confidences = dict(open_documents(source, settings).refs())
    if broken := [
        reference for reference in confidences.values() if isinstance(reference, Undelivered)
    ]:
        raise UsageError(broken)
    if pairs.single and len(confidences) == 1:
        confidences = dict.fromkeys((ref.id for ref in pairs.refs()), *confidences.values())

    def refs() -> Iterator[PairRef]:
        return (ref._replace(confidences=confidences.get(ref.id)) for ref in pairs.refs())

    return replace(pairs, refs=refs)


def selected(pairs: Pairs, settings: SelectionOptions, seed: int) -> Pairs:
    """Return the pairs that `--limit` or `--sample` selects. Their order does not change.

    Raises:
        UsageError: both options are given.
    """
    limit, sample = settings.limit, settings.sample
    if limit is not None and sample is not None:
        raise UsageError(
            [Problem("--sample", "--limit is also given", "either --sample or --limit")]
        )
    number = sample if limit is None else limit
    if number is None or (pairs.total is not None and pairs.total <= number):
        return pairs
    documents = number_of(number, "document")
    if pairs.total is not None:
        documents = f"{number:,} of {number_of(pairs.total, 'document')}"
    if limit is not None:
        remark = Problem("--limit", f"evaluated only the first {documents}")
    else:
        remark = Problem("--sample", f"evaluated only a random sample of {documents} (seed {seed})")

    def refs() -> Iterator[PairRef]:
        return islice(pairs.refs(), number) if limit is not None else _sampled(pairs, number, seed)

    total = None if pairs.total is None else number
    problems = (*pairs.problems, remark)
    return replace(pairs, refs=refs, total=total, expected=number, problems=problems)


def _sampled(pairs: Pairs, number: int, seed: int) -> Iterator[PairRef]:
    """Yield a random sample: the pairs whose ids have the lowest digests.

    Predictions without ground truth are taken only if there are no other pairs left. All runs with
    the same ground truth therefore have the same sample.
    """

    def rank(entry: tuple[int, PairRef]) -> tuple[bool, bytes]:
        _, ref = entry
        text = f"{seed} {ref.id}".encode("utf-8", "backslashreplace")
        return ref.gt is None, blake2b(text, digest_size=16).digest()

    return (ref for _, ref in sorted(nsmallest(number, enumerate(pairs.refs()), key=rank)))


class LineRange(NamedTuple):
    """Pairs of lines of two files. Only the offsets of the first and last lines are stored.

    The lines of each file are consecutive, and there are no blank lines between them.
    """

    gt: LineReference
    """The first line in the ground-truth file, without its content."""
    pred: LineReference
    ends: tuple[int, int]
    """Offset in bytes at which the last line ends, in the ground-truth file and in the prediction
    file."""
    pairs: int
    shape: PairShape

    def refs(self) -> Iterator[PairRef]:
        """Yield a reference to each pair. The references hold the content of the lines."""
        sides = zip((self.gt, self.pred), self.ends, strict=True)
        gts, preds = (_lines(first, end, self.pairs) for first, end in sides)
        for number, (gt, pred) in enumerate(zip(gts, preds, strict=True), self.gt.line):
            yield PairRef(name_of_line(number), gt, pred, shape=self.shape)


def _lines(first: LineReference, end: int, count: int) -> Iterator[Reference]:
    """Yield references to `count` lines, with their content. Unreadable lines become problems."""
    done, place = 0, first.offset or 0
    try:
        with Path(first.file).open("rb") as stream:
            stream.seek(place)
            for done in range(count):
                data = stream.readline(end - place)
                text = data.rstrip(b" \t\r\n")
                yield LineReference(
                    file=first.file, line=first.line + done, size=len(text), offset=place, data=text
                )
                place += len(data)
    except OSError as error:
        for number in range(done, count):
            yield unreadable(source_of(first.file), error, first.line + number)


Part: TypeAlias = DocumentPair | PairRef | LineRange


def in_ranges(items: Iterable[DocumentPair | PairRef]) -> Iterator[Part]:
    """Yield the items, but merge pairs of consecutive lines into ranges."""
    last: LineRange | None = None
    for item in items:
        lines = _range_of(item)
        if last is not None and lines is not None and _follow(last, lines):
            last = last._replace(ends=lines.ends, pairs=last.pairs + 1)
            continue
        if last is not None:
            yield last
        last = lines
        if lines is None:
            yield item
    if last is not None:
        yield last


def _range_of(item: DocumentPair | PairRef) -> LineRange | None:
    """Return a range that contains one pair of lines.

    None if a range cannot store the pair, for instance because the pair has confidences, or an id
    that is not made from its line number.
    """
    if not isinstance(item, PairRef):
        return None
    name, gt, pred, hint, shape, confidences = item
    if not (isinstance(gt, LineReference) and isinstance(pred, LineReference)):
        return None
    fits_range = confidences is None and not hint and name == name_of_line(gt.line)
    if not fits_range or gt.offset is None or pred.offset is None:
        return None
    ends = gt.offset + gt.size, pred.offset + pred.size
    return LineRange(
        gt=gt._replace(data=None), pred=pred._replace(data=None), ends=ends, pairs=1, shape=shape
    )


def _follow(last: LineRange, lines: LineRange) -> bool:
    sides = (last.gt, lines.gt), (last.pred, lines.pred)
    return all(
        following.file == first.file and following.line == first.line + last.pairs
        for first, following in sides
    )
