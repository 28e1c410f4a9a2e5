"""Thresholds of a schema that the evidence suggests, field by field, and how they are written.

The format is `stickler-tuning/1`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import numpy as np
import orjson

from stickler_cli import __version__
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Plan
from stickler_cli.core.figures import WHOLE, number_of, rate, setting
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Count, Flag, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import INDENT, Figure, Figures, Report, Section, Text
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
from stickler_cli.settings.deciding import SchemaOptions
from stickler_cli.studies.answering import (
    Answer,
    Desk,
    compared,
    read_verdicts,
    refuse_unknown,
)
from stickler_cli.studies.study import StudyRecord
from .cuts import (
    Evidence,
    FieldEvidence,
    Mask,
    Proposal,
    Sample,
    of_documents,
    of_verdicts,
    passes,
    propose,
)
from .question import TuneSettings


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A threshold that there could be, and the pairs from there to the next one."""

    threshold: Fraction
    """The threshold."""
    pairs: Count
    """Pairs of this similarity, up to the next cut."""
    same: Count | None
    """How many of them are the same by verdicts; null without verdicts."""
    passing: Count
    """All pairs that would pass."""
    precision: FractionOrNone
    """The share of these that are the same; null without verdicts, or where none passes."""
    recall: FractionOrNone
    """The share of same pairs that pass; null without verdicts, or where none is the same."""


@dataclass(frozen=True, slots=True)
class TunedFieldRecord:
    """What is known of the threshold of one field."""

    field: str
    """The field, without list indexes; empty of whole values."""
    comparator: str | None
    """What compares its values; null of list items, which their fields compare."""
    pairs: Count
    """Pairs of values, or of list items, that the evidence has."""
    units: Count
    """Documents that they are in, or what else is drawn as a whole."""
    threshold: Fraction
    """As it is now."""
    proposed: FractionOrNone
    """What is proposed; null where nothing is."""
    reason: str
    """Why it is proposed, or why not."""
    now: NumberOrNone
    """What the threshold of now comes to on the half that judges; null if nobody judged."""
    then: NumberOrNone
    """What the other threshold comes to there, proposed or not."""
    gain: list[float] | None
    """The interval of the difference, lower and upper end."""
    moved: Count
    """Pairs of both halves that would be classed otherwise."""
    cuts: list[CutRecord]
    """The thresholds that there could be, the lowest first."""


@dataclass(frozen=True, slots=True)
class TuningRecord(StudyRecord):
    """What thresholds the evidence suggests, as `stickler tune` writes it in JSON."""

    format: Literal["stickler-tuning/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """What the schema calls its documents."""
    by_verdicts: Flag
    """Whether the evidence are verdicts of people, and not similarities alone."""
    units: Count
    """Documents, or what else is drawn as a whole."""
    level: Fraction
    """The level of the intervals."""
    fields: list[TunedFieldRecord]
    """Each field of which there is evidence, in the order of the schema."""
    notes: list[str]
    """What was left out of the evidence, and what was written."""

    @property
    def proposed(self) -> list[TunedFieldRecord]:
        """The fields for which another threshold is proposed."""
        return [each for each in self.fields if each.proposed is not None]


BAR: Final = 30  # characters of the longest bar of a histogram

_FIELDS: Final = (
    Figure("field", "field", str, shown=lambda it: it.field or WHOLE),
    Figure(
        "comparator",
        "comparator",
        str,
        3,
        shown=lambda it: (it.comparator or "").removesuffix("Comparator") or "its fields",
    ),
    Figure("pairs", "pairs", int, 4),
    Figure("now", "threshold", rank=1, shown=lambda it: setting(it.threshold)),
    Figure("proposed", "proposed", rank=2, shown=lambda it: setting(it.proposed)),
    Figure("why", "reason", str, aside=True, quoted=False),
)


def report_of(record: TuningRecord, asked: Collection[str] = ()) -> Report:
    """Return proposals as a report, with their evidence and that of fields asked for."""
    evidence = f"the similarities of {number_of(record.units, 'document')}"
    if record.by_verdicts:
        evidence = number_of(sum(field.pairs for field in record.fields), "verdict")
    name, schema = record.model_name, record.schema
    head = f"{schema if name in schema else f'{name} ({schema})'}, by {evidence}"
    shown = [field for field in record.fields if field.proposed is not None or field.field in asked]
    reasons = Counter(field.reason for field in record.fields).most_common()
    why = "; ".join(f"{reason} ({number_of(count, 'field')})" for reason, count in reasons)
    table = Figures(_FIELDS, record.fields)
    told = [Text(_summary(record)), *([] if shown or not why else [Text(why, "dim")])]
    shown_evidence = (_evidence_of(field, record) for field in shown)
    return Report.of(record, head, told, [table] if shown else [], *shown_evidence, rows=table)


def _summary(record: TuningRecord) -> str:
    count = len(record.proposed)
    fields = number_of(len(record.fields), "field")
    if not count:
        return f"no threshold of {fields} should change by this evidence"
    return f"{number_of(count, 'threshold')} of {fields} should change"


def _evidence_of(field: TunedFieldRecord, record: TuningRecord) -> Section:
    """Return why a threshold is proposed: the gain, and the pairs on both sides of each cut."""
    change = "stays" if field.proposed is None else f"-> {setting(field.proposed)}"
    told = field.reason if field.gain is None else _gain_text(field, record)
    return Section(
        f"{field.field or WHOLE}: {setting(field.threshold)} {change}",
        [Text(told, indent=INDENT, margin=INDENT), _cuts(field, record)],
    )


def _gain_text(field: TunedFieldRecord, record: TuningRecord) -> str:
    """Return the gain of a proposal on the half that did not choose it."""
    what = "F1 against verdicts" if record.by_verdicts else "variance explained"
    told = f"{what} {rate(field.now)} -> {rate(field.then)}"
    if field.gain is not None:
        difference = (field.then or 0.0) - (field.now or 0.0)
        lower, upper = field.gain
        told += f", {difference:+.4f} [{lower:+.4f}, {upper:+.4f}] ({record.level:.0%} CI)"
    return f"{told}; {number_of(field.moved, 'pair')} of {field.pairs} would be classed otherwise"


def _cuts(field: TunedFieldRecord, record: TuningRecord) -> Figures:
    most = max(cut.pairs for cut in field.cuts)
    first = next((at for at, cut in enumerate(field.cuts) if cut.pairs), 0)
    figures = [
        Figure("from", "threshold", str, shown=lambda it: f"{it.threshold:.2f}", quoted=False),
        Figure("pairs", "pairs", int),
        Figure("", lambda it: "#" * -(-it.pairs * BAR // most), str, quoted=False),
        *(
            Figure(name, name, int if name == "same" else float)
            for name in ("same", "precision", "recall")
            if record.by_verdicts
        ),
        Figure("pass", "passing", int),
    ]
    return Figures(figures, field.cuts[max(0, first - 1) :])


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
        field=field_path(found.path),
        comparator=found.comparator or None,
        pairs=len(sample.similarity),
        units=len(set(found.unit)),
        threshold=found.threshold,
        proposed=proposal.threshold,
        reason=proposal.reason,
        now=proposal.now,
        then=proposal.then,
        gain=None if proposal.gain is None else [*proposal.gain],
        moved=proposal.moved,
        cuts=_cut_records(sample),
    )


def _cut_records(sample: Sample) -> list[CutRecord]:
    edges = [number / BINS for number in range(BINS + 1)]
    passing = [passes(sample, edge) for edge in edges]
    beyond = np.zeros_like(passing[0])
    return [
        _cut_record(edge, sample.same, *some)
        for edge, some in zip(edges, pairwise([*passing, beyond]), strict=True)
    ]


def _cut_record(edge: float, same: Mask | None, passing: Mask, after: Mask) -> CutRecord:
    """Return one cut; `after` are the pairs that pass the next one."""
    total = int(passing.sum())
    right, whole = (0, 0) if same is None else (int((passing & same).sum()), int(same.sum()))
    return CutRecord(
        threshold=edge,
        pairs=total - int(after.sum()),
        same=None if same is None else right - int((after & same).sum()),
        passing=total,
        precision=right / total if same is not None and total else None,
        recall=right / whole if whole else None,
    )


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
