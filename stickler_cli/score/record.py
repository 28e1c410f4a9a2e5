"""A run, and the record in which it is saved.

A run is an evaluation with its schema, options, sources and gates. Every report is a view of a run.
The record has the format `stickler-run/1`, whose JSON Schema is `schemas/stickler-run.json`;
`records.run_reading` reads it back. This module also merges runs and changes their counting mode.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from stickler_cli import __version__
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.figures import INFERRED_FROM
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import ANY_KEY, field_path
from stickler_cli.core.option import options_record
from stickler_cli.core.problems import NotComparableError, Problem
from stickler_cli.core.rules import Rule, encoded
from stickler_cli.settings.deciding import Counting, RunOptions
from .detail import Detail, PageSources
from .document_result import DocumentProblem, Status
from .errors.error_rows import Error
from .errors.marks import MarkedOutcome
from .evaluation import RUN_FORMAT, Evaluation, find_differences
from .gate_verdicts import judge_gate
from .gates import Gate, GateResult
from .sums import MAX_MAP_KEYS, RateRule

if TYPE_CHECKING:
    from .policy import PolicyOutcome
    from .repeated_runs import Repeats

MAX_KEPT_ERRORS: Final = 20_000  # errors of each repeated run that are kept to find flips: 20 MB
UNFIT: Final = frozenset({Status.FAILED})
UNFIT_IF_STRICT: Final = UNFIT | {Status.MISSING, Status.INVALID, Status.UNMATCHED}
_DIGEST: Final = "^sha256:[0-9a-f]{64}$"
UNPAIRED: Final = frozenset({Status.MISSING, Status.UNMATCHED})
PER_DOCUMENT: Final = "per_document"  # key of the single documents in a run's record
KNOWN_IDS: Final = "known_ids"  # key of the hashes of ids, if no documents are kept


class RunVerdict(StrEnum):
    """The verdict on a run. The exit code and all reports follow it."""

    PASSED = "passed"
    FAILED = "failed"  # a gate failed
    INCOMPLETE = "incomplete"  # some or all documents were not evaluated


@dataclass(frozen=True, slots=True)
class SchemaSignature:
    """The schema under which the documents were compared."""

    path: str
    """The file of the schema, as the user named it."""
    digest: Annotated[str, Rule("a string", {"type": "string", "pattern": _DIGEST})]
    """SHA-256 of the file's bytes."""
    model_name: str
    """The name that the schema gives to its documents."""
    inferred: Annotated[
        str | None, Rule("a string", {"type": ["string", "null"], "pattern": _DIGEST})
    ]
    """SHA-256 of the inferred annotations; null if no annotations were inferred."""
    by: str | None = None
    """The rule that chooses the schema of each document; left out if there is only one schema."""

    @property
    def title(self) -> str:
        """The title of reports: the name of the documents, then the schema file if there is one.

        The title of an inferred schema says what the schema was inferred from.
        """
        if self.path.startswith(INFERRED_FROM):
            return self.path
        is_named = self.path and self.path != self.model_name
        return f"{self.model_name} ({self.path})" if is_named else self.model_name


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the data of a run come from, and when the run began. No figure depends on them."""

    started: str
    """When the run began, in UTC. If the environment variable `SOURCE_DATE_EPOCH` is set, its time
    is used instead."""
    gt: str
    """The ground truth, as the user named it."""
    pred: str
    """The predictions, as the user named them."""
    labels: tuple[str, ...] = ()
    """Labels that the user gave to the run."""


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation, and everything else that reports show about a run."""

    evaluation: Evaluation
    schema: SchemaSignature
    options: RunOptions
    fields: Sequence[FieldInfo]
    """The fields of the schema in schema order, parents first."""
    gates: Sequence[GateResult] = ()
    notes: Sequence[str] = ()
    """Notes on the sources as a whole, one line each."""
    partial: bool = False
    """Whether the run ended before all of its documents were evaluated."""
    planned: int | None = None
    """Number of documents that the run should have evaluated, if it ended early. None if the number
    is unknown or the run is complete."""
    provenance: Sequence[Provenance] = ()
    """The sources of the run, or of each run that was merged into it."""
    document: Mapping[str, object] | None = None
    """The `document_view` of the comparison, if the run compared one pair of files."""
    repeats: "Repeats | None" = None
    """Comparison with other predictions of the same documents, if other predictions were given."""
    version: str = __version__
    """Version of the program that made the run."""
    detail: Detail | None = None
    """Single values and documents, kept only for an HTML page. They are not saved in run files."""
    policy: "PolicyOutcome | None" = None
    """Outcome of an acceptance policy, if one was given."""
    marked: MarkedOutcome | None = None
    """Figures from people's verdicts on errors, if verdicts were given."""
    sources: PageSources | None = None
    """Tells the report page how to open the original documents. It is not saved in run files."""
    explain_command: str = ""
    """The command that explains a document; the user adds the document id at its end. Empty if the
    command is unknown. It is not saved in run files."""
    errors_command: str = ""
    """The command that lists errors; the user adds options that select some of them. Empty if the
    command is unknown. It is not saved in run files."""
    first_non_matches: Sequence[Error] = ()
    """The first errors of the run, in the order in which reports list them. Not saved in run
    files."""

    @property
    def began(self) -> str:
        """When the run began. For merged runs: when the last of them began. Empty if unknown."""
        return max((source.started for source in self.provenance), default="")

    @property
    def rule(self) -> RateRule:
        """How reports compute rates: the counting mode and the definition of recall."""
        return RateRule(self.options.recall_with_fd, self.options.counting)

    @property
    def verdict(self) -> RunVerdict:
        """The verdict.

        A run that does not cover all documents is incomplete, even if a gate failed.
        """
        evaluation = self.evaluation
        if self.n_unfit or not evaluation.statuses[Status.EVALUATED] or self.nothing_paired:
            return RunVerdict.INCOMPLETE  # the figures do not cover all documents
        if evaluation.metric_problems:
            return RunVerdict.INCOMPLETE
        passed = all(result.passed for result in self.gates)
        return RunVerdict.PASSED if passed else RunVerdict.FAILED

    @property
    def nothing_paired(self) -> bool:
        """Whether there are documents, but none has both a ground truth and a prediction."""
        statuses = self.evaluation.statuses
        n_unpaired = sum(statuses[status] for status in UNPAIRED)
        return 0 < n_unpaired == statuses.total()

    @property
    def n_unfit(self) -> int:
        """Number of documents whose status makes the run incomplete."""
        return sum(self.evaluation.statuses[status] for status in self._unfit_statuses)

    @property
    def unfit_problems(self) -> list[DocumentProblem]:
        """The problems that make the run incomplete, sorted. A document may have several."""
        problems = sorted(self.evaluation.problems)
        return [problem for problem in problems if problem.status in self._unfit_statuses]

    @property
    def unfit_unnamed(self) -> int:
        """Number of problems that make the run incomplete, but are not in `unfit_problems`.

        A run that keeps no rows (results of single documents) lists only some of its problems, and
        counts the others.
        """
        return sum(self.evaluation.n_unnamed[status] for status in self._unfit_statuses)

    @property
    def _unfit_statuses(self) -> frozenset[Status]:
        """The statuses that make a run incomplete if a document has one of them."""
        return UNFIT_IF_STRICT if self.options.strict else UNFIT


def run_record(run: Run, *, per_document: bool = True, deferred: bool = False) -> dict[str, object]:
    """Return the record of a run. Equal runs have equal records, whatever the order of documents.

    The record includes single documents if the run keeps them and `per_document` is True. If
    `deferred` is True, large values (fields, their counts, and groups) are built only when they are
    read.
    """
    recall_with_fd = run.options.recall_with_fd
    signature = asdict(run.schema).items()
    record: dict[str, object] = {
        "format": RUN_FORMAT,
        "version": run.version,
        "schema": {key: value for key, value in signature if key != "by" or value},
        "options": options_record(run.options),
        **run.evaluation.view(run.fields, recall_with_fd=recall_with_fd, deferred=deferred),
        "gates": encoded(run.gates),
        "notes": sorted(run.notes),
    }
    optional = {
        "provenance": encoded(sorted(run.provenance, key=astuple)) or None,
        "partial": run.partial or None,
        "planned": run.planned,
        "policy": encoded(run.policy),
        "verdicts": encoded(run.marked),
        **(run.document or {}),
        "repeats": encoded(run.repeats),
    }
    record |= {key: value for key, value in optional.items() if value is not None}
    ledger = run.evaluation.ledger
    if ledger.blocks is None:
        record[KNOWN_IDS] = ledger.hashes
    elif per_document:
        record[PER_DOCUMENT] = ledger.blocks.view()
    return record


MAX_NAMED_IDS: Final = 5  # shared ids that a message lists
_ARE: Final = " are "
_RARE: Final = f"keys beyond the {MAX_MAP_KEYS} most frequent keys"

OF_MERGING: Final = frozenset({"intervals", "breakdown", "validated sides"})
"""Names of conditions (see `run_conditions`) that must be equal in runs that are merged. Runs that
are only compared with each other may differ in them."""
WITHOUT_FIGURES: Final = frozenset(
    {"option strict", "option rows", "option counting", "version", *OF_MERGING}
)
"""Names of conditions that do not change any figure. Some of them choose which figures are
shown."""


REPEATED_TRUTHS: Final = " documents have the same ground truth as another document"
"""The middle part of each note on repeated ground truths. The note begins with the number of these
documents."""


def merge_runs(runs: Sequence[tuple[str, Run]], gates: Sequence[Gate] | None = None) -> Run:
    """Merge runs into one run, as if one process had evaluated all their documents.

    `runs` are pairs (name, run); their order makes no difference. The merged run is judged by
    `gates`. If `gates` is None, it is judged by the gates of all runs.

    Raises:
        NotComparableError: the runs were made under different conditions, or share documents.
    """
    _check_mergeable(runs)
    (_, first), *others = runs
    evaluation = Evaluation(rows=first.options.rows)
    for _, run in runs:
        evaluation.merge(run.evaluation)
    if gates is None:
        gates = list(dict.fromkeys(result.gate for _, run in runs for result in run.gates))
    notes = {note for _, run in runs for note in run.notes}
    if others:
        notes.update(join_rare_keys(evaluation, first.fields))
        # Drop the numbers of joined keys and of repeated ground truths from notes: numbers of
        # several runs do not add up.
        notes = {
            f"{note.partition(_ARE)[0]}{_ARE}{_RARE}" if _RARE in note else note for note in notes
        }
        notes = {_drop_number_of_repeats(note) for note in notes}
    provenance = dict.fromkeys(source for _, run in runs for source in run.provenance)
    return replace(
        first,
        evaluation=evaluation,
        schema=min((run.schema for _, run in runs), key=lambda schema: schema.path),
        gates=[judge_gate(gate, evaluation, first.rule) for gate in gates],
        notes=sorted(notes),
        partial=any(run.partial for _, run in runs),
        planned=_sum_planned([run for _, run in runs]),
        provenance=[*provenance],
        # Results of single documents or predictions cannot be merged.
        document=None if others else first.document,
        policy=None if others else first.policy,
        marked=None if others else first.marked,
        repeats=None if others else first.repeats,
    )


def _drop_number_of_repeats(note: str) -> str:
    """Replace the number in a note on repeated ground truths by the word `some`.

    A note on another subject is returned unchanged.
    """
    _, middle, rest = note.partition(REPEATED_TRUTHS)
    return f"some{middle}{rest}" if middle else note


def _check_mergeable(runs: Sequence[tuple[str, Run]]) -> None:
    """Raise NotComparableError if the runs differ in a condition or have a document in common."""
    problems = [*_condition_problems(runs)]
    for name, run in runs:
        if run.evaluation.has_documents and not run.evaluation.ledger.hashes:
            found = "the run does not record which documents it contains"
            problems.append(Problem(name, found, hint="evaluate again"))
    if not problems:
        problems += _shared_document_problems(runs)
    if problems:
        raise NotComparableError(problems)


def join_rare_keys(evaluation: Evaluation, fields: Sequence[FieldInfo]) -> list[str]:
    """Replace the rare keys of each large map by one key `*`; return a note on each of these maps.

    The key `*` gets the sums over all rare keys of its map. The evaluation and its groups are
    changed in place.
    """
    schema_paths = {field_info.field for field_info in fields}
    notes: list[str] = []
    for results in evaluation.all_results():
        new_paths = results.sums.find_rare_keys(schema_paths)
        if results is evaluation:
            n_keys_by_map = Counter(
                new for old, new in new_paths.items() if new[-1] == ANY_KEY != old[-1]
            )
            notes += (
                f"{field_path(path)}{_ARE}{n_keys_by_map[path]} {_RARE}"
                for path in sorted(n_keys_by_map)
            )
        if new_paths:
            results.ledger.sums = results.sums.with_renamed_fields(new_paths)
            results.errors.rename_fields(new_paths)
    return notes


def _sum_planned(runs: Sequence[Run]) -> int | None:
    """Return the number of documents that all runs in total should have evaluated.

    Return None if all runs are complete, or if this number is unknown for one of the runs.
    """
    if not any(run.partial for run in runs):
        return None
    numbers = [run.planned if run.partial else run.evaluation.documents["total"] for run in runs]
    return None if None in numbers else sum(filter(None, numbers))


def run_conditions(run: Run) -> dict[str, object]:
    """Return the conditions of a run, such as its options, as a dict from names to values.

    Runs can be merged only if their conditions are equal. A comparison of runs shows which
    conditions differ.
    """
    evaluation = run.evaluation
    intervals = evaluation.interval_settings
    return {
        "schema digest": run.schema.digest,
        "inferred annotations": run.schema.inferred,
        "schema by": run.schema.by,
        **{f"option {name}": value for name, value in options_record(run.options).items()},
        "version": run.version,
        "intervals": None if intervals is None else intervals.view(),
        "breakdown": [*evaluation.by],
        "validated sides": sorted(evaluation.validity),
    }


def _condition_problems(runs: Sequence[tuple[str, Run]]) -> Iterator[Problem]:
    """Compare each run with the first run; yield a problem for each condition that is not equal."""
    (first_name, first), *others = runs
    for name, run in others:
        for condition, first_value, value in find_differences(
            run_conditions(first), run_conditions(run)
        ):
            found = (
                f"the setting '{condition}' is {brief(value)}, but it is {brief(first_value)} in "
                f"{first_name}"
            )
            yield Problem(name, found, "runs with the same settings")
        if run.fields != first.fields:
            yield Problem(name, f"this run and {first_name} have schemas with different fields")


def _shared_document_problems(runs: Sequence[tuple[str, Run]]) -> Iterator[Problem]:
    """Yield a problem for each run that shares documents with an earlier run.

    The problem names the shared documents. If a run keeps no rows (results of single documents), it
    keeps only a sample of hashes of document ids. The problem then says that some documents are
    shared, but not which documents.
    """
    run_by_id: dict[str, str] = {}
    run_by_hash: dict[str, str] = {}
    expected = "each document in only one of the runs"
    for name, run in runs:
        blocks, hashes = run.evaluation.ledger.blocks, run.evaluation.ledger.hashes
        ids = sorted(blocks.ids() if blocks else ())
        shared_ids = [id_ for id_ in ids if id_ in run_by_id]
        other_run = next((run_by_hash[digest] for digest in hashes if digest in run_by_hash), None)
        if shared_ids:
            n_further = len(shared_ids) - MAX_NAMED_IDS
            further = f" and {n_further} more" if n_further > 0 else ""
            listed = ", ".join(map(repr, shared_ids[:MAX_NAMED_IDS])) + further
            found = f"{listed} are also in {run_by_id[shared_ids[0]]}"
            yield Problem(name, found, expected)
        elif other_run is not None:
            yield Problem(name, f"the run shares some documents with {other_run}", expected)
        run_by_id.update(dict.fromkeys(ids, name))
        run_by_hash.update(dict.fromkeys(hashes, name))


def with_counting(run: Run, counting: Counting | None) -> Run:
    """Return the run in another counting mode, with its gates judged again.

    If `counting` is None, the run is returned unchanged.
    """
    if counting is None or counting == run.rule.counting:
        return run
    evaluation = replace(run.evaluation)
    if evaluation.conditions is not None:
        evaluation.conditions = replace(evaluation.conditions, counting=counting)
    options = replace(run.options, counting=counting)
    recounted = replace(run, evaluation=evaluation, options=options)
    gates = [
        result if result.gate.mode else judge_gate(result.gate, evaluation, recounted.rule)
        for result in run.gates
    ]
    return replace(recounted, gates=gates)
