"""Two sources put together: each ground truth with its prediction; and lines of them as ranges."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from stickler_cli.core.json_values import (
    OBJECTS,
    DocumentKind,
)
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.settings.inputs import DocumentOptions, PairsSource
from .document import (
    FileReference,
    LineReference,
    Reference,
    Side,
)
from .document_pair import DocumentPair, PairRef, read_pair
from .document_tables import SIDES, count_rows, documents_of_table, rows_of
from .id_places import ById
from .lines import Ids, documents_by_id, lines_of
from .reading import STANDARD_INPUT, decoded, source_of, unreadable
from .shapes import DEFAULT_SHAPE, Naming, Shape, naming_of, renamed, shape_of
from .sources import (
    Kind,
    Listing,
    difference,
    folded,
    id_of_file,
    kind_of_source,
    list_directory,
)

PAIRS: Final = "--pairs"

_DEFAULTS: Final = DocumentOptions()


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of two sources."""

    refs: Callable[[], Iterator[PairRef]]
    """Return the references of all pairs, each id once; again if no source is standard input."""
    total: int | None = None
    """None where only reading to the end would tell."""
    single: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files left out of each directory, by its name, because they do not end in .json."""
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Likewise, because they begin with a dot."""
    problems: tuple[Problem, ...] = ()
    """What seems wrong with the sources as a whole; nothing that concerns one pair."""

    def __iter__(self) -> Iterator[DocumentPair]:
        return map(read_pair, self.refs())


def open_pairs(
    gt: str,
    pred: str,
    settings: DocumentOptions = _DEFAULTS,
    kinds: tuple[DocumentKind, ...] = OBJECTS,
    tell: Callable[[str], None] | None = None,
) -> Pairs:
    """Return which document goes with which, each of one of some kinds.

    Two JSON files are one pair. Two directories pair by relative path without suffix. Two JSON
    Lines sources pair by id if there is an id field, else by position among the lines that are
    not blank. Tables have ids; they, directories and JSON Lines sources with an id field pair by
    id. Ids without ground truth come last. Of settings that name a table of pairs, its rows are
    pairs. `tell` is told, as a line, what takes long.

    Raises:
        UsageError: a source cannot be used, or the two do not go together.
    """
    if isinstance(settings, PairsSource) and settings.pairs is not None:
        if settings.pair_by is not None:
            found, hint = f"{PAIRS} has pairs already", "leave one of them out"
            raise UsageError([Problem("--pair-by", found, "", hint)])
        limit, shape = settings.max_document_size, shape_of(settings, kinds)
        return pairs_of_table(settings.pairs, limit, settings.id_field, shape)
    if gt == pred == STANDARD_INPUT:
        found = "standard input is named for both sides"
        raise UsageError([Problem(STANDARD_INPUT, found, "- for one of them")])
    gt_kind, pred_kind = kind_of_source(gt), kind_of_source(pred)
    if isinstance(gt_kind, Problem) or isinstance(pred_kind, Problem):
        raise UsageError(kind for kind in (gt_kind, pred_kind) if isinstance(kind, Problem))
    id_path = () if settings.id_field is None else parse_id_field(settings.id_field)
    both, by_id = (gt_kind, pred_kind), bool(id_path)
    limit, shape = settings.max_document_size, shape_of(settings, kinds)
    naming = naming_of(settings.pair_by)
    if both == (Kind.FILE, Kind.FILE) and not by_id:
        document = id_of_file(Path(decoded(gt)).name) or decoded(gt)
        files = FileReference(gt, limit), FileReference(pred, limit)
        ref = PairRef(document, *files, shape=shape)
        return Pairs(partial(iter, (ref,)), total=1, single=True)
    if both == (Kind.LINES, Kind.LINES) and not by_id:
        if naming is not None:
            found, hint = "lines pair by their place", "give --id-field too"
            raise UsageError([Problem("--pair-by", found, "names or ids", hint)])
        return Pairs(partial(_by_line, gt, pred, limit, shape))
    takes_id = Kind.LINES in both or Kind.TABLE in both
    if Kind.FILE in both or (by_id and not takes_id) or (Kind.LINES in both and not by_id):
        raise UsageError([_mismatch(gt, pred, both, by_id)])
    gts = _Source(gt, gt_kind, "gt", settings, tell)
    preds = _Source(pred, pred_kind, "pred", settings, tell)
    return _by_id(gts, preds, shape, naming)


def parse_id_field(text: str) -> FieldPath:
    """Read the path of the field that has the id; raise UsageError if it is none."""
    try:
        path = parse_field_path(text)
        found = "the field path is empty"
    except ValueError as error:
        path, found = (), str(error)
    if not path:
        raise UsageError([Problem("--id-field", found, "a field path such as id or meta.id")])
    return path


def _mismatch(gt: str, pred: str, kinds: tuple[Kind, Kind], with_id_field: bool) -> Problem:
    if with_id_field and not {Kind.LINES, Kind.TABLE} & {*kinds}:
        found = f"neither {decoded(gt)} nor {decoded(pred)} is a JSON Lines file or a table"
        hint = "leave it out: files and directories pair by name"
        return Problem("--id-field", found, "an id field for JSON Lines and tables only", hint)
    found = f"this is {kinds[1].value}, but {decoded(gt)} is {kinds[0].value}"
    hint = "" if Kind.FILE in kinds else "give --id-field to pair JSON Lines with others"
    return Problem(decoded(pred), found, "two of the same kind", hint)


def _by_line(gt: str, pred: str, limit: int, shape: Shape) -> Iterator[PairRef]:
    for gt_line, pred_line in zip_longest(lines_of(gt, limit), lines_of(pred, limit)):
        name = name_of_line(gt_line.line) if gt_line else f"pred line {pred_line.line}"
        yield PairRef(name, gt_line, pred_line, shape=shape)


def name_of_line(number: int | None) -> str:
    """Return the id of the pair that a line of ground truth is in."""
    return f"line {number}"


def pairs_of_table(
    file: str, limit: int, id_column: str | None, shape: Shape = DEFAULT_SHAPE
) -> Pairs:
    """Return the pairs that are the rows of a table; those without ids are known by their number.

    Raises:
        UsageError: it is no table of pairs.
    """
    kind = kind_of_source(file)
    if isinstance(kind, Problem):
        raise UsageError([kind])
    if kind not in {Kind.TABLE, Kind.LINES}:
        raise UsageError([Problem(PAIRS, f"{decoded(file)} is {kind.value}", "a table of pairs")])
    word: Literal["line", "row"] = "line" if kind is Kind.LINES else "row"

    def refs() -> Iterator[PairRef]:
        ids, has_ids = Ids(source_of(file), "gt", word), False
        for row in rows_of(file, tuple(SIDES), limit, id_column):
            gt, pred = row.documents
            if row.id is not None and not has_ids:
                has_ids = True
                for number in range(1, row.number):
                    ids.place(f"{word} {number}", number)
            if not has_ids:  # numbers need not be held against each other
                yield PairRef(f"{word} {row.number}", gt, pred, shape=shape)
                continue
            name, problem = ids.place(row.id or f"{word} {row.number}", row.number)
            # Of a row that has no id, or that of another, neither counts.
            yield PairRef(name, problem or gt, problem or pred, shape=shape)

    return Pairs(refs, count_rows(file) if kind is Kind.TABLE else None)


class _Source(NamedTuple):
    """A source whose documents have ids."""

    name: str
    kind: Kind
    side: Side
    settings: DocumentOptions
    tell: Callable[[str], None] | None

    def listing(self) -> Listing | None:
        """Return its entries, if it is a directory."""
        if self.kind is not Kind.DIRECTORY:
            return None
        return list_directory(self.name, self.settings.max_document_size, self.tell)

    def documents(self, listing: Listing | None, shape: Shape) -> Iterable[tuple[str, Reference]]:
        """Return the documents by id, those of a directory as they were listed."""
        limit, id_field = self.settings.max_document_size, self.settings.id_field
        if listing is not None:
            return listing.documents.items()
        if self.kind is Kind.TABLE:
            return documents_of_table(self.name, self.side, limit, id_field)
        return documents_by_id(self.name, self.side, parse_id_field(id_field or ""), limit, shape)


def _by_id(gt: _Source, pred: _Source, shape: Shape, naming: Naming) -> Pairs:
    """Pair two sources by the ids of their documents."""
    listings = {source: source.listing() for source in (gt, pred)}
    listed = {decoded(it.name): listing for it, listing in listings.items() if listing is not None}
    problems = tuple(problem for listing in listed.values() for problem in listing.problems)

    def documents(source: _Source) -> Iterable[tuple[str, Reference]]:
        found = source.documents(listings[source], shape)
        return found if naming is None else renamed(found, naming, decoded(source.name))

    found = documents(pred)
    preds = ById(found) if listings[pred] is None else dict(found)  # all of these are in memory
    gts = partial(documents, gt)
    total = None
    if listings[gt] is not None:
        total = len(preds) + sum(name not in preds for name, _ in gts())
    return Pairs(
        partial(_joined, gts, preds, shape),
        total,
        skipped={name: listing.skipped for name, listing in listed.items()},
        hidden={name: listing.hidden for name, listing in listed.items()},
        problems=problems,
    )


def _joined(
    gts: Callable[[], Iterable[tuple[str, Reference]]],
    preds: Mapping[str, Reference],
    shape: Shape,
) -> Iterator[PairRef]:
    met, alike = ById[bool](), None
    for document, gt in gts():
        met.put(document, True)
        pred, hint = preds.get(document), ""
        if pred is None:
            if alike is None:
                alike = ById((folded(name), name) for name in preds)
            hint = difference(document, alike.get(folded(document)))
        yield PairRef(document, gt, pred, hint, shape)
    for document in preds:
        if document not in met:
            yield PairRef(document, None, preds[document], shape=shape)


class _Span(NamedTuple):
    """Lines of a file that follow each other, none of them blank."""

    file: str
    line: int
    """The number of the first one."""
    start: int
    """Its first byte."""
    end: int
    """The byte after the text of the last one."""

    def lines(self, count: int) -> Iterator[Reference]:
        """Yield the lines as they are read now; in the place of those that cannot be, why."""
        done, place = 0, self.start
        try:
            with Path(self.file).open("rb") as stream:
                stream.seek(place)
                for done in range(count):
                    data = stream.readline(self.end - place)
                    text = data.rstrip(b" \t\r\n")
                    yield LineReference(self.file, self.line + done, len(text), place, text)
                    place += len(data)
        except OSError as error:
            for number in range(done, count):
                yield unreadable(source_of(self.file), error, self.line + number)


class LineRange(NamedTuple):
    """Pairs of lines of two files, by their place."""

    gt: _Span
    pred: _Span
    pairs: int
    shape: Shape

    def refs(self) -> Iterator[PairRef]:
        """Yield the pairs, with their lines."""
        lines = zip(self.gt.lines(self.pairs), self.pred.lines(self.pairs), strict=True)
        for number, (gt, pred) in enumerate(lines, self.gt.line):
            yield PairRef(name_of_line(number), gt, pred, shape=self.shape)


class _Lines(NamedTuple):
    """A pair of lines whose places tell all that there is to it."""

    gt: LineReference
    pred: LineReference
    shape: Shape


Part: TypeAlias = DocumentPair | PairRef | LineRange


def in_ranges(items: Iterable[DocumentPair | PairRef]) -> Iterator[Part]:
    """Yield pairs of lines that follow each other as ranges, all others as they are."""
    first: _Lines | None = None
    last: _Lines | None = None
    for item in items:
        lines = _lines_of(item)
        if first is not None and last is not None:
            if lines is not None and _follow(last, lines):
                last = lines
                continue
            yield _range(first, last)
        first = last = lines
        if lines is None:
            yield item
    if first is not None and last is not None:
        yield _range(first, last)


def _lines_of(item: DocumentPair | PairRef) -> _Lines | None:
    if not isinstance(item, PairRef):
        return None
    name, gt, pred, hint, shape, confidences = item
    if not (isinstance(gt, LineReference) and isinstance(pred, LineReference)):
        return None
    again = gt.offset is not None and pred.offset is not None
    told = confidences is None and not hint and name == name_of_line(gt.line)
    return _Lines(gt, pred, shape) if again and told else None


def _follow(last: _Lines, lines: _Lines) -> bool:
    (gt, pred, _), (next_gt, next_pred, _) = last, lines
    by_line = next_gt.line == gt.line + 1 and next_pred.line == pred.line + 1
    return by_line and next_gt.file == gt.file and next_pred.file == pred.file


def _range(first: _Lines, last: _Lines) -> LineRange:
    pairs = last.gt.line - first.gt.line + 1
    return LineRange(_span(first.gt, last.gt), _span(first.pred, last.pred), pairs, first.shape)


def _span(first: LineReference, last: LineReference) -> _Span:
    return _Span(first.file, first.line, first.offset or 0, (last.offset or 0) + last.size)
