"""Rules on single documents and their values. This module also finds copied documents."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import (
    JsonValue,
    brief,
    is_absent,
    json_line,
    says_nothing,
)
from stickler_cli.core.locations import Path, field_path, pointer_steps
from stickler_cli.core.problems import SchemaError
from stickler_cli.documents.document import content_digest
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.schema.verdicts import DocumentValidator
from .findings import Document, Findings, Spot


class Value(NamedTuple):
    """A value that contains no other values: a scalar, null, or an empty list or object."""

    field: tuple[str, ...]
    """Path of the field, without list indexes."""
    path: Path
    value: JsonValue


def values_of(document: JsonValue) -> Iterator[Value]:
    """Yield all values of a document, at any depth, in document order."""
    waiting = [Value((), (), document)]
    while waiting:
        located = waiting.pop()
        field, path, value = located
        if isinstance(value, dict) and value:
            children = [
                Value((*field, name), (*path, name), child) for name, child in value.items()
            ]
        elif isinstance(value, list) and value:
            children = [Value(field, (*path, index), child) for index, child in enumerate(value)]
        else:
            yield located
            continue
        waiting += reversed(children)


def value_at(document: JsonValue, pointer: str) -> JsonValue:
    """Return the value at a JSON Pointer, or its nearest parent if there is no such value."""
    value = document
    for step in pointer_steps(pointer):
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            break  # the validator leaves empty keys out of its pointers
    return value


MAX_FIELDS: Final = 5_000
"""In how many fields lint compares the ways in which absent values are written, such as null and
"".

There is a limit because a map can have any number of keys."""

MAX_IDS: Final = 100_000
"""For each id field, this many values are remembered to find repeated ids."""

_ID_NAMES: Final = frozenset({"id", "_id", "uuid", "guid", "doc_id", "document_id"})
"""Names of top-level fields, in lower case, in which no two documents may have the same value."""

_RULES: Final = {
    "type": "wrong-kind",
    **dict.fromkeys(("enum", "const"), "not-listed"),
    **dict.fromkeys(("format", "pattern"), "wrong-format"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "out-of-range"),
    **dict.fromkeys(("multipleOf", "minLength", "maxLength"), "out-of-range"),
    "required": "missing-required",
}
"""The lint rule for each schema keyword that a value can violate."""

_UNDECLARED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
"""Schema keywords that forbid undeclared keys. They are skipped here, because another lint rule
finds undeclared keys."""


class DocumentRules:
    """Lint rules on single documents. They need a bounded amount of memory."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._findings = findings
        self._listed = frozenset(_listed_texts(loaded.contents))
        self._absences: defaultdict[tuple[str, ...], dict[str, _AbsenceForm]] = defaultdict(dict)
        self._ids: defaultdict[str, dict[str, Spot]] = defaultdict(dict)
        self._notes: list[str] = []
        self._validator: DocumentValidator | None = None
        try:
            self._validator = DocumentValidator(loaded.contents, loaded.path, loaded.path)
        except SchemaError as error:
            reason = error.problems[0].found
            self._notes.append(f"documents were not validated against the schema: {reason}")

    def check_document(self, document: Document, values: Iterable[Value]) -> None:
        """Add findings for a document and its values."""
        self._validate(document)
        for value in values:
            self._check_value(document, value)

    def conclude(self) -> list[str]:
        """Add a finding for each field that writes absent values in different ways.

        Return notes on what was not checked.
        """
        for field, forms in self._absences.items():
            usual, *rare_forms = sorted(forms.values(), key=lambda form: -form.count)
            for form in rare_forms:
                if form.count == usual.count:
                    continue  # both ways are equally common
                expected = f"{usual.text}, as in {number_of(usual.count, 'other place')}"
                path, times = field_path(field), form.count
                self._findings.add("mixed-absence", path, form.spot, form.text, expected, times)
        return self._notes

    def _validate(self, document: Document) -> None:
        """Add a finding for each value of a document that violates the schema."""
        if self._validator is None:
            return
        for violation in self._validator.violations(document.value, document.gold):
            if violation.keyword in _UNDECLARED:
                continue
            rule = _RULES.get(violation.keyword, "not-valid")
            if rule != "missing-required":
                value = value_at(document.value, violation.pointer)
                rule = "null-not-allowed" if is_absent(value) else rule
            spot = document.spot(violation.pointer)
            path = violation.field.replace("[]", "").lstrip(".")  # remove list indexes
            self._findings.add(rule, path, spot, violation.message)

    def _check_value(self, document: Document, located: Value) -> None:
        """Add a finding if a value is a text that means null, or is a repeated id.

        If the value is absent, the way in which it is written is remembered for `conclude`.
        """
        field, path, value = located
        if is_absent(value):
            forms_by_field = self._absences
            if field in forms_by_field or len(forms_by_field) < MAX_FIELDS:
                text = brief(value)
                new_form = _AbsenceForm(text, document.spot(path))
                form = forms_by_field[field].setdefault(text, new_form)
                form.count += 1
        elif isinstance(value, str) and says_nothing(value) and value not in self._listed:
            self._findings.add(
                "text-for-null", field_path(field), document.spot(path), brief(value)
            )
        elif len(path) == 1 and field[0].casefold() in _ID_NAMES and isinstance(value, str | int):
            spot_of_id, spot = self._ids[field[0]], document.spot(path)
            first_spot = spot_of_id.get(str(value))
            if first_spot is not None:
                finding = f"{brief(value)}, as in {first_spot.name}"
                self._findings.add("duplicate-value", field_path(field), spot, finding)
            elif len(spot_of_id) < MAX_IDS:
                spot_of_id[str(value)] = spot


@dataclass(slots=True)
class _AbsenceForm:
    """One way in which a field writes absent values, for example as null or as an empty text."""

    text: str
    spot: Spot
    """Location of the first value that is written in this form, such as the first empty text."""
    count: int = 0


def _listed_texts(schema: JsonValue) -> Iterator[str]:
    """Yield all texts that a schema lists as valid values or as absent values."""
    waiting = [schema]
    while waiting:
        subschema = waiting.pop()
        if isinstance(subschema, list):
            waiting += subschema
        elif isinstance(subschema, dict):
            waiting += subschema.values()
            listed = subschema.get("enum")
            values = [*(listed if isinstance(listed, list) else ()), subschema.get("const")]
            absent_values = subschema.get(annotated("absent_values"))
            values += absent_values if isinstance(absent_values, list) else []
            yield from (value for value in values if isinstance(value, str))


MAX_DOCUMENTS: Final = 50_000
MAX_VALUES: Final = 5_000_000
"""Limit of the values that are kept for the search for copies (60 MB). Further documents are not
searched."""

MAX_SHARING: Final = 20
"""A value is rare if at least two documents and at most this many have it. Documents are compared
only if they share rare values."""

MIN_SHARED: Final = 5
"""Two documents are compared only if they share at least this many rare values."""

MIN_VALUES: Final = 10
"""A document with fewer distinct values than this is never reported as a near-duplicate, because a
single value would make too much difference."""

MIN_OVERLAP: Final = 0.9
"""Two documents are near-duplicates if their values overlap at least this much (Dice coefficient).
Rare values weigh more."""

MIN_VALUES_OF_COPY: Final = 3
"""A document with fewer numbers and texts than this is not reported as an exact copy. So small a
document, for example one with two labels, can be equal to another document by chance."""


class Copies:
    """Finds copied documents without comparing each document with all others.

    Documents are compared only if they share enough rare values. A value is rare if at most
    `MAX_SHARING` documents have it.
    """

    def __init__(self) -> None:
        self._spots: list[Spot] = []
        self._hashes: list[NDArray[np.uint64]] = []
        """The hashes of the distinct values of each document, sorted."""
        self._n_values = 0
        self._first_by_digest: dict[bytes, int] = {}
        self._n_omitted = 0

    def add(self, document: Document, values: Sequence[Value], findings: Findings) -> None:
        """Add a document. If it is an exact copy of an earlier document, add a finding."""
        if len(self._spots) >= MAX_DOCUMENTS or self._n_values >= MAX_VALUES:
            self._n_omitted += 1
            return
        spot, position = document.spot(), len(self._spots)
        informative = [
            value
            for value in values
            if not is_absent(value.value) and not isinstance(value.value, bool)
        ]
        digest = content_digest(document.value)
        first = self._first_by_digest.setdefault(digest, position)
        if first < position:
            if len(informative) >= MIN_VALUES_OF_COPY:
                finding = f"this document has the same content as {self._spots[first].name}"
                findings.add("duplicate-document", "", spot, finding)
            return
        hashes = {_hash(value) for value in informative}
        self._hashes.append(np.sort(np.array([*hashes], np.uint64)))
        self._n_values += len(hashes)
        self._spots.append(spot)

    def conclude(self, findings: Findings) -> tuple[str, ...]:
        """Add a finding for each document that is nearly equal to an earlier one.

        Return notes on what was not searched.
        """
        sizes = [*map(len, self._hashes)]
        values = np.concatenate([*self._hashes, np.empty(0, np.uint64)])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(values, kind="stable")
        values, owners = values[order], owners[order]
        copies: set[int] = set()
        for first, second in _find_candidates(values, owners, len(sizes)):
            if second not in copies and self._are_near(first, second, values):
                copies.add(second)
                finding = f"this document has nearly the same content as {self._spots[first].name}"
                findings.add("near-duplicate", "", self._spots[second], finding)
        if not self._n_omitted:
            return ()
        n_compared = len(self._spots)
        note = f"only {n_compared} documents (exact copies aside) were searched for near copies"
        return (note,)

    def _are_near(self, first: int, second: int, values: NDArray[np.uint64]) -> bool:
        """Return whether two documents are near-duplicates.

        This is decided by the Dice overlap of their values, in which rare values weigh more.
        `values` are the sorted hashes of all documents.
        """
        first_hashes, second_hashes = self._hashes[first], self._hashes[second]
        if min(len(first_hashes), len(second_hashes)) < MIN_VALUES:
            return False

        def weigh(hashes: NDArray[np.uint64], is_shared: NDArray[np.bool_]) -> NDArray[np.float64]:
            """Return the weight of each value of the first or the second document.

            A value has a high weight if few further documents have the value. `is_shared` states
            for each value whether both the first and the second document have it.
            """
            n_documents = _count_documents(values, hashes)
            n_elsewhere = n_documents - 1 - is_shared
            return np.log(np.maximum(1.0, (len(self._hashes) - 1) / (n_elsewhere + 1)))

        first_is_shared = np.isin(first_hashes, second_hashes)
        first_weights = weigh(first_hashes, first_is_shared)
        second_weights = weigh(second_hashes, np.isin(second_hashes, first_hashes))
        shared_weight = first_weights[first_is_shared].sum()
        total_weight = first_weights.sum() + second_weights.sum()
        return bool(2 * shared_weight >= MIN_OVERLAP * total_weight > 0)


def _count_documents(values: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return how many documents contain each value. Values are given by their hashes.

    `values` are the sorted hashes of the values of all documents. A document has each hash only
    once.
    """
    return np.searchsorted(values, hashes, "right") - np.searchsorted(values, hashes, "left")


def _find_candidates(
    values: NDArray[np.uint64], owners: NDArray[np.intp], n_documents: int
) -> list[tuple[int, int]]:
    """Return pairs of documents that share enough rare values. The earlier document is first.

    `values` are the sorted hashes of all documents, and `owners` has the document of each hash.
    """
    n_sharing = _count_documents(values, values)
    is_rare = (n_sharing > 1) & (n_sharing <= MAX_SHARING)
    values, owners = values[is_rare], owners[is_rare]
    pair_numbers = []
    # Equal hashes are adjacent: compare each hash with the next one, the one after it, and so on.
    for offset in range(1, MAX_SHARING):
        is_same = values[offset:] == values[:-offset]
        pair_numbers.append(owners[:-offset][is_same] * n_documents + owners[offset:][is_same])
    pairs, n_shared = np.unique(np.concatenate(pair_numbers), return_counts=True)
    return [divmod(pair, n_documents) for pair in pairs[n_shared >= MIN_SHARED].tolist()]


def _hash(value: Value) -> int:
    """Return a hash of a value and its field. Case and white space of texts make no difference."""
    content = value.value
    if isinstance(content, str):
        content = " ".join(content.casefold().split())
    return int.from_bytes(blake2b(json_line([value.field, content]), digest_size=8).digest(), "big")
