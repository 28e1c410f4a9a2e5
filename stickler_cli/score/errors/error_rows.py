"""Errors and values as rows of files and pages, and the choice of errors that a page lists.

A page lists all errors, or a part that has every cause: the errors of the documents with the lowest
scores, and a sample of the errors of each cause. Both are the smallest in an order that does not
depend on how a run is split, so that the choice is the same for any number of jobs.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast
from zlib import crc32

from stickler_cli.compare.result import BOTH_SIDES, Outcome
from stickler_cli.compare.units import UnitTable
from stickler_cli.core.json_values import JsonValue, json_line, kind_of, least, same_json
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.rules import AnyJson, Count, Fraction, Rule
from .causes import MAX_TRAITS, cause_keys, split_cause_keys
from .confusions import plain_text
from .error_classes import ErrorClass
from .located_units import LocatedUnit, located_units
from .wrong_units import ClassifiedError, is_present_value

WrongOutcome: TypeAlias = Literal["FD", "FA", "FN"]
MAX_DISPLAYED_CHARACTERS: Final = 2_000  # characters of one value, as JSON; about a page of text
ValueText: TypeAlias = str | list[str | int] | None
"""A value as JSON text; the beginning and the length of a long text; None for an absent value."""


def display_value(value: object) -> ValueText:
    """Return a value as JSON text; a text keeps all digits of numbers, which browsers would not.

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
    """A value that is wrong, missed or invented, or an item or object that failed as a whole."""

    document: str
    """Id of the document."""
    path: Annotated[str, Rule("a string", {"type": "string", "minLength": 1})]
    """Path with the list indexes of the ground truth; for a false alarm, of the prediction."""
    field: PathText
    """Path without list indexes; empty for an item of a document that is an array."""
    outcome: WrongOutcome
    """Outcome: false discovery, false alarm or false negative."""
    error_class: ErrorClass
    """Kind of the mistake, as docs/error-classes.md describes them."""
    gt: AnyJson = None
    """The ground truth, any JSON value; null where it is absent."""
    pred: AnyJson = None
    """The prediction, any JSON value; null where it is absent."""
    similarity: Fraction | None = None
    """Similarity of the values; for a false discovery only."""
    inside: str | None = None
    """Path of the error that contains this one: a list item, or an object that one side lacks, that
    failed as a whole."""
    values: Count | None = None
    """Number of errors inside a list item or object that failed as a whole; null for a value."""
    reason: str = ""
    """Why it is an error."""
    differing: tuple[str, ...] = ()
    """The fields in which a pair of list items below its threshold differs."""
    judge: str = ""
    """Reason of the language model that compared the values, if one did."""
    cause: str = ""
    """The key of field and class, and the key of the cause: equal for errors of one cause. Empty
    for an error that only repeats another one."""
    swapped_with: str = ""
    """For a swapped value, the path in the ground truth whose value it is."""
    origin: str = ""
    """For a pair of list items, the sources of its wrong values, such as `unit_price holds the true
    amount; amount = 21 x 3686.34`."""

    @property
    def explanation(self) -> str:
        """The sources of values, the reason, and the judge's reason or the differing fields."""
        if self.swapped_with:
            return f"{self.reason}: the value of {self.swapped_with}"
        if not self.differing:
            return f"{self.reason}: {self.judge}" if self.judge else self.reason
        names = ", ".join(field_path((name,)) for name in self.differing)
        verb = "differs" if len(self.differing) == 1 else "differ"
        origin = f"{self.origin}; " if self.origin else ""
        return f"{origin}{self.reason}: {names} {verb}"

    @property
    def displayed(self) -> "Error":
        """The error as a page shows it: values as JSON text, the reason of the judge left out."""
        return self._replace(gt=display_value(self.gt), pred=display_value(self.pred), judge="")


def error_of(document: str, error: ClassifiedError, *, with_cause: bool = True) -> Error:
    """Make the row of one error; `with_cause` adds the keys of its cause."""
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
        origin=describe_origins(error) if error.differing else "",
    )


def describe_origins(error: ClassifiedError) -> str:
    """Word the sources of the wrong values of a pair of list items; empty if unknown."""
    pred: Any = error.unit.pred  # an object, if there are origins
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
    """Say why two values are a false discovery."""
    if similarity >= threshold:
        return f"{kind_of(gt)} and {kind_of(pred)} have nothing in common"
    reason = describe_shortfall(similarity, threshold)
    if same_json(gt, pred):
        return f"{reason}: equal as written, but not what the comparator reads"
    return reason


def describe_shortfall(similarity: float, threshold: float) -> str:
    """Say that a similarity is below its threshold, with enough digits to see it.

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
"""The key in files of each column of `Error`."""

_REQUIRED: Final = frozenset(Error._fields[: Error._fields.index("similarity")])
"""Columns that files have even if they are empty."""


def error_record(error: Error) -> dict[str, Any]:
    """Return an error by its keys in files of JSON, without empty optional columns."""
    return {
        key: [*value] if isinstance(value, tuple) else value
        for (column, key), value in zip(RECORD_KEYS.items(), error, strict=True)
        if column in _REQUIRED or value not in (None, "", ())
    }


def columns_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an error that a record has, by their names in `Error`."""
    return {column: record[key] for column, key in RECORD_KEYS.items() if key in record}


def encode_error(error: Error) -> bytes:
    """Return a displayed error as a line of JSON, which needs a tenth of the memory."""
    return json_line([*error])[:-1]  # orjson takes no named tuples


def decode_error(line: bytes) -> Error:
    """Return the error in a line of JSON."""
    return Error(*json.loads(line))


SAMPLE_SIZE: Final = 5  # errors that are kept of each cause

GROUP_SAMPLE_SIZE: Final = 20
"""Errors that are kept of each field and class: their causes may be too many to sample each."""

MAX_SAMPLE_BYTES: Final = 16_000_000  # of samples on a page, before compression

Rank: TypeAlias = tuple[float, str]  # score and id of a document: the lowest are listed first
Sampled: TypeAlias = tuple[int, str, int, bytes]  # hash, document, position of the error, line


@dataclass(slots=True)
class KeptErrors:
    """Errors as lines of JSON, within limits; parts are merged in the order of their documents."""

    max_lines: int = 100_000
    """Maximum number of lines of whole documents, so that a page can search them quickly."""
    max_bytes: int = 32_000_000
    """Maximum bytes of these lines, before compression to about a fifth."""
    total: int = 0
    """Number of all errors, kept or not."""
    documents: list[tuple[float, str, list[bytes]]] = field(default_factory=list)
    """Score, id and errors of the documents with the lowest scores, in the order of the run."""
    bound: Rank | None = None
    """The lowest document that is not kept, or only in part; no higher one is kept."""
    samples: dict[tuple[str, str], list[Sampled]] = field(default_factory=dict)
    """Samples by the key of field and class, and the key of a cause; empty for any cause."""
    last_sampled: dict[str, str] = field(default_factory=dict)
    """For each field and class with too many causes, the key of the last cause with samples."""
    _n_lines: int = 0
    _n_bytes: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all errors are kept."""
        return self.bound is None

    def add(self, rank: Rank, errors: Sequence[Error]) -> None:
        """Add the errors of the next document, given its score and id."""
        self.total += len(errors)

        @cache  # most lines are not kept, and writing one is slow
        def line_at(position: int) -> bytes:
            return encode_error(errors[position].displayed)

        for position, error in enumerate(errors):
            if error.cause:
                self._sample(error.cause, rank[1], position, line_at)
        if self.bound is None or rank < self.bound:
            n_listed = min(len(errors), self.max_lines + 1)  # one more shows that some are left out
            self._keep([(*rank, [line_at(position) for position in range(n_listed)])])

    def merge(self, other: "KeptErrors") -> None:
        """Add the kept errors of later documents.

        Samples are merged and cut to their size. Then the lower `bound` of both holds: the rank of
        the lowest document that is not wholly kept. Own lines above it are dropped before lines of
        the other are added.
        """
        self.total += other.total
        for key, sample in other.samples.items():
            _, cause = key
            size = SAMPLE_SIZE if cause else GROUP_SAMPLE_SIZE
            self.samples[key] = sorted([*self.samples.get(key, ()), *sample])[:size]
        self.last_sampled |= other.last_sampled
        self.settle()
        if other.bound is not None and (self.bound is None or other.bound < self.bound):
            self.bound = other.bound
            self._trim()
        self._keep(other.documents)

    def settle(self) -> None:
        """Drop samples of groups with too many causes: of all but the first causes by their keys.

        Which causes stay does not depend on the order in which they came.
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
        """Add an error to the samples of its cause and its group if its hash is small enough."""
        group, own_cause = split_cause_keys(cause_keys)
        digest = crc32(f"{position} {document}".encode("utf-8", "surrogatepass"))
        place = digest, document, position
        for cause, size in ((own_cause, SAMPLE_SIZE), ("", GROUP_SAMPLE_SIZE)):
            if cause > self.last_sampled.get(group, "~"):  # greater than every hexadecimal digit
                continue
            sample = self.samples.setdefault((group, cause), [])
            if len(sample) < size or place < sample[-1][:3]:
                sample.append((*place, line_at(position)))
                sample.sort()
                del sample[size:]

    def _keep(self, documents: Iterable[tuple[float, str, list[bytes]]]) -> None:
        """Add the lines of documents that are not above the bound."""
        for document in documents:
            score, id_, lines = document
            if self.bound is None or (score, id_) <= self.bound:
                self.documents.append(document)
                self._n_lines += len(lines)
                self._n_bytes += sum(map(len, lines))
        if self._n_lines > self.max_lines or self._n_bytes > self.max_bytes:
            self._trim()

    def _trim(self) -> None:
        """Drop the lines that exceed the limits: those of the documents with the highest scores."""
        self._n_lines = self._n_bytes = 0
        kept_lines: dict[str, list[bytes]] = {}
        for score, id_, lines in sorted(self.documents):
            if self.bound is not None and (score, id_) > self.bound:
                break
            kept_lines[id_] = []
            for line in lines:
                is_full = self._n_lines == self.max_lines
                if is_full or self._n_bytes + len(line) > self.max_bytes:
                    self.bound = score, id_
                    break
                kept_lines[id_].append(line)
                self._n_lines += 1
                self._n_bytes += len(line)
        self.documents = [
            (score, id_, kept_lines[id_]) for score, id_, _ in self.documents if kept_lines.get(id_)
        ]

    def rows(self) -> Iterator[Error]:
        """Yield displayed errors: of whole documents in their order, then samples of others."""
        return map(decode_error, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of whole documents in their order, then of samples of other errors."""
        n_listed = {id_: len(lines) for _, id_, lines in self.documents}
        for _, _, lines in self.documents:
            yield from lines
        if self.is_complete:
            return
        # The first errors of all samples come first, so that a limit hits all causes alike.
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
    """Return the values of each compared document, given by its id, as lines of JSON.

    They are in schema order: all values that `leaves` counts as TP, FD, FA or FN, also those in
    items and objects that failed as a whole. docs/tables.md describes the columns.
    """
    units_by_document = located_units(table, is_present_value, extra_keys="all")
    return [
        b"".join(json_line(_value_record(document, unit)) for unit in units)
        for document, units in zip(documents, units_by_document, strict=True)
    ]


def _value_record(document: str, unit: LocatedUnit) -> dict[str, object]:
    """Return a value of a document by the columns of files."""
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
    }


def confidence_of(unit: LocatedUnit) -> float | None:
    """Return the confidence that the prediction states for a value; None without one."""
    slot = int(unit.batch.pred_slot[unit.position])
    confidences = unit.batch.columns.confidences
    if confidences is None or slot < 0:
        return None
    stated: Any = confidences[slot]
    if unit.undeclared_key is not None:
        stated = stated and stated.get(unit.undeclared_key)
    return least(stated)
