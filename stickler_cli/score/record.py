"""The run format `stickler-run/1`: an Evaluation as JSON, signed with what it came from.

Every report is a view of this record, and `records.run_reading` reads it back. Its JSON Schema is
`schemas/stickler-run.json`. Runs are merged here, judged by other gates, and read by another way of
counting.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from enum import StrEnum
from typing import Annotated, Final

from stickler_cli import __version__
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import ANY_KEY, field_path
from stickler_cli.core.option import options_record
from stickler_cli.core.problems import NotComparableError, Problem
from stickler_cli.core.rules import AnyJson, Count, Flag, FractionOrNone, Rule, encoded
from stickler_cli.settings.deciding import Counting, RunOptions
from .detail import Detail, PageSources
from .document_result import DocumentProblem, Status
from .errors.error_rows import Error
from .errors.marks import MarkedOutcome
from .evaluation import RUN_FORMAT, Evaluation, find_differences
from .gate_verdicts import judge_gate
from .gates import Gate, GateResult
from .policy import PolicyOutcome
from .sums import MAX_MAP_KEYS, RateRule

MAX_KEPT_ERRORS: Final = 20_000  # kept of each run to find what flips: 20 MB or so
UNFIT: Final = frozenset({Status.FAILED})
UNFIT_IF_STRICT: Final = UNFIT | {Status.MISSING, Status.INVALID, Status.UNMATCHED}
_DIGEST: Final = "^sha256:[0-9a-f]{64}$"
UNPAIRED: Final = frozenset({Status.MISSING, Status.UNMATCHED})
PER_DOCUMENT: Final = "per_document"  # the key of the accounts of documents
KNOWN_IDS: Final = "known_ids"  # instead of those, by which documents are known again


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


class RunVerdict(StrEnum):
    """What a run comes to, the same for the exit code and for every report."""

    PASSED = "passed"
    FAILED = "failed"  # a gate failed
    INCOMPLETE = "incomplete"  # documents were not evaluated, or none: figures not of the whole


@dataclass(frozen=True, slots=True)
class SchemaSignature:
    """The schema the documents were compared under."""

    path: str
    """The file, as the user named it."""
    digest: Annotated[str, Rule("a string", {"type": "string", "pattern": _DIGEST})]
    """SHA-256 of the file's bytes."""
    model_name: str
    """What the schema calls its documents."""
    inferred: Annotated[
        str | None, Rule("a string", {"type": ["string", "null"], "pattern": _DIGEST})
    ]
    """SHA-256 of the annotations that were inferred; null where those of the schema alone count."""
    by: str | None = None
    """What says which schema of a directory a document has; left out where there is one for all."""

    @property
    def title(self) -> str:
        """What the documents are, and the file that says so; one from Python is in no file."""
        return f"{self.model_name} ({self.path})" if self.path else self.model_name


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where documents came from, and when; nothing here decides a figure."""

    started: str
    """When the run began, in UTC; `SOURCE_DATE_EPOCH` sets it."""
    gt: str
    """The ground truth, as the user named it."""
    pred: str
    """The predictions, likewise."""
    labels: tuple[str, ...] = ()
    """What the user said about the run."""


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation and everything that a report says about how it came about."""

    evaluation: Evaluation
    schema: SchemaSignature
    options: RunOptions
    fields: Sequence[FieldInfo]
    """In schema order, parents first."""
    gates: Sequence[GateResult] = ()
    notes: Sequence[str] = ()
    """What the run noticed of its sources as a whole, one line each."""
    partial: bool = False
    """Whether the run ended before all of its documents were evaluated."""
    planned: int | None = None
    """Of such a run, how many documents there were to evaluate, if anybody knew."""
    provenance: Sequence[Provenance] = ()
    """Of a run that was put together of others, that of each."""
    document: Mapping[str, object] | None = None
    """Of a run of one pair of files, what `document_view` says of the comparison."""
    repeats: Repeats | None = None
    """How it compares with other predictions of the same documents, if there were any."""
    version: str = __version__
    """Of the program that made the run."""
    detail: Detail | None = None
    """What a page shows of single values and documents, if it was kept; no run file holds it."""
    policy: PolicyOutcome | None = None
    """What a policy would let pass, if one was asked for."""
    marked: MarkedOutcome | None = None
    """What it would come to by the verdicts on its errors, if some were given."""
    sources: PageSources | None = None
    """Where a page finds what documents were read from; no run file holds it."""
    explain_command: str = ""
    """The command that explains a document of it, but for which one; empty where it is not known.
    No run file holds it."""
    errors_command: str = ""
    """Likewise the command that lists its errors, but for which ones."""
    first_non_matches: Sequence[Error] = ()
    """The errors that were kept to be listed, in order, each with the id of its document; no run
    file holds them."""

    @property
    def began(self) -> str:
        """When it began, or the last of those that it was put together of; empty if unknown."""
        return max((each.started for each in self.provenance), default="")

    @property
    def rule(self) -> RateRule:
        """How the counts of the run are read."""
        return RateRule(self.options.recall_with_fd, self.options.counting)

    @property
    def verdict(self) -> RunVerdict:
        """What the run comes to: a document not evaluated wins over results not good enough."""
        evaluation = self.evaluation
        if self.n_unfit or not evaluation.statuses[Status.EVALUATED] or self.nothing_paired:
            return RunVerdict.INCOMPLETE  # all else is compared with nothing
        if evaluation.metric_problems:
            return RunVerdict.INCOMPLETE
        passed = all(result.passed for result in self.gates)
        return RunVerdict.PASSED if passed else RunVerdict.FAILED

    @property
    def nothing_paired(self) -> bool:
        """Whether every document is on one side only."""
        statuses = self.evaluation.statuses
        alone = sum(statuses[status] for status in UNPAIRED)
        return 0 < alone == statuses.total()

    @property
    def n_unfit(self) -> int:
        """How many documents count as not evaluated."""
        return sum(self.evaluation.statuses[status] for status in self._unfit)

    @property
    def unfit_problems(self) -> list[DocumentProblem]:
        """What is wrong with those documents, in order; one may have several problems."""
        return [it for it in sorted(self.evaluation.problems) if it.status in self._unfit]

    @property
    def unfit_unnamed(self) -> int:
        """How many problems of those documents are not named, since no rows are kept."""
        return sum(self.evaluation.n_unnamed[status] for status in self._unfit)

    @property
    def _unfit(self) -> frozenset[Status]:
        return UNFIT_IF_STRICT if self.options.strict else UNFIT


def run_record(run: Run, *, per_document: bool = True) -> dict[str, object]:
    """Return a run in the run format; equal runs give equal records, whatever their order.

    What is known of single documents is in it if the run has them, unless they are not asked for.
    """
    record: dict[str, object] = {
        "format": RUN_FORMAT,
        "version": run.version,
        "schema": {key: said for key, said in asdict(run.schema).items() if key != "by" or said},
        "options": options_record(run.options),
        **run.evaluation.view(run.fields, recall_with_fd=run.options.recall_with_fd),
        "gates": encoded(run.gates),
        "notes": sorted(run.notes),
    }
    if_any = {
        "provenance": encoded(sorted(run.provenance, key=astuple)) or None,
        "partial": run.partial or None,
        "planned": run.planned,
        "policy": encoded(run.policy),
        "verdicts": encoded(run.marked),
        **(run.document or {}),
        "repeats": encoded(run.repeats),
    }
    record |= {key: it for key, it in if_any.items() if it is not None}
    ledger = run.evaluation.ledger
    if ledger.blocks is None:
        record[KNOWN_IDS] = ledger.hashes
    elif per_document:
        record[PER_DOCUMENT] = ledger.blocks.view()
    return record


NAMED: Final = 5  # ids that two runs have
_ARE: Final = " are "
_RARE: Final = f"keys beside the {MAX_MAP_KEYS} of most documents"

OF_MERGING: Final = frozenset({"intervals", "breakdown", "validated sides"})
"""What is the same in runs that are merged; runs that are compared may differ in it."""
WITHOUT_FIGURES: Final = frozenset(
    {"option strict", "option rows", "option counting", "version", *OF_MERGING}
)
"""What decides no figure, or which of the figures are read."""


def merge_runs(runs: Sequence[tuple[str, Run]], gates: Sequence[Gate] | None = None) -> Run:
    """Return the run that one process would have made of all documents of some runs.

    The order of runs, each with its name, makes no difference. Gates are judged anew: those given,
    or all of the runs.

    Raises:
        NotComparableError: they were made under different conditions, or have documents in common.
    """
    unknown = "it does not say which documents it is of"
    problems = [
        *_differences(runs),
        *(
            Problem(name, unknown, hint="evaluate again")
            for name, run in runs
            if run.evaluation.has_documents and not run.evaluation.ledger.hashes
        ),
    ] or [*_in_common(runs)]
    if problems:
        raise NotComparableError(problems)
    (_, first), *others = runs
    whole = Evaluation(rows=first.options.rows)
    for _, run in runs:
        whole.merge(run.evaluation)
    if gates is None:
        gates = list(dict.fromkeys(result.gate for _, run in runs for result in run.gates))
    judged = [judge_gate(gate, whole, first.rule) for gate in gates]
    notes = {note for _, run in runs for note in run.notes}
    if others:  # how many keys runs have joined, together, nobody knows any more
        notes.update(join_rare_keys(whole, first.fields))
        notes = {f"{it.partition(_ARE)[0]}{_ARE}{_RARE}" if _RARE in it else it for it in notes}
    return replace(
        first,
        evaluation=whole,
        schema=min((run.schema for _, run in runs), key=lambda schema: schema.path),
        gates=judged,
        notes=sorted(notes),
        partial=any(run.partial for _, run in runs),
        planned=_planned([run for _, run in runs]),
        provenance=[*dict.fromkeys(each for _, run in runs for each in run.provenance)],
        document=None if others else first.document,
        policy=None if others else first.policy,
        marked=None if others else first.marked,
        repeats=None if others else first.repeats,
    )


def join_rare_keys(evaluation: Evaluation, fields: Sequence[FieldInfo]) -> list[str]:
    """Put keys of maps together beyond those that most documents have; return notes on them."""
    known, notes = {info.field for info in fields}, list[str]()
    for results in evaluation.all_results():
        places = results.sums.find_rare_keys(known)
        if results is evaluation:
            maps = Counter(new for old, new in places.items() if new[-1] == ANY_KEY != old[-1])
            notes += (f"{field_path(it)}{_ARE}{maps[it]} {_RARE}" for it in sorted(maps))
        if places:
            results.ledger.sums = results.sums.with_renamed_fields(places)
            results.errors.move(places)
    return notes


def _planned(runs: Sequence[Run]) -> int | None:
    """Return how many documents runs had to evaluate together, where some were interrupted."""
    if not any(run.partial for run in runs):
        return None
    of_each = [run.planned if run.partial else run.evaluation.documents["total"] for run in runs]
    return None if None in of_each else sum(filter(None, of_each))


def run_conditions(run: Run) -> dict[str, object]:
    """Return what must be the same in runs that are put together, or compared, by name."""
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


def _differences(runs: Sequence[tuple[str, Run]]) -> Iterator[Problem]:
    (name, first), *others = runs
    for other, run in others:
        for what, mine, its in find_differences(run_conditions(first), run_conditions(run)):
            found = f"{what}: {brief(its)}, but {brief(mine)} in {name}"
            yield Problem(other, found, "runs of one kind")
        if run.fields != first.fields:
            yield Problem(other, f"the fields of the schema are not those of {name}")


def _in_common(runs: Sequence[tuple[str, Run]]) -> Iterator[Problem]:
    """Yield which documents are in two runs; of runs without rows, that some surely are."""
    seen: dict[str, str] = {}
    hashes: dict[str, str] = {}
    expected = "each document in one run only"
    for name, run in runs:
        blocks, known = run.evaluation.ledger.blocks, run.evaluation.ledger.hashes
        ids = sorted(blocks.ids() if blocks else ())
        twice = [document for document in ids if document in seen]
        again = next((hashes[it] for it in known if it in hashes), None)
        if twice:
            more = f" and {len(twice) - NAMED} more" if len(twice) > NAMED else ""
            named = ", ".join(map(repr, twice[:NAMED])) + more
            found = f"{named} stand also in {seen[twice[0]]}"
            yield Problem(name, found, expected)
        elif again is not None:
            yield Problem(name, f"documents of it stand also in {again}", expected)
        seen.update(dict.fromkeys(ids, name))
        hashes.update(dict.fromkeys(known, name))


def with_counting(run: Run, counting: Counting | None) -> Run:
    """Return a run in another counting mode, its gates judged by it; None leaves it as it is."""
    if counting is None or counting == run.rule.counting:
        return run
    evaluation = replace(run.evaluation)
    if evaluation.conditions is not None:
        evaluation.conditions = replace(evaluation.conditions, counting=counting)
    read = replace(run, evaluation=evaluation, options=replace(run.options, counting=counting))
    gates = [it if it.gate.mode else judge_gate(it.gate, evaluation, read.rule) for it in run.gates]
    return replace(read, gates=gates)
