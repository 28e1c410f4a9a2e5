"""Pairs of values with their similarities, field by field: what thresholds are tuned on."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import islice
from typing import Any, Final

import numpy as np

from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import FieldsNode
from stickler_cli.compare.outcomes import both_sides
from stickler_cli.compare.plan import Node, Options, Plan
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.walk import visits
from stickler_cli.studies.verdict_lines import PAIRS_AT_ONCE, VerdictLine, judging_node
from .cuts import Sample

DOCUMENTS_AT_ONCE: Final = 64
MOST_PAIRS: Final = 200_000
"""Pairs of a field that are looked at, the first ones: some MB."""


@dataclass(slots=True)
class FieldEvidence:
    """The pairs of one field that one node judges."""

    path: tuple[str, ...]
    node: Node
    threshold: float
    """What a pair has to reach now."""
    similarity: "array[float]" = field(default_factory=lambda: array("d"))
    unit: "array[int]" = field(default_factory=lambda: array("q"))
    same: list[bool] = field(default_factory=list)
    """What verdicts say; empty without them."""

    @property
    def comparator(self) -> str:
        """What compares the values; of items that are objects, nothing."""
        return self.node.comparator.name if isinstance(self.node, LeafNode) else ""

    def add(self, similarity: Iterable[float], units: Iterable[int]) -> None:
        """Add pairs, as far as there is room."""
        room = max(0, MOST_PAIRS - len(self.similarity))
        self.similarity.extend(islice(similarity, room))
        self.unit.extend(islice(units, room))

    def sample(self, names: Sequence[str]) -> Sample:
        """Return the pairs as arrays."""
        same = np.array(self.same, np.bool_) if self.same else None
        units = np.array(self.unit, np.intp)
        return Sample(np.array(self.similarity, float), units, names, same)


@dataclass(slots=True)
class Evidence:
    """The pairs of all fields."""

    names: list[str] = field(default_factory=list)
    """Of the documents, or of what else is drawn as a whole."""
    fields: dict[tuple[tuple[str, ...], int], FieldEvidence] = field(default_factory=dict)
    """By path, and the identity of what judges."""

    def of(self, path: tuple[str, ...], node: Node) -> FieldEvidence:
        """Return the evidence of a field, empty at first."""
        known = self.fields.get((path, id(node)))
        if known is None:
            known = FieldEvidence(path, node, node.item_threshold)
            self.fields[path, id(node)] = known
        return known


def of_documents(plan: Plan, pairs: Iterable[DocumentPair], options: Options) -> Evidence:
    """Compare documents that have both sides, and return the pairs of values that are judged.

    These are leaves and list items of both sides, but nothing inside items that are unlike.

    Raises:
        ComparisonError: a comparator failed.
    """
    evidence = Evidence()
    source = iter(pairs)
    while chunk := list(islice(source, DOCUMENTS_AT_ONCE)):
        first = len(evidence.names)
        gts: list[Any] = [it.gt for it in chunk]
        preds: list[Any] = [it.pred for it in chunk]
        evidence.names += (it.id for it in chunk)
        account = compare(plan, gts, preds, options)
        for visit in visits(account, np.arange(len(chunk))):
            node = visit.account.node
            if visit.order is None or not isinstance(node, LeafNode | FieldsNode):
                continue
            if visit.units is None and isinstance(node, FieldsNode):
                continue  # an object that is a field: no list item
            both = both_sides(visit.outcome)
            if visit.live is not None:
                both &= visit.live
            documents = visit.field.documents[visit.rows - visit.field.start] + first
            found = evidence.of(visit.pattern, node)
            found.add(visit.similarity[both].tolist(), documents[both].tolist())
    return evidence


def of_verdicts(lines: Iterable[VerdictLine], options: Options) -> Evidence:
    """Compare the values of verdicts, and return the pairs with what was said of them.

    Raises:
        ComparisonError: a comparator failed.
    """
    evidence = Evidence()
    units: dict[str, int] = {}
    waiting: dict[int, tuple[FieldEvidence, list[VerdictLine]]] = {}
    for line in lines:
        node = judging_node(line)
        known = evidence.of(line.names, node)
        waiting.setdefault(id(known), (known, []))[1].append(line)
    for known, said in waiting.values():
        for start in range(0, len(said), PAIRS_AT_ONCE):
            some = said[start : start + PAIRS_AT_ONCE]
            at = np.arange(len(some))
            columns = Columns([line.gt for line in some], [line.pred for line in some])
            similarity = known.node.compare(columns, at, at, options).similarity
            known.add(
                similarity.tolist(), [units.setdefault(line.unit, len(units)) for line in some]
            )
            known.same += [line.same for line in some]
    evidence.names = [*units]
    return evidence
