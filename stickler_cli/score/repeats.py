"""Agreement of several predictions of the same documents: values, as records hold them."""

from typing import Final

from stickler_cli.core.rules import AnyJson, Count, Flag, FractionOrNone
from stickler_cli.core.values import dataclass

MOST_ERRORS: Final = 20_000  # kept of each run to find what flips: 20 MB or so


@dataclass(frozen=True, slots=True)
class FieldRepeats:
    """A field, or whole documents, in several runs."""

    field: str
    """Of the field, without list indexes; keys of maps are `*`. Empty for whole documents."""
    f1: list[FractionOrNone]
    """F1 in each run, as the first one counts; null where there was nothing to divide by."""
    documents: Count
    """Documents that say anything about it in any run."""
    right_in_all: Count
    """Those without an error of it in every run."""
    right_in_any: Count
    """Those without an error of it in one run at least."""

    @property
    def flipping(self) -> int:
        """Documents in which it is right in some runs only."""
        return self.right_in_any - self.right_in_all


@dataclass(frozen=True, slots=True)
class WrongIn:
    """What was wrong with a value in one run."""

    run: Count
    """The position of the run, from 0."""
    outcome: str
    """FD, FA or FN."""
    pred: AnyJson
    """The value that was predicted; null where there was none."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A value that is right in some runs and wrong in others."""

    document: str
    """Id of the document."""
    path: str
    """Of the value, with the list indexes of the ground truth."""
    gt: AnyJson
    """The value that would be right; null where there is none."""
    wrong: list[WrongIn]
    """The runs in which it is wrong; in the others it is right."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Several runs of the same documents beside each other."""

    runs: list[str]
    """The predictions of each run, the first that of all other results."""
    whole: FieldRepeats
    fields: list[FieldRepeats]
    """Every field, in the order of the schema, parents first."""
    flips: list[Flip]
    """The values that are right in some runs only, in the order of ids."""
    all_flips: Flag
    """Whether these are all; else there were too many errors to keep."""
