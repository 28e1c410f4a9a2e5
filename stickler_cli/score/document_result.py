"""The result of comparing one document. An `Evaluation` adds up such results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from stickler_cli.core.problems import Problem, Violation

Side = Literal["gt", "pred"]
SIDES: Final[tuple[Side, ...]] = ("pred", "gt")
SchemaVerdict = Sequence[Violation] | None
"""The schema violations of a document. Empty if the document is valid, None if it could not be
read."""
LENIENT: Final = "lenient"  # the warning if only `--lenient-json` could read the prediction
LENIENT_FORMS: Final = ("fence", "prose", "string", "list", "relaxed")
"""The ways of writing a prediction that `--lenient-json` accepts: in a code fence, in prose, in a
JSON string, as the only element of a list, or with Python literals or comments (`relaxed`)."""
INHERITED: Final = "inherited"  # the name that counts confidences taken from a parent
ODDITIES: Final = ("duplicate_keys", "byte_order_mark")


class Status(StrEnum):
    """What happened to a document: compared, missing and so on."""

    EVALUATED = "evaluated"  # both sides were read and compared
    MISSING = "missing"  # no prediction; compared with an empty one by default
    INVALID = "invalid"  # the prediction is not a document; compared as an empty one
    FAILED = "failed"  # not compared: unreadable ground truth, or a comparator failed
    UNMATCHED = "unmatched"  # a prediction without a ground truth; not compared


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """The result of one document of a run."""

    id: str
    status: Status
    score: float | None
    """The overall score, in [0, 1]; None if the document was not compared."""
    problems: tuple[Problem, ...] = ()
    """Problems of the document that a person should see. If the status is not `evaluated`, they
    include the reason."""
    warnings: tuple[str, ...] = ()
    """Names of oddities in the ground truth or the prediction, such as `duplicate_keys`. Each name
    occurs once. Documents can be read and compared in spite of their oddities."""
    verdicts: Mapping[Side, SchemaVerdict] = field(default_factory=dict)
    """The schema violations of each side. A side has no entry if it is absent or was not
    checked."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Documents may be grouped by several keys. Maps each such key to the name of the document's
    group."""
    unwrapped: Mapping[str, int] = field(default_factory=dict)
    """Maps each form of wrapper, which is an object around a value, to the number of values that
    were taken out of it. The key `INHERITED` has the number of values that took their confidence
    from the object or list around them."""
    skipped_keys: Mapping[str, int] = field(default_factory=dict)
    """Maps each metadata key that is not evaluated, such as `page`, to the number of values with
    this key."""


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A problem of one document."""

    document: str
    """Id of the document."""
    status: Status
    problem: str
    """The problem, its location and its remedy, in one line."""

    def __lt__(self, other: "DocumentProblem") -> bool:
        key = (self.status, self.document, self.problem)
        return key < (other.status, other.document, other.problem)

    def __str__(self) -> str:
        """Return the document and the problem as one line. The document's name occurs only once."""
        return f"{self.document}: {self.problem.removeprefix(f'{self.document}: ')}"


def warnings_view(counts: Counter[str]) -> dict[str, object]:
    """Return the number of documents with each warning, as it is written to a run file."""
    by_form = {form: counts[f"{LENIENT}_{form}"] for form in LENIENT_FORMS}
    return {
        **{name: counts[name] for name in ODDITIES},
        LENIENT: {"documents": counts[LENIENT], **by_form},
    }
