"""Which documents of a run are held against their schema."""

from typing import Final

from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass
from stickler_cli.documents import DocumentPair
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.document_validity import DocumentValidator
from stickler_cli.score.validity import Side, Verdict
from stickler_cli.settings import Validate

_SIDES: Final[dict[Validate, tuple[Side, ...]]] = {
    "none": (),
    "pred": ("pred",),
    "gt": ("gt",),
    "both": ("gt", "pred"),
}


@dataclass(frozen=True, slots=True)
class Validation:
    """A schema, and the sides that are held against it."""

    validator: DocumentValidator
    sides: tuple[Side, ...]

    def verdicts(self, pair: DocumentPair) -> dict[Side, Verdict]:
        """Return the verdict about each side that is there."""
        documents = ((side, getattr(pair, side)) for side in self.sides)
        return {
            side: None
            if isinstance(document, Problem)
            else tuple(self.validator.violations(document))
            for side, document in documents
            if document is not None
        }


def validation_of(
    chosen: Validate, schema: Schema, source: str = "", file: str | None = None
) -> Validation | None:
    """Make ready what was chosen; None where nothing is to be held against the schema.

    Args:
        chosen: the sides.
        schema: as it was parsed.
        source: its name for messages.
        file: where its relative references start, if it has a file.

    Raises:
        SchemaError: the validator does not take the schema.
    """
    sides = _SIDES[chosen]
    return Validation(DocumentValidator(schema, source, file), sides) if sides else None
