"""What thresholds of a schema the evidence suggests, field by field."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from stickler_cli.records.advice_format import TunedFieldRecord, TuningRecord
from stickler_cli.score.detail import BINS
from stickler_cli.score.intervals import IntervalSettings
from .cuts import Proposal, Sample, passes, propose
from .evidence import Evidence, FieldEvidence


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold that there could be, and the pairs from there to the next one."""

    threshold: float
    pairs: int
    same: int | None
    """How many of them are the same by verdicts; None without verdicts."""
    passing: int
    """All pairs that would pass."""
    precision: float | None
    """The share of these that are the same; None without verdicts, or where none passes."""
    recall: float | None
    """The share of same pairs that pass."""


@dataclass(frozen=True, slots=True)
class TunedField:
    """What is known of the threshold of one field."""

    path: str
    comparator: str
    """Empty for list items, which their fields compare."""
    threshold: float
    """As it is now."""
    pairs: int
    documents: int
    proposal: Proposal
    cuts: tuple[Cut, ...]

    @property
    def of_items(self) -> bool:
        """Whether it is the match-threshold of list items."""
        return not self.comparator


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What the evidence says of the thresholds of a schema."""

    schema: str
    model_name: str
    by_verdicts: bool
    units: int
    """Documents, or what else was drawn as a whole."""
    fields: tuple[TunedField, ...]
    """In the order of the schema, parents first."""
    level: float
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Fields whose evidence is shown whatever is proposed."""

    @property
    def proposed(self) -> tuple[TunedField, ...]:
        """The fields for which another threshold is proposed."""
        return tuple(each for each in self.fields if each.proposal.threshold is not None)

    def record(self) -> TuningRecord:
        """Return what was found as JSON values."""
        return {
            "format": "stickler-tuning/1",
            "version": __version__,
            "schema": self.schema,
            "model_name": self.model_name,
            "by_verdicts": self.by_verdicts,
            "units": self.units,
            "level": self.level,
            "fields": [_field_record(field) for field in self.fields],
            "notes": [*self.notes],
        }


def _field_record(field: TunedField) -> TunedFieldRecord:
    proposal = field.proposal
    return {
        "field_path": field.path,
        "comparator": field.comparator or None,
        "pairs": field.pairs,
        "units": field.documents,
        "threshold": field.threshold,
        "proposed": proposal.threshold,
        "reason": proposal.reason,
        "now": proposal.now,
        "then": proposal.then,
        "gain": None if proposal.gain is None else [*proposal.gain],
        "moved": proposal.moved,
        "cuts": [
            {
                "threshold": cut.threshold,
                "pairs": cut.pairs,
                "same": cut.same,
                "passing": cut.passing,
                "precision": cut.precision,
                "recall": cut.recall,
            }
            for cut in field.cuts
        ],
    }


def tuned_fields(evidence: Evidence, settings: IntervalSettings) -> tuple[TunedField, ...]:
    """Propose thresholds for all fields of which there is evidence."""
    alternatives: defaultdict[tuple[str, ...], list[FieldEvidence]] = defaultdict(list)
    for found in evidence.fields.values():
        if found.similarity:
            alternatives[found.path].append(found)
    return tuple(_tuned(some, evidence.names, settings) for some in alternatives.values())


def _tuned(
    alternatives: Sequence[FieldEvidence], names: Sequence[str], settings: IntervalSettings
) -> TunedField:
    found = max(alternatives, key=lambda one: len(one.similarity))
    sample = found.sample(names)
    if len(alternatives) > 1:
        proposal = Proposal(None, "its alternatives have a threshold each")
    else:
        proposal = propose(sample, found.threshold, settings)
    documents = len(set(found.unit))
    return TunedField(
        field_path(found.path),
        found.comparator,
        found.threshold,
        len(sample.similarity),
        documents,
        proposal,
        tuple(_cut(sample, number) for number in range(BINS + 1)),
    )


_EDGES: Final = tuple(number / BINS for number in range(BINS + 1))


def _cut(sample: Sample, number: int) -> Cut:
    threshold = _EDGES[number]
    passing = passes(sample, threshold)
    here = passing & ~passes(sample, _EDGES[number + 1]) if number < BINS else passing
    pairs, total = int(np.count_nonzero(here)), int(np.count_nonzero(passing))
    if sample.same is None:
        return Cut(threshold, pairs, None, total, None, None)
    right, same = int(np.count_nonzero(passing & sample.same)), int(np.count_nonzero(sample.same))
    return Cut(
        threshold,
        pairs,
        int(np.count_nonzero(here & sample.same)),
        total,
        right / total if total else None,
        right / same if same else None,
    )
