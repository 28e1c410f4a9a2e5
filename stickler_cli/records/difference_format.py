"""The format `stickler-diff/1`: what the difference between two runs is in a file, key by key.

`schemas/stickler-diff.json` is made of these types, and their docstrings are its descriptions.
"""

from typing import Annotated, Final, Literal

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.records.rules import (
    Change,
    ChangeOrNone,
    Count,
    Flag,
    Fraction,
    FractionOrNone,
    Number,
    NumberOrNone,
    Rule,
)
from stickler_cli.records.run_format import IntervalsRecord


class RunNameRecord(TypedDict):
    """Which run it was."""

    source: str
    """File or directory of the run, as the user named it."""
    version: str
    """Version of the program that made it."""
    schema: str
    """File of its schema, as it was named then."""
    model_name: str
    """What its schema calls its documents."""


class ContrastRecord(TypedDict):
    """Something in which the runs differ besides their figures."""

    what: str
    """Such as `schema digest` or `option missing`."""
    base: str
    """In the first run."""
    new: str
    """In the second run."""
    decides: Flag
    """Whether figures of runs that differ in it cannot be compared."""


class DiffSettingsRecord(TypedDict):
    """What decides the trends."""

    alpha: Fraction
    """A change is significant if its corrected p is at most this."""
    margin: Fraction
    """A change is none if its interval is within this of 0."""
    swaps: Count
    """How many swaps are drawn where not all are tried."""
    intervals: IntervalsRecord
    """How the confidence intervals were made."""


class ComparedRecord(TypedDict):
    """How many documents there are."""

    compared: Count
    """In the first run; figures are about these."""
    better: Count
    """Of those, with a higher score or fewer errors."""
    worse: Count
    """With a lower score or more errors."""
    same: Count
    """The others."""
    lost: Count
    """Those that the second run did not compare; they count as missed."""
    only_new: Count
    """Documents that only the second run compared; they count nowhere."""


_BOUNDS: Final = {
    "type": ["array", "null"],
    "minItems": 2,
    "maxItems": 2,
    "items": {"type": "number", "minimum": -1, "maximum": 1},
}


class ChangeRecord(TypedDict):
    """One figure in both runs, over the documents of the first one."""

    path: str
    """Of the field, without list indexes; keys of maps are `*`. Empty for whole documents."""
    mode: Literal["overall", "aggregate", "leaves", ""]
    """The counting mode that the rate is of; empty for a score."""
    metric: Literal["f1", "score"]
    """F1, or the mean score of documents."""
    before: FractionOrNone
    """In the first run; null where there was nothing to divide by."""
    after: FractionOrNone
    """In the second run, likewise."""
    change: ChangeOrNone
    """By how much it changed; null where one of the two is."""
    interval: Annotated[list[float] | None, Rule("two numbers", keywords=_BOUNDS)]
    """Confidence interval of the change, both ends; null with too few documents."""
    p: FractionOrNone
    """How often a change as large would come of swapping the runs of documents; null without
    documents."""
    corrected_p: FractionOrNone
    """Corrected for all fields, by Holm; of whole documents, the same as p."""
    trend: Literal["improved", "regressed", "unchanged", "not enough data"]
    """What became of it."""
    decided_by: Literal[
        "exact permutation test",
        "sampled permutation test",
        "confidence interval",
        "number of documents",
    ]
    """What the trend rests on."""
    documents: Count
    """Documents that say anything about it, in one run or both."""
    differing: Count
    """Those of them in which the runs counted different things."""
    broken: Count
    """Documents in which the field was right and is wrong."""
    fixed: Count
    """Documents in which the field was wrong and is right."""


class ChangedDocumentRecord(TypedDict):
    """One document in which the runs counted different things."""

    id: str
    """Of the document."""
    status_before: str
    """What became of it in the first run."""
    status_after: str
    """In the second run; empty where that knows nothing of it."""
    lost: Flag
    """Whether the second run did not compare it: it counts as missed."""
    score_before: Fraction
    """Its overall score in the first run."""
    score_after: Fraction
    """In the second run; 0 where it is lost."""
    errors_before: Count
    """FD, FA and FN of `overall` in the first run."""
    errors_after: Count
    """In the second run."""
    broken: list[str]
    """Paths of fields that were right and are wrong, parents first."""
    fixed: list[str]
    """Paths of fields that were wrong and are right, parents first."""
    change: Change
    """By how much its score changed."""
    hard: Flag
    """Whether its score fell by half of what it could be, or it is lost."""


class ChangeGateRecord(TypedDict):
    """One thing that was asked of the changes."""

    gate: str
    """As the user wrote it."""
    value: NumberOrNone
    """The change that was compared, or a number of documents; null where there was nothing to
    compare."""
    limit: Number
    """What it was compared with."""
    passed: Flag
    """The verdict."""
    reason: str
    """The comparison at full precision."""


class DifferenceRecord(TypedDict):
    """The difference between two runs, as `stickler diff --format json` writes it.

    Described in docs/diff.md. Rates and scores are fractions.
    """

    format: Literal["stickler-diff/1"]
    """Name and version of this format; the number goes up when a key changes its meaning or goes
    away."""
    version: str
    """Version of the program that compared the runs."""
    base: RunNameRecord
    """The run that was."""
    new: RunNameRecord
    """The run that is."""
    contrasts: list[ContrastRecord]
    """In what the runs differ besides their figures; what keeps them from being compared comes
    first."""
    settings: DiffSettingsRecord
    """What decides the trends."""
    documents: ComparedRecord
    """How many documents there are."""
    lost: list[str]
    """The documents that the second run did not compare."""
    only_new: list[str]
    """The documents that only the second run compared."""
    whole: list[ChangeRecord]
    """Whole documents: F1 of overall, aggregate and leaves, and the mean score."""
    fields: list[ChangeRecord]
    """Every field, in the order of the schema, parents first."""
    changed_documents: list[ChangedDocumentRecord]
    """Every document in which anything changed, the greatest loss first."""
    gates: list[ChangeGateRecord]
    """What was asked of the changes, and whether they hold."""
