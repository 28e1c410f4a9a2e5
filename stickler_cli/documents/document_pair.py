"""One pair of documents: references to both, their values, and their fingerprint.

A run distributes `PairRef`s to processes. The process that compares a pair calls `read_pair` to
read its documents.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import (
    OBJECTS,
    OBJECTS_OR_ARRAYS,
    DocumentKind,
    Gold,
    JsonDocument,
    JsonObject,
    JsonValue,
    brief,
    kind_of,
)
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.problems import Problem
from stickler_cli.core.remote import is_url, read_urls
from stickler_cli.settings.deciding import DocumentOptions, KeyOptions
from .document import (
    Data,
    FileReference,
    Reading,
    Reference,
    Side,
    Wrapping,
    bytes_of,
    digest_of,
    read_document,
    read_text,
)
from .key_edits import NO_EDITS, KeyEdits, parse_key_edits
from .reading import of_kinds, unpacked_bytes
from .roots import find_at, parse_root, root_text


class PairShape(NamedTuple):
    """How to find the documents of a pair inside their files. It can be pickled."""

    wrapping: Wrapping = "hinted"
    """How to treat a prediction that is inside other text."""
    gt_root: tuple[str, ...] = ()
    """Keys and list indexes that lead to the ground truth inside the JSON of its file."""
    pred_root: tuple[str, ...] = ()
    kinds: tuple[DocumentKind, ...] = OBJECTS
    """JSON types that the documents may have."""
    renamings: KeyEdits = NO_EDITS
    """New names for keys of predictions. Keys are renamed before the id of a document is read."""

    def root(self, side: Side) -> tuple[str, ...]:
        """Return the keys and list indexes that lead to the document of one side."""
        return self.gt_root if side == "gt" else self.pred_root

    def read_side(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the document of one side; see `read_document`.

        If the side has a root, such as `result.invoice`, the document is the value at this path in
        the JSON of the file.
        """
        reading, root = self.read_container(reference, side, data), self.root(side)
        if not root or reference is None or not isinstance(reading.value, dict | list):
            return reading
        option = f"--{side}-root {root_text(root)}"
        value = find_at(reading.value, root, option, reference)
        if isinstance(value, str):
            return self._read_inner_text(value, reading, option, reference, side)
        document = (
            value if isinstance(value, Problem) else self._check_kind(value, option, reference)
        )
        return reading._replace(value=document)

    def _read_inner_text(
        self, text: str, reading: Reading, option: str, place: Reference, side: Side
    ) -> Reading:
        """Read a document that a JSON file contains as a string of JSON text.

        `text` is this string. `reading` is the result of reading the whole file. In a prediction,
        `wrapping` decides whether other text may surround the document inside the string.
        """
        wrapping: Wrapping = "refused" if side == "gt" else self.wrapping
        data = text.encode("utf-8", "surrogatepass")
        inner = read_text(data, place.source, place.line, wrapping, OBJECTS_OR_ARRAYS)
        value: JsonDocument | Problem | None = inner.value
        if isinstance(value, Problem):
            expected = "JSON, or a string that contains JSON"
            finding = f"{option} points to a string that is not JSON: {brief(text)}"
            value = Problem(
                source=place.source,
                found=finding,
                expected=expected,
                hint=value.hint,
                line=place.line,
            )
        elif value is not None:
            value = self._check_kind(value, option, place)
        remarks = tuple(dict.fromkeys(reading.remarks + inner.remarks))
        return reading._replace(value=value, remarks=remarks)

    def _check_kind(
        self, value: JsonValue, option: str, place: Reference
    ) -> JsonDocument | Problem:
        document = of_kinds(value, self.kinds, place.source, place.line)
        if isinstance(document, Problem):
            return replace(
                document, found=f"the value at {option} is of type {kind_of(value)}", hint=""
            )
        return document

    def read_container(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the whole JSON value of a side's file, even if the document is only a part of it."""
        root = self.root(side)
        is_around_any = root and (self.kinds != OBJECTS or root[0].isdigit())
        kinds = OBJECTS_OR_ARRAYS if is_around_any else self.kinds
        wrapping: Wrapping = "refused" if side == "gt" else self.wrapping
        return read_document(reference, wrapping, data, kinds)


DEFAULT_SHAPE: Final = PairShape()
ANY_SHAPE: Final = PairShape(kinds=OBJECTS_OR_ARRAYS)


def shape_of(settings: DocumentOptions, kinds: tuple[DocumentKind, ...] = OBJECTS) -> PairShape:
    """Return how to find the documents of a pair inside their files, given the user's options.

    `kinds` are the JSON types that the documents may have.
    """
    wrapping: Wrapping = "taken" if settings.lenient_json else "hinted"
    rename = settings.rename if isinstance(settings, KeyOptions) else ()
    return PairShape(
        wrapping=wrapping,
        gt_root=parse_root(settings.gt_root),
        pred_root=parse_root(settings.pred_root),
        kinds=kinds,
        renamings=parse_key_edits((), rename),
    )


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Digests of the documents of a pair. If a document has changed, its digest has changed."""

    gt: str
    """Digest of the decompressed bytes, or of the reason why they cannot be read. Empty if there is
    no document."""
    pred: str
    hint: str
    """A possible mistake in the id of a document without a partner. Empty for other documents. The
    hint is part of the fingerprint, because it can change when other documents change."""


# Metadata of the values of a document, by path.
Metadata: TypeAlias = Mapping[FieldPath, JsonObject]


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """Two documents to be compared under one id."""

    id: str
    """Id of the pair, unique in a run."""
    gt: JsonDocument | Problem | None
    """The ground truth, a problem if it cannot be read, or None if there is only a prediction."""
    pred: JsonDocument | Problem | None
    remarks: tuple[str, ...] = ()
    """Unusual features of the two JSON texts, such as `duplicate_keys`. Each name occurs once, even
    if both texts have the feature."""
    warnings: tuple[Problem, ...] = ()
    hint: str = ""
    """A possible mistake in the id of a document that has no partner. Empty for other documents."""
    fingerprint: Fingerprint | None = None
    confidences: JsonValue = None
    """Confidences of the prediction's values, in the same shape as the prediction; None if there
    are no confidences."""
    unwrapped: Mapping[str, int] = field(default_factory=dict)
    """For each form of wrapper, such as `{"value": 5, "confidence": 0.9}`, the number of values
    that were taken out of such wrappers."""
    skipped_keys: Mapping[str, int] = field(default_factory=dict)
    """For each metadata key that is not evaluated, such as `page`, the number of values that have
    it."""
    metadata: tuple[Metadata, Metadata] = field(default=({}, {}), compare=False)
    """The metadata of the ground truth and of the prediction, keyed by the path of the value.
    Metadata is everything in a wrapper except the value and its confidence."""
    gold: Gold | None = field(default=None, compare=False)
    """Annotations of the ground truth, taken from its wrappers; None if there are none."""
    is_marked: bool = field(default=True, compare=False)
    """False if the documents certainly have no wrappers and there are no separate confidences. True
    if values may have to be taken out of wrappers, or confidences added from a separate source."""
    separate_confidences: JsonValue | Problem = None
    """Confidences of the prediction that come from a separate source; None if there is no such
    source."""


KindsOf: TypeAlias = Callable[[str, "JsonDocument | Problem | None"], tuple[DocumentKind, ...]]


class PairRef(NamedTuple):
    """References to the two documents of a pair; can be pickled."""

    id: str
    gt: Reference | None
    pred: Reference | None
    hint: str = ""
    shape: PairShape = DEFAULT_SHAPE
    """Where the documents are inside their files."""
    confidences: Reference | None = None
    """Reference to the separate confidences of the prediction; None if there are none."""


def ready_to_read(refs: Sequence[PairRef]) -> Sequence[PairRef]:
    """Download the remote files of all pairs at the same time, and return pairs with their content.

    Files that are too large or of unknown size are not downloaded here.
    """
    sides = (side for ref in refs for side in (ref.gt, ref.pred, ref.confidences))
    files = (
        reference
        for reference in sides
        if isinstance(reference, FileReference) and is_url(reference.file)
    )
    elsewhere = list(
        dict.fromkeys(reference for reference in files if 0 < reference.size <= reference.limit)
    )
    if not elsewhere:
        return refs
    read = read_urls(
        [reference.file for reference in elsewhere],
        max(reference.limit for reference in elsewhere),
        sum(reference.size for reference in elsewhere),
    )
    ready = {
        reference: reference._replace(data=unpacked_bytes(data, reference.file, reference.limit))
        for reference, data in zip(elsewhere, read, strict=True)
    }

    def now(side: Reference | None) -> Reference | None:
        return ready.get(side, side) if isinstance(side, FileReference) else side

    return [
        ref._replace(gt=now(ref.gt), pred=now(ref.pred), confidences=now(ref.confidences))
        for ref in refs
    ]


def read_pair(
    ref: PairRef,
    *,
    fingerprinted: bool = False,
    marks: Iterable[bytes] = (),
    kinds_of: KindsOf | None = None,
) -> DocumentPair:
    """Read and parse the documents of a pair; bad contents become problems, not exceptions.

    `marks` are byte strings that show that a document may have wrappers. The attribute `is_marked`
    of the result is true if a document contains one of these marks, or if there are separate
    confidences. `kinds_of` is given if the valid JSON types of the documents depend on the id or
    the ground truth. It is a function that returns the valid types.
    """
    data = bytes_of(ref.gt), bytes_of(ref.pred)
    gt, kinds = ref.shape.read_side(ref.gt, "gt", data[0]), ref.shape.kinds
    if kinds_of is not None and ref.gt is not None and isinstance(gt.value, dict | list):
        kinds = kinds_of(ref.id, gt.value)
        gt = gt._replace(value=of_kinds(gt.value, kinds, ref.gt.source, ref.gt.line))
    pred = ref.shape._replace(kinds=kinds).read_side(ref.pred, "pred", data[1])
    return DocumentPair(
        id=ref.id,
        gt=gt.value,
        pred=pred.value,
        remarks=tuple(dict.fromkeys(gt.remarks + pred.remarks)),
        warnings=gt.warnings + pred.warnings,
        hint=ref.hint,
        fingerprint=fingerprint_of(ref, data) if fingerprinted else None,
        is_marked=ref.confidences is not None
        or any(mark in side for mark in marks for side in data if isinstance(side, bytes)),
        separate_confidences=read_document(ref.confidences, kinds=kinds).value,
    )


def fingerprint_of(ref: PairRef, data: tuple[Data, Data] | None = None) -> Fingerprint:
    """Return the fingerprint of a pair.

    `data` are the bytes of the ground truth and of the prediction, if the caller has read them.
    """
    gt, pred = data or (bytes_of(ref.gt), bytes_of(ref.pred))
    confidence_digest = digest_of(bytes_of(ref.confidences))
    return Fingerprint(digest_of(gt), digest_of(pred) + confidence_digest, ref.hint)
