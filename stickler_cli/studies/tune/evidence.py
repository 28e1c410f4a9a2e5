"""Evidence for thresholds: pairs of values with their similarities, field by field."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import Account, both_sides
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import FieldsNode
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.work import Work
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.walk import visits
from stickler_cli.studies.answering import AT_ONCE
from stickler_cli.studies.verdict_lines import VerdictLine, judging_node
from .cuts import Sample

MOST_PAIRS: Final = 200_000
"""Pairs of a field that are looked at, the first ones: some MB."""


@dataclass(slots=True)
class FieldEvidence:
    """The pairs of one field that one node judges."""

    path: tuple[str, ...]
    node: Node
    threshold: float
    """The threshold of now."""
    similarity: "array[float]" = field(default_factory=lambda: array("d"))
    unit: "array[int]" = field(default_factory=lambda: array("q"))
    same: list[bool] = field(default_factory=list)
    """Verdicts; empty without them."""

    @property
    def comparator(self) -> str:
        """The name of the comparator; empty of items that are objects."""
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


def of_documents(compared: Iterable[tuple[list[DocumentPair], Account]]) -> Evidence:
    """Return the pairs of values that are judged in documents that were compared.

    These are leaves and list items of both sides, but nothing inside items that are unlike.
    """
    evidence = Evidence()
    for chunk, account in compared:
        first = len(evidence.names)
        evidence.names += (it.id for it in chunk)
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
    """Compare the values of verdicts, and return the pairs with their verdicts.

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
        for some, similarity in _similarities(known.node, said, options, AT_ONCE):
            known.add(
                similarity.tolist(), [units.setdefault(line.unit, len(units)) for line in some]
            )
            known.same += [line.same for line in some]
    evidence.names = [*units]
    return evidence


def _similarities(
    node: Node, lines: Sequence[VerdictLine], options: Options, at_once: int
) -> Iterator[tuple[Sequence[VerdictLine], NDArray[np.float64]]]:
    """Yield some lines at a time with the similarities of their values.

    Raises:
        WorkLimitError: a line takes too much work.
    """
    for start in range(0, len(lines), at_once):
        some = lines[start : start + at_once]
        at, place = np.arange(len(some)), Work(options.work_limit).place(some[0].names)
        try:
            columns = Columns([line.gt for line in some], [line.pred for line in some], place)
            yield some, node.compare(columns, at, at, options).similarity
        except WorkLimitError:
            if at_once == 1:
                raise
            yield from _similarities(node, some, options, 1)
