"""Thresholds and the evidence for them, as `stickler tune --format json` writes them; sections.

The format is `stickler-tuning/1`.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final, Literal

from stickler_cli.core.figures import WHOLE, number_of, rate, setting
from stickler_cli.core.rules import Count, Flag, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import INDENT, Figure, Figures, Report, Section, Text
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord


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
    evidence_of = (_evidence(field, record) for field in shown)
    return Report.of(record, head, told, [table] if shown else [], *evidence_of, rows=table)


def _summary(record: TuningRecord) -> str:
    count = len(record.proposed)
    fields = number_of(len(record.fields), "field")
    if not count:
        return f"no threshold of {fields} should change by this evidence"
    return f"{number_of(count, 'threshold')} of {fields} should change"


def _evidence(field: TunedFieldRecord, record: TuningRecord) -> Section:
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
