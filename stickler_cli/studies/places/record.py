"""Values by whether they are right and in the right place, as `stickler places` writes it.

The format is `stickler-places/1`.
"""

from typing import Literal

from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord


@dataclass(frozen=True, slots=True)
class PlacedField:
    """The places of one field, or of all."""

    field: str
    """Its path without list indexes; empty of all."""
    both_right: Count
    """Values that are right, and in the right place."""
    place_wrong: Count
    """Right values in the wrong place."""
    value_wrong: Count
    """Wrong values in the right place."""
    both_wrong: Count
    """Wrong values in the wrong place."""
    missed: Count
    """Boxes of the ground truth whose value is missed, or has no box in the prediction."""
    invented: Count
    """Boxes of predictions whose value is invented, or has no box in the ground truth."""
    located: FractionOrNone
    """Of right values with both boxes, those in the right place."""
    centred: FractionOrNone
    """Of right values with both boxes, those whose centre is inside the true box."""
    precision: FractionOrNone
    """Of all boxes of predictions, those of right values in the right place."""
    recall: FractionOrNone
    """Of all boxes of the ground truth, likewise."""
    f1: FractionOrNone
    """Both in one figure."""
    located_interval: list[Fraction] | None
    """Where `located` may lie by chance, over documents; null of fewer than two, or without."""
    f1_interval: list[Fraction] | None
    """Where `f1` may lie, likewise."""
    average_precision: FractionOrNone
    """Of boxes alone, whatever their values, at an overlap of 0.5; 101 points, as COCO."""
    average_precision_all: FractionOrNone
    """The mean of that at overlaps of 0.5, 0.55 to 0.95. Of all fields, the mean over fields."""


@dataclass(frozen=True, slots=True)
class PlacesReport(StudyRecord):
    """Whether right values are in the right place, as `stickler places --format json` writes it.

    Described in docs/places.md.
    """

    format: Literal["stickler-places/1"]
    schema: str
    """The schema, as named."""
    gt: str
    """The ground truth, as named."""
    pred: str
    """The predictions, as named."""
    min_overlap: Fraction
    """From which overlap on a place is right."""
    level: FractionOrNone
    """That of the intervals; null without."""
    documents: Count
    """Documents that were compared."""
    whole: PlacedField
    """All fields together."""
    fields: list[PlacedField]
    """By field, in the order in which they are met."""
    notes: list[str]
    """What was left out, and what is odd about the sources."""
