"""The runs of shards put together: what must be the same in them, and the run of the whole.

Its size, like theirs, does not depend on the keys of maps.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Final

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import ANY_KEY, field_path
from stickler_cli.core.problems import NotComparableError, Problem
from .evaluation import Evaluation, differences
from .gate_verdicts import judge
from .gates import Gate
from .record import Run
from .sums import MOST_KEYS

NAMED: Final = 5  # ids that two runs have
_ARE: Final = " are "
_RARE: Final = f"keys beside the {MOST_KEYS} of most documents"

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
            if run.evaluation.any_documents and not run.evaluation.ledger.hashes
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
    judged = [judge(gate, whole, first.rule) for gate in gates]
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
        places = results.sums.places(known)
        if results is evaluation:
            maps = Counter(new for old, new in places.items() if new[-1] == ANY_KEY != old[-1])
            notes += (f"{field_path(it)}{_ARE}{maps[it]} {_RARE}" for it in sorted(maps))
        if places:
            results.ledger.sums = results.sums.moved(places)
            results.errors.move(places)
    return notes


def _planned(runs: Sequence[Run]) -> int | None:
    """Return how many documents runs had to evaluate together, where some were interrupted."""
    if not any(run.partial for run in runs):
        return None
    of_each = [run.planned if run.partial else run.evaluation.documents["total"] for run in runs]
    return None if None in of_each else sum(filter(None, of_each))


def conditions_of(run: Run) -> dict[str, object]:
    """Return what must be the same in runs that are put together, or compared, by name."""
    evaluation = run.evaluation
    intervals = evaluation.interval_settings
    return {
        "schema digest": run.schema.digest,
        "inferred annotations": run.schema.inferred,
        "schema by": run.schema.by,
        "semantics": evaluation.semantics,
        **{f"option {name}": value for name, value in asdict(run.options).items()},
        "version": run.version,
        "intervals": None if intervals is None else intervals.view(),
        "breakdown": [*evaluation.by],
        "validated sides": sorted(evaluation.validity),
    }


def _differences(runs: Sequence[tuple[str, Run]]) -> Iterator[Problem]:
    (name, first), *others = runs
    for other, run in others:
        for what, mine, its in differences(conditions_of(first), conditions_of(run)):
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
