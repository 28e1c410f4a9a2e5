"""Separate values from their metadata, as in `{"_value": 5, "_confidence": 0.9}`."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

from stickler_cli.core.json_values import (
    ALTERNATIVES,
    EXHAUSTIVE,
    LABELLED,
    SAID,
    Alternative,
    Gold,
    JsonObject,
    JsonValue,
    brief,
    is_absent,
)
from stickler_cli.core.locations import ANY_KEY, Path, Step, json_pointer
from stickler_cli.core.problems import Problem
from .key_edits import NO_EDITS, KeyEdits
from .wrapper_forms import (
    NO_FORM,
    OWN,
    WRAPPER_KEYS,
    Form,
    find_form,
    find_metadata_keys,
    has_azure_values,
    is_bare_azure_type,
)


@dataclass(slots=True)
class Unwrapped:
    """A document without wrappers, and everything else that the wrappers contained."""

    value: JsonValue
    confidences: JsonValue = None
    """Confidences in the shape of the document, with a number in [0, 1] or None for each single
    value. None as a whole if there is no confidence at all."""
    wrappers: Counter[str] = field(default_factory=Counter)
    """For each form of wrapper, the number of values that were taken out of such wrappers."""
    skipped_keys: Counter[str] = field(default_factory=Counter)
    """For each metadata key that is not evaluated, such as `page`, the number of values that have
    it."""
    is_changed: bool = False
    """Whether the document differs from the original."""
    inherited: int = 0
    """Number of values whose confidence is stated only for an object or list around the value."""
    problems: list[str] = field(default_factory=list)
    """Messages about confidences that are not numbers in [0, 1]."""
    stated: dict[Path, float] = field(default_factory=dict)
    """The confidences that are written in wrappers, keyed by the path of the value."""
    metadata: dict[Path, JsonObject] = field(default_factory=dict)
    """Everything in wrappers besides values and confidences, keyed by the path of the value."""
    gold: Gold | None = None
    """Annotations of a ground truth, such as alternative right values; None if there are none."""
    misread: list[Problem] = field(default_factory=list)
    """One problem for each annotation of a ground truth that has the wrong type. An example is
    `"_labelled": "no"`, because `_labelled` must be true or false."""
    nested_lists: list[Problem] = field(default_factory=list)
    """Problems of alternative right values that contain a list where the schema has no list."""


class PlaceWithFields(Protocol):
    """A part of a schema that knows its fields, such as a node of the plan."""

    @property
    def any_of(self) -> bool:
        """Whether a list in a ground truth is a list of alternative right values."""

    @property
    def takes_lists(self) -> bool:
        """Whether a list may be a single value at this part of the schema."""

    def child_node(self, step: Step) -> "PlaceWithFields | None":
        """Return the node of a field or element; None if there is none."""

    def nodes_by_name(self) -> Mapping[str, Any]:
        """Return a mapping from the name of each field to its node."""

    def inner_nodes(self) -> Sequence["PlaceWithFields"]:
        """Return the nodes of list items, tuple positions or union arms."""


class FieldNameTree(dict[str, "FieldNameTree"]):
    """The names of fields as a tree. Each name leads to the names inside its field."""

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> "FieldNameTree":
        """Return the tree of all names that occur in field paths."""
        names = cls()
        for path in paths:
            children = names
            for name in path:
                children = children.setdefault(str(name), cls())
        return names

    any_of: bool = False
    takes_lists: bool = True

    def child_node(self, step: Step) -> "FieldNameTree | None":
        """Return the names inside a field; None if the tree does not have the field."""
        return self.get(str(step))

    def nodes_by_name(self) -> "FieldNameTree":
        """Return this tree itself. It already maps the name of each field to the names inside."""
        return self

    def inner_nodes(self) -> "Sequence[FieldNameTree]":
        """Return an empty sequence, because list elements have no trees of their own.

        The names inside the elements of a list are in the tree of the list.
        """
        return ()


class Unwrapper:
    """Takes the values of documents out of their wrappers."""

    def __init__(
        self,
        root: PlaceWithFields | None,
        form: Form | None = None,
        edits: KeyEdits = NO_EDITS,
        *,
        reads_any_of: bool | None = None,
    ) -> None:
        """Create an unwrapper for documents that `root` describes. `root` is a node of a plan.

        `reads_any_of` tells whether a list in a ground truth may be a list of alternative right
        values. If `reads_any_of` is None, this is allowed if `root` or a node inside it is
        annotated with `any_of`. If `form` is given, wrappers of other forms are not removed.
        """
        self._root = root
        self._form = form
        self.edits = edits
        if reads_any_of is None:
            reads_any_of = root is not None and has_any_of(root)
        self.reads_any_of = reads_any_of
        self._names: dict[int, Mapping[str, Any]] = {}

    @property
    def marks(self) -> tuple[bytes, ...]:
        """Byte strings. A document that contains none of them has no wrappers."""
        if self.edits or self.reads_any_of:
            return (b"",)
        if self._form is None:
            return b'_value"', b'onfidence"', b'_labelled"', b'"value'
        # A key may contain escapes.
        keys = (self._form.value, LABELLED)
        return tuple(
            json.dumps(key, ensure_ascii=as_ascii).encode()
            for key in keys
            for as_ascii in (True, False)
        )

    def __call__(self, document: JsonValue, *, is_truth: bool = False) -> Unwrapped:
        """Return a document without its wrappers, and the metadata of these wrappers.

        If `is_truth` is true, the document is a ground truth. The result then also has its
        annotations, such as alternative right values.
        """
        if not (self.edits or self.reads_any_of or self._has_wrapper_key(document)):
            return Unwrapped(document)
        work = _Work(self, Unwrapped(document), is_truth=is_truth)
        value, confidences = work.unwrap_tree(document, self._root, (), None)
        is_changed = work.result.is_changed
        return work.finish(value, confidences) if is_changed else Unwrapped(document)

    def _has_wrapper_key(self, document: JsonValue) -> bool:
        """Return whether a document may contain a wrapper.

        The result is true if an object in the document has a key of wrappers, such as `_value`.
        """
        keys = WRAPPER_KEYS if self._form is None else {self._form.value}
        values = [document]
        while values:
            value = values.pop()
            if isinstance(value, dict):
                if LABELLED in value or not value.keys().isdisjoint(keys):
                    return True
                values += value.values()
            elif isinstance(value, list):
                values += value
        return False

    def form_of(
        self,
        value: Mapping[str, JsonValue],
        node: PlaceWithFields | None,
        *,
        is_truth: bool = False,
        in_azure_document: bool = False,
    ) -> Form | None:
        """Return the form in which an object wraps a value; None if it is not a wrapper.

        `node` is the part of the schema that describes the object.
        """
        if self._form is NO_FORM:
            return None
        names = self.declared(node)
        if is_truth and value.get(LABELLED) is False and LABELLED not in names:
            return self._form or OWN
        if self._form is not None:
            form = self._form if self._form.value in value else None
        else:
            form = find_form(value, in_azure_document=in_azure_document)
        if form is None or form.value in names or form.confidence in names:
            return None
        if form.family and "type" in names:
            return None
        has_any_name = ANY_KEY in names and form is not OWN and form is not self._form
        return None if has_any_name else form

    def metadata_of(
        self, value: Mapping[str, JsonValue], node: PlaceWithFields | None
    ) -> tuple[str, frozenset[str]] | None:
        """Return (confidence key, metadata keys) of an object that wraps more than one value.

        An example of such an object is `{"value": 5, "unit": "kg", "confidence": 0.9}`. Keys that
        the schema declares at `node` are left out of the metadata keys. The result is None for all
        other objects. It is also None if the schema declares the confidence key or allows any key
        at `node`, or if the unwrapper was created with a form.
        """
        names = self.declared(node)
        if self._form is not None or ANY_KEY in names:
            return None
        keys = find_metadata_keys(value)
        if keys is None or keys[0] in names:
            return None
        confidence, metadata = keys
        return confidence, metadata - names.keys()

    def declared(self, node: PlaceWithFields | None) -> Mapping[str, Any]:
        """Return a mapping from the names of the fields that a node declares to their nodes.

        Fields inside the lists and the unions of the node are included.
        """
        if node is None:
            return {}
        if id(node) not in self._names:
            self._names[id(node)] = node.nodes_by_name()
        return self._names[id(node)]


def add_confidences(bare: Unwrapped, confidences: JsonValue) -> Unwrapped:
    """Add confidences from a separate source to a document.

    The confidences have the shape of the document, with numbers in place of values. A number for an
    object or a list applies to all values inside it.
    """
    work = _Work(
        Unwrapper(None),
        Unwrapped(
            bare.value,
            wrappers=bare.wrappers,
            skipped_keys=bare.skipped_keys,
            is_changed=bare.is_changed,
            problems=[*bare.problems],
        ),
    )
    return work.finish(bare.value, work.mirror_confidences(bare.value, confidences, (), None))


class _Work:
    """The work on one document while its wrappers are removed, with the result so far."""

    def __init__(
        self,
        unwrapper: Unwrapper,
        result: Unwrapped,
        *,
        is_truth: bool = False,
        parent: Path = (),
    ) -> None:
        self.unwrapper = unwrapper
        self.result = result
        self.document = result.value
        self.has_azure_values: bool | None = None
        self.is_truth = is_truth
        self.parent = parent
        """Path of the ground truth whose alternative is unwrapped. The path is empty if a document
        is unwrapped."""
        self.has_confidences = False

    def finish(self, value: JsonValue, confidences: JsonValue) -> Unwrapped:
        """Set the value and its confidences in the result, and return the result."""
        self.result.value = value
        self.result.confidences = confidences if self.has_confidences else None
        return self.result

    def unwrap_tree(
        self,
        value: JsonValue,
        node: PlaceWithFields | None,
        path: Path,
        inherited: float | None,
        *,
        is_candidate: bool = False,
    ) -> tuple[JsonValue, JsonValue]:
        """Remove the wrappers and the metadata of a value and of everything inside it.

        Return (bare value, its confidences in the same shape). A value without a confidence of its
        own gets `inherited`. If `is_candidate` is true, the value is already one of several right
        values. A list is then not read as a list of alternatives.
        """
        value, own_confidence = self.unwrap(value, node, path)
        if isinstance(value, list) and not is_candidate and self.is_any_of(node):
            value, own_confidence = self.take_first(value, node, path)
        if isinstance(value, dict) and (keys := self.unwrapper.metadata_of(value, node)):
            confidence_key, metadata_keys = keys
            self.result.skipped_keys[confidence_key] += 1
            own_confidence = self.add_metadata(
                value, confidence_key, metadata_keys, path, own_confidence
            )
            value = {name: child for name, child in value.items() if name not in metadata_keys}
        if own_confidence is not None:
            self.result.stated[path] = own_confidence
        confidence = inherited if own_confidence is None else own_confidence

        if isinstance(value, dict):
            value = self.edit_keys(value, path)
            names = self.unwrapper.declared(node)
            fields = {
                name: self.unwrap_tree(
                    child, names.get(name, names.get(ANY_KEY)), (*path, name), confidence
                )
                for name, child in value.items()
            }
            return (
                {name: child for name, (child, _) in fields.items()},
                {name: child_confidence for name, (_, child_confidence) in fields.items()},
            )
        if isinstance(value, list):
            items = [
                self.unwrap_tree(item, self.element_of(node, index), (*path, index), confidence)
                for index, item in enumerate(value)
            ]
            return [item for item, _ in items], [item_confidence for _, item_confidence in items]
        return value, self.count_confidence(value, confidence, inherited=own_confidence is None)

    def element_of(self, node: PlaceWithFields | None, index: int) -> PlaceWithFields | None:
        """Return the node of a list element.

        This is the node of the list itself if elements have no node of their own.
        """
        if node is None or not self.unwrapper.reads_any_of:
            return node
        return node.child_node(index) or node

    def is_any_of(self, node: PlaceWithFields | None) -> bool:
        reads_any_of = self.is_truth and self.unwrapper.reads_any_of
        return reads_any_of and node is not None and node.any_of

    def take_first(
        self, values: list[JsonValue], node: PlaceWithFields | None, path: Path
    ) -> tuple[JsonValue, float | None]:
        """Return (first right value, its confidence).

        All other right values are recorded as alternatives of the first one.

        `values` is a list from the ground truth. It is usually a list of right values. However, if
        the schema declares a list here, each right value must be a list, such as `["a", "b"]` in
        `[["a", "b"], ["c"]]`. A list without inner lists, such as `["a", "b"]`, is then itself the
        only right value. It is returned unchanged, with None as its confidence.
        """
        if _is_list(node) and not any(isinstance(value, list) for value in values):
            return values, None
        self.result.is_changed = True
        if not values:
            return None, None
        first, *other_values = (None if value == "" else value for value in values)
        self.result.gold = self.result.gold or Gold()
        gold = self.result.gold.descendant(path)
        for index, value in enumerate(values):
            self.check_nesting(value, node, (*path, index))
        alternatives = (
            self.unwrap_alternative(value, node, path, (index,), is_candidate=True)
            for index, value in enumerate(other_values, start=1)
        )
        gold.alternatives = (*alternatives, *gold.alternatives)
        return self.unwrap(first, node, path)

    def check_nesting(self, value: JsonValue, node: PlaceWithFields | None, path: Path) -> None:
        """Record a problem if a right value contains a list where the schema has no list.

        `value` is one of several right values that a ground truth lists.
        """
        if not isinstance(value, list) or node is None:
            return
        if not node.takes_lists:
            pointer = json_pointer((*self.parent, *path))
            finding = f"{pointer} is {brief(value)}"
            expected = (
                "a single value, because each element of an any-of list is one acceptable value"
            )
            self.result.nested_lists.append(Problem("", finding, expected))
            return
        for index, item in enumerate(value):
            element = node.child_node(index)
            if element is not None and not element.any_of:
                self.check_nesting(item, element, (*path, index))

    def edit_keys(self, value: JsonObject, path: Path) -> JsonObject:
        if not self.unwrapper.edits:
            return value
        parent = (*self.parent, *path)
        edited = self.unwrapper.edits.edit(value, parent, is_truth=self.is_truth)
        self.result.is_changed = self.result.is_changed or edited is not value
        return edited

    def unwrap(
        self, value: JsonValue, node: PlaceWithFields | None, path: Path
    ) -> tuple[JsonValue, float | None]:
        """Remove the wrappers around a value; return (value, innermost confidence).

        The confidence is None if no wrapper has one.
        """
        confidence, within = None, tuple[Step, ...]()
        while isinstance(value, dict) and (form := self.form_of(value, node)):
            self.result.wrappers[form.name] += 1
            if self.is_truth and not SAID.keys().isdisjoint(value):
                self.add_gold(value, path, within, node)
            metadata = value.keys() - {form.value}
            confidence = self.add_metadata(value, form.confidence, metadata, path, confidence)
            value, within = value.get(form.value), (*within, form.value)
        return value, confidence

    def form_of(self, value: JsonObject, node: PlaceWithFields | None) -> Form | None:
        form_of = self.unwrapper.form_of
        form = form_of(value, node, is_truth=self.is_truth)
        if form is None and is_bare_azure_type(value) and self.is_azure_document():
            form = form_of(value, node, is_truth=self.is_truth, in_azure_document=True)
        return form

    def is_azure_document(self) -> bool:
        if self.has_azure_values is None:
            self.has_azure_values = has_azure_values(self.document)
        return self.has_azure_values

    def add_metadata(
        self,
        value: JsonObject,
        confidence_key: str,
        metadata_keys: AbstractSet[str],
        path: Path,
        outer: float | None,
    ) -> float | None:
        """Record the metadata in the object `value`, and return the confidence that it states.

        If the object states no valid confidence, return `outer`, which is the confidence from the
        wrappers around the object.
        """
        self.result.is_changed = True
        confidence = outer
        if confidence_key in value:
            stated = self.read_confidence(value[confidence_key], (*path, confidence_key))
            confidence = confidence if stated is None else stated
        metadata = {
            key: value[key] for key in value if key in metadata_keys and key != confidence_key
        }
        if metadata:
            self.result.metadata[path] = self.result.metadata.get(path, {}) | metadata
            self.result.skipped_keys.update(key for key in metadata if key not in SAID)
        return confidence

    def add_gold(
        self, wrapper: JsonObject, path: Path, within: Path, node: PlaceWithFields | None
    ) -> None:
        """Record the annotations that a wrapper has for its value, such as alternatives.

        `path` is the path of the value. `within` is the path from the outermost wrapper of the
        value to this wrapper. It is empty unless wrappers are nested.
        """
        self.result.gold = self.result.gold or Gold()
        gold, stated = self.result.gold.descendant(path), {}
        for key in SAID.keys() & wrapper.keys():
            kind, expected = SAID[key]
            if isinstance(wrapper[key], kind):
                stated[key] = wrapper[key]
            else:
                finding = f"{json_pointer((*path, key))} is {brief(wrapper[key])}"
                self.result.misread.append(Problem("", finding, expected))
        gold.labelled = gold.labelled and stated.get(LABELLED) is not False
        gold.exhaustive = gold.exhaustive and stated.get(EXHAUSTIVE) is not False
        values: Any = stated.get(ALTERNATIVES, ())
        alternatives = tuple(
            self.unwrap_alternative(value, node, path, (*within, ALTERNATIVES, index))
            for index, value in enumerate(values)
        )
        gold.alternatives = alternatives + gold.alternatives

    def unwrap_alternative(
        self,
        value: JsonValue,
        node: PlaceWithFields | None,
        path: Path,
        written: Path,
        *,
        is_candidate: bool = False,
    ) -> Alternative:
        """Return an alternative without its wrappers.

        Problems inside the alternative are added to the result of the document. The numbers of
        wrappers and of skipped keys are added, too. `path` is the path of the ground-truth value.
        `written` is the path of the alternative inside the wrapper.
        """
        work = _Work(self.unwrapper, Unwrapped(value), is_truth=True, parent=path)
        bare, _ = work.unwrap_tree(value, node, (), None, is_candidate=is_candidate)
        inner = work.result
        self.result.wrappers += inner.wrappers
        self.result.skipped_keys += inner.skipped_keys
        self.result.misread += inner.misread
        self.result.nested_lists += inner.nested_lists
        return Alternative(value=bare, gold=inner.gold, metadata=inner.metadata, location=written)

    def count_confidence(
        self, value: JsonValue, confidence: float | None, *, inherited: bool
    ) -> float | None:
        """Record that a value has a confidence, and return the confidence unchanged.

        Nothing is recorded if the confidence is None or the value is absent. `inherited` tells
        whether the confidence is stated only for an object or list around the value.
        """
        if confidence is not None and not is_absent(value):
            self.has_confidences = True
            self.result.inherited += inherited
        return confidence

    def mirror_confidences(
        self, value: JsonValue, confidences: JsonValue, path: Path, inherited: float | None
    ) -> JsonValue:
        """Return confidences from a separate source in the shape of a value.

        A value without a confidence of its own gets `inherited`.
        """
        own_confidence = None
        if not isinstance(confidences, dict | list):
            own_confidence = self.read_confidence(confidences, path)
        confidence = inherited if own_confidence is None else own_confidence
        if isinstance(value, dict):
            by_name = confidences if isinstance(confidences, dict) else {}
            return {
                name: self.mirror_confidences(child, by_name.get(name), (*path, name), confidence)
                for name, child in value.items()
            }
        if isinstance(value, list):
            by_index = confidences if isinstance(confidences, list) else []
            items = zip_longest(value, by_index[: len(value)])
            return [
                self.mirror_confidences(item, item_given, (*path, index), confidence)
                for index, (item, item_given) in enumerate(items)
            ]
        return self.count_confidence(value, confidence, inherited=own_confidence is None)

    def read_confidence(self, stated: JsonValue, path: Path) -> float | None:
        """Return a confidence as a number in [0, 1].

        If it is invalid, record a problem and return None.
        """
        if stated is None:
            return None
        if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= 1:
            return float(stated)
        self.result.problems.append(f"{json_pointer(path)}: the confidence is {brief(stated)}")
        return None


def _is_list(place: PlaceWithFields | None) -> bool:
    """Return whether a node is only for lists: it has elements but no fields.

    A node for values of any type has both.
    """
    return place is not None and place.child_node(0) is not None and place.child_node("") is None


def has_any_of(root: PlaceWithFields) -> bool:
    """Return whether a node, or a node inside it, may have a list of alternative right values."""
    pending, seen = [root], {id(root)}
    while pending:
        place = pending.pop()
        if place.any_of:
            return True
        for child in (*place.nodes_by_name().values(), *place.inner_nodes()):
            if id(child) not in seen:
                seen.add(id(child))
                pending.append(child)
    return False
