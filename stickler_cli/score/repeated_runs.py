"""Records of how several runs of the same documents differ."""

from dataclasses import dataclass

from stickler_cli.core.rules import AnyJson, Count, Flag, FractionOrNone


@dataclass(frozen=True, slots=True)
class FieldRepeats:
    """How often a field, or whole documents, came out right or wrong in several runs."""

    field: str
    """Path of the field, without list indexes; keys of maps are `*`. Empty for whole documents."""
    f1: list[FractionOrNone]
    """F1 in each run, in the counting mode of the first run; null for a denominator of 0."""
    documents: Count
    """Number of documents in which at least one run evaluates the field."""
    right_in_all: Count
    """Number of documents in which the field has no error in any run."""
    right_in_any: Count
    """Number of documents in which the field has no error in at least one run."""

    @property
    def flipping(self) -> int:
        """Number of documents in which the field is right in some runs and wrong in others."""
        return self.right_in_any - self.right_in_all


@dataclass(frozen=True, slots=True)
class WrongIn:
    """The error of a value in one run."""

    run: Count
    """The position of the run, counted from 0."""
    outcome: str
    """The outcome of the value: FD, FA or FN."""
    pred: AnyJson
    """The predicted value; null if it is absent."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A value that is right in some runs and wrong in others."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value, with list indexes of the ground truth."""
    gt: AnyJson
    """The ground-truth value; null if it is absent."""
    wrong: list[WrongIn]
    """The runs in which the value is wrong; in all other runs it is right."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """A comparison of several runs of the same documents."""

    runs: list[str]
    """The predictions of each run, as the user named them. The first run is the main run: all
    results outside this record are about it."""
    whole: FieldRepeats
    fields: list[FieldRepeats]
    """Every field, in schema order, parents first."""
    flips: list[Flip]
    """The values that are right in some runs only, sorted by document id."""
    all_flips: Flag
    """Whether `flips` is complete. If not, there were too many errors to keep them all."""
