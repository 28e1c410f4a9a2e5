"""One pass over the ground truth, chunk by chunk."""

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
from .findings import RULES, SEVERITIES, Document, Findings, LintRecord, Spot, report_of
from .question import LintSettings

LEAST_SHARE: Final = 0.001
"""Of the weights of an object, below which a field moves no figure that a report shows."""


def judge_schema(loaded: LoadedSchema, findings: Findings) -> None:
    """Find thresholds and weights without effect."""
    for path, node in list_nodes(loaded.plan.root):
        for rule, where, found, expected in _of(path, node):
            findings.of_schema(rule, field_path(where), found, expected)


def _of(path: Path, node: Node) -> Iterator[tuple[str, Path, str, str]]:
    if isinstance(node, LeafNode) and node.threshold == 0:
        yield "threshold-zero", path, "the threshold is 0", "a number above 0"
    if isinstance(node, ListNode):
        floor = PAIRING_FLOOR if node.pairing_floor is None else node.pairing_floor
        threshold = node.items.item_threshold
        if 0 < threshold <= floor:
            found = f"the threshold is {threshold:g}, and the pairing floor {floor:g}"
            yield "threshold-below-floor", path, found, "a floor below the threshold"
    if isinstance(node, ObjectNode):
        fields = [(name, follow_references(child).weight) for name, child in node.list_fields()]
        total = sum(weight for _, weight in fields)
        for name, weight in fields:
            if weight < LEAST_SHARE * total:
                found = f"the weight is {weight:g} of {total:g}"
                yield "irrelevant-weight", (*path, name), found, f"{LEAST_SHARE:.1%} or more"


DOCUMENTS_AT_ONCE: Final = 256
BYTES_AT_ONCE: Final = 4_000_000  # of text; parsed it takes some ten times as much


def answer(settings: LintSettings, desk: Desk) -> StudyAnswer:
    """Return the findings in the ground truth, but those to be ignored."""
    check_names("--ignore", settings.ignore, RULES, "is no rule")
    record = lint(desk.schema(), settings.gt, settings)
    kept = [finding for finding in record.findings if finding.rule not in settings.ignore]
    report = report_of(replace(record, findings=kept), settings.places)
    failing = [*SEVERITIES, "never"].index(settings.fail_on)
    fails = failing < len(SEVERITIES) and any(
        SEVERITIES.index(finding.severity) <= failing for finding in kept
    )
    return StudyAnswer(report, RunVerdict.FAILED if fails else RunVerdict.PASSED)


def lint(loaded: LoadedSchema, gt: str, settings: LintSettings) -> LintRecord:
    """Return the findings in a schema and the ground truth that it describes.

    Raises:
        UsageError: the source of documents cannot be used, or an option.
    """
    source, findings = open_documents(gt, settings), Findings(loaded)
    unwrapper = unwrapper_of(loaded.plan.root, settings)
    shape = PairShape(gt_root=parse_root(settings.gt_root), kinds=(loaded.plan.kind,))
    reader = _Reader(findings, unwrapper, shape)
    judge_schema(loaded, findings)
    rules, fields, copies = DocumentRules(loaded, findings), FieldValues(loaded, findings), Copies()
    gold = GoldRules(loaded, findings)
    count = 0
    references = (reference for _, reference in source.refs())
    with room_for_depth():
        while chunk := list(reader.chunk(references)):
            count += len(chunk)
            documents = [document for document in chunk if document is not None]
            for document in documents:
                values = [*values_of(document.value)]
                rules.look_at(document, values)
                gold.look_at(document)
                copies.add(document, values, findings)
            fields.look_at(documents)
    notes = (*map(str, source.problems), *rules.conclude(), *fields.conclude())
    notes += copies.conclude(findings)
    notes += (loaded.note,) if loaded.note else ()
    gold.conclude()
    found = findings.result()
    return LintRecord("stickler-lint/1", __version__, loaded.path, gt, count, found, [*notes])


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads documents as a run does, with findings on those that cannot be read."""

    findings: Findings
    unwrapper: Unwrapper | None
    shape: PairShape

    def chunk(self, references: Iterator[Reference]) -> Iterator[Document | None]:
        """Yield the documents of the next chunk; None for one that cannot be used."""
        size = 0
        for reference in islice(references, DOCUMENTS_AT_ONCE):
            yield self._read(reference)
            size += getattr(reference, "size", 0)
            if size >= BYTES_AT_ONCE:
                return

    def _read(self, reference: Reference) -> Document | None:
        reading = self.shape.read(reference, "gt")
        if isinstance(reference, LineReference):
            reference = reference._replace(data=None)  # places are kept, lines are not
        value = reading.value
        gold: Gold | None = None
        if isinstance(value, dict | list) and self.unwrapper is not None:
            bare = self.unwrapper(value, is_truth=True)
            value = of_kinds(bare.value, self.shape.kinds, reference.source, reference.line)
            gold = bare.gold
        spot = Spot(reference)
        for warning in reading.warnings:
            self.findings.take("duplicate-key", spot, warning)
        if isinstance(value, dict | list):
            return Document(reference, value, json_pointer(self.shape.gt_root), gold)
        if isinstance(value, Problem):
            twice = value.expected in {*ONE.values(), ONE_FILE}
            self.findings.take("duplicate-id" if twice else "unusable-document", spot, value)
        return None


MOST_NAMES: Final = 10
"""Names that nothing stands for of which a finding tells."""


class GoldRules:
    """Rules on documents one by one, and on all of them."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._root, self._findings = loaded.plan.root, findings
        self._is_needed = any(field.rules for field in loaded.fields)
        self._met: defaultdict[tuple[str, ...], set[object]] = defaultdict(set)
        self._aliases: dict[tuple[str, ...], ReadingRule] = {}

    def look_at(self, document: Document) -> None:
        """Look at the lists with keys and the values with aliases of a document."""
        if self._is_needed:
            self._look_into(document, self._root, document.value, (), ())
        if document.gold is not None:
            self._look_at_gold(document, document.gold, document.value, ())

    def _look_at_gold(self, document: Document, gold: Gold, value: Any, path: Path) -> None:
        values = [value, *(each.value for each in gold.alternatives)]
        known: set[object] = set()
        for one in values if gold.alternatives else ():
            if json_key(one) in known:
                field = field_path(tuple(step for step in path if isinstance(step, str)))
                told = brief(one)
                self._findings.add("equal-alternatives", field, document.spot(path), told)
            known.add(json_key(one))
        for step, inside in gold.children.items():
            part = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, list) and isinstance(step, int) and step < len(value):
                part = value[step]
            self._look_at_gold(document, inside, part, (*path, step))

    def _look_into(
        self,
        document: Document,
        node: Node,
        value: JsonValue,
        path: Path,
        names: tuple[str, ...],
    ) -> None:
        if is_absent(value):
            return
        node = node.node_for(value)
        if isinstance(node, LeafNode) and node.reading is not None and node.reading.aliases:
            self._aliases[names] = node.reading
            self._met[names].add(node.reading(value))
        if isinstance(node, ListNode) and node.key and isinstance(value, list):
            self._look_at_keys(document, node, value, path, field_path(names))
        if isinstance(value, dict):
            inside = dict(node.list_fields())
            for name, part in value.items():
                if (one := inside.get(name, inside.get(ANY_KEY))) is not None:
                    field = name if name in inside else ANY_KEY
                    self._look_into(document, one, part, (*path, name), (*names, field))
        elif isinstance(value, list) and (parts := node.inner_nodes()):
            for at, part in enumerate(value):
                one = parts[min(at, len(parts) - 1)]
                self._look_into(document, one, part, (*path, at), names)

    def _look_at_keys(
        self,
        document: Document,
        node: ListNode,
        items: list[JsonValue],
        path: Path,
        field: str,
    ) -> None:
        nodes = [find_key_node(node.items, name) for name in node.key]
        known: dict[object, int] = {}
        for at, item in enumerate(items):
            if not isinstance(item, dict) or is_absent(item):
                continue
            spot = document.spot((*path, at))
            values = [
                _key_text(of, item.get(name)) for name, of in zip(node.key, nodes, strict=True)
            ]
            absent = [name for name, it in zip(node.key, values, strict=True) if is_absent(it)]
            if absent:
                self._findings.add("absent-item-key", field, spot, f"{absent[0]} is absent")
                continue
            key = tuple(map(json_key, values))
            if known.setdefault(key, at) != at:
                told = f"{', '.join(map(brief, values))}, as in [{known[key]}]"
                self._findings.add("duplicate-item-key", field, spot, told)

    def conclude(self) -> None:
        """Find names that no value of the ground truth stands for."""
        for names, reading in self._aliases.items():
            unmet = [name for name in reading.aliases if name not in self._met[names]]
            if unmet:
                more = f" and {len(unmet) - MOST_NAMES} more" if unmet[MOST_NAMES:] else ""
                told = f"{', '.join(unmet[:MOST_NAMES])}{more}"
                self._findings.of_schema("unmet-alias", field_path(names), told)


def _key_text(node: Node, value: JsonValue) -> JsonValue:
    """Return a value of a key as it is compared: texts without case and white space."""
    if isinstance(node, LeafNode):
        value = node.reading(value) if node.reading is not None else value
    return "".join(value.split()).casefold() if isinstance(value, str) else value
