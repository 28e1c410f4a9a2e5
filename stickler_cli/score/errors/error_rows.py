"""Errors and values as rows of files and pages, and the choice of errors that a page lists.

A page lists all errors, or else a part in which every cause occurs: the errors of the documents
with the lowest scores, and a sample of the errors of each cause. The choice is the same for any
number of processes, because it does not depend on how a run is split.
"""

import json
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast
from zlib import crc32

from stickler_cli.compare.close_values import find_close_values
from stickler_cli.compare.result import BOTH_SIDES, Outcome
from stickler_cli.compare.units import UnitTable
from stickler_cli.core.json_values import JsonValue, json_line, kind_of, least, same_json
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.match_differences import DifferenceKind
from stickler_cli.core.rules import AnyJson, Count, Fraction, Rule
from .causes import MAX_TRAITS, cause_keys, split_cause_keys
from .confusions import find_slip, plain_text
from .error_classes import ErrorClass
from .located_units import LocatedUnit, located_units
from .wrong_units import ClassifiedError, is_present_value

WrongOutcome: TypeAlias = Literal["FD", "FA", "FN"]
MAX_DISPLAYED_CHARACTERS: Final = 2_000  # maximum characters of a value as JSON: a page of text
ValueText: TypeAlias = str | list[str | int] | None
"""A value as JSON text, or None if it is absent. A long text is replaced by a list of two: its
beginning, and its full length in characters."""


def display_value(value: object) -> ValueText:
    """Return a value as JSON text.

    JSON text keeps the digits of numbers that a browser would round.

    >>> display_value({"a": 1.0}), display_value(None)
    ('{"a":1.0}', None)
    """
    if value is None:
        return None
    text = json_line(value)[:-1].decode()
    return (
        text
        if len(text) <= MAX_DISPLAYED_CHARACTERS
        else [text[:MAX_DISPLAYED_CHARACTERS], len(text)]
    )


def _is_path(value: object) -> bool:
    try:
        return isinstance(value, str) and (not value or bool(parse_field_path(value)))
    except ValueError:
        return False


PathText = Annotated[str, Rule("the path of a field", {"type": "string"}, fits=_is_path)]


class Error(NamedTuple):
    """A wrong, missed or invented value, or an item or object that failed as a whole."""

    document: str
    """Id of the document."""
    path: Annotated[str, Rule("a string", {"type": "string", "minLength": 1})]
    """Path of the error with list indexes. The indexes are those of the ground truth. For a false
    alarm, which is only in the prediction, they are those of the prediction."""
    field: PathText
    """Path without list indexes. Empty if the document is an array and the error is one of its
    items."""
    outcome: WrongOutcome
    """The outcome: false discovery, false alarm or false negative."""
    error_class: ErrorClass
    """The kind of the mistake; docs/error-classes.md describes the kinds."""
    gt: AnyJson = None
    """The ground-truth value, any JSON value; null if it is absent."""
    pred: AnyJson = None
    """The predicted value, any JSON value; null if it is absent."""
    similarity: Fraction | None = None
    """Similarity of the values; only for a false discovery."""
    inside: str | None = None
    """Path of the list item, object or value that failed as a whole and contains this error. Null
    if there is none. Three things fail as a whole: a list item that does not match, an object that
    one side lacks, and two values of different kinds, such as an object and a list."""
    values: Count | None = None
    """Number of wrong values inside a list item or object that failed as a whole; null for a
    value."""
    reason: str = ""
    """The reason why the value, item or object is wrong."""
    differing: tuple[str, ...] = ()
    """For a pair of list items that failed as a whole, the fields in which the two items differ."""
    judge: str = ""
    """The reason that a language model gave, if it compared the values."""
    cause: str = ""
    """Two keys in one text: the key of the error's field and class, then the key of its cause.
    Errors of one cause have equal texts. Empty for an error that only repeats another one."""
    swapped_with: str = ""
    """For a swapped value, the path at which the ground truth has the predicted value."""
    origin: str = ""
    """A further explanation of the error; empty if there is none. For a pair of list items, it is
    the sources of the wrong values, such as `unit_price holds the true amount; amount = 21 x
    3686.34`. For a digit slip, it is the difference, such as `the sign differs`. If a prediction
    ends early, and the error comes after this end, it is a clause about the end: `nothing is
    predicted after total`, or `the prediction has no values`."""

    @property
    def explanation(self) -> str:
        """The explanation in one line: first `origin`, then `reason`, then `judge` or `differing`.

        For a swapped value, it consists of `reason` and `swapped_with`.
        """
        if self.swapped_with:
            return f"{self.reason}: the value of {self.swapped_with}"
        origin = f"{self.origin}; " if self.origin else ""
        if not self.differing:
            return origin + (f"{self.reason}: {self.judge}" if self.judge else self.reason)
        names = ", ".join(field_path((name,)) for name in self.differing)
        verb = "differs" if len(self.differing) == 1 else "differ"
        return f"{origin}{self.reason}: {names} {verb}"

    @property
    def displayed(self) -> "Error":
        """The error as a page shows it: both values are JSON text, and `judge` is empty."""
        return self._replace(gt=display_value(self.gt), pred=display_value(self.pred), judge="")


def error_of(document: str, error: ClassifiedError, *, with_cause: bool = True) -> Error:
    """Convert a classified error to an `Error`, which is a row in files and on pages.

    If `with_cause` is False, the column `cause` stays empty.
    """
    unit, outcome = error.unit, error.unit.outcome
    is_pair = outcome is Outcome.FD
    reason = _UNMATCHED.get(outcome) or describe_difference(
        unit.gt, unit.pred, unit.similarity, unit.threshold
    )
    return Error(
        document=document,
        path=field_path(unit.path),
        field=field_path(unit.field_path),
        outcome=cast("WrongOutcome", outcome.name),
        error_class=error.error_class,
        gt=unit.gt,
        pred=unit.pred,
        similarity=unit.similarity if is_pair else None,
        inside=field_path(unit.enclosure.path) if unit.enclosure else None,
        values=error.n_wrong_values,
        reason=reason,
        differing=error.differing if is_pair else (),
        judge=unit.reason if is_pair else "",
        cause=cause_keys(error) if with_cause else "",
        swapped_with=field_path(error.elsewhere or ()),
        origin=describe_background(error),
    )


def describe_background(error: ClassifiedError) -> str:
    """Return an additional explanation of an error, or an empty text if there is none.

    The explanation depends on the error. If a prediction ends early, and the error comes after this
    end, the explanation names the end. For a digit slip, it names the difference. For a pair of
    list items, it names the sources of the wrong values.
    """
    if error.end is not None:
        return error.end.sentence
    if error.error_class is ErrorClass.DIGIT_SLIP:
        return find_slip(error.unit.gt, error.unit.pred)
    return describe_origins(error) if error.differing else ""


def describe_origins(error: ClassifiedError) -> str:
    """Describe where the wrong values of a pair of list items come from; empty if unknown.

    A wrong value may be the true value of another field, or the product of two other predicted
    values.
    """
    pred: Any = error.unit.pred  # an object if there are origins
    sentences = []
    for origin in error.origins:
        name = field_path(origin.field[-1:])
        if len(origin.of) == 1:
            sentences.append(f"{name} holds the true {field_path(origin.of[0][-1:])}")
        else:
            factors = [plain_text(pred[other[-1]]) for other in origin.of]
            sentences.append(f"{name} = {' x '.join(factors)}")
    return "; ".join(sentences)


_UNMATCHED: Final = {Outcome.FN: "unmatched ground truth", Outcome.FA: "unmatched prediction"}


def describe_difference(gt: JsonValue, pred: JsonValue, similarity: float, threshold: float) -> str:
    """Say why two present values do not match.

    Either they have different kinds, or their similarity is below the threshold.
    """
    if similarity >= threshold:  # values of different kinds, with a threshold of 0
        return f"a value of type {kind_of(gt)} cannot match a value of type {kind_of(pred)}"
    reason = describe_shortfall(similarity, threshold)
    if same_json(gt, pred):  # such as twice the same text in a field of numbers
        return f"{reason}: both texts are equal, but the comparator cannot read this text"
    return reason


def describe_shortfall(similarity: float, threshold: float) -> str:
    """Say that a similarity is below its threshold, with enough digits to tell the two apart.

    >>> describe_shortfall(0.41312, 0.7), describe_shortfall(0.69999, 0.7)
    ('below threshold (0.413 < 0.7)', 'below threshold (0.69999 < 0.7)')
    """
    digits = 3
    while round(similarity, digits) >= threshold and digits < 12:
        digits += 1
    return f"below threshold ({similarity:.{digits}f} < {threshold:g})"


RECORD_KEYS: Final = {
    **{name: name for name in Error._fields},
    "error_class": "class",
    "gt": "ground_truth_value",
    "pred": "prediction_value",
    "differing": "differing_fields",
}
"""Maps each column of `Error` to its key in files."""

_REQUIRED: Final = frozenset(Error._fields[: Error._fields.index("similarity")])
"""The columns that are written to files even if they are empty."""


def error_record(error: Error) -> dict[str, Any]:
    """Return an error as it is written to JSON files. Empty optional columns are left out."""
    return {
        key: [*value] if isinstance(value, tuple) else value
        for (column, key), value in zip(RECORD_KEYS.items(), error, strict=True)
        if column in _REQUIRED or value not in (None, "", ())
    }


def columns_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the keys of an error's record in a file to the names of the columns of `Error`."""
    return {column: record[key] for column, key in RECORD_KEYS.items() if key in record}


def encode_error(error: Error) -> bytes:
    """Return a displayed error as a line of JSON.

    The line needs a tenth of the memory of an `Error`.
    """
    return json_line([*error])[:-1]  # orjson does not encode named tuples


def decode_error(line: bytes) -> Error:
    """Read an error from a line of JSON."""
    return Error(*json.loads(line))


SAMPLE_SIZE: Final = 5  # number of errors of each cause that are kept

GROUP_SAMPLE_SIZE: Final = 20
"""Number of sampled errors for each group (field and class). They are added to the samples of the
causes, because a group may have too many causes to sample each of them."""

MAX_SAMPLE_BYTES: Final = 16_000_000  # bytes of all samples on a page, before compression

Rank: TypeAlias = tuple[float, str]  # score and id of a document; the lowest come first
Sampled: TypeAlias = tuple[int, str, int, bytes]  # (hash, document id, position of the error, line)


class DocumentLines(NamedTuple):
    """The kept errors of one document, and the score of the document."""

    score: float
    id: str
    n_errors_before: int
    """Number of errors of all earlier documents of the run, kept or not."""
    lines: list[bytes]
    """The document's first errors, as lines of JSON."""

    @property
    def rank(self) -> Rank:
        """The (score, id) by which documents are sorted."""
        return self.score, self.id


@dataclass(slots=True)
class KeptErrors:
    """Errors as lines of JSON, limited in number and size.

    Each part of a run can have its own object. Merge these objects in the order of the documents.
    """

    max_lines: int = 100_000
    """Maximum number of lines, not counting samples. A page can search this many quickly."""
    max_bytes: int = 32_000_000
    """Maximum total size of the lines in bytes, not counting samples. Compression reduces it to
    about a fifth."""
    total: int = 0
    """Number of all errors, kept or not."""
    documents: list[DocumentLines] = field(default_factory=list)
    """The documents with the lowest scores, sorted by score and id."""
    bound: Rank | None = None
    """The (score, id) of the document at which the limits were reached. Some of its errors were
    dropped, and so were all errors of documents with higher scores. None if no error was
    dropped."""
    samples: dict[tuple[str, str], list[Sampled]] = field(default_factory=dict)
    """Maps (key of a group, key of a cause) to the sampled errors of the cause. If the key of the
    cause is empty, the errors are a sample of the whole group."""
    last_sampled: dict[str, str] = field(default_factory=dict)
    """For each group with more than `MAX_TRAITS` causes: the greatest key among those causes that
    have a sample. Causes of the group with greater keys have no samples."""
    _n_lines: int = 0
    _n_bytes: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all errors are kept."""
        return self.bound is None

    def add(self, rank: Rank, errors: Sequence[Error]) -> None:
        """Add the errors of the next document.

        `rank` is the (score, id) of the document. Documents with the lowest ranks are kept.
        """
        n_errors_before = self.total
        self.total += len(errors)

        @cache  # encoding a line is slow, and most lines are not kept
        def line_at(position: int) -> bytes:
            return encode_error(errors[position].displayed)

        for position, error in enumerate(errors):
            if error.cause:
                self._sample(error.cause, rank[1], position, line_at)
        if self.bound is None or rank < self.bound:
            n_listed = min(len(errors), self.max_lines + 1)  # one more: not all are listed
            lines = [line_at(position) for position in range(n_listed)]
            self._keep(DocumentLines(*rank, n_errors_before, lines))
            self._trim()

    def merge(self, other: "KeptErrors") -> None:
        """Add the kept errors of later documents.

        Samples of both objects are joined, and cut to their maximum size. If `other` has a lower
        `bound`, this object takes over the bound, and drops the errors of documents above it.
        """
        n_errors_before = self.total
        self.total += other.total
        for key, sample in other.samples.items():
            _, cause = key
            size = SAMPLE_SIZE if cause else GROUP_SAMPLE_SIZE
            self.samples[key] = sorted([*self.samples.get(key, ()), *sample])[:size]
        self.last_sampled |= other.last_sampled
        self.settle()
        if other.bound is not None and (self.bound is None or other.bound < self.bound):
            self._lower_bound(other.bound)
        for document in other.documents:
            position = n_errors_before + document.n_errors_before
            copied_lines = [*document.lines]  # trimming drops some of them
            self._keep(document._replace(n_errors_before=position, lines=copied_lines))
        self._trim()

    def settle(self) -> None:
        """Limit the number of causes with samples to `MAX_TRAITS` in each group.

        If a group has more causes, those with the lowest keys keep their samples. Therefore the
        choice does not depend on the order in which errors are added. The sample of the whole group
        is kept, too.
        """
        causes_by_group: dict[str, list[str]] = {}
        for group, cause in self.samples:
            causes_by_group.setdefault(group, []).append(cause)
        for group, causes in causes_by_group.items():
            if len(causes) > MAX_TRAITS + 1 or group in self.last_sampled:
                self.last_sampled[group] = sorted(causes)[: MAX_TRAITS + 1][-1]
                for cause in causes:
                    if cause > self.last_sampled[group]:
                        del self.samples[group, cause]

    def _sample(
        self, cause_keys: str, document: str, position: int, line_at: Callable[[int], bytes]
    ) -> None:
        """Add an error to the samples of its cause and its group.

        Each error has a hash, and a sample keeps the errors with the lowest hashes. If a sample is
        full, a new error replaces the error with the highest hash, or is dropped if its own hash is
        higher.
        """
        group, own_cause = split_cause_keys(cause_keys)
        digest = crc32(f"{position} {document}".encode("utf-8", "surrogatepass"))
        sort_key = digest, document, position
        for cause, size in ((own_cause, SAMPLE_SIZE), ("", GROUP_SAMPLE_SIZE)):
            if cause > self.last_sampled.get(group, "~"):  # greater than every hexadecimal digit
                continue
            sample = self.samples.setdefault((group, cause), [])
            if len(sample) < size or sort_key < sample[-1][:3]:
                sample.append((*sort_key, line_at(position)))
                sample.sort()
                del sample[size:]

    def _keep(self, document: DocumentLines) -> None:
        """Add the lines of a document, unless its rank is higher than `bound`."""
        if self.bound is None or document.rank <= self.bound:
            insort(self.documents, document)
            self._n_lines += len(document.lines)
            self._n_bytes += sum(map(len, document.lines))

    def _lower_bound(self, bound: Rank) -> None:
        """Set `self.bound` to a lower rank, and drop all documents above this rank."""
        self.bound = bound
        while self.documents and self.documents[-1].rank > bound:
            lines = self.documents.pop().lines
            self._n_lines -= len(lines)
            self._n_bytes -= sum(map(len, lines))

    def _trim(self) -> None:
        """Drop lines of the documents with the highest scores until the limits are met."""
        while self._n_lines > self.max_lines or self._n_bytes > self.max_bytes:
            document = self.documents[-1]
            self.bound = document.rank
            self._n_lines -= 1
            self._n_bytes -= len(document.lines.pop())
            if not document.lines:
                self.documents.pop()

    def rows(self) -> Iterator[Error]:
        """Yield the errors whose lines `lines` yields, in the same order."""
        return map(decode_error, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Yield all kept errors as lines of JSON, each error once.

        The lines of `documents` come first, in the order of the run. If errors were dropped, the
        samples follow, without errors that are already listed, and up to `MAX_SAMPLE_BYTES`.
        """
        n_listed = {document.id: len(document.lines) for document in self.documents}
        for document_lines in sorted(self.documents, key=attrgetter("n_errors_before")):
            yield from document_lines.lines
        if self.is_complete:
            return
        # First yield the first error of each sample: a limit then affects all causes equally.
        ranked = sorted(
            (rank, key, sampled)
            for key, sample in self.samples.items()
            for rank, sampled in enumerate(sample)
        )
        n_bytes = 0
        yielded: set[tuple[str, int]] = set()
        for *_, (_, document, position, line) in ranked:
            is_listed = position < n_listed.get(document, 0)
            if not is_listed and (document, position) not in yielded:
                yielded.add((document, position))
                n_bytes += len(line)
                if n_bytes > MAX_SAMPLE_BYTES:
                    return
                yield line


def value_lines(documents: Sequence[str], table: UnitTable) -> list[bytes]:
    """Return the values of each document as lines of JSON, joined to one bytes object per document.

    `documents` has the ids of the documents. The lines are in schema order. There is a line for
    every value with the outcome TP, FD, FA or FN in the counting mode `leaves`, even if the value
    is inside an item or object that failed as a whole. docs/tables.md describes the columns.
    """
    units_by_document = located_units(table, is_present_value, extra_keys="all")
    differences = {
        batch.start + position: difference.difference
        for batch, close in find_close_values(table)
        for position, difference in close.items()
    }
    return [
        b"".join(json_line(_value_record(document, unit, differences)) for unit in units)
        for document, units in zip(documents, units_by_document, strict=True)
    ]


def _value_record(
    document: str, unit: LocatedUnit, differences: Mapping[int, DifferenceKind]
) -> dict[str, object]:
    """Return a value as a row of a file: a dict from column names to contents.

    `differences` maps a row of the unit table to the kind of difference. It contains only values
    that match although they differ, such as `10.5` and `10.50`.
    """
    has_both_sides = unit.outcome in BOTH_SIDES
    is_elsewhere = has_both_sides and unit.pred_path != unit.gt_path
    return {
        "document": document,
        "field": field_path(unit.field_path),
        "path": field_path(unit.path),
        "prediction_path": field_path(unit.pred_path or ()) if is_elsewhere else None,
        "outcome": unit.outcome.name,
        "similarity": unit.similarity if has_both_sides else None,
        "ground_truth_value": unit.gt,
        "prediction_value": unit.pred,
        "confidence": confidence_of(unit),
        "difference": differences.get(unit.row) if unit.undeclared_key is None else None,
    }


def confidence_of(unit: LocatedUnit) -> float | None:
    """Return the confidence that the prediction states for a value, or None if it states none."""
    slot = int(unit.batch.pred_slot[unit.position])
    confidences = unit.batch.columns.confidences
    if confidences is None or slot < 0:
        return None
    stated: Any = confidences[slot]
    if unit.undeclared_key is not None:
        stated = stated and stated.get(unit.undeclared_key)
    return least(stated)
