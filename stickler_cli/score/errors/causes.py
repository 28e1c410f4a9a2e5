"""Errors counted by field and class, and grouped into causes.

A *group* is the errors of one field that have one error class. Some errors of a group share a
trait: they have the same two values, or they are items that differ in the same fields. Such errors
are one *cause*. If a prediction breaks off, everything after its end is missed for the same reason,
so these values belong to one cause. If a prediction has no value at all, all values of the ground
truth are missed for the same reason, and belong to one cause, too.

Each lost value belongs to one cause. If it was lost with a whole item or object, this is the cause
of the item or object. Causes are ranked by the number of lost values.

Causes can be added up in any order. Their number is limited: a group with more than `MAX_TRAITS`
traits becomes one cause.
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
from .early_ends import EARLY_ENDS, DocumentEnd, EndKind
from .error_classes import ErrorClass
from .wrong_units import ClassifiedError, DocumentErrors, Origin

MAX_TRAITS: Final = 500
"""Maximum number of causes of a group of errors. If a group has more causes, they are joined into
one cause. A group with 500 causes needs about 100 kB in a run file. The number of origins of a
cause has the same limit."""

_KEY_DIGITS: Final = 10  # number of hexadecimal digits of a key
_ENCODE_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode  # faster than `dumps`

MAX_TRAIT_CHARACTERS: Final = 80
"""Maximum length of a value that can be a trait, in characters of JSON. Longer values rarely occur
twice."""


SLIPS: Final = frozenset(
    {
        *(ErrorClass.SWAPPED, ErrorClass.TRUNCATED, ErrorClass.OVERRUN),
        *(ErrorClass.DAY_MONTH_SWAPPED, ErrorClass.PARTIAL_DATE),
        *(ErrorClass.DECIMAL_SHIFT, ErrorClass.DIGIT_SLIP),
    }
)
"""Error classes that explain an error even if its two values are not shown. For example, it is
enough to know that a text was truncated. If several errors of a field have the same class and this
class is in `SLIPS`, reports list these errors as one entry."""


class ErrorTrait(NamedTuple):
    """What all errors of a cause share: the two values, or the fields in which items differ."""

    path: tuple[str, ...]
    """Path of the field, without list indexes. Keys of maps are kept as in the documents."""
    differing: tuple[str, ...] = ()
    """For a pair of list items: the names of the fields in which the two items differ."""
    gt: str = ""
    """The ground-truth value as JSON; empty if one of the two values is long or absent."""
    pred: str = ""
    """The predicted value as JSON; empty if one of the two values is long or absent."""
    ends_after: tuple[str, ...] = ()
    """For documents that end early, the last field that was predicted. In this case, `path` is
    empty."""
    end: EndKind | None = None
    """For documents that end early, the kind of their end; else None."""


class CauseSize(NamedTuple):
    """How many errors, lost values and documents a cause has."""

    errors: int
    values: int
    documents: int
    """Number of documents. It is 0 if unknown, because the group had more than `MAX_TRAITS`
    causes."""


Group: TypeAlias = tuple[tuple[str, ...], ErrorClass]  # field pattern, error class


class Cause(NamedTuple):
    """Errors of one field and one error class that share a trait.

    For example, they have the same two values, or they are pairs of list items that differ in the
    same fields.
    """

    pattern: tuple[str, ...]
    """Path of the field, with `*` for keys of maps."""
    error_class: ErrorClass
    trait: ErrorTrait | None
    """The values or fields that the errors share. None if the group had more than `MAX_TRAITS`
    causes, which were then joined into this one."""
    size: CauseSize

    @property
    def key(self) -> str:
        """The identifier of the cause in links: ten hexadecimal digits.

        It is the same in every run.
        """
        return cause_key(self.pattern, self.error_class, self.trait)

    @property
    def identity(self) -> "CauseIdentity":
        """The group (field and class) and the trait.

        Together they identify the cause within a run.
        """
        return (self.pattern, self.error_class), self.trait


@lru_cache(10_000)  # sampling errors needs the keys of most causes many times
def cause_key(pattern: tuple[str, ...], error_class: ErrorClass, trait: ErrorTrait | None) -> str:
    """Return the key of a cause, or the key of its group if the trait is None."""
    # Without the last two columns if they are empty, so that most keys equal those of old links.
    columns = trait and [*(trait if trait.end else trait[:-2])]
    content = json_line([pattern, error_class, columns])
    return hashlib.blake2b(content, digest_size=_KEY_DIGITS // 2).hexdigest()


CauseIdentity: TypeAlias = tuple[Group, ErrorTrait | None]


class IndexRange(NamedTuple):
    """The lowest and the highest of some indexes of list items."""

    lowest: int
    highest: int


@dataclass(slots=True)
class Causes:
    """The causes of the errors of a set of documents."""

    groups: dict[Group, dict[ErrorTrait | None, CauseSize]] = field(default_factory=dict)
    """Maps a group (field and error class) to a dict from the trait of each cause to the size of
    the cause. A group that had more than `MAX_TRAITS` traits has the single trait None."""
    origins: dict[CauseIdentity, Counter[Origin]] = field(default_factory=dict)
    """Maps a cause to a counter: the number of wrong values from each origin. An origin says from
    which other fields a wrong value was taken. If a cause has more than `MAX_TRAITS` different
    origins, its counter is empty. Causes without origins, and causes whose trait is None, are not
    in this dict."""
    last_items: dict[CauseIdentity, IndexRange] = field(default_factory=dict)
    """Maps a cause to the lowest and the highest index of the last predicted item in its documents.
    Only the causes of documents that end inside a list are in this dict."""
    ids: dict[CauseIdentity, set[str]] | None = field(default_factory=dict)
    """Maps a cause to the ids of the documents in which it occurs. None if these ids are not kept,
    because the run has too many documents or the user chose not to keep single documents."""
    values: ValueCounts = field(default_factory=ValueCounts)
    """How often values occur. From these counts, `is_telling` computes whether a wrong value may
    equal the value of another field by chance."""
    _telling: dict[Origin, bool] = field(default_factory=dict, compare=False)
    """Cached results of `is_telling`. The cache is cleared when errors are added."""

    def add(self, batch: DocumentErrors, selected: Mask | None = None) -> None:
        """Add the errors of a batch.

        `selected` is a mask of the documents whose errors are added; None selects all of them.
        Missed and invented values (simple errors) do not depend on it: they are always added for
        all documents.
        """
        errors_by_cause = defaultdict[tuple[Group, ErrorTrait], list[ClassifiedError]](list)
        missed_at_end = defaultdict[tuple[Group, ErrorTrait], list[int]](list)
        self._telling.clear()
        for error in batch.classified(selected):
            if cause := find_cause(error):
                errors_by_cause[cause].append(error)
            if error.n_wrong_values is None:
                pattern = cause[0][0] if cause else error.unit.pattern
                self.values.add_wrong(pattern, error.unit.pred)
        self.values.add_truths(batch.table, batch.is_wrong)
        self.values.settle()
        ids = batch.compared_ids
        for simple in batch.simple_errors:
            for document in simple.documents[simple.is_judged & simple.is_after_end].tolist():
                missed_at_end[cause_of_end(batch.early_ends[document])].append(document)
            is_counted = simple.is_judged & ~simple.is_after_end
            n_judged = int(np.count_nonzero(is_counted))
            if n_judged:
                documents = {*simple.documents[is_counted].tolist()}
                size = CauseSize(errors=n_judged, values=n_judged, documents=len(documents))
                simple_cause = (simple.pattern, simple.error_class), ErrorTrait(simple.field_path)
                self._add(simple_cause, size, (ids[document] for document in documents))
        for cause in {**errors_by_cause, **missed_at_end}:
            errors = errors_by_cause.get(cause, [])
            documents_of_values = missed_at_end.get(cause, [])
            documents = {*documents_of_values, *(error.unit.document for error in errors)}
            n_values = len(documents_of_values) + sum(
                1 if error.n_wrong_values is None else error.n_wrong_values for error in errors
            )
            size = CauseSize(
                errors=len(documents_of_values) + len(errors),
                values=n_values,
                documents=len(documents),
            )
            origins = [*chain.from_iterable(error.origins for error in errors)]
            counted_origins = Counter(origins) if origins else None
            self._add(cause, size, (ids[document] for document in documents), counted_origins)
            if cause[1].end is EndKind.ITEM:
                indexes = [batch.early_ends[document].last_item for document in documents]
                self._add_last_items(cause, IndexRange(min(indexes), max(indexes)))

    def merge(self, other: "Causes") -> None:
        """Add the causes of other documents. The order of merging makes no difference."""
        if other.ids is None:
            self.ids = None
        for cause in other:
            ids = (other.ids or {}).get(cause.identity, ())
            self._add(cause.identity, cause.size, ids, other.origins.get(cause.identity))
        for identity, indexes in other.last_items.items():
            self._add_last_items(identity, indexes)
        self.values.merge(other.values)
        self.values.settle()
        self._telling.clear()

    def add_errors(self, cause: Cause, size: CauseSize, documents: Iterable[str]) -> None:
        """Add errors to a cause.

        `documents` are the ids of the documents that have these errors.
        """
        self._add(cause.identity, size, documents)

    def drop_rows(self) -> None:
        """Forget in which documents each cause occurs, to save memory.

        The memory for the ids of the documents would grow with the number of documents in the run.
        """
        self.ids = None

    def _add(
        self,
        cause: CauseIdentity,
        size: CauseSize,
        ids: Iterable[str],
        origins: Counter[Origin] | None = None,
    ) -> None:
        """Add errors to a cause.

        If the group of the cause then has more than `MAX_TRAITS` causes, all causes of the group
        are joined into one. If the causes of the group were joined before, the errors are added to
        the joined cause.
        """
        group, trait = cause
        sizes = self.groups.setdefault(group, {})
        if None in sizes:  # the traits of the group were joined before
            trait = None
        sizes[trait] = CauseSize(*map(add, sizes.get(trait, (0, 0, 0)), size))
        if self.ids is not None:
            self.ids.setdefault((group, trait), set()).update(ids)
        if trait is not None:
            self._add_origins((group, trait), origins)
        if (None in sizes and len(sizes) > 1) or len(sizes) > MAX_TRAITS:
            self._join_traits(group)
        elif trait is None:
            sizes[None] = sizes[None]._replace(documents=0)

    def _add_last_items(self, cause: CauseIdentity, indexes: IndexRange) -> None:
        """Extend the index range of a cause in `last_items`, so that it includes `indexes`.

        The documents of the cause end inside a list. `indexes` is the range of the indexes of the
        last list items that some of these documents predict.
        """
        previous = self.last_items.get(cause, indexes)
        self.last_items[cause] = IndexRange(
            min(previous.lowest, indexes.lowest), max(previous.highest, indexes.highest)
        )

    def _join_traits(self, group: Group) -> None:
        """Join all causes of a group into one. The number of documents of this cause is unknown."""
        sizes = self.groups[group]
        n_errors, n_values, _ = map(sum, zip(*sizes.values(), strict=True))
        self.groups[group] = {None: CauseSize(errors=n_errors, values=n_values, documents=0)}
        for trait in sizes:
            self.origins.pop((group, trait), None)
        if self.ids is not None:
            ids_by_trait = [self.ids.pop((group, trait)) for trait in sizes]
            self.ids[group, None] = set().union(*ids_by_trait)

    def _add_origins(self, cause: CauseIdentity, origins: Counter[Origin] | None) -> None:
        """Add the wrong values from each origin to the counter of a cause.

        A cause with more than `MAX_TRAITS` different origins gets an empty counter for good. An
        empty `origins` has the same meaning: the cause has too many origins.
        """
        if origins is not None:
            previous = self.origins.get(cause)
            total = origins + (previous or Counter())
            had_too_many = not origins or previous == Counter()
            is_kept = not had_too_many and len(total) <= MAX_TRAITS
            self.origins[cause] = total if is_kept else Counter()

    def __iter__(self) -> Iterator[Cause]:
        """Yield all causes, in no particular order."""
        for (pattern, error_class), sizes in self.groups.items():
            for trait, size in sizes.items():
                yield Cause(pattern=pattern, error_class=error_class, trait=trait, size=size)

    def ranked(self) -> list[Cause]:
        """Return all causes. The cause to which most values were lost comes first."""
        return sorted(self, key=_sort_key)

    def numbered(self) -> list[tuple[Cause, ...]]:
        """Return the causes that lost values, as the numbered entries of reports.

        The entry that lost most values comes first; it has number 1. Most entries are a single
        cause, but some causes of one field and one error class are joined to one entry. If the
        class is in `SLIPS`, all these causes are joined. For other classes, only causes with a
        single error are joined. All documents that end early after some predicted value are one
        entry, too.
        """
        single: list[tuple[Cause, ...]] = []
        joined: dict[Group, list[Cause]] = {}
        for cause in self.ranked():
            trait = cause.trait
            is_joined = (
                trait and trait.gt and (cause.size.errors == 1 or cause.error_class in SLIPS)
            )
            if trait and (is_joined or trait.end in EARLY_ENDS):
                joined.setdefault((trait.path, cause.error_class), []).append(cause)
            elif cause.size.values:
                single.append((cause,))
        entries = [*single, *map(tuple, joined.values())]
        return sorted(entries, key=lambda causes: -sum(cause.size.values for cause in causes))

    def find_numbered(self, number: int) -> tuple[Cause, ...]:
        """Return the causes of one entry in reports. Entries are numbered from 1.

        Raises:
            UsageError: there is no such entry.
        """
        entries = self.numbered()
        if number > len(entries):
            found = f"the run has {number_of(len(entries), 'cause')}"
            raise UsageError([Problem("--cause", found, f"a number up to {len(entries)}")])
        return entries[number - 1]

    def size_of(self, cause: Cause) -> CauseSize:
        """Return the size of a cause in the documents that were added."""
        group, trait = cause.identity
        return self.groups[group][trait]

    def documents_of(self, causes: Iterable[Cause]) -> list[str] | None:
        """Return the sorted ids of the documents in which at least one of the causes occurs.

        None if ids are not kept.
        """
        if self.ids is None:
            return None
        ids_by_cause = (self.ids.get(cause.identity, ()) for cause in causes)
        return sorted(set[str]().union(*ids_by_cause))

    def origins_of(self, causes: Iterable[Cause]) -> list[tuple[Origin, int]]:
        """Return (origin, number of wrong values) for the given causes, the most frequent first.

        An origin says from which other fields a wrong field took its value (see `Origin`).
        """
        n_errors = Counter[Origin]()
        for cause in causes:
            n_errors.update(self.origins.get(cause.identity, {}))
        return sorted(n_errors.items(), key=lambda entry: (-entry[1], len(entry[0].of), entry[0]))

    def telling_origins_of(self, causes: Iterable[Cause]) -> list[tuple[Origin, int]]:
        """Return (origin, number of wrong values) for origins that chance does not explain.

        The most frequent origin comes first. Only wrong values of the given causes are counted. For
        each wrong field, the list has at most one origin with a single source field, and at most
        one origin with two source fields (a product).
        """
        origins: list[tuple[Origin, int]] = []
        named = set[tuple[tuple[str, ...], int]]()
        for origin, n_errors in self.origins_of(causes):
            key = origin.field, len(origin.of)
            if n_errors >= MIN_HITS and key not in named and self.is_telling(origin):
                named.add(key)
                origins.append((origin, n_errors))
        return origins

    def is_telling(self, origin: Origin) -> bool:
        """Return whether an origin occurs more often than chance would explain.

        All wrong values with this origin are counted together, whichever cause they belong to. An
        origin with two source fields (a product) only needs `MIN_HITS` wrong values, because a
        product is hardly ever right by chance.
        """
        if not self._telling:
            for other, n_hits in sum(self.origins.values(), Counter()).items():
                # A product is hardly right to the cent by chance.
                is_certain = len(other.of) > 1
                self._telling[other] = n_hits >= MIN_HITS and (
                    is_certain or self.values.p_of_hits(other.field, other.of[0], n_hits) < MAX_P
                )
        return self._telling[origin]

    def view(self, settings: object = None) -> Mapping[str, Any]:
        """Return the causes as they are written to a run file.

        The causes that lost most values come first.
        """
        number_by_cause = {
            cause.identity: number
            for number, causes in enumerate(self.numbered(), 1)
            for cause in causes
        }
        records = []
        for cause in self.ranked():
            record: dict[str, object] = {}
            if cause.identity in number_by_cause:
                record["number"] = number_by_cause[cause.identity]
            record |= _cause_record(cause)
            if cause.identity in self.origins:
                record["origins"] = [
                    {
                        "field": field_path(origin.field),
                        "of": [field_path(path) for path in origin.of],
                        "errors": n_errors,
                        "telling": self.is_telling(origin),
                    }
                    for origin, n_errors in self.origins_of([cause])
                ]
            if cause.identity in self.last_items:
                record["last_items"] = self.last_items[cause.identity]._asdict()
            ids = self.documents_of([cause])
            if ids is not None:
                record["document_ids"] = ids
            records.append(record)
        view: dict[str, Any] = {"causes": records}
        value_counts = self.values.view()
        if any(value_counts.values()):
            view["value_counts"] = value_counts
        return view

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the causes from the record of a run file."""
        self.values.restore(record.get("value_counts", {}))
        for cause in record["causes"]:
            group = cause.get("pattern", cause["field"]), cause["class"]
            trait = None
            if "documents" in cause:  # the key is missing if the traits of the group were joined
                trait = _read_trait(cause)
            self.groups.setdefault(group, {})[trait] = CauseSize(
                errors=cause["errors"],
                values=cause["values"],
                documents=cause.get("documents", 0),
            )
            if "origins" in cause:
                self.origins[group, trait] = Counter(
                    {
                        Origin(origin["field"], tuple(origin["of"])): origin["errors"]
                        for origin in cause["origins"]
                    }
                )
            if "last_items" in cause:
                self.last_items[group, trait] = IndexRange(**cause["last_items"])
            if "document_ids" not in cause:
                self.ids = None
            if self.ids is not None:
                self.ids[group, trait] = set(cause["document_ids"])


def find_cause(error: ClassifiedError) -> tuple[Group, ErrorTrait] | None:
    """Return the group and the trait that identify the cause of an error.

    None if the values that this error lost are counted for another error (see
    `ClassifiedError.loses_values`).
    """
    if not error.loses_values:
        return None
    if error.end is not None:
        return cause_of_end(error.end)
    unit = error.unit
    group = unit.pattern, error.error_class
    if error.n_wrong_values is None and unit.gt is not None and unit.pred is not None:
        gt_text, pred_text = short_json(unit.gt), short_json(unit.pred)
        if gt_text and pred_text:
            return group, ErrorTrait(unit.field_path, gt=gt_text, pred=pred_text)
    return group, ErrorTrait(unit.field_path, error.differing)


def cause_of_end(end: DocumentEnd) -> tuple[Group, ErrorTrait]:
    """Return the group and the trait of the cause of documents that end early in the same way.

    The index of the last predicted list item makes no difference.
    """
    trait = ErrorTrait((), ends_after=end.place.path, end=end.kind)
    return ((), ErrorClass.MISSED_VALUE), trait


def cause_keys(error: ClassifiedError) -> str:
    """Return two keys joined into one text: the key of an error's group and the key of its cause.

    The keys have equal lengths, so no separator is needed. The text is empty if the error belongs
    to no cause.
    """
    cause = find_cause(error)
    if cause is None:
        return ""
    (pattern, error_class), trait = cause
    return cause_key(pattern, error_class, None) + cause_key(pattern, error_class, trait)


def split_cause_keys(keys: str) -> tuple[str, str]:
    """Split what `cause_keys` returned into the key of the group and the key of the cause."""
    return keys[:_KEY_DIGITS], keys[_KEY_DIGITS:]


def _sort_key(cause: Cause) -> tuple[object, ...]:
    """Return a sort key for causes: most lost values first, and among equals, most errors first."""
    size, trait = cause.size, cause.trait or ErrorTrait(cause.pattern)
    return -size.values, -size.errors, trait, cause.error_class


def short_json(value: JsonValue) -> str:
    """Return a value as JSON. The text is empty for a long value, an object or a list."""
    if isinstance(value, dict | list) or (
        isinstance(value, str) and len(value) > MAX_TRAIT_CHARACTERS
    ):
        return ""
    try:
        text = _ENCODE_JSON(value)
    except ValueError:  # an integer with more digits than Python converts
        return ""
    return text if len(text) <= MAX_TRAIT_CHARACTERS else ""


def _read_trait(record: Mapping[str, Any]) -> ErrorTrait:
    """Return the trait from a cause's record in a run file."""
    values = {"gt": "ground_truth_value", "pred": "prediction_value"}
    has_values = {*values.values()} <= {*record}
    texts = {side: short_json(record[key]) for side, key in values.items()} if has_values else {}
    return ErrorTrait(
        record["field"],
        tuple(record.get("differing_fields", ())),
        ends_after=tuple(record.get("ends_after", ())),
        end=EndKind(record["end"]) if "end" in record else None,
        **texts,
    )


def _cause_record(cause: Cause) -> dict[str, object]:
    """Return a cause as it is written to a run file, but without origins and documents."""
    trait = cause.trait
    path = trait.path if trait else cause.pattern
    record: dict[str, object] = {"field": field_path(path)}
    if path != cause.pattern:
        record["pattern"] = field_path(cause.pattern)
    record["class"] = cause.error_class.value
    if trait and trait.end:
        record["end"] = trait.end.value
        if trait.end in EARLY_ENDS:
            record["ends_after"] = field_path(trait.ends_after)
    if trait and trait.differing:
        record["differing_fields"] = list(trait.differing)
    if trait and trait.gt:
        record["ground_truth_value"] = json.loads(trait.gt)
        record["prediction_value"] = json.loads(trait.pred)
    record["errors"], record["values"] = cause.size.errors, cause.size.values
    if trait:
        record["documents"] = cause.size.documents
    return record


ByClass: TypeAlias = Counter[ErrorClass]  # number of errors of each class that occurs

_CLASS_RANKS: Final = {error_class: rank for rank, error_class in enumerate(ErrorClass)}


@dataclass(slots=True)
class ErrorCounts:
    """How many errors a set of documents has, by field and class."""

    fields: dict[Path, ByClass] = field(default_factory=dict)
    """Number of wrong values: `fields[path][class]`. Paths have no list indexes."""
    units: dict[Path, ByClass] = field(default_factory=dict)
    """Number of list items and objects that failed as a whole: `units[path][class]`. The wrong
    values inside them are counted in `fields`."""

    def add(self, batch: DocumentErrors, selected: Mask | None) -> None:
        """Count the errors of all documents of a batch, or only of the selected documents."""
        for error in batch.classified(selected):
            counts = self.fields if error.n_wrong_values is None else self.units
            path = error.unit.field_path
            if error.unit.undeclared_key is not None:
                # Each document may have new keys, and the number of counts must stay limited.
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
        """Add the errors of other documents. The order of merging makes no difference."""
        for totals, other_counts in ((self.fields, other.fields), (self.units, other.units)):
            for path, counts in other_counts.items():
                totals.setdefault(path, Counter()).update(counts)

    def rename_fields(self, new_paths: Mapping[tuple[str, ...], tuple[str, ...]]) -> None:
        """Give fields new paths. If several fields get the same path, their counts are added up."""
        for name in ("fields", "units"):
            renamed: dict[Path, ByClass] = {}
            for path, counts in getattr(self, name).items():
                renamed.setdefault(new_paths.get(path, path), Counter()).update(counts)
            setattr(self, name, renamed)

    def of_field(self, path: Path) -> ByClass:
        """Return the number of errors of each class in a field.

        Errors of values, items and objects are added up.
        """
        return self.fields.get(path, Counter()) + self.units.get(path, Counter())

    def overall(self) -> ByClass:
        """Return how many wrong values each class has, the most frequent class first."""
        return overall(self.fields)

    def view(self, settings: object = None) -> Mapping[str, Any]:
        """Return the counts as they are written to a run file.

        The result does not depend on the order in which documents were added.
        """
        return {
            "error_classes": {**_counts_record(self.fields), "units": _counts_record(self.units)}
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the counts from the record of a run file."""
        classes = record["error_classes"]
        for into, counted in ((self.fields, classes), (self.units, classes["units"])):
            into.update({path: Counter(counts) for path, counts in counted["fields"].items()})


def overall(fields: Mapping[Path, ByClass]) -> ByClass:
    """Add up the counts of all fields for each class. The most frequent class comes first."""
    return sort_by_count(sum(fields.values(), Counter()))


def sort_by_count(counts: ByClass) -> ByClass:
    """Return counts sorted from high to low. Equal counts are in the order of `ErrorClass`.

    >>> errors = Counter([ErrorClass.OTHER, ErrorClass.FORMAT, ErrorClass.OTHER])
    >>> list(sort_by_count(errors).values())
    [2, 1]
    """
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], _CLASS_RANKS[entry[0]]))
    return Counter(dict(ranked))


def _counts_record(fields: Mapping[Path, ByClass]) -> dict[str, object]:
    """Return how many errors of each class there are, as a run file has it.

    There are counts for each field, and for all fields together.
    """
    total = overall(fields)
    by_field = {field_path(path): _class_record(fields[path]) for path in sorted(fields)}
    return {"total": total.total(), "overall": _class_record(total), "fields": by_field}


def _class_record(counts: ByClass) -> dict[str, int]:
    """Return a dict from the name of each class to its count, in the order of `ErrorClass`."""
    classes = sorted(counts, key=_CLASS_RANKS.__getitem__)
    return {error_class.value: counts[error_class] for error_class in classes}
