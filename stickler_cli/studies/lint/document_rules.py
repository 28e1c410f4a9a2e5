"""Rules on one document or one value, whatever the others hold; and documents that are copies."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import JsonValue, brief, is_absent, json_line, says_nothing
from stickler_cli.core.locations import Path, field_path, pointer_steps
from stickler_cli.core.problems import SchemaError
from stickler_cli.runs.saved import canonical
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.schema.verdicts import DocumentValidator
from .findings import Document, Findings, Spot


class Value(NamedTuple):
    """A value that has no parts: a scalar, null, or an empty list or object."""

    field: tuple[str, ...]
    """Its names, without list indexes."""
    path: Path
    value: JsonValue


def values_of(document: JsonValue) -> Iterator[Value]:
    """Yield the values of a document in its order, at any depth."""
    waiting = [Value((), (), document)]
    while waiting:
        here = waiting.pop()
        field, path, value = here
        if isinstance(value, dict) and value:
            inside = [Value((*field, name), (*path, name), part) for name, part in value.items()]
        elif isinstance(value, list) and value:
            inside = [Value(field, (*path, index), part) for index, part in enumerate(value)]
        else:
            yield here
            continue
        waiting += reversed(inside)


def value_at(document: JsonValue, pointer: str) -> JsonValue:
    """Return the value at a JSON Pointer; the nearest one around it, if there is none."""
    value = document
    for step in pointer_steps(pointer):
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            break  # the engine that judges documents leaves empty keys out of pointers
    return value


MOST_FIELDS: Final = 5_000
"""Fields of which is known how absence is written; the keys of maps could be any number."""

MOST_IDS: Final = 100_000
"""Values of each field of ids that are remembered."""

_ID_NAMES: Final = frozenset({"id", "_id", "uuid", "guid", "doc_id", "document_id"})
"""Names of fields of a document, in lower case, whose values are to tell it from others."""

_RULES: Final = {
    "type": "wrong-kind",
    **dict.fromkeys(("enum", "const"), "not-listed"),
    **dict.fromkeys(("format", "pattern"), "wrong-format"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "out-of-range"),
    **dict.fromkeys(("multipleOf", "minLength", "maxLength"), "out-of-range"),
    "required": "missing-required",
}
"""By the keyword of the schema that forbids a value."""

_UNDECLARED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
"""Keywords that forbid keys, which another rule tells of in any schema."""


class DocumentRules:
    """Rules on documents one by one; memory has a bound."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._findings = findings
        self._listed = frozenset(_listed_texts(loaded.contents))
        self._absences: defaultdict[tuple[str, ...], dict[str, _Form]] = defaultdict(dict)
        self._ids: defaultdict[str, dict[str, Spot]] = defaultdict(dict)
        self._notes: list[str] = []
        self._validator: DocumentValidator | None = None
        try:
            self._validator = DocumentValidator(loaded.contents, loaded.path, loaded.path)
        except SchemaError as error:
            found = error.problems[0].found
            self._notes.append(f"no document was held against the keywords of the schema: {found}")

    def look_at(self, document: Document, values: Iterable[Value]) -> None:
        """Look at a document and its values."""
        self._validate(document)
        for value in values:
            self._look_at_value(document, value)

    def conclude(self) -> list[str]:
        """Find fields that write absence in two ways; return notes."""
        for field, forms in self._absences.items():
            usual, *others = sorted(forms.values(), key=lambda form: -form.count)
            for form in others:
                if form.count == usual.count:
                    continue  # neither is usual
                expected = f"{usual.shown} as elsewhere ({usual.count})"
                path, times = field_path(field), form.count
                self._findings.add("mixed-absence", path, form.spot, form.shown, expected, times)
        return self._notes

    def _validate(self, document: Document) -> None:
        """Hold a document against the keywords of its schema."""
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
            path = violation.field.replace("[]", "").lstrip(".")  # as all others are written
            self._findings.add(rule, path, spot, violation.message)

    def _look_at_value(self, document: Document, found: Value) -> None:
        field, path, value = found
        if is_absent(value):
            forms = self._absences
            if field in forms or len(forms) < MOST_FIELDS:
                shown = brief(value)
                form = forms[field].setdefault(shown, _Form(shown, document.spot(path)))
                form.count += 1
        elif isinstance(value, str) and says_nothing(value) and value not in self._listed:
            self._findings.add(
                "text-for-null", field_path(field), document.spot(path), brief(value)
            )
        elif len(path) == 1 and field[0].casefold() in _ID_NAMES and isinstance(value, str | int):
            known, spot = self._ids[field[0]], document.spot(path)
            before = known.get(str(value))
            if before is not None:
                told = f"{brief(value)}, as in {before.name}"
                self._findings.add("duplicate-value", field_path(field), spot, told)
            elif len(known) < MOST_IDS:
                known[str(value)] = spot


@dataclass(slots=True)
class _Form:
    """One way in which a field writes that there is nothing."""

    shown: str
    spot: Spot
    """Where it is first."""
    count: int = 0


def _listed_texts(schema: JsonValue) -> Iterator[str]:
    """Yield the texts that a schema lists as values anywhere."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
            listed = part.get("enum")
            values = [*(listed if isinstance(listed, list) else ()), part.get("const")]
            nothing = part.get(annotated("absent_values"))
            values += nothing if isinstance(nothing, list) else []
            yield from (value for value in values if isinstance(value, str))


MOST_DOCUMENTS: Final = 50_000
MOST_VALUES: Final = 5_000_000
"""Of documents together, that are held against one another: 60 MB; later ones are not."""

MOST_SHARING: Final = 20
"""Documents that share a value, for it to make candidates: more are a habit of the data."""

FEWEST_SHARED: Final = 5
"""Values that no more than two to `MOST_SHARING` documents have, which copies have in common."""

FEWEST_VALUES: Final = 10
"""Of a document that can be nearly a copy; below, one value makes all the difference."""

NEAR: Final = 0.9
"""Weighted overlap from which two documents are near-duplicates; rare values weigh more."""

FEWEST_OF_A_COPY: Final = 3
"""Numbers and texts that a document has at least which can be an exact copy: labels repeat."""


class Copies:
    """Documents by their values, as far as there is room, so that not all are compared with all.

    Values that many documents have say nothing of copies; those that two to `MOST_SHARING` have put
    these together as candidates.
    """

    def __init__(self) -> None:
        self._spots: list[Spot] = []
        self._said: list[NDArray[np.uint64]] = []
        """Of each document, hashes of its distinct values, sorted."""
        self._values = 0
        self._first: dict[bytes, int] = {}
        self._left_out = 0

    def add(self, document: Document, values: Sequence[Value], findings: Findings) -> None:
        """Add a document; one that says the same as an earlier one is told at once."""
        if len(self._spots) >= MOST_DOCUMENTS or self._values >= MOST_VALUES:
            self._left_out += 1
            return
        spot, position = document.spot(), len(self._spots)
        telling = [
            value
            for value in values
            if not is_absent(value.value) and not isinstance(value.value, bool)
        ]
        digest = blake2b(canonical(document.value), digest_size=16).digest()
        before = self._first.setdefault(digest, position)
        if before < position:
            if len(telling) >= FEWEST_OF_A_COPY:
                found = f"it says the same as {self._spots[before].name}"
                findings.add("duplicate-document", "", spot, found)
            return
        hashes = {_hash(value) for value in telling}
        self._said.append(np.sort(np.array([*hashes], np.uint64)))
        self._values += len(hashes)
        self._spots.append(spot)

    def conclude(self, findings: Findings) -> tuple[str, ...]:
        """Find documents that are nearly copies of earlier ones; return notes."""
        sizes = [*map(len, self._said)]
        values = np.concatenate([*self._said, np.empty(0, np.uint64)])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(values, kind="stable")
        values, owners = values[order], owners[order]
        told: set[int] = set()
        for one, other in _candidates(values, owners, len(sizes)):
            if other not in told and self._are_near(one, other, values):
                told.add(other)
                found = f"it says nearly the same as {self._spots[one].name}"
                findings.add("near-duplicate", "", self._spots[other], found)
        if not self._left_out:
            return ()
        known = len(self._spots)
        return (f"copies were looked for among the first {known} different documents only",)

    def _are_near(self, one: int, other: int, values: NDArray[np.uint64]) -> bool:
        """Return whether two documents are near-duplicates, by their rare values."""
        mine, its = self._said[one], self._said[other]
        if min(len(mine), len(its)) < FEWEST_VALUES:
            return False

        def weights(said: NDArray[np.uint64], both: NDArray[np.bool_]) -> NDArray[np.float64]:
            having = np.searchsorted(values, said, "right") - np.searchsorted(values, said, "left")
            elsewhere = having - 1 - both
            return np.log(np.maximum(1.0, (len(self._said) - 1) / (elsewhere + 1)))

        in_both = np.isin(mine, its), np.isin(its, mine)
        own, others = weights(mine, in_both[0]), weights(its, in_both[1])
        shared = own[in_both[0]].sum()
        return bool(2 * shared >= NEAR * (own.sum() + others.sum()) > 0)


def _candidates(
    values: NDArray[np.uint64], owners: NDArray[np.intp], documents: int
) -> list[tuple[int, int]]:
    """Return pairs of documents that share enough rare values, the earlier one first."""
    having = np.searchsorted(values, values, "right") - np.searchsorted(values, values, "left")
    rare = (having > 1) & (having <= MOST_SHARING)
    values, owners = values[rare], owners[rare]
    pairs = []
    for apart in range(1, MOST_SHARING):
        same = values[apart:] == values[:-apart]
        pairs.append(owners[:-apart][same] * documents + owners[apart:][same])
    codes, times = np.unique(np.concatenate(pairs), return_counts=True)
    return [divmod(code, documents) for code in codes[times >= FEWEST_SHARED].tolist()]


def _hash(value: Value) -> int:
    text = value.value
    said = " ".join(text.casefold().split()) if isinstance(text, str) else text
    return int.from_bytes(blake2b(json_line([value.field, said]), digest_size=8).digest(), "big")
