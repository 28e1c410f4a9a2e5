"""Propose a threshold for each field, and write the proposals into the schema.

The format of the result is `stickler-tuning/1`.
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
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Plan
from stickler_cli.core.figures import INFERRED_FROM, WHOLE, number_of, rate, setting
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Count, Flag, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import INDENT, FigureColumn, Figures, Report, Section, Text
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
    Desk,
    StudyAnswer,
    check_names,
    compare_sources,
    read_verdicts,
)
from stickler_cli.studies.study import StudyRecord
from .cuts import (
    Evidence,
    FieldEvidence,
    FieldSample,
    Proposal,
    collect_from_documents,
    collect_from_verdicts,
    passes,
    propose,
)
from .question import TuneSettings


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A possible threshold (a cut), and the pairs that match at this cut but not at the next.

    The next cut is the next higher possible threshold.
    """

    threshold: Fraction
    """The threshold."""
    pairs: Count
    """Number of pairs whose similarity is between this cut and the next one."""
    same: Count | None
    """Like `pairs`, but counts only pairs that are the same according to people's verdicts. Null if
    there are no verdicts."""
    passing: Count
    """Number of pairs that would match at this threshold, out of all pairs of the field."""
    precision: FractionOrNone
    """Of all pairs that match at this threshold, the share that is the same according to people's
    verdicts. Null if there are no verdicts, or if no pair matches."""
    recall: FractionOrNone
    """Of all pairs that are the same according to people's verdicts, the share that matches at this
    threshold. Null if there are no verdicts, or if no verdict says that a pair is the same."""


@dataclass(frozen=True, slots=True)
class TunedFieldRecord:
    """The threshold of one field, and its evidence."""

    field: str
    """Path of the field without list indexes; empty for whole documents."""
    comparator: str | None
    """Name of the field's comparator; null for list items that are objects."""
    pairs: Count
    """Number of compared pairs of values or list items."""
    units: Count
    """Number of documents that the pairs of this field come from. If a verdict names no document,
    its pair counts as a document of its own."""
    threshold: Fraction
    """The present threshold."""
    proposed: FractionOrNone
    """The proposed threshold; null if none is proposed."""
    reason: str
    """Reason why a threshold is proposed, or why none is."""
    now: NumberOrNone
    """Quality of the present threshold: F1 if people have judged pairs, otherwise the share of the
    variance that the threshold explains. The search for a better threshold uses one half of the
    documents. This quality is measured on the other half. Null if not computed."""
    then: NumberOrNone
    """Quality of the best threshold except the present one, measured in the same way as `now`. This
    quality is stated even if the threshold is not proposed. Null if not computed."""
    gain: list[float] | None
    """Confidence interval of `then` minus `now`. Null if not computed."""
    moved: Count
    """Number of pairs that match at the present threshold but not at the best other threshold, or
    the other way round. The pairs of all documents are counted."""
    cuts: list[CutRecord]
    """All possible thresholds in ascending order."""


@dataclass(frozen=True, slots=True)
class TuningRecord(StudyRecord):
    """Proposed thresholds with the evidence for them, as `stickler tune` writes them in JSON."""

    format: Literal["stickler-tuning/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """The name that the schema gives to its documents."""
    by_verdicts: Flag
    """Whether people's verdicts were used. If not, there are only similarities."""
    units: Count
    """Number of documents from which the pairs come. If a verdict names no document, its pair
    counts as a document of its own."""
    level: Fraction
    """Confidence level of the intervals."""
    fields: list[TunedFieldRecord]
    """Each field that has evidence, in the order of the schema."""
    notes: list[str]
    """Notes on pairs that were not used, and on thresholds that were written."""

    @property
    def proposed(self) -> list[TunedFieldRecord]:
        """The fields for which a threshold is proposed."""
        return [field for field in self.fields if field.proposed is not None]


MAX_BAR_LENGTH: Final = 30  # width of bars in characters

_FIELDS: Final = (
    FigureColumn("field", "field", str, shown=lambda field: field.field or WHOLE),
    FigureColumn(
        title="comparator",
        value="comparator",
        kind=str,
        rank=3,
        shown=lambda field: (field.comparator or "").removesuffix("Comparator") or "its fields",
    ),
    FigureColumn(title="pairs", value="pairs", kind=int, rank=4),
    FigureColumn("now", "threshold", rank=1, shown=lambda field: setting(field.threshold)),
    FigureColumn("proposed", "proposed", rank=2, shown=lambda field: setting(field.proposed)),
    FigureColumn("why", "reason", str, aside=True, quoted=False),
)


def make_report(record: TuningRecord, requested: Collection[str] = ()) -> Report:
    """Return the report of the proposed thresholds and their evidence.

    The evidence of `requested` fields is shown even if nothing is proposed for them.
    """
    evidence = f"the similarities in {number_of(record.units, 'document')}"
    if record.by_verdicts:
        evidence = number_of(sum(field.pairs for field in record.fields), "verdict")
    name, schema = record.model_name, record.schema
    title = schema if name in schema else f"{name} ({schema})"
    if schema.startswith(INFERRED_FROM):
        title = f"the schema {schema}"
    head = f"thresholds of {title}, based on {evidence}"
    detailed_fields = [
        field for field in record.fields if field.proposed is not None or field.field in requested
    ]
    table = Figures(_FIELDS, record.fields)
    summary = [Text(_summary_sentence(record))]
    counts_by_reason = Counter(field.reason for field in record.fields).most_common()
    if counts_by_reason and not detailed_fields:
        reasons = (f"{reason} ({number_of(n, 'field')})" for reason, n in counts_by_reason)
        summary.append(Text("; ".join(reasons), "dim"))
    sections = (_evidence_section(field, record) for field in detailed_fields)
    return Report.of_study(
        record, head, summary, [table] if detailed_fields else [], *sections, rows=table
    )


def _summary_sentence(record: TuningRecord) -> str:
    """Return a sentence for the report: how many thresholds should change."""
    count = len(record.proposed)
    if not count:
        fields = number_of(len(record.fields), "field")
        return f"no threshold should change, according to this evidence ({fields})"
    return f"{count} of {number_of(len(record.fields), 'threshold')} should change"


def _evidence_section(field: TunedFieldRecord, record: TuningRecord) -> Section:
    """Return the section of a field in the report.

    The section explains why the threshold changes or stays, and has a table of possible thresholds.
    """
    if field.gain is None:
        change, reason = "stays:", field.reason
    else:
        change = "stays" if field.proposed is None else f"-> {setting(field.proposed)}"
        reason = _gain_sentence(field, record)
    return Section(
        f"{field.field or WHOLE}: threshold {setting(field.threshold)} {change}",
        [Text(reason, indent=INDENT, margin=INDENT), _cut_table(field, record)],
    )


def _gain_sentence(field: TunedFieldRecord, record: TuningRecord) -> str:
    """Return a sentence for the report: how much better the proposed threshold is."""
    if record.by_verdicts:
        criterion = "F1 against verdicts"
    else:
        criterion = (
            "how well the threshold separates similar from different values (share of variance "
            "explained, at best 1)"
        )
    sentence = f"{criterion}: {rate(field.now)} -> {rate(field.then)}"
    if field.gain is not None:
        difference = (field.then or 0.0) - (field.now or 0.0)
        lower, upper = field.gain
        interval = f"{record.level:.0%} CI [{lower:+.4f}, {upper:+.4f}]"
        sentence += f" (change {difference:+.4f}, {interval})"
    return (
        f"{sentence}; {field.moved} of {number_of(field.pairs, 'pair')} would change from "
        "match to no match, or the reverse"
    )


def _cut_table(field: TunedFieldRecord, record: TuningRecord) -> Figures:
    """Return the table of possible thresholds (cuts) of a field.

    The table begins one row before the first cut that has pairs.
    """
    max_pairs = max(cut.pairs for cut in field.cuts)
    first = next((index for index, cut in enumerate(field.cuts) if cut.pairs), 0)

    def draw_bar(cut: CutRecord) -> str:
        length = -(-cut.pairs * MAX_BAR_LENGTH // max_pairs)  # round up
        return "#" * length

    figures = [
        FigureColumn(
            "threshold", "threshold", str, shown=lambda cut: f"{cut.threshold:.2f}", quoted=False
        ),
        FigureColumn("pairs", "pairs", int),
        FigureColumn("", draw_bar, str, quoted=False),
        *(
            FigureColumn(name, name, int if name == "same" else float)
            for name in ("same", "precision", "recall")
            if record.by_verdicts
        ),
        FigureColumn("match", "passing", int),
    ]
    return Figures(figures, field.cuts[max(0, first - 1) :])


def answer(settings: TuneSettings, desk: Desk) -> StudyAnswer:
    """Propose thresholds. If the user asks for it, write them into the schema."""
    loaded = desk.schema()
    with ended_by_signals():
        evidence, notes = _collect_evidence(loaded, settings, desk)
    fields = propose_thresholds(evidence, IntervalSettings(settings.ci, settings.seed))
    position_of_field = {
        field_path(field.path): position
        for position, field in reversed([*enumerate(loaded.fields)])
    }
    last_position = len(position_of_field)
    record = TuningRecord(
        format="stickler-tuning/1",
        version=__version__,
        schema=loaded.path,
        model_name=loaded.name,
        by_verdicts=settings.verdicts is not None,
        units=len(evidence.names),
        level=settings.ci,
        fields=sorted(fields, key=lambda field: position_of_field.get(field.field, last_position)),
        notes=notes,
    )
    field_names = [field.field for field in record.fields]
    check_names("--field", settings.field, field_names, "no values were compared in field")
    if settings.write and record.proposed:
        record = _write_thresholds(loaded, record, settings)
    return StudyAnswer(make_report(record, settings.field))


def _collect_evidence(
    loaded: LoadedSchema, settings: TuneSettings, desk: Desk
) -> tuple[Evidence, list[str]]:
    """Collect the pairs of values from which thresholds are tuned.

    Return (pairs, notes on where they come from).
    """
    plan = loaded.plan
    client = client_of(plan, policy_of(settings))
    options = comparing(plan, settings, client)
    if settings.verdicts is not None:
        lines, n_omitted = read_verdicts(settings.verdicts, plan, settings.max_document_size)
        evidence = collect_from_verdicts(lines, options)
        omitted = number_of(n_omitted, "verdict")
        notes = [f"{omitted} skipped, because not about a pair of values"] if n_omitted else []
    else:
        notes = []
        evidence = collect_from_documents(compare_sources(settings, plan, options, notes))
    if client is not None:
        desk.tell(f"models: {client.usage}")
    return evidence, notes


def propose_thresholds(evidence: Evidence, settings: IntervalSettings) -> list[TunedFieldRecord]:
    """Propose a threshold for every field that has evidence."""
    alternatives: defaultdict[tuple[str, ...], list[FieldEvidence]] = defaultdict(list)
    for field in evidence.fields.values():
        if field.similarity:
            alternatives[field.path].append(field)
    return [_tune_field(arms, evidence.names, settings) for arms in alternatives.values()]


def _tune_field(
    alternatives: Sequence[FieldEvidence], names: Sequence[str], settings: IntervalSettings
) -> TunedFieldRecord:
    """Propose a threshold for a field.

    `alternatives` usually has one element, with the pairs of the field. If the schema has
    alternatives for the field (`anyOf`), there is an element for each alternative. If there are
    several elements, no threshold is proposed, and the record describes the alternative with the
    most pairs.
    """
    field = max(alternatives, key=lambda evidence: len(evidence.similarity))
    sample = field.sample(names)
    if len(alternatives) > 1:
        proposal = Proposal(
            None, ("the field has several alternatives, each with its own threshold")
        )
    else:
        proposal = propose(sample, field.threshold, settings)
    return TunedFieldRecord(
        field=field_path(field.path),
        comparator=field.comparator or None,
        pairs=len(sample.similarity),
        units=len(set(field.unit)),
        threshold=field.threshold,
        proposed=proposal.threshold,
        reason=proposal.reason,
        now=proposal.now,
        then=proposal.then,
        gain=None if proposal.gain is None else [*proposal.gain],
        moved=proposal.moved,
        cuts=_cut_records(sample),
    )


def _cut_records(sample: FieldSample) -> list[CutRecord]:
    """Return a record for each possible threshold (cut). Cuts are equally spaced from 0 to 1."""
    cuts = [number / BINS for number in range(BINS + 1)]
    passing = [passes(sample, cut) for cut in cuts]
    none_passes = np.zeros_like(passing[0])
    neighbours = pairwise([*passing, none_passes])
    return [
        _cut_record(cut, sample.same, passes_cut, passes_next)
        for cut, (passes_cut, passes_next) in zip(cuts, neighbours, strict=True)
    ]


def _cut_record(cut: float, same: Mask | None, passes_cut: Mask, passes_next: Mask) -> CutRecord:
    """Return the record of a possible threshold (a cut).

    `passes_cut` and `passes_next` are masks of the pairs that pass this cut and the next one.
    `same` is a mask of the pairs that people call the same, or None if there are no verdicts.
    """
    n_passing = int(passes_cut.sum())
    n_right = 0 if same is None else int((passes_cut & same).sum())
    n_same = 0 if same is None else int(same.sum())
    return CutRecord(
        threshold=cut,
        pairs=n_passing - int(passes_next.sum()),
        same=None if same is None else n_right - int((passes_next & same).sum()),
        passing=n_passing,
        precision=n_right / n_passing if same is not None and n_passing else None,
        recall=n_right / n_same if n_same else None,
    )


def _write_thresholds(
    loaded: LoadedSchema, record: TuningRecord, settings: TuneSettings
) -> TuningRecord:
    """Write proposed thresholds into the schema file, and return the record.

    Notes in the returned record say which thresholds were written and which were not.

    Raises:
        UsageError: the schema has no file or was inferred. Or the ground truth is standard input,
            which cannot be read a second time.
    """
    if loaded.inferred is not None or not Path(settings.schema).is_file():
        finding = (
            "the schema has no annotations; adding one would switch off inference for all fields"
        )
        if loaded.inferred is None:
            finding = "SCHEMA is not a file"
        hint = "first write an annotated schema with stickler init"
        raise UsageError(
            [
                Problem(
                    source="--write",
                    found=finding,
                    expected="a file with an annotated schema",
                    hint=hint,
                )
            ]
        )
    if settings.gt == STANDARD_INPUT:
        finding = (
            "GT is standard input, which cannot be read a second time to record the tuning "
            "documents"
        )
        raise UsageError([Problem("--write", finding, "a file or a directory")])
    file = Path(settings.schema)
    content = file.read_bytes()
    text = content.removeprefix(BOM)
    text, written, notes = set_thresholds(loaded, text, record.proposed, settings)
    if written:
        changes = ", ".join(
            f"{field.field} {setting(field.threshold)} -> {setting(field.proposed)}"
            for field in written
        )
        count = "threshold" if len(written) == 1 else "thresholds"
        tuned = tuned_on(changes, hashes(settings.gt, settings))
        comment: JsonObject = {COMMENT: commented(loaded.contents, tuned)}
        text = with_keys(text.decode(), {"": comment}).encode()
        with whole_file(settings.schema, "--write") as stream:
            byte_order_mark = content[: len(content) - len(content.removeprefix(BOM))]
            stream.write(byte_order_mark + text)
        notes.append(f"changed the {count} in {settings.schema}: {changes}")
    return replace(record, notes=[*record.notes, *notes])


def set_thresholds(
    loaded: LoadedSchema, text: bytes, proposed: Iterable[TunedFieldRecord], settings: SchemaOptions
) -> tuple[bytes, list[TunedFieldRecord], list[str]]:
    """Write proposed thresholds into the text of a schema.

    Return (new text, fields whose threshold was written, a message for each threshold that was not
    written). A threshold is not written if the text has no subschema for the field. It is also not
    written if several fields share the subschema, so that another threshold would change, too.
    """
    written: list[TunedFieldRecord] = []
    refused: list[str] = []
    pointers = {field_path(field.path): field.stands for field in reversed(loaded.fields)}
    thresholds = _read_thresholds(loaded.plan)
    for field in proposed:
        key = f"{PREFIX}{'threshold' if field.comparator else 'match-threshold'}"
        candidate = _set_key(text, pointers.get(field.field, ()), key, field.proposed)
        wanted = {**thresholds, field.field: field.proposed}
        if candidate is not None and _compile_thresholds(candidate, loaded, settings) == wanted:
            text, thresholds = candidate, wanted
            written.append(field)
        else:
            reason = f"the field shares its definition in {loaded.path} with other fields"
            if not pointers.get(field.field):
                reason = f"{loaded.path} does not contain the definition of the field"
            refused.append(
                f"the threshold of {field.field} was not written: {reason}; set the threshold by "
                "hand"
            )
    return text, written, refused


def _set_key(
    text: bytes, pointers: Sequence[str], key: str, threshold: float | None
) -> bytes | None:
    """Set a threshold in the text of a schema, and return the new text.

    `pointers` lead to the subschemas of the field. The threshold becomes the value of `key` in the
    first of these subschemas that has `key`. If none of them has `key`, it is added to the first
    subschema. Return None if there are no pointers.
    """
    if not pointers:
        return None
    existing = {position.pointer for position in positions(text)}
    with_key = (pointer for pointer in pointers if pointer + json_pointer((key,)) in existing)
    return with_keys(text.decode(), {next(with_key, pointers[0]): {key: threshold}}).encode()


def _compile_thresholds(
    text: bytes, loaded: LoadedSchema, settings: SchemaOptions
) -> dict[str, float | None]:
    """Compile a schema from its text, and return the thresholds of all fields."""
    schema, file = orjson.loads(text), Path(loaded.path)
    plan = compile_schema(schema, loaded.path, file, allow_plugins=settings.allow_plugins)
    return _read_thresholds(plan)


def _read_thresholds(plan: Plan) -> dict[str, float | None]:
    """Return a dict from the path of each field of a plan to its threshold."""
    return {field_path(row.field): row.threshold for row in field_listing(plan)}
