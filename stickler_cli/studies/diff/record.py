"""The format `stickler-diff/1`: what the difference between two runs is in a file, key by key.

`schemas/stickler-diff.json` is made of these types, and their docstrings are its descriptions.
"""

from typing import Literal

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import Count, Fraction
from stickler_cli.records.run_format import IntervalsRecord
from stickler_cli.score.gates import GateResult
from stickler_cli.settings.deciding import Counting
from .changes import Change, Contrast, DocumentChange, MetricChange, RunName


class ResampledRecord(IntervalsRecord):
    """How confidence intervals of changes were made."""

    replicates: Count
    """How often random weights of documents were drawn."""


class DiffSettingsRecord(TypedDict):
    """What decides the trends."""

    alpha: Fraction
    """A change is significant if its corrected p is at most this."""
    margin: Fraction
    """A change is none if its interval is within this of 0."""
    counting: Counting
    """Which counts the rates of fields and the first figure of the whole are of."""
    swaps: Count
    """How many swaps are drawn where not all are tried."""
    intervals: ResampledRecord


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


class DifferenceRecord(TypedDict):
    """The difference between two runs, as `stickler diff --format json` writes it.

    Described in docs/diff.md. Rates and scores are fractions.
    """

    format: Literal["stickler-diff/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that compared the runs."""
    base: RunName
    """The run that was."""
    new: RunName
    """The run that is."""
    contrasts: list[Contrast]
    """In what the runs differ; what keeps their figures from being compared comes first."""
    settings: DiffSettingsRecord
    documents: ComparedRecord
    lost: list[str]
    """The documents that the second run did not compare."""
    only_new: list[str]
    """The documents that only the second run compared."""
    whole: list[Change]
    """Whole documents: F1 of overall, aggregate and leaves, and the mean score."""
    fields: list[Change]
    """Every field, in the order of the schema, parents first."""
    metrics: list[MetricChange]
    """Metrics that both runs were asked for (`--metric`)."""
    changed_documents: list[DocumentChange]
    """Every document in which anything changed, the greatest loss first."""
    gates: list[GateResult]
    """What was asked of the changes, and whether they hold."""
