"""The format `stickler-comparison/1`: what one pair, explained, is in a file, key by key.

`schemas/stickler-comparison.json` is made of these types and their docstrings.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.compare.explaining import Amount, Pairing, Sum
from stickler_cli.compare.result import ThresholdSource
from stickler_cli.core.rules import AnyJson, Fraction, Rule, Weight

_FLOOR: Final = {"type": "number", "minimum": -1, "exclusiveMaximum": 1}

Floor = Annotated[float, Rule("a number in [-1, 1)", _FLOOR)]


class ComparedSchemaRecord(TypedDict):
    """The schema the documents were compared under."""

    path: str
    """The file, as the user named it."""
    model_name: str
    """What the schema calls its documents."""


class PieceRecord(TypedDict):
    """A run of characters."""

    text: str
    """The characters."""
    in_: Literal["both", "gt", "pred"]
    """Who has them."""


class PlaceRecord(TypedDict):
    """One place of two documents, and how it was judged."""

    path: str
    """With the ground truth's list indexes; empty for the document."""
    prediction_path: NotRequired[str]
    """With the prediction's list indexes, where they differ."""
    kind: Literal["leaf", "object", "list", "tuple"]
    """What is compared as what."""
    outcome: Literal["TP", "FD", "FA", "FN", "TN"]
    """What the place counts as."""
    class_: NotRequired[str]
    """Of an error, what kind of mistake it is: docs/error-classes.md."""
    swapped_with: NotRequired[str]
    """Of a swapped value, the path of the place in the ground truth whose value it is."""
    difference: NotRequired[list[PieceRecord]]
    """Two different values, as JSON, cut into runs; long ones are shortened."""
    comparator: NotRequired[str]
    """Of a leaf, what compared it."""
    reason: NotRequired[str]
    """What a judge said of the values."""
    alternatives: NotRequired[list[AnyJson]]
    """Values that are as right as this ground truth, which was taken as the likest."""
    similarity: Fraction
    """As computed; of a list, before its items were clipped."""
    score: Fraction
    """After clipping."""
    threshold: NotRequired[Fraction]
    """What it must reach."""
    threshold_source: NotRequired[ThresholdSource]
    """Who said the threshold."""
    weight: NotRequired[Weight]
    """What a field is worth in its object."""
    adds: NotRequired[Amount]
    """What it adds to the sum of the place that it is in."""
    pairing_floor: NotRequired[Floor]
    """Of a list, what its pairs are above."""
    pairing_floor_source: NotRequired[Literal["annotation", "run"]]
    """Who said the floor."""
    pairing: NotRequired[Pairing]
    sum: NotRequired[Sum]
    undeclared_keys: NotRequired[list[str]]
    """Keys of the ground truth that the schema does not declare."""
    parts: NotRequired[list["PlaceRecord"]]
    """The fields of an object, the elements of a list."""
    ground_truth_value: NotRequired[AnyJson]
    """Of a leaf, or of what one side lacks; null where it is absent."""
    prediction_value: NotRequired[AnyJson]
    """Likewise."""


class ComparisonRecord(TypedDict):
    """One pair of documents explained, as `stickler compare --format json` writes it.

    Described in docs/compare.md.
    """

    format: Literal["stickler-comparison/1"]
    """Name and version of this format."""
    version: str
    """Version of the program."""
    document: str
    """Id of the document."""
    schema: ComparedSchemaRecord
    options: dict[str, Any]
    """The options that decide a result."""
    overall_score: Fraction
    """The score of the document."""
    places: list[PlaceRecord]
    """The document, or the places that were asked for; at least one."""
