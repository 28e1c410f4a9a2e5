"""Errors put together: their numbers by field and class, and their causes by values lost.

Each value lost belongs to one cause: that of the item or object that it was lost with, if there is
one, else its own. Causes add in any order with the same result, and there are no more than a
schema has room for: errors of one field and class of more than `MOST_KINDS` kinds are one cause.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from operator import add
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import JsonValue, json_line
from stickler_cli.core.locations import ANY_KEY, Path, field_path
from stickler_cli.core.problems import Problem, UsageError
from .chance import MAX_P, MIN_HITS, ValueCounts
from .error_classes import ErrorClass
from .wrong_units import ClassifiedError, DocumentErrors, Origin

MOST_KINDS: Final = 500
"""Kinds of errors of one field and class that are told apart; some 100 kB in a run file."""

_DIGITS: Final = 10  # of a key, hexadecimal
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` makes one for each value

LONGEST: Final = 80
"""Characters of a value, as JSON, by which errors are told apart; longer ones hardly repeat."""


SLIPS: Final = frozenset(
    {
        *(ErrorClass.SWAPPED, ErrorClass.TRUNCATED, ErrorClass.OVERRUN),
        *(ErrorClass.DAY_MONTH_SWAPPED, ErrorClass.PARTIAL_DATE),
        *(ErrorClass.DECIMAL_SHIFT, ErrorClass.DIGIT_SLIP),
    }
)
"""Classes that say what happened, whatever the values are: their causes are told as one."""


class ErrorTrait(NamedTuple):
    """The common trait of errors of one field and class."""

    path: tuple[str, ...]
    """The field, without list indexes; of a map the key that the documents name."""
    differing: tuple[str, ...] = ()
    """Of list items that both sides have, the fields that differ."""
    gt: str = ""
    """Of wrong values both, as JSON; empty where they are long, or one is absent."""
    pred: str = ""


class CauseSize(NamedTuple):
    """How much a cause explains."""

    errors: int
    values: int
    """The values lost."""
    documents: int
    """0 of many kinds together, where it is not known."""


Group: TypeAlias = tuple[tuple[str, ...], ErrorClass]  # a field as the schema says it, and a class


class Cause(NamedTuple):
    """Errors that are alike."""

    pattern: tuple[str, ...]
    """The field, `*` for any key of a map."""
    error_class: ErrorClass
    kind: ErrorTrait | None
    """None of many kinds together."""
    size: CauseSize

    @property
    def key(self) -> str:
        """Its identifier in links: ten hexadecimal digits, the same in any run."""
        return cause_key(self.pattern, self.error_class, self.kind)

    @property
    def one(self) -> "OneCause":
        """Its group and kind."""
        return (self.pattern, self.error_class), self.kind


@lru_cache(10_000)  # of a run that keeps samples, where most causes come again
def cause_key(pattern: tuple[str, ...], error_class: ErrorClass, kind: ErrorTrait | None) -> str:
    """Return the key of a cause."""
    said = json_line([pattern, error_class, kind and [*kind]])
    return hashlib.blake2b(said, digest_size=_DIGITS // 2).hexdigest()


OneCause: TypeAlias = tuple[Group, ErrorTrait | None]


@dataclass(slots=True)
class Causes:
    """The causes of the errors of a set of documents."""

    groups: dict[Group, dict[ErrorTrait | None, CauseSize]] = field(default_factory=dict)
    """How much each kind explains, by field and class; None alone where there are too many."""
    origins: dict[OneCause, Counter[Origin]] = field(default_factory=dict)
    """How many of its wrong values hold which other fields; empty of too many, none of many kinds
    together."""
    ids: dict[OneCause, set[str]] | None = field(default_factory=dict)
    """The documents of each; None where nothing is kept of single documents."""
    values: ValueCounts = field(default_factory=ValueCounts)
    """How frequent values are: whether wrong values are those of other fields by chance."""
    _telling: dict[Origin, bool] = field(default_factory=dict, compare=False)
    """Answers of `is_telling` for the errors so far."""

    def add(self, batch: DocumentErrors, some: Mask | None = None) -> None:
        """Add the errors of documents; causes are never added for some of them only."""
        errors_by_cause = defaultdict[tuple[Group, ErrorTrait], list[ClassifiedError]](list)
        self._telling.clear()
        for error in batch.classified(some):
            if cause := cause_of(error):
                errors_by_cause[cause].append(error)
            if error.n_wrong_values is None:
                self.values.add_wrong(error.unit.pattern, error.unit.pred)
        self.values.add_truths(batch.table, batch.is_wrong)
        self.values.settle()
        ids = batch.compared_ids
        for cause, errors in errors_by_cause.items():
            documents = {error.unit.document for error in errors}
            n_values = sum(
                1 if error.n_wrong_values is None else error.n_wrong_values for error in errors
            )
            origins = Counter(chain.from_iterable(error.origins for error in errors)) or None
            size = CauseSize(len(errors), n_values, len(documents))
            self._add(cause, size, (ids[document] for document in documents), origins)
        for simple in batch.simple_errors:
            n_judged = int(np.count_nonzero(simple.is_judged))
            if n_judged:
                documents = {*simple.documents[simple.is_judged].tolist()}
                size = CauseSize(n_judged, n_judged, len(documents))
                simple_cause = (simple.pattern, simple.error_class), ErrorTrait(simple.field_path)
                self._add(simple_cause, size, (ids[document] for document in documents))

    def merge(self, other: "Causes") -> None:
        """Add the causes of other documents; the order of merging makes no difference."""
        if other.ids is None:
            self.ids = None
        for cause in other:
            names = (other.ids or {}).get(cause.one, ())
            self._add(cause.one, cause.size, names, other.origins.get(cause.one))
        self.values.merge(other.values)
        self.values.settle()
        self._telling.clear()

    def add_errors(self, cause: Cause, size: CauseSize, documents: Iterable[str]) -> None:
        """Add errors of a cause of another set of documents, such as some of its errors."""
        self._add(cause.one, size, documents)

    def drop_rows(self) -> None:
        """Drop what grows with documents."""
        self.ids = None

    def _add(
        self,
        cause: OneCause,
        size: CauseSize,
        documents: Iterable[str],
        origins: Counter[Origin] | None = None,
    ) -> None:
        group, kind = cause
        kinds = self.groups.setdefault(group, {})
        if None in kinds:
            kind = None
        kinds[kind] = CauseSize(*map(add, kinds.get(kind, (0, 0, 0)), size))
        if self.ids is not None:
            self.ids.setdefault((group, kind), set()).update(documents)
        if kind is not None:
            self._trace((group, kind), origins)
        if (None in kinds and len(kinds) > 1) or len(kinds) > MOST_KINDS:
            errors, values, _ = map(sum, zip(*kinds.values(), strict=True))
            self.groups[group] = {None: CauseSize(errors, values, 0)}
            for each in kinds:
                self.origins.pop((group, each), None)
            if self.ids is not None:
                self.ids[group, None] = set().union(*(self.ids.pop((group, it)) for it in kinds))
        elif kind is None:
            kinds[None] = kinds[None]._replace(documents=0)

    def _trace(self, cause: OneCause, more: Counter[Origin] | None) -> None:
        """Count the origins of a cause; of too many nothing is kept, which is said by none."""
        if more is not None:
            found = more + self.origins.get(cause, Counter())
            few = more and self.origins.get(cause, more) and len(found) <= MOST_KINDS
            self.origins[cause] = found if few else Counter()

    def __iter__(self) -> Iterator[Cause]:
        """Yield all causes, in no order."""
        for group, kinds in self.groups.items():
            for kind, size in kinds.items():
                yield Cause(*group, kind, size)

    def ranked(self) -> list[Cause]:
        """Return all causes, those that lost most values first."""
        return sorted(self, key=_rank)

    def numbered(self) -> list[tuple[Cause, ...]]:
        """Return the causes of lost values as they are told, most values first; the first is 1.

        Pairs that stand alone are told together, and so are those of a class that says enough.
        """
        alone, together = list[tuple[Cause, ...]](), dict[Group, list[Cause]]()
        for cause in self.ranked():
            kind = cause.kind
            if kind and kind.gt and (cause.size.errors == 1 or cause.error_class in SLIPS):
                together.setdefault((kind.path, cause.error_class), []).append(cause)
            elif cause.size.values:
                alone.append((cause,))
        told = [*alone, *map(tuple, together.values())]
        return sorted(told, key=lambda causes: -sum(it.size.values for it in causes))

    def asked(self, number: int) -> tuple[Cause, ...]:
        """Return a cause by its number; UsageError if there is none."""
        if number > len(known := self.numbered()):
            found = f"the run has {number_of(len(known), 'cause')}"
            raise UsageError([Problem("--cause", found, f"a number up to {len(known)}")])
        return known[number - 1]

    def documents_of(self, causes: Iterable[Cause]) -> list[str] | None:
        """Return the documents of causes, in order; None where they are not known."""
        if self.ids is None:
            return None
        return sorted(set[str]().union(*(self.ids.get(it.one, ()) for it in causes)))

    def origins_of(self, causes: Iterable[Cause]) -> list[tuple[Origin, int]]:
        """Return how many wrong values of causes hold which other fields, most first."""
        n_errors = Counter[Origin]()
        for cause in causes:
            n_errors.update(self.origins.get(cause.one, {}))
        return sorted(n_errors.items(), key=lambda entry: (-entry[1], len(entry[0].of), entry[0]))

    def telling_origins_of(self, causes: Iterable[Cause]) -> list[tuple[Origin, int]]:
        """Return the same without what may be chance; each field holds one other at most."""
        origins: list[tuple[Origin, int]] = []
        named = set[tuple[tuple[str, ...], int]]()
        for origin, n_errors in self.origins_of(causes):
            kind = origin.field, len(origin.of)
            if n_errors >= MIN_HITS and kind not in named and self.is_telling(origin):
                named.add(kind)
                origins.append((origin, n_errors))
        return origins

    def is_telling(self, origin: Origin) -> bool:
        """Return whether a field holds others more often than by chance, over all causes."""
        if not self._telling:
            for other, n_hits in sum(self.origins.values(), Counter()).items():
                # A product that is right by chance would have to be so to the cent.
                is_certain = len(other.of) > 1
                self._telling[other] = n_hits >= MIN_HITS and (
                    is_certain or self.values.p_of_hits(other.field, other.of[0], n_hits) < MAX_P
                )
        return self._telling[origin]

    def view(self, settings: object = None) -> Mapping[str, Any]:
        """Return the causes as the run format has them, those that lost most values first."""
        numbers = {it.one: at for at, told in enumerate(self.numbered(), 1) for it in told}
        records = []
        for cause in self.ranked():
            number = {"number": numbers[cause.one]} if cause.one in numbers else {}
            record = number | _cause_record(cause)
            if cause.one in self.origins:
                record["origins"] = [
                    {
                        "field": field_path(origin.field),
                        "of": [field_path(each) for each in origin.of],
                        "errors": errors,
                        "telling": self.is_telling(origin),
                    }
                    for origin, errors in self.origins_of([cause])
                ]
            if (names := self.documents_of([cause])) is not None:
                record["document_ids"] = names
            records.append(record)
        counts = self.values.view()
        return {"causes": records} | ({"value_counts": counts} if any(counts.values()) else {})

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        self.values.restore(record.get("value_counts", {}))
        for each in record["causes"]:
            pattern = each.get("pattern", each["field"])
            kind = None
            if "documents" in each:
                sides = ("ground_truth_value", "prediction_value")
                texts = [short_json(each[side]) for side in sides if {*sides} <= {*each}]
                kind = ErrorTrait(each["field"], tuple(each.get("differing_fields", ())), *texts)
            size = CauseSize(each["errors"], each["values"], each.get("documents", 0))
            group = pattern, each["class"]
            self.groups.setdefault(group, {})[kind] = size
            if "origins" in each:
                found = {
                    Origin(it["field"], tuple(it["of"])): it["errors"] for it in each["origins"]
                }
                self.origins[group, kind] = Counter(found)
            if "document_ids" not in each:
                self.ids = None
            if self.ids is not None:
                self.ids[group, kind] = set(each["document_ids"])


def cause_of(error: ClassifiedError) -> tuple[Group, ErrorTrait] | None:
    """Return the cause of an error; None for an error that repeats another one."""
    if not error.loses_values:
        return None
    unit = error.unit
    group = unit.pattern, error.error_class
    if error.n_wrong_values is None and unit.gt is not None and unit.pred is not None:
        gt_text, pred_text = short_json(unit.gt), short_json(unit.pred)
        if gt_text and pred_text:
            return group, ErrorTrait(unit.field_path, gt=gt_text, pred=pred_text)
    return group, ErrorTrait(unit.field_path, error.differing)


def cause_keys(error: ClassifiedError) -> str:
    """Return the keys of the field and class of an error, and of its cause; empty without one."""
    found = cause_of(error)
    return "" if found is None else cause_key(*found[0], None) + cause_key(*found[0], found[1])


def split_cause_keys(cause: str) -> tuple[str, str]:
    """Return the key of field and class, and that of the cause, of the keys of an error."""
    return cause[:_DIGITS], cause[_DIGITS:]


def _rank(cause: Cause) -> tuple[object, ...]:
    size, kind = cause.size, cause.kind or ErrorTrait(cause.pattern)
    return -size.values, -size.errors, kind, cause.error_class


def short_json(value: JsonValue) -> str:
    """Return a value as JSON; empty of a long one, or one with parts."""
    if isinstance(value, dict | list) or (isinstance(value, str) and len(value) > LONGEST):
        return ""
    try:
        text = _AS_JSON(value)
    except ValueError:  # more digits than Python writes
        return ""
    return text if len(text) <= LONGEST else ""


def _cause_record(cause: Cause) -> dict[str, object]:
    kind, path = cause.kind, cause.kind.path if cause.kind else cause.pattern
    view: dict[str, object] = {"field": field_path(path)}
    if path != cause.pattern:
        view["pattern"] = field_path(cause.pattern)
    view["class"] = cause.error_class.value
    if kind and kind.differing:
        view["differing_fields"] = list(kind.differing)
    if kind and kind.gt:
        view["ground_truth_value"] = json.loads(kind.gt)
        view["prediction_value"] = json.loads(kind.pred)
    view["errors"], view["values"] = cause.size.errors, cause.size.values
    if kind:
        view["documents"] = cause.size.documents
    return view


ByClass: TypeAlias = Counter[ErrorClass]  # without those that do not occur

_ORDER: Final = {each: place for place, each in enumerate(ErrorClass)}


@dataclass(slots=True)
class ErrorCounts:
    """The errors of a set of documents, by field and class."""

    fields: dict[Path, ByClass] = field(default_factory=dict)
    """Wrong values, by the path of the field, without list indexes; only fields that have any."""
    units: dict[Path, ByClass] = field(default_factory=dict)
    """List items and objects that failed as a whole, by the path of the field. The wrong values
    inside them count in `fields`."""

    def add(self, batch: DocumentErrors, selected: Mask | None) -> None:
        """Count the errors of the selected documents; without a mask, of all documents."""
        for error in batch.classified(selected):
            counts = self.fields if error.n_wrong_values is None else self.units
            path = error.unit.field_path
            if error.unit.undeclared_key is not None:
                # Each document may have new ones, and what is counted of all has a bound.
                path = (*path[:-1], ANY_KEY)
            if path not in counts:
                counts[path] = Counter()
            counts[path][error.error_class] += 1
        for simple in batch.simple_errors:
            n_errors = len(simple.documents)
            if selected is not None:
                n_errors = int(np.count_nonzero(selected[simple.documents]))
            if n_errors:
                by_class = self.fields.setdefault(simple.field_path, Counter())
                by_class[simple.error_class] += n_errors

    def merge(self, other: "ErrorCounts") -> None:
        """Add the errors of other documents; the order of merging makes no difference."""
        for mine, its in ((self.fields, other.fields), (self.units, other.units)):
            for path, counts in its.items():
                mine.setdefault(path, Counter()).update(counts)

    def move(self, places: Mapping[tuple[str, ...], tuple[str, ...]]) -> None:
        """Count the errors of some fields in other places."""
        whole = ErrorCounts()
        for name in ("fields", "units"):
            for path, counts in getattr(self, name).items():
                getattr(whole, name).setdefault(places.get(path, path), Counter()).update(counts)
        self.fields, self.units = whole.fields, whole.units

    def at(self, path: Path) -> ByClass:
        """Return the classes of all errors of a field, of values as of items and objects."""
        return self.fields.get(path, Counter()) + self.units.get(path, Counter())

    def overall(self) -> ByClass:
        """Return the classes of all wrong values together, the most frequent first."""
        return overall(self.fields)

    def view(self, settings: object = None) -> Mapping[str, Any]:
        """Return the counts as the run format has them; equal counts give equal bytes."""
        return {
            "error_classes": {**_counts_record(self.fields), "units": _counts_record(self.units)}
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        classes = record["error_classes"]
        for into, counted in ((self.fields, classes), (self.units, classes["units"])):
            into.update({path: Counter(counts) for path, counts in counted["fields"].items()})


def overall(fields: Mapping[Path, ByClass]) -> ByClass:
    """Return the counts of all fields together, the most frequent class first."""
    return ordered(sum(fields.values(), Counter()))


def ordered(counts: ByClass) -> ByClass:
    """Return counts sorted, the greatest first; equal ones in the order of the classes.

    >>> list(ordered(Counter([ErrorClass.OTHER, ErrorClass.FORMAT, ErrorClass.OTHER])).values())
    [2, 1]
    """
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], _ORDER[entry[0]]))
    return Counter(dict(ranked))


def _counts_record(fields: Mapping[Path, ByClass]) -> dict[str, object]:
    total = overall(fields)
    by_field = {field_path(path): _in_class_order(fields[path]) for path in sorted(fields)}
    return {"total": total.total(), "overall": _in_class_order(total), "fields": by_field}


def _in_class_order(counts: ByClass) -> dict[str, int]:
    return {each.value: counts[each] for each in sorted(counts, key=_ORDER.__getitem__)}
