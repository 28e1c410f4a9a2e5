"""The format `stickler-comparison/1`: what one pair, explained, is in a file, key by key.

`schemas/stickler-comparison.json` is made of these types, and their docstrings are its
descriptions.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.records.rules import AnyJson, Count, Fraction, Rule, Said, Weight

_FLOOR: Final = {"type": "number", "minimum": -1, "exclusiveMaximum": 1}
_INDEX: Final = {"type": ["integer", "null"], "minimum": 0}

Floor = Annotated[float, Rule("a number in [-1, 1)", keywords=_FLOOR)]
Index = Annotated[int | None, Rule("a whole number of at least 0", keywords=_INDEX)]
Amount = Annotated[float, Rule("a number of at least 0", keywords={"type": "number", "minimum": 0})]


class ComparedSchemaRecord(TypedDict):
    """The schema the documents were compared under."""

    path: str
    """The file, as the user named it."""
    model_name: str
    """What the schema calls its documents."""


PieceRecord = TypedDict(
    "PieceRecord",
    {
        "text": Annotated[str, Said("The characters.")],
        "in": Annotated[Literal["both", "gt", "pred"], Said("Who has them.")],
    },
)
"""A run of characters."""


class RunnerUpRecord(TypedDict):
    """The next best element of the other side."""

    index: Count
    """Its position on the other side."""
    similarity: Fraction
    """How alike the two are."""
    paired_with: Index
    """What it was paired with instead; null if with nothing."""


class PairingRecord(TypedDict):
    """What an element of a list was paired with."""

    ground_truth_index: Index
    """Its position there; null if it is invented."""
    prediction_index: Index
    """Its position there; null if it is missed."""
    runner_up: RunnerUpRecord | None
    """The next best element of the other side; null where none is like it at all."""


class SumRecord(TypedDict):
    """What a score is: total / divisor, or 1 where the divisor is 0."""

    total: Amount
    """The sum of what the parts add."""
    divisor: Amount
    """Of an object the weights of its present fields, of a list the elements of the longer side."""


PlaceRecord = TypedDict(
    "PlaceRecord",
    {
        "field_path": Annotated[
            str, Said("With the ground truth's list indexes; empty for the document.")
        ],
        "prediction_path": NotRequired[
            Annotated[str, Said("With the prediction's list indexes, where they differ.")]
        ],
        "kind": Annotated[
            Literal["leaf", "object", "list", "tuple"], Said("What is compared as what.")
        ],
        "outcome": Annotated[
            Literal["TP", "FD", "FA", "FN", "TN"], Said("What the place counts as.")
        ],
        "class": NotRequired[
            Annotated[str, Said("Of an error, what kind of mistake it is: docs/error-classes.md.")]
        ],
        "difference": NotRequired[
            Annotated[
                list[PieceRecord],
                Said("Two different values, as JSON, cut into runs; long ones are shortened."),
            ]
        ],
        "comparator": NotRequired[Annotated[str, Said("Of a leaf, what compared it.")]],
        "reason": NotRequired[Annotated[str, Said("What a judge said of the values.")]],
        "similarity": Annotated[
            Fraction, Said("As computed; of a list, before its items were clipped.")
        ],
        "score": Annotated[Fraction, Said("After clipping.")],
        "threshold": NotRequired[Annotated[Fraction, Said("What it must reach.")]],
        "threshold_source": NotRequired[
            Annotated[
                Literal["annotation", "match-threshold", "default"], Said("Who said the threshold.")
            ]
        ],
        "weight": NotRequired[Annotated[Weight, Said("What a field is worth in its object.")]],
        "adds": NotRequired[
            Annotated[Amount, Said("What it adds to the sum of the place that it is in.")]
        ],
        "pairing_floor": NotRequired[
            Annotated[Floor, Said("Of a list, what its pairs are above.")]
        ],
        "pairing_floor_source": NotRequired[
            Annotated[Literal["annotation", "run"], Said("Who said the floor.")]
        ],
        "pairing": NotRequired[
            Annotated[PairingRecord, Said("Of an element of a list, what it was paired with.")]
        ],
        "sum": NotRequired[
            Annotated[
                SumRecord, Said("What the score is: total / divisor, or 1 where the divisor is 0.")
            ]
        ],
        "undeclared_keys": NotRequired[
            Annotated[list[str], Said("Keys of the ground truth that the schema does not declare.")]
        ],
        "parts": NotRequired[
            Annotated[list["PlaceRecord"], Said("The fields of an object, the elements of a list.")]
        ],
        "ground_truth_value": NotRequired[
            Annotated[
                AnyJson, Said("Of a leaf, or of what one side lacks; null where it is absent.")
            ]
        ],
        "prediction_value": NotRequired[Annotated[AnyJson, Said("Likewise.")]],
    },
)
"""One place of two documents, and how it was judged."""


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
    """The schema the documents were compared under."""
    options: dict[str, Any]
    """The options that decide a result."""
    overall_score: Fraction
    """The score of the document."""
    places: list[PlaceRecord]
    """The document, or the places that were asked for; at least one."""
