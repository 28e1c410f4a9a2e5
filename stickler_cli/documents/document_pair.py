"""One pair of documents: their places, in files and in these, their values, their fingerprint.

A run hands out `PairRef`s, and `read_pair` turns each into documents where they are compared.
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
    """The places of the documents of a pair in their files; can be pickled."""

    wrapping: Wrapping = "hinted"
    """Treatment of a prediction that is inside other text."""
    gt_root: tuple[str, ...] = ()
    """The keys, or indexes, that lead to a ground truth."""
    pred_root: tuple[str, ...] = ()
    kinds: tuple[DocumentKind, ...] = OBJECTS
    """Kinds of the documents."""
    renamings: KeyEdits = NO_EDITS
    """New names of keys of predictions, under which their ids are found."""

    def root(self, side: Side) -> tuple[str, ...]:
        """Return the keys, or indexes, that lead to the document of a side."""
        return self.gt_root if side == "gt" else self.pred_root

    def read_side(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the document of a side; see `read_document`."""
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
        """Read the document in a text below the root, which may be inside other text itself."""
        wrapping: Wrapping = "refused" if side == "gt" else self.wrapping
        data = text.encode("utf-8", "surrogatepass")
        inner = read_text(data, place.source, place.line, wrapping, OBJECTS_OR_ARRAYS)
        value: JsonDocument | Problem | None = inner.value
        if isinstance(value, Problem):
            expected = "JSON, or a text of JSON"
            finding = f"{option} is a text that is no JSON: {brief(text)}"
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
            return replace(document, found=f"{option} is of type {kind_of(value)}", hint="")
        return document

    def read_container(self, reference: Reference | None, side: Side, data: Data = None) -> Reading:
        """Read the value that the document of a side stands in."""
        root = self.root(side)
        is_around_any = root and (self.kinds != OBJECTS or root[0].isdigit())
        kinds = OBJECTS_OR_ARRAYS if is_around_any else self.kinds
        wrapping: Wrapping = "refused" if side == "gt" else self.wrapping
        return read_document(reference, wrapping, data, kinds)


DEFAULT_SHAPE: Final = PairShape()
ANY_SHAPE: Final = PairShape(kinds=OBJECTS_OR_ARRAYS)


def shape_of(settings: DocumentOptions, kinds: tuple[DocumentKind, ...] = OBJECTS) -> PairShape:
    """Return the shape that settings tell of documents of some kinds."""
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
    """Digests that identify the documents of a pair."""

    gt: str
    """Digest of its unpacked bytes, or of why they cannot be read; empty without a file."""
    pred: str
    hint: str
    """Hint about a document that stands alone; it depends on other documents."""


Metadata: TypeAlias = Mapping[FieldPath, JsonObject]  # of the values of a document, by their place


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """The two sides to be compared under one id."""

    id: str
    """Unique in a run."""
    gt: JsonDocument | Problem | None
    """None where there is only a prediction; a problem where there is no reading it."""
    pred: JsonDocument | Problem | None
    remarks: tuple[str, ...] = ()
    """Oddities of either, by name, each once: `duplicate_keys`."""
    warnings: tuple[Problem, ...] = ()
    hint: str = ""
    """Possible mistake in the id of a document that stands alone."""
    fingerprint: Fingerprint | None = None
    confidences: JsonValue = None
    """Confidences of the prediction, in its shape, if it has any."""
    unwrapped: Mapping[str, int] = field(default_factory=dict)
    """How many values were taken out of wrappers of each kind."""
    skipped_keys: Mapping[str, int] = field(default_factory=dict)
    """Number of values of each metadata key of wrappers that is not evaluated."""
    metadata: tuple[Metadata, Metadata] = field(default=({}, {}), compare=False)
    """Metadata in wrappers on either side, beside values and confidences, by place."""
    gold: Gold | None = field(default=None, compare=False)
    """The gold of the ground truth, if it was taken out of wrappers."""
    is_marked: bool = field(default=True, compare=False)
    """Whether there may be wrappers in it, or confidences beside it."""
    separate_confidences: JsonValue | Problem = None
    """Confidences that came beside the prediction; None without any."""


KindsOf: TypeAlias = Callable[[str, "JsonDocument | Problem | None"], tuple[DocumentKind, ...]]


class PairRef(NamedTuple):
    """Where the two documents of a pair are; can be pickled."""

    id: str
    gt: Reference | None
    pred: Reference | None
    hint: str = ""
    shape: PairShape = DEFAULT_SHAPE
    """The places of the documents in their files."""
    confidences: Reference | None = None
    """Where those of the prediction are, if they are beside it."""


def ready_to_read(refs: Sequence[PairRef]) -> Sequence[PairRef]:
    """Return pairs with their URLs of a known size read, all at once: each takes its time."""
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
        [reference.file for reference in elsewhere], max(reference.limit for reference in elsewhere)
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
    """Read and parse the documents of a pair; never raises for their contents.

    The pair is marked if the text of a side has one of the `marks`. `kinds_of` returns the types
    that a prediction may have, if these depend on its id or ground truth.
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
    """Return the fingerprint of a pair; `data` are its bytes, if they were read."""
    gt, pred = data or (bytes_of(ref.gt), bytes_of(ref.pred))
    confidence_digest = digest_of(bytes_of(ref.confidences))
    return Fingerprint(digest_of(gt), digest_of(pred) + confidence_digest, ref.hint)
