"""All documents together: values by what is right of them, their value and their place."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import numpy as np

from stickler_cli import __version__
from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.score.intervals import IntervalSettings, shares_of_documents
from .average_precision import Detections, mean_precision

PLACES_FORMAT: Final = "stickler-places/1"

COUNTED: Final = (
    *("both_right", "place_wrong", "value_wrong", "both_wrong"),
    *("centred", "gt_boxes", "pred_boxes"),
)
"""What is counted of a field: the four cells of value and place, right values whose centre is
inside the true box, and values with a box on either side."""


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
class PlacesReport:
    """Whether right values are in the right place, as `stickler places --format json` writes it.

    Described in docs/places.md.
    """

    format: Literal["stickler-places/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program."""
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


@dataclass(slots=True)
class Located:
    """What is counted of the fields of some documents."""

    names: list[str]
    """The documents."""
    counts: list[dict[str, dict[str, int]]]
    """What is counted in each document, by field."""
    detections: dict[str, Detections]


def placed_fields(
    located: Located, settings: IntervalSettings | None
) -> tuple[PlacedField, list[PlacedField]]:
    """Return all fields together, and each."""
    paths = dict.fromkeys(path for counts in located.counts for path in counts)
    table = {
        path: np.array(
            [[counts.get(path, {}).get(key, 0) for key in COUNTED] for counts in located.counts],
            float,
        )
        for path in paths
    }
    none = np.zeros((len(located.names), len(COUNTED)))
    whole = sum(table.values(), none)
    fields = [_field(name, counts, located.detections, settings) for name, counts in table.items()]
    return _field("", whole, located.detections, settings), fields


def _field(
    name: str,
    counts: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    detections: Mapping[str, Detections],
    settings: IntervalSettings | None,
) -> PlacedField:
    column = dict(zip(COUNTED, counts.T, strict=True))
    right, boxes = column["both_right"], column["gt_boxes"] + column["pred_boxes"]
    pairs = right + column["place_wrong"]
    total = {key: int(values.sum()) for key, values in column.items()}
    shares = shares_of_documents(
        {
            "located": (right, pairs),
            "centred": (column["centred"], pairs),
            "precision": (right, column["pred_boxes"]),
            "recall": (right, column["gt_boxes"]),
            "f1": (2 * right, boxes),
        },
        settings,
    )
    kinds = {name: detections[name]} if name in detections else {} if name else detections
    met = sum(total[key] for key in COUNTED[:4])
    return PlacedField(
        field=name,
        both_right=total["both_right"],
        place_wrong=total["place_wrong"],
        value_wrong=total["value_wrong"],
        both_wrong=total["both_wrong"],
        missed=total["gt_boxes"] - met,
        invented=total["pred_boxes"] - met,
        **{key: share.value for key, share in shares.items()},
        located_interval=shares["located"].interval,
        f1_interval=shares["f1"].interval,
        average_precision=mean_precision(kinds, (0.5,)),
        average_precision_all=mean_precision(kinds),
    )


def places_report(
    sources: tuple[str, str, str],
    located: Located,
    min_overlap: float,
    settings: IntervalSettings | None,
    notes: Iterable[str],
) -> PlacesReport:
    """Return what all documents come to."""
    whole, fields = placed_fields(located, settings)
    return PlacesReport(
        PLACES_FORMAT,
        __version__,
        *sources,
        min_overlap,
        None if settings is None else settings.level,
        len(located.names),
        whole,
        fields,
        [*notes],
    )
