"""Pairs of lines that follow each other, as a range of bytes of either file: little to send."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from .document import LineReference, Reference
from .document_pair import DocumentPair, PairRef
from .pairs import name_of_line
from .reading import source_of, unreadable
from .shapes import Shape


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
