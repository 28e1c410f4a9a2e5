"""Several runs of the same documents: what is recorded of how they differ."""

from dataclasses import dataclass

from stickler_cli.core.rules import AnyJson, Count, Flag, FractionOrNone


@dataclass(frozen=True, slots=True)
class FieldRepeats:
    """A field, or whole documents, in several runs."""

    field: str
    """Path of the field, without list indexes; keys of maps are `*`. Empty for whole documents."""
    f1: list[FractionOrNone]
    """F1 in each run, in the counting mode of the first run; null for a denominator of 0."""
    documents: Count
    """Documents that evaluate the field in any run."""
    right_in_all: Count
    """Documents without an error of the field in every run."""
    right_in_any: Count
    """Documents without an error of the field in at least one run."""

    @property
    def flipping(self) -> int:
        """Number of documents in which the field is right in some runs only."""
        return self.right_in_any - self.right_in_all


@dataclass(frozen=True, slots=True)
class WrongIn:
    """The error of a value in one run."""

    run: Count
    """The position of the run, from 0."""
    outcome: str
    """FD, FA or FN."""
    pred: AnyJson
    """The predicted value; null if it is absent."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A value that is right in some runs and wrong in others."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value, with the list indexes of the ground truth."""
    gt: AnyJson
    """The ground truth; null if it is absent."""
    wrong: list[WrongIn]
    """The runs in which it is wrong; in the others it is right."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Several runs of the same documents, compared with each other."""

    runs: list[str]
    """The predictions of each run; all other results are of the first."""
    whole: FieldRepeats
    fields: list[FieldRepeats]
    """Every field, in the order of the schema, parents first."""
    flips: list[Flip]
    """The values that are right in some runs only, in the order of ids."""
    all_flips: Flag
    """Whether `flips` is complete; else there were too many errors to keep."""
