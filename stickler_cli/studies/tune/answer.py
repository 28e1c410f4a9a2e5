"""Thresholds of a schema that the evidence suggests, field by field, and how they are written."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from stickler_cli import __version__
from stickler_cli.compare.account import Account, both_sides
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.plan import Node, Options, Plan
from stickler_cli.compare.work import Work
from stickler_cli.core.figures import number_of, setting
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, UsageError, WorkLimitError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.reading import BOM, STANDARD_INPUT, positions, with_keys
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.process import ended_by_signals
from stickler_cli.runs.saved import COMMENT, commented, hashes, tuned_on
from stickler_cli.runs.whole_files import whole_file
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.detail import BINS
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.walk import visits
from stickler_cli.settings.deciding import SchemaOptions
from stickler_cli.studies.answering import (
    AT_ONCE,
    Answer,
    Desk,
    VerdictLine,
    compared,
    judging_node,
    read_verdicts,
    refuse_unknown,
)
from .cuts import Proposal, Sample, passes, propose
from .question import TuneSettings
from .record import CutRecord, TunedFieldRecord, TuningRecord, report_of

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
            if visit.order is None or not isinstance(node, LeafNode | ObjectNode):
                continue
            if visit.units is None and isinstance(node, ObjectNode):
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


def answer(settings: TuneSettings, desk: Desk) -> Answer:
    """Propose thresholds, and write them into the schema if that is asked for."""
    loaded = desk.schema()
    with ended_by_signals():
        evidence, notes = _evidence(loaded, settings, desk)
    fields = tuned_fields(evidence, IntervalSettings(settings.ci, settings.seed))
    order = {field_path(field.path): at for at, field in reversed([*enumerate(loaded.fields)])}
    record = TuningRecord(
        "stickler-tuning/1",
        __version__,
        loaded.path,
        loaded.name,
        settings.verdicts is not None,
        len(evidence.names),
        settings.ci,
        sorted(fields, key=lambda field: order.get(field.field, len(order))),
        notes,
    )
    known = [field.field for field in record.fields]
    refuse_unknown("--field", settings.field, known, "are no pairs of")
    if settings.write and record.proposed:
        record = _written(loaded, record, settings)
    return Answer(report_of(record, settings.field))


def _evidence(
    loaded: LoadedSchema, settings: TuneSettings, desk: Desk
) -> tuple[Evidence, list[str]]:
    """Return the pairs that thresholds are tuned on, and notes on the sources."""
    plan = loaded.plan
    client = client_of(plan, policy_of(settings))
    options = comparing(plan, settings, client)
    if settings.verdicts is not None:
        lines, left_out = read_verdicts(settings.verdicts, plan, settings.max_document_size)
        evidence = of_verdicts(lines, options)
        of = number_of(left_out, "verdict")
        notes = [f"on no two values and left out: {of}"] if left_out else []
    else:
        notes = []
        evidence = of_documents(compared(settings, plan, options, notes))
    if client is not None:
        desk.tell(f"models: {client.usage}")
    return evidence, notes


def tuned_fields(evidence: Evidence, settings: IntervalSettings) -> list[TunedFieldRecord]:
    """Propose thresholds for all fields of which there is evidence."""
    alternatives: defaultdict[tuple[str, ...], list[FieldEvidence]] = defaultdict(list)
    for found in evidence.fields.values():
        if found.similarity:
            alternatives[found.path].append(found)
    return [_tuned(some, evidence.names, settings) for some in alternatives.values()]


def _tuned(
    alternatives: Sequence[FieldEvidence], names: Sequence[str], settings: IntervalSettings
) -> TunedFieldRecord:
    found = max(alternatives, key=lambda one: len(one.similarity))
    sample = found.sample(names)
    if len(alternatives) > 1:
        proposal = Proposal(None, "its alternatives have a threshold each")
    else:
        proposal = propose(sample, found.threshold, settings)
    return TunedFieldRecord(
        field_path(found.path),
        found.comparator or None,
        len(sample.similarity),
        len(set(found.unit)),
        found.threshold,
        proposal.threshold,
        proposal.reason,
        proposal.now,
        proposal.then,
        None if proposal.gain is None else [*proposal.gain],
        proposal.moved,
        _cut_records(sample),
    )


def _cut_records(sample: Sample) -> list[CutRecord]:
    edges = [number / BINS for number in range(BINS + 1)]
    passing = [passes(sample, edge) for edge in edges]
    totals = [int(it.sum()) for it in passing]
    pairs = [total - after for total, after in pairwise([*totals, 0])]
    if sample.same is None:
        return [*map(CutRecord, edges, pairs, repeat(None), totals, repeat(None), repeat(None))]
    rights = [int((it & sample.same).sum()) for it in passing]
    same = [right - after for right, after in pairwise([*rights, 0])]
    precision = [
        right / total if total else None for right, total in zip(rights, totals, strict=True)
    ]
    recall = [right / whole if (whole := int(sample.same.sum())) else None for right in rights]
    return [*map(CutRecord, edges, pairs, same, totals, precision, recall)]


def _written(loaded: LoadedSchema, record: TuningRecord, settings: TuneSettings) -> TuningRecord:
    """Write proposals into the schema file; return the record with notes on each."""
    if loaded.inferred is not None or not Path(settings.schema).is_file():
        found = "how to compare is inferred, which one annotation would end"
        if loaded.inferred is None:
            found = "SCHEMA is no file"
        hint = "write one first: stickler init"
        raise UsageError([Problem("--write", found, "a file with an annotated schema", hint)])
    if settings.gt == STANDARD_INPUT:
        found = "GT is standard input, which cannot be read again to tell what was tuned on"
        raise UsageError([Problem("--write", found, "a file or a directory")])
    file = Path(settings.schema)
    content = file.read_bytes()
    text = content.removeprefix(BOM)
    text, written, notes = with_thresholds(loaded, text, record.proposed, settings)
    if written:
        what = ", ".join(
            f"{it.field} {setting(it.threshold)} -> {setting(it.proposed)}" for it in written
        )
        tuned = tuned_on(what, hashes(settings.gt, settings))
        said: JsonObject = {COMMENT: commented(loaded.contents, tuned)}
        text = with_keys(text.decode(), {"": said}).encode()
        with whole_file(settings.schema, "--write") as stream:
            stream.write(content[: len(content) - len(content.removeprefix(BOM))] + text)
        notes.append(f"wrote {what} to {settings.schema}")
    return replace(record, notes=[*record.notes, *notes])


def with_thresholds(
    loaded: LoadedSchema, text: bytes, proposed: Iterable[TunedFieldRecord], settings: SchemaOptions
) -> tuple[bytes, list[TunedFieldRecord], list[str]]:
    """Return the text of a schema with proposed thresholds, those that are in it, and why not all.

    What changes any other field is left out: a part of the schema may stand for several fields.
    """
    written: list[TunedFieldRecord] = []
    refused: list[str] = []
    stands = {field_path(field.path): field.stands for field in reversed(loaded.fields)}
    known = _thresholds(loaded.plan)
    for one in proposed:
        key = f"{PREFIX}{'threshold' if one.comparator else 'match-threshold'}"
        candidate = _candidate(text, stands.get(one.field, ()), key, one.proposed)
        wanted = {**known, one.field: one.proposed}
        if candidate is None or _thresholds(_compiled(candidate, loaded, settings)) != wanted:
            hint = "it has no place of its own in this file; set it by hand"
            refused.append(f"the threshold of {one.field} was not written: {hint}")
        else:
            text, known = candidate, wanted
            written.append(one)
    return text, written, refused


def _candidate(
    text: bytes, stands: Sequence[str], key: str, threshold: float | None
) -> bytes | None:
    """Return the text with a threshold where it is said already, else where it counts first."""
    if not stands:
        return None
    said = {place.pointer for place in positions(text)}
    own = (pointer for pointer in stands if pointer + json_pointer((key,)) in said)
    return with_keys(text.decode(), {next(own, stands[0]): {key: threshold}}).encode()


def _compiled(text: bytes, loaded: LoadedSchema, settings: SchemaOptions) -> Plan:
    schema, file = orjson.loads(text), Path(loaded.path)
    return compile_schema(schema, loaded.path, file, allow_plugins=settings.allow_plugins)


def _thresholds(plan: Plan) -> dict[str, float | None]:
    return {field_path(row.field): row.threshold for row in field_listing(plan)}
