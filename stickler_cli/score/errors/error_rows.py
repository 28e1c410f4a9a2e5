"""Errors and values as rows: how files and pages hold them, and which errors a page lists.

Those are all, or a part that leaves no cause out: the errors of the documents with the lowest
scores, and of every cause a sample. It is the same however a run is split: both are what is least
in an order that nothing else decides.
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
from .causes import MOST_KINDS, cause_keys, split_cause_keys
from .confusions import plain_text
from .error_classes import ErrorClass
from .located_units import LocatedUnit, located_units
from .wrong_units import ClassifiedError, is_present_value

WrongOutcome: TypeAlias = Literal["FD", "FA", "FN"]
MAX_DISPLAYED_CHARACTERS: Final = 2_000  # characters of one value, as JSON; about a page of text
ValueText: TypeAlias = str | list[str | int] | None
"""A value as JSON: its text; the beginning and the length of one that is too long; None without."""


def display_value(value: object) -> ValueText:
    """Return a value as JSON: numbers keep all their digits, which a browser would not.

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
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    field: PathText
    """Without list indexes; empty of an item of a document that is an array."""
    outcome: WrongOutcome
    """What the error counts as: false discovery, false alarm or false negative."""
    error_class: ErrorClass
    """What kind of mistake it is, as docs/error-classes.md describes them."""
    gt: AnyJson = None
    """The ground truth, any JSON value; null where it is absent."""
    pred: AnyJson = None
    """The prediction, any JSON value; null where it is absent."""
    similarity: Fraction | None = None
    """How alike the values are; for a false discovery only."""
    inside: str | None = None
    """The path of the error that it is in: a list item, or what one side lacks, that failed as a
    whole."""
    values: Count | None = None
    """Of a list item or object that failed as a whole, how many errors are inside it; none of a
    value."""
    reason: str = ""
    """Why it is an error."""
    differing: tuple[str, ...] = ()
    """Of a pair of list items below its threshold, the fields that differ."""
    judge: str = ""
    """Where a language model compared the values, its reason."""
    cause: str = ""
    """Equal for errors of one cause: the key of its field and class, and that of its cause; not of
    an error that only repeats what another one says."""
    swapped_with: str = ""
    """Of a swapped value, the path of the place in the ground truth whose value it is."""
    origin: str = ""
    """Of a pair of list items, where its wrong values are from, such as `unit_price holds the true
    amount; amount = 21 x 3686.34`."""

    @property
    def explanation(self) -> str:
        """Where the values are from, the reason, and what a judge said or where items differ."""
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
        """The same with values as a page shows them: JSON text, of long ones the beginning."""
        return self._replace(gt=display_value(self.gt), pred=display_value(self.pred), judge="")


def error_of(document: str, error: ClassifiedError, *, with_cause: bool = True) -> Error:
    """Make the report row of one error."""
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
    """Return where the wrong values of a pair of list items are from; empty if nobody knows."""
    pred = error.unit.pred
    sentences = []
    for origin in error.origins:
        name = field_path(origin.field[-1:])
        if len(origin.of) == 1:
            sentences.append(f"{name} holds the true {field_path(origin.of[0][-1:])}")
        elif isinstance(pred, dict):
            factors = [plain_text(pred[other[-1]]) for other in origin.of]
            sentences.append(f"{name} = {' x '.join(factors)}")
    return "; ".join(sentences)


_UNMATCHED: Final = {Outcome.FN: "unmatched ground truth", Outcome.FA: "unmatched prediction"}


def describe_difference(gt: JsonValue, pred: JsonValue, similarity: float, threshold: float) -> str:
    """Return why two values are a false discovery."""
    if similarity >= threshold:
        return f"{kind_of(gt)} and {kind_of(pred)} have nothing in common"
    reason = describe_shortfall(similarity, threshold)
    if same_json(gt, pred):
        return f"{reason}: equal as written, but not what the comparator reads"
    return reason


def describe_shortfall(similarity: float, threshold: float) -> str:
    """Say that a similarity is below its threshold, with digits enough to see it.

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
"""Column -> its key in files."""

_ALWAYS: Final = frozenset(Error._fields[: Error._fields.index("similarity")])


def error_record(error: Error) -> dict[str, Any]:
    """Return an error as files of JSON have it, without empty columns."""
    return {
        key: [*it] if isinstance(it, tuple) else it
        for (name, key), it in zip(RECORD_KEYS.items(), error, strict=True)
        if name in _ALWAYS or it not in (None, "", ())
    }


def columns_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an error by their names, as far as a record has them."""
    return {name: record[key] for name, key in RECORD_KEYS.items() if key in record}


def encode_error(error: Error) -> bytes:
    """Return a shown error as a line of JSON, a tenth of what its values take."""
    return json_line([*error])[:-1]  # orjson takes no named tuples


def decode_error(line: bytes) -> Error:
    """Return the error that a line holds."""
    return Error(*json.loads(line))


SAMPLE_SIZE: Final = 5  # errors that are kept of each cause, wherever they are

GROUP_SAMPLE_SIZE: Final = 20
"""Errors of each field and class, whose causes may be too many to be told apart."""

MAX_SAMPLE_BYTES: Final = 16_000_000  # what samples may take on a page, before compression

Rank: TypeAlias = tuple[float, str]  # score and id of a document
Sampled: TypeAlias = tuple[int, str, int, bytes]  # rank in the sample, document, position, line


@dataclass(slots=True)
class KeptErrors:
    """Errors as lines; parts are merged in the order of the documents."""

    max_lines: int = 100_000
    """Lines of whole documents: more than anybody reads, and a page searches them at once."""
    max_bytes: int = 32_000_000
    """What they may take, before compression to about a fifth."""
    total: int = 0
    """How many errors there are, kept or not."""
    documents: list[tuple[float, str, list[bytes]]] = field(default_factory=list)
    """Score, id and errors of documents, in their order."""
    bound: Rank | None = None
    """The first document that is not kept, or not all of it; nothing after it is."""
    samples: dict[tuple[str, str], list[Sampled]] = field(default_factory=dict)
    """By field and class, and the key of a cause; by an empty one those of any cause."""
    last_sampled: dict[str, str] = field(default_factory=dict)
    """By field and class of too many causes, the last one that has samples; none after it has."""
    _lines: int = 0
    _bytes: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether these are all errors."""
        return self.bound is None

    def add(self, rank: Rank, errors: Sequence[Error]) -> None:
        """Add the errors of the document that comes next."""
        self.total += len(errors)

        @cache  # to write a line takes longer than to see that it is not kept
        def line_at(position: int) -> bytes:
            return encode_error(errors[position].displayed)

        for position, error in enumerate(errors):
            if error.cause:
                self._sample(error.cause, rank[1], position, line_at)
        if self.bound is None or rank < self.bound:
            listed = errors[: self.max_lines + 1]  # one more says that there are more
            self._keep([(*rank, [line_at(at) for at in range(len(listed))])])

    def merge(self, other: "KeptErrors") -> None:
        """Add the errors of the documents that follow these."""
        self.total += other.total
        for key, sample in other.samples.items():
            most = SAMPLE_SIZE if key[1] else GROUP_SAMPLE_SIZE
            self.samples[key] = sorted([*self.samples.get(key, ()), *sample])[:most]
        self.last_sampled |= other.last_sampled
        self.settle()
        if other.bound is not None and (self.bound is None or other.bound < self.bound):
            self.bound = other.bound
            self._trim()
        self._keep(other.documents)

    def settle(self) -> None:
        """Leave out causes where there are too many: the same ones in whatever order they came."""
        by_group: dict[str, list[str]] = {}
        for group, key in self.samples:
            by_group.setdefault(group, []).append(key)
        for group, keys in by_group.items():
            if len(keys) > MOST_KINDS + 1 or group in self.last_sampled:
                self.last_sampled[group] = sorted(keys)[: MOST_KINDS + 1][-1]
                for key in keys:
                    if key > self.last_sampled[group]:
                        del self.samples[group, key]

    def _sample(
        self, cause: str, document: str, position: int, line_at: Callable[[int], bytes]
    ) -> None:
        name, own = split_cause_keys(cause)
        place = crc32(f"{position} {document}".encode("utf-8", "surrogatepass")), document, position
        for key, most in ((own, SAMPLE_SIZE), ("", GROUP_SAMPLE_SIZE)):
            if key > self.last_sampled.get(name, "~"):
                continue
            sample = self.samples.setdefault((name, key), [])
            if len(sample) < most or place < sample[-1][:3]:
                sample.append((*place, line_at(position)))
                sample.sort()
                del sample[most:]

    def _keep(self, documents: Iterable[tuple[float, str, list[bytes]]]) -> None:
        for entry in documents:
            if self.bound is None or entry[:2] <= self.bound:
                self.documents.append(entry)
                self._lines += len(entry[2])
                self._bytes += sum(map(len, entry[2]))
        if self._lines > self.max_lines or self._bytes > self.max_bytes:
            self._trim()

    def _trim(self) -> None:
        """Leave out the documents that have no room, which are the best ones, to the line."""
        self._lines = self._bytes = 0
        kept: dict[str, list[bytes]] = {}
        for score, name, errors in sorted(self.documents):
            if self.bound is not None and (score, name) > self.bound:
                break
            kept[name] = []
            for line in errors:
                if self._lines == self.max_lines or self._bytes + len(line) > self.max_bytes:
                    self.bound = score, name
                    break
                kept[name].append(line)
                self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
        self.documents = [
            (score, name, kept[name]) for score, name, _ in self.documents if kept.get(name)
        ]

    def rows(self) -> Iterator[Error]:
        """Yield shown errors: documents in their order, then samples of others."""
        return map(decode_error, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Yield the same as lines."""
        whole = {name: len(errors) for _, name, errors in self.documents}
        for _, _, errors in self.documents:
            yield from errors
        if self.is_complete:
            return
        ranked = sorted(
            (at, key, entry)
            for key, sample in self.samples.items()
            for at, entry in enumerate(sample)
        )
        size = 0
        told: set[tuple[str, int]] = set()
        for *_, (_, document, position, line) in ranked:
            if position >= whole.get(document, 0) and (document, position) not in told:
                told.add((document, position))
                size += len(line)
                if size > MAX_SAMPLE_BYTES:
                    return
                yield line


def value_lines(documents: Sequence[str], table: UnitTable) -> list[bytes]:
    """Return the lines of each document that was compared, by its id, in the order of the schema.

    They are those that `leaves` counts as TP, FD, FA and FN: also the values in items and objects
    that failed as a whole. docs/tables.md describes the columns.
    """
    by_document = located_units(table, is_present_value, extra_keys="all")
    return [
        b"".join(json_line(_value_record(name, unit)) for unit in units)
        for name, units in zip(documents, by_document, strict=True)
    ]


def _value_record(document: str, unit: LocatedUnit) -> dict[str, object]:
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
    """Return how sure the prediction is of a value; None if it does not say so."""
    slot = int(unit.batch.pred_slot[unit.position])
    confidences = unit.batch.columns.confidences
    if confidences is None or slot < 0:
        return None
    stated: Any = confidences[slot]
    if unit.undeclared_key is not None:
        stated = stated and stated.get(unit.undeclared_key)
    return least(stated)
