"""What many documents come to: sums that may be merged in any order with the same result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from stickler_cli import __version__
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.errors import Problem, UsageError
from stickler_cli.locations import Path, field_path
from stickler_cli.metrics.accounts import Accounts, account_line, read_accounts
from stickler_cli.metrics.document_result import DocumentProblem, DocumentResult, Status
from stickler_cli.metrics.error_counts import ErrorCounts, read_error_counts
from stickler_cli.metrics.frame import data_frame, table
from stickler_cli.metrics.non_matches import non_matches
from stickler_cli.metrics.notebook import Summary, summary_html
from stickler_cli.metrics.reading import Part
from stickler_cli.metrics.remarks import (
    LENIENT,
    ODDITIES,
    add_remarks,
    read_remarks,
    remarks_view,
)
from stickler_cli.metrics.tally import SCORE_UNIT, Tally, tally, units_of
from stickler_cli.metrics.tally_record import NO_SUMS, read_tally, tally_record
from stickler_cli.metrics.terms import (
    FieldInfo,
    Terms,
    in_schema_order,
    named_fields,
    read_terms,
)

__all__ = [
    "FORMAT",
    "RUN_FORMAT",
    "DocumentProblem",
    "DocumentResult",
    "Evaluation",
    "Status",
    "evaluate",
]
from stickler_cli.metrics.validity import (
    Side,
    Validity,
    invalid_view,
    read_validity,
    validity_view,
)

FORMAT: Final = "stickler-evaluation/1"
"""What `Evaluation.to_dict` gives; docs/results.md describes it."""

RUN_FORMAT: Final = "stickler-run/1"
"""What `stickler eval` writes: an evaluation and how it came about."""


@dataclass(slots=True, eq=False, repr=False)
class Evaluation:
    """The results of a set of documents, a commutative monoid: the empty one is no documents.

    Two evaluations are equal if they hold the same results, whatever the order of the documents.
    """

    tally: Tally = field(default_factory=Tally)
    evaluated: int = 0
    """Documents that were compared, those against an empty prediction included."""
    score_units: int = 0
    """The sum of their overall scores, in `SCORE_UNIT`s."""
    statuses: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(Status, 0))
    """Documents by what became of them."""
    problems: list[DocumentProblem] = field(default_factory=list)
    remarks: dict[str, int] = field(default_factory=dict)
    """How many documents there were with each remark; see `metrics/remarks.py`."""
    validity: dict[Side, Validity] = field(default_factory=dict)
    """The verdicts of the schema about each side that was checked."""
    errors: ErrorCounts = field(default_factory=ErrorCounts)
    """What kinds of mistakes there are, and how many in each field."""
    terms: Terms | None = None
    """What the documents were compared under, where that is known."""
    accounts: Accounts | None = None
    """An account of each document; None where nobody asked for them, or some have none."""

    def update(self, result: DocumentResult | ObjectComparison) -> None:
        """Add one document; a comparison by itself is a document that was evaluated."""
        if isinstance(result, ObjectComparison):
            result = DocumentResult("", Status.EVALUATED, result)
        self.statuses[result.status] += 1
        add_remarks(self.remarks, result.remarks)
        for side, verdict in result.verdicts.items():
            self.validity.setdefault(side, Validity()).update(result.id, verdict)
        self.problems += (
            DocumentProblem(result.status, result.id, str(problem)) for problem in result.problems
        )
        score, counts = None, None
        if result.comparison is not None:
            score, counts = result.comparison.similarity, tally(result.comparison)
            self.evaluated += 1
            self.score_units += units_of(score)
            self.tally.merge(counts)
            self.errors.update(non_matches(result.comparison))
        if self.accounts is not None:
            line = account_line(result.id, result.status.value, score, counts, result.groups)
            self.accounts.add(result.id, line)

    def merge(self, other: "Evaluation") -> None:
        """Add the documents of another evaluation.

        Raises:
            UsageError: the two are known to have been made under different terms.
        """
        if self.terms is None:
            self.terms = other.terms
        elif other.terms is not None and other.terms != self.terms:
            differences = "; ".join(self.terms.differences(other.terms))
            found = f"the evaluations do not go together: {differences}"
            raise UsageError([Problem("", found, "the same schema and options")])
        self._merge_accounts(other)
        self.tally.merge(other.tally)
        self.evaluated += other.evaluated
        self.score_units += other.score_units
        for status, count in other.statuses.items():
            self.statuses[status] += count
        self.problems += other.problems
        add_remarks(self.remarks, other.remarks)
        for side, validity in other.validity.items():
            self.validity.setdefault(side, Validity()).merge(validity)
        self.errors.merge(other.errors)

    def _merge_accounts(self, other: "Evaluation") -> None:
        """Keep accounts only if all documents have one."""
        if other.accounts is None:
            self.accounts = None if any(other.statuses.values()) else self.accounts
        elif self.accounts is not None:
            self.accounts.merge(other.accounts)
        elif not any(self.statuses.values()):
            self.accounts = Accounts(list(other.accounts.lines))

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

    def document_figures(self) -> dict[str, float | None]:
        """Give all that a gate may ask of documents: counts, and the share of valid predictions."""
        odd = {name: self.remarks.get(name, 0) for name in (*ODDITIES, LENIENT)}
        pred = self.validity.get("pred")
        return {
            **self.documents,
            **odd,
            "schema_invalid": pred.invalid if pred else None,
            "schema_valid_share": pred.share if pred else None,
        }

    def undeclared(self) -> list[tuple[Path, int]]:
        """List the keys of ground truths that the schema does not declare, and how often each."""
        return self._keys("undeclared")

    def extras(self) -> list[tuple[Path, int]]:
        """List the undeclared keys that only predictions have, and how often each: false alarms."""
        return self._keys("extras")

    def _keys(self, which: Literal["undeclared", "extras"]) -> list[tuple[Path, int]]:
        return sorted(
            ((*path, name), count)
            for path, node in self.tally.walk()
            for name, count in getattr(node, which).items()
        )

    def never_present(self) -> list[Path]:
        """List the fields that had no value on either side in any document, outermost only."""
        found: list[Path] = []
        for path, node in self.tally.walk():
            values = sum(node.leaves[:4]) + sum(node.overall[:4])
            if path and not values and path[:-1] not in found:
                found.append(path)
        return found

    def view(self, fields: Sequence[FieldInfo], *, recall_with_fd: bool) -> dict[str, object]:
        """Give the results as the run format shows them; equal results give equal bytes."""
        ordered = in_schema_order(self.tally, fields)
        return {
            "documents": {
                **self.documents,
                **remarks_view(self.remarks),
                **invalid_view(self.validity),
            },
            **validity_view(self.validity),
            "overall_score": self.overall_score,
            "score_sum": str(self.score_units),
            "confusion_matrix": {
                "fields": {},
                **tally_record(ordered, recall_with_fd=recall_with_fd),
            },
            "error_classes": self.errors.view(),
            "fields": [info.view() for info in fields],
            "undeclared_keys": _keys_view(self.undeclared()),
            "extra_keys": _keys_view(self.extras()),
            "never_present": sorted(field_path(path) for path in self.never_present()),
            "problems": [
                {"document": entry.id, "status": entry.status.value, "problem": entry.problem}
                for entry in sorted(self.problems)
            ],
        }

    def to_dict(self) -> dict[str, object]:
        """Give everything as JSON values, in the format `stickler-evaluation/1`.

        Equal evaluations give equal bytes, whatever the order of their documents was.
        """
        return {
            "format": FORMAT,
            "version": __version__,
            "options": asdict(self.terms.options) if self.terms else None,
            **self.view(self._fields, recall_with_fd=self._recall_with_fd),
            **({} if self.accounts is None else {"per_document": self.accounts.view()}),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, object], source: str = "") -> "Evaluation":
        """Restore an evaluation, exactly.

        Args:
            record: what `to_dict` gave, or a run as `stickler eval --format json` writes it.
            source: the file it comes from, for messages.

        Raises:
            UsageError: it is neither, or of another version; with what was found and expected.
        """
        return _evaluation_of(Part(record, source))

    def to_frame(self, library: str | None = None) -> Any:
        """Give a data frame with the rows and columns of the CSV report.

        Args:
            library: `pandas` or `polars`; None takes the first of them that is installed.

        Returns:
            A `pandas.DataFrame` or `polars.DataFrame`: a row for whole documents, whose `field` is
            empty, then one for each field.

        Raises:
            UnavailableError: the library is not installed.
            UsageError: there is no such library.
        """
        fields = named_fields(self.tally, self._fields)
        with_fd = self._recall_with_fd
        score = self.overall_score
        rows = table(self.tally, score, fields, self.errors, recall_with_fd=with_fd)
        return data_frame(rows, library)

    def _repr_html_(self) -> str:
        """Show the results in a notebook."""
        summary = Summary(self.documents, self.overall_score, self.tally)
        rows = named_fields(self.tally, self._fields)
        return summary_html(summary, rows, recall_with_fd=self._recall_with_fd)

    @property
    def _fields(self) -> Sequence[FieldInfo]:
        return self.terms.fields if self.terms else ()

    @property
    def _recall_with_fd(self) -> bool:
        return self.terms.options.recall_with_fd if self.terms else False

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self.documents.items() if count)
        return f"<Evaluation {counts or 'total=0'}, overall_score={self.overall_score}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()


def evaluate(results: Iterable[DocumentResult]) -> Evaluation:
    """Add up documents, in any order."""
    evaluation = Evaluation()
    for result in results:
        evaluation.update(result)
    return evaluation


def _evaluation_of(record: Part) -> Evaluation:
    form = record.at("format", f"{FORMAT} and {RUN_FORMAT} can be read")
    if form.value not in (FORMAT, RUN_FORMAT):
        raise form.refused(f"{FORMAT} or {RUN_FORMAT}")
    documents = record.at("documents")
    evaluation = Evaluation(
        tally=read_tally(record.at("confusion_matrix")),
        evaluated=documents.at("evaluated").count(),
        score_units=record.at("score_sum", NO_SUMS).total(),
        statuses=_statuses(documents),
        problems=[_problem(part) for part in record.at("problems").parts()],
        remarks=read_remarks(documents),
        validity=read_validity(record),
        errors=read_error_counts(record.at("error_classes", NO_SUMS)),
        terms=read_terms(record),
    )
    if (accounts := record.find("per_document")) is not None:
        evaluation.accounts = read_accounts(accounts)
    for key, which in (("undeclared_keys", "undeclared"), ("extra_keys", "extras")):
        for part in record.at(key).parts():
            *path, name = part.at("path").names()
            node = evaluation.tally
            for step in path:
                node = node.below(step)
            getattr(node, which)[name] = part.at("count").count()
    return evaluation


def _keys_view(keys: list[tuple[Path, int]]) -> list[dict[str, object]]:
    return [{"path": field_path(path), "count": count} for path, count in keys]


def _statuses(documents: Part) -> dict[Status, int]:
    """Read how many documents there were of each status; what is left of all was evaluated."""
    statuses = dict.fromkeys(Status, 0)
    for status in statuses:
        if status is not Status.EVALUATED:
            statuses[status] = documents.at(status.value).count()
    total = documents.at("total")
    statuses[Status.EVALUATED] = total.count() - sum(statuses.values())
    if statuses[Status.EVALUATED] < 0:
        raise total.refused("at least the sum of the others")
    return statuses


def _problem(part: Part) -> DocumentProblem:
    named = part.at("status")
    for status in Status:
        if status == named.value:
            return DocumentProblem(status, part.at("document").text(), part.at("problem").text())
    raise named.refused(f"one of {', '.join(Status)}")
