"""The result of one document: the values that an Evaluation adds up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from stickler_cli.core.problems import Problem, Violation

Side = Literal["gt", "pred"]
SIDES: Final[tuple[Side, ...]] = ("pred", "gt")
SchemaVerdict = Sequence[Violation] | None
"""The violations of the schema in a document: empty if valid, None if it could not be read."""
LENIENT: Final = "lenient"  # the warning where `--lenient-json` found the prediction in its text
LENIENT_FORMS: Final = ("fence", "prose", "string", "list", "relaxed")
"""Where such a prediction was: in a code fence, in prose, in a JSON string, in a list of one, or in
JSON with Python literals or comments."""
INHERITED: Final = "inherited"  # counts, beside the keys of wrappers, confidences of a parent
ODDITIES: Final = ("duplicate_keys", "byte_order_mark")


class Status(StrEnum):
    """The status of one document."""

    EVALUATED = "evaluated"  # both sides were read and compared
    MISSING = "missing"  # no prediction; compared with an empty one, unless left out
    INVALID = "invalid"  # a prediction that is no document; compared as if it were empty
    FAILED = "failed"  # not evaluated: the ground truth is unreadable, or a comparator failed
    UNMATCHED = "unmatched"  # a prediction without ground truth; not evaluated


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """One document of a run."""

    id: str
    status: Status
    score: float | None
    """Its overall score, in [0, 1]; None where the document was not evaluated."""
    problems: tuple[Problem, ...] = ()
    """Why the status is not `evaluated`, and further problems for a person to look at."""
    warnings: tuple[str, ...] = ()
    """Names of oddities of documents that could be read, each once."""
    verdicts: Mapping[Side, SchemaVerdict] = field(default_factory=dict)
    """The violations of the schema in each side that was checked and is present."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """The group it is in, by each key that the run is broken down by."""
    unwrapped: Mapping[str, int] = field(default_factory=dict)
    """Number of values taken out of wrappers, by the wrapper's key; as `INHERITED`, the number of
    values with the confidence of the object or list that contains them."""
    skipped_keys: Mapping[str, int] = field(default_factory=dict)
    """Number of values of each metadata key of wrappers that is not evaluated."""


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One thing that is wrong with a document."""

    document: str
    """Id of the document."""
    status: Status
    problem: str
    """The problem, its place, and a remedy, on one line."""

    def __lt__(self, other: "DocumentProblem") -> bool:
        key = (self.status, self.document, self.problem)
        return key < (other.status, other.document, other.problem)

    def __str__(self) -> str:
        """Return the problem with the name of its document once, though many begin with it."""
        return f"{self.document}: {self.problem.removeprefix(f'{self.document}: ')}"


def warnings_view(counts: Counter[str]) -> dict[str, object]:
    """Return the number of documents with each warning, as the run format has it."""
    by_form = {form: counts[f"{LENIENT}_{form}"] for form in LENIENT_FORMS}
    return {
        **{name: counts[name] for name in ODDITIES},
        LENIENT: {"documents": counts[LENIENT], **by_form},
    }
