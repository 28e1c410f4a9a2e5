"""How many documents it takes, as `stickler plan --format json` writes it.

The format is `stickler-plan/1`.
"""

from typing import Literal

from stickler_cli.core.rules import Count, Fraction, FractionOrNone, Number
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """How many documents one thing takes."""

    asked: str
    """What is to be reached: a half width, a change that shows, or a gate."""
    figure: str
    """Of what: as gates name it."""
    limit: Number
    """The half width, the size of the change, or what the gate asks for."""
    now: FractionOrNone
    """The figure in the run; null where it has nothing to divide by."""
    interval: list[Fraction] | None
    """Its interval there."""
    documents: Count | None
    """How many documents reach it; null where none do, or the run is too small to say."""
    likely: Count | None
    """How many reach it with the power asked for: of a gate more than what passes half of the
    time; null likewise."""
    between: list[Count | None] | None
    """Of a run of fewer than ten documents, from how many to how many; null at the end is never."""
    curve: list[list[Number]]
    """Documents, and half width or power with so many."""


@dataclass(frozen=True, slots=True)
class SizeReport(StudyRecord):
    """How many documents it takes, as `stickler plan` writes it in JSON.

    Described in docs/planning.md.
    """

    format: Literal["stickler-plan/1"]
    run: str
    """The run, as named."""
    documents: Count
    """How many documents it compared."""
    level: Fraction
    """The level of intervals."""
    power: Fraction
    """The chance of showing the change, or of passing the gate."""
    sizes: list[PlannedSize]
    """By what was asked, in the order of fields."""
    notes: list[str]
    """What the figures rest on."""
