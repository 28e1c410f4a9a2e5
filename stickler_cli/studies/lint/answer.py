"""Check a schema and its ground truth. Documents are read in chunks, each document only once."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from stickler_cli import __version__
from stickler_cli.compare.arranged import find_key_node
from stickler_cli.compare.field_listing import list_nodes
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import follow_references
from stickler_cli.compare.plan import PAIRING_FLOOR, Node
from stickler_cli.core.json_values import Gold, JsonValue, ReadingRule, brief, is_absent, json_key
from stickler_cli.core.locations import ANY_KEY, Path, field_path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import LineReference, Reference
from stickler_cli.documents.document_pair import PairShape
from stickler_cli.documents.lines import ONE
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.reading import of_kinds
from stickler_cli.documents.roots import parse_root
from stickler_cli.documents.sources import ONE_FILE
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.runs.job import unwrapper_of
from stickler_cli.runs.process import room_for_depth
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import RunVerdict
from stickler_cli.studies.answering import Desk, StudyAnswer, check_names
from .document_rules import Copies, DocumentRules, values_of
from .field_rules import FieldValues
from .findings import RULES, SEVERITIES, Document, Findings, LintRecord, Spot, make_report
from .question import LintSettings

MIN_WEIGHT_SHARE: Final = 0.001
"""Minimum weight of a field, as a share of the sum of the weights in its object. A smaller weight
changes no figure that is shown."""


def check_schema(loaded: LoadedSchema, findings: Findings) -> None:
    """Find thresholds and weights in a schema that have no effect, and add them to the findings."""
    for path, node in list_nodes(loaded.plan.root):
        for rule, field, finding, expected in _check_node(path, node):
            findings.add_of_schema(rule, field_path(field), finding, expected)


def _check_node(path: Path, node: Node) -> Iterator[tuple[str, Path, str, str]]:
    """Yield a finding for each setting of a node that has no effect.

    A finding is (lint rule, path of the field, what was found, what is expected).
    """
    if isinstance(node, LeafNode) and node.threshold == 0:
        yield "threshold-zero", path, "the threshold is 0", "a number above 0"
    if isinstance(node, ListNode):
        floor = PAIRING_FLOOR if node.pairing_floor is None else node.pairing_floor
        threshold = node.items.item_threshold
        if 0 < threshold <= floor:
            finding = f"the threshold is {threshold:g}, but the pairing floor is {floor:g}"
            yield "threshold-below-floor", path, finding, "a floor below the threshold"
    if isinstance(node, ObjectNode):
        fields = [(name, follow_references(child).weight) for name, child in node.list_fields()]
        total = sum(weight for _, weight in fields)
        for name, weight in fields:
            if weight < MIN_WEIGHT_SHARE * total:
                finding = f"the weight is {weight:g} of {total:g}"
                yield "irrelevant-weight", (*path, name), finding, f"{MIN_WEIGHT_SHARE:.1%} or more"


MAX_CHUNK_DOCUMENTS: Final = 256
# Bytes of text; parsed documents take about ten times as much memory.
MAX_CHUNK_BYTES: Final = 4_000_000


def answer(settings: LintSettings, desk: Desk) -> StudyAnswer:
    """Check a schema and its ground truth. Findings of ignored rules are left out."""
    check_names("--ignore", settings.ignore, RULES, "unknown rule")
    record = lint(desk.schema(), settings.gt, settings)
    kept = [finding for finding in record.findings if finding.rule not in settings.ignore]
    report = make_report(replace(record, findings=kept), settings.places)
    last_failing = [*SEVERITIES, "never"].index(settings.fail_on)
    has_failed = last_failing < len(SEVERITIES) and any(
        SEVERITIES.index(finding.severity) <= last_failing for finding in kept
    )
    return StudyAnswer(report, RunVerdict.FAILED if has_failed else RunVerdict.PASSED)


def lint(loaded: LoadedSchema, gt: str, settings: LintSettings) -> LintRecord:
    """Return the findings in a schema and in its ground truth.

    Raises:
        UsageError: the source of documents or an option is invalid.
    """
    source, findings = open_documents(gt, settings), Findings(loaded)
    unwrapper = unwrapper_of(loaded.plan.root, settings)
    shape = PairShape(gt_root=parse_root(settings.gt_root), kinds=(loaded.plan.kind,))
    reader = _Reader(findings, unwrapper, shape)
    check_schema(loaded, findings)
    rules, fields, copies = DocumentRules(loaded, findings), FieldValues(loaded, findings), Copies()
    gold = GoldRules(loaded, findings)
    n_documents = 0
    references = (reference for _, reference in source.refs())
    with room_for_depth():
        while chunk := list(reader.read_chunk(references)):
            n_documents += len(chunk)
            documents = [document for document in chunk if document is not None]
            for document in documents:
                values = [*values_of(document.value)]
                rules.check_document(document, values)
                gold.check_document(document)
                copies.add(document, values, findings)
            fields.add_documents(documents)
    notes = (*map(str, source.problems), *rules.conclude(), *fields.conclude())
    notes += copies.conclude(findings)
    notes += (loaded.note,) if loaded.note else ()
    gold.conclude()
    return LintRecord(
        format="stickler-lint/1",
        version=__version__,
        schema=loaded.path,
        gt=gt,
        documents=n_documents,
        findings=findings.make_records(),
        notes=[*notes],
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads documents as a run does. Adds a finding for each document that cannot be used."""

    findings: Findings
    unwrapper: Unwrapper | None
    shape: PairShape

    def read_chunk(self, references: Iterator[Reference]) -> Iterator[Document | None]:
        """Yield the documents of the next chunk of a source, with None for an unusable document."""
        size = 0
        for reference in islice(references, MAX_CHUNK_DOCUMENTS):
            yield self._read_document(reference)
            size += getattr(reference, "size", 0)
            if size >= MAX_CHUNK_BYTES:
                return

    def _read_document(self, reference: Reference) -> Document | None:
        """Return a document without wrappers. If it is unusable, add a finding and return None."""
        reading = self.shape.read_side(reference, "gt")
        if isinstance(reference, LineReference):
            # Keep the location of the line, not its content.
            reference = reference._replace(data=None)
        value = reading.value
        gold: Gold | None = None
        if isinstance(value, dict | list) and self.unwrapper is not None:
            unwrapped = self.unwrapper(value, is_truth=True)
            value = of_kinds(unwrapped.value, self.shape.kinds, reference.source, reference.line)
            gold = unwrapped.gold
        spot = Spot(reference)
        for warning in reading.warnings:
            self.findings.add_problem("duplicate-key", spot, warning)
        if isinstance(value, dict | list):
            return Document(
                reference=reference,
                value=value,
                root=json_pointer(self.shape.gt_root),
                gold=gold,
            )
        if isinstance(value, Problem):
            is_repeated_id = value.expected in {*ONE.values(), ONE_FILE}
            rule = "duplicate-id" if is_repeated_id else "unusable-document"
            self.findings.add_problem(rule, spot, value)
        return None


MAX_NAMES: Final = 10
"""Maximum number of names that a finding about aliases lists."""


class GoldRules:
    """Lint rules on keys of list items, on alternatives, and on aliases in a ground truth."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._root, self._findings = loaded.plan.root, findings
        self._has_field_rules = any(field.rules for field in loaded.fields)
        self._occurring_names: defaultdict[tuple[str, ...], set[object]] = defaultdict(set)
        self._aliases: dict[tuple[str, ...], ReadingRule] = {}

    def check_document(self, document: Document) -> None:
        """Check the keys of list items and the alternatives of a document.

        The aliases that the document uses are remembered for `conclude`.
        """
        if self._has_field_rules:
            self._check_value(document, self._root, document.value, (), ())
        if document.gold is not None:
            self._check_alternatives(document, document.gold, document.value, ())

    def _check_alternatives(self, document: Document, gold: Gold, value: Any, path: Path) -> None:
        """Add a finding for each alternative that repeats the value itself or another alternative.

        The alternatives of `value` and of all values inside it are checked.
        """
        values = [value, *(alternative.value for alternative in gold.alternatives)]
        seen: set[object] = set()
        for alternative in values if gold.alternatives else ():
            if json_key(alternative) in seen:
                field = field_path(tuple(step for step in path if isinstance(step, str)))
                spot = document.spot(path)
                self._findings.add("equal-alternatives", field, spot, brief(alternative))
            seen.add(json_key(alternative))
        for step, child_gold in gold.children.items():
            child = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, list) and isinstance(step, int) and step < len(value):
                child = value[step]
            self._check_alternatives(document, child_gold, child, (*path, step))

    def _check_value(
        self,
        document: Document,
        node: Node,
        value: JsonValue,
        path: Path,
        names: tuple[str, ...],
    ) -> None:
        """Check the keys of list items inside a value, and remember the aliases that it uses."""
        if is_absent(value):
            return
        node = node.node_for(value)
        if isinstance(node, LeafNode) and node.reading is not None and node.reading.aliases:
            self._aliases[names] = node.reading
            self._occurring_names[names].add(node.reading(value))
        if isinstance(node, ListNode) and node.key and isinstance(value, list):
            self._check_keys(document, node, value, path, field_path(names))
        if isinstance(value, dict):
            nodes = dict(node.list_fields())
            for name, child in value.items():
                child_node = nodes.get(name, nodes.get(ANY_KEY))
                if child_node is not None:
                    field = name if name in nodes else ANY_KEY
                    self._check_value(document, child_node, child, (*path, name), (*names, field))
        elif isinstance(value, list) and (item_nodes := node.inner_nodes()):
            for index, item in enumerate(value):
                item_node = item_nodes[min(index, len(item_nodes) - 1)]
                self._check_value(document, item_node, item, (*path, index), names)

    def _check_keys(
        self,
        document: Document,
        node: ListNode,
        items: list[JsonValue],
        path: Path,
        field: str,
    ) -> None:
        """Add a finding for each list item that has no key, or the same key as an earlier item."""
        nodes = [find_key_node(node.items, name) for name in node.key]
        first_index: dict[object, int] = {}
        for index, item in enumerate(items):
            if not isinstance(item, dict) or is_absent(item):
                continue
            spot = document.spot((*path, index))
            values = [
                _normalize_key(key_node, item.get(name))
                for name, key_node in zip(node.key, nodes, strict=True)
            ]
            absent_names = [
                name for name, value in zip(node.key, values, strict=True) if is_absent(value)
            ]
            if absent_names:
                self._findings.add("absent-item-key", field, spot, f"{absent_names[0]} is absent")
                continue
            key = tuple(map(json_key, values))
            if first_index.setdefault(key, index) != index:
                finding = f"{', '.join(map(brief, values))}, as in [{first_index[key]}]"
                self._findings.add("duplicate-item-key", field, spot, finding)

    def conclude(self) -> None:
        """Add a finding for each field that has aliases which the ground truth never uses."""
        for names, reading in self._aliases.items():
            unmet = [name for name in reading.aliases if name not in self._occurring_names[names]]
            if unmet:
                n_more = len(unmet) - MAX_NAMES
                ending = f" and {n_more} more" if n_more > 0 else ""
                finding = f"{', '.join(unmet[:MAX_NAMES])}{ending}"
                self._findings.add_of_schema("unmet-alias", field_path(names), finding)


def _normalize_key(node: Node, value: JsonValue) -> JsonValue:
    """Return the value of a key in the form in which keys are compared.

    The aliases of the field are applied. Texts are compared without case and white space.
    """
    if isinstance(node, LeafNode):
        value = node.reading(value) if node.reading is not None else value
    return "".join(value.split()).casefold() if isinstance(value, str) else value
