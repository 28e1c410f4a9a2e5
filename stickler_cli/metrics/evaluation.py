"""What many documents come to: sums that may be merged in any order with the same result."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from stickler_cli.compare.result import ObjectComparison
from stickler_cli.errors import Problem
from stickler_cli.locations import Path
from stickler_cli.metrics.tally import SCORE_UNIT, Tally, tally, units_of


class Status(StrEnum):
    """What became of one document."""

    EVALUATED = "evaluated"
    """Both sides were read and compared."""
    MISSING = "missing"
    """There is no prediction; compared with an empty one, unless the run leaves it out."""
    INVALID = "invalid"
    """The prediction is not a JSON object; compared with an empty one."""
    FAILED = "failed"
    """Not evaluated: the ground truth cannot be read, or a comparator failed."""
    UNMATCHED = "unmatched"
    """A prediction without ground truth; not evaluated."""


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """One document of a run."""

    id: str
    status: Status
    comparison: ObjectComparison | None
    """None where the document was not evaluated."""
    problems: tuple[Problem, ...] = ()
    """Why the status is not `evaluated`."""


@dataclass(frozen=True, slots=True, order=True)
class DocumentProblem:
    """A document that was not simply evaluated, named."""

    status: Status
    id: str
    problem: str
    """What is wrong, where, and what to do, on one line."""


@dataclass(slots=True)
class Evaluation:
    """The results of a set of documents, a commutative monoid: the empty one is no documents."""

    tally: Tally = field(default_factory=Tally)
    evaluated: int = 0
    """Documents that were compared, those against an empty prediction included."""
    score_units: int = 0
    """The sum of their overall scores, in `SCORE_UNIT`s."""
    statuses: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(Status, 0))
    """Documents by what became of them."""
    problems: list[DocumentProblem] = field(default_factory=list)

    def update(self, result: DocumentResult) -> None:
        """Add one document."""
        self.statuses[result.status] += 1
        self.problems += (
            DocumentProblem(result.status, result.id, str(problem)) for problem in result.problems
        )
        if result.comparison is not None:
            self.evaluated += 1
            self.score_units += units_of(result.comparison.similarity)
            self.tally.merge(tally(result.comparison))

    def merge(self, other: "Evaluation") -> None:
        """Add the documents of another evaluation."""
        self.tally.merge(other.tally)
        self.evaluated += other.evaluated
        self.score_units += other.score_units
        for status, count in other.statuses.items():
            self.statuses[status] += count
        self.problems += other.problems

    @property
    def overall_score(self) -> float | None:
        """The mean overall score, in [0, 1]; None of no documents."""
        return self.score_units / (self.evaluated * SCORE_UNIT) if self.evaluated else None

    @property
    def documents(self) -> dict[str, int]:
        """How many documents there were, by what became of them."""
        return {
            "total": sum(self.statuses.values()),
            "evaluated": self.evaluated,
            **{status.value: self.statuses[status] for status in Status if status != "evaluated"},
        }

    def undeclared(self) -> list[tuple[Path, int]]:
        """List the keys of ground truths that the schema does not declare, and how often each."""
        return sorted(
            ((*path, name), count)
            for path, node in self.tally.walk()
            for name, count in node.undeclared.items()
        )

    def never_present(self) -> list[Path]:
        """List the fields that had no value on either side in any document, outermost only."""
        found: list[Path] = []
        for path, node in self.tally.walk():
            values = sum(node.leaves[:4]) + sum(node.overall[:4])
            if path and not values and path[:-1] not in found:
                found.append(path)
        return found


def evaluate(results: Iterable[DocumentResult]) -> Evaluation:
    """Add up documents, in any order."""
    evaluation = Evaluation()
    for result in results:
        evaluation.update(result)
    return evaluation
