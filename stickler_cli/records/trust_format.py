"""What a run in a file says of how far confidences can be trusted."""

from typing import NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import Count, Fraction, FractionOrNone, Number, Some
from .count_format import FigureIntervalRecord, IntervalRecord


class BinRecord(TypedDict):
    """Values of some confidence."""

    lower: Fraction
    """The least confidence."""
    upper: Fraction
    """What it does not reach, but for the last bin."""
    units: Count
    """How many values there are."""
    confidence: FractionOrNone
    """Their mean confidence; null of none."""
    right: FractionOrNone
    """The share that is right; null of none."""
    interval: NotRequired[IntervalRecord]
    """Where that share may lie."""


class BrierPartsRecord(TypedDict):
    """What the Brier score is made of, over the bins."""

    reliability: FractionOrNone
    """How far confidences are from what was right; 0 is best."""
    resolution: FractionOrNone
    """How far bins differ from each other."""
    uncertainty: FractionOrNone
    """How mixed right and wrong are."""


class SelectiveRecord(TypedDict):
    """Where to draw a line to have a share right above it, on these documents."""

    threshold: Fraction
    """The lowest such confidence."""
    coverage: Fraction
    """The share of values at or above it."""


class TrustRecord(TypedDict):
    """How far confidences can be trusted; docs/confidence.md defines each figure."""

    units: Count
    """Values of predictions that have a confidence."""
    right: Count
    """How many of them are right."""
    documents: Count
    """How many documents they are in."""
    coverage: FractionOrNone
    """The share of all values of predictions that has one; null where it is not known."""
    auroc: FractionOrNone
    """The chance that a right value has a higher confidence than a wrong one, ties half; this and
    what follows is null where it is not defined."""
    auprc_error: FractionOrNone
    """Average precision of finding wrong values from the least confident up."""
    brier: FractionOrNone
    """Mean squared distance of confidence and what was right."""
    brier_parts: BrierPartsRecord
    ece: FractionOrNone
    """Expected calibration error over ten bins of equal width."""
    ece_mass: FractionOrNone
    """The same over ten bins of about equal size."""
    mce: FractionOrNone
    """The greatest gap of a bin of equal width."""
    log_loss: Number | None
    """Mean negative logarithm of the probability given to what was the case."""
    aurc: FractionOrNone
    """Mean share wrong among the k most confident values, over all k."""
    error_capture: dict[str, FractionOrNone]
    """The share of errors among the least confident values, by the share that is reviewed."""
    selective: dict[str, SelectiveRecord | None]
    """By the share that is to be right; null where there is no such line."""
    bins: list[BinRecord]
    """Ten of equal width, the least confident first."""
    intervals: NotRequired[dict[str, FigureIntervalRecord]]
    """Of the figures, where documents say enough; `name.part` for a part of one."""


class ConfidenceCountsRecord(TypedDict):
    """Values by confidence, whichever documents they are in."""

    documents: Count
    """In how many documents there are any."""
    right: NotRequired[dict[str, Some]]
    """How many are right, by their confidence."""
    wrong: NotRequired[dict[str, Some]]
    """How many are wrong."""


class ConfidenceRecord(TrustRecord):
    """How far confidences can be trusted, as a whole and by field."""

    fields: dict[str, TrustRecord]
    """By the path of the field, without list indexes."""
