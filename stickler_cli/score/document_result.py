"""What became of one document: the values that an Evaluation adds up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stickler_cli.core.problems import Problem
from stickler_cli.score.validity import Side, Verdict


class Status(StrEnum):
    """What became of one document."""

    EVALUATED = "evaluated"
    """Both sides were read and compared."""
    MISSING = "missing"
    """There is no prediction; compared with an empty one, unless the run leaves it out."""
    INVALID = "invalid"
    """The prediction is not a JSON object; compared with an empty one, if there is a truth."""
    FAILED = "failed"
    """Not evaluated: the ground truth cannot be read, or a comparator failed."""
    UNMATCHED = "unmatched"
    """A prediction without ground truth; not evaluated."""


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """One document of a run."""

    id: str
    status: Status
    score: float | None
    """Its overall score, in [0, 1]; None where the document was not evaluated."""
    problems: tuple[Problem, ...] = ()
    """Why the status is not `evaluated`, and what else a person should look at."""
    remarks: tuple[str, ...] = ()
    """What was odd about the documents although they could be read, by name, each once."""
    verdicts: Mapping[Side, Verdict] = field(default_factory=dict)
    """What its schema forbids in each side that was checked and is there."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """The group it is in, by each key that the run is broken down by."""


@dataclass(frozen=True, slots=True, order=True)
class DocumentProblem:
    """A document that was not simply evaluated, named."""

    status: Status
    id: str
    problem: str
    """What is wrong, where, and what to do, on one line."""
