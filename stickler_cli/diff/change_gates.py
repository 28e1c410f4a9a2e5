"""Gates on a change: by how much a figure may get worse, or must get better.

A gate is written as for a run, and is about the change from the first run to the second one:
`f1>=-0.01` allows a loss of one point, `total.f1.lower>=-0.02` also asks for enough documents.
Documents are counted, not compared: `documents.worse<=3`.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.diff.changes import Figure
from stickler_cli.diff.paired_runs import Counted
from stickler_cli.diff.significance import change_intervals
from stickler_cli.score.counts import Counts
from stickler_cli.score.gates import (
    COUNTS,
    Gate,
    GateResult,
    asks_documents,
    check_kind,
    judged,
)
from stickler_cli.score.intervals import IntervalSettings

LOWEST: Final = -1.0  # the least change of a rate or score

CHANGE_OF: Final = "change of "


def judge_changes(
    gates: Sequence[Gate],
    counted: Counted,
    documents: Mapping[str, int],
    settings: IntervalSettings,
) -> list[GateResult]:
    """Return whether what changed is what gates ask for; their columns are among those counted.

    Raises:
        UsageError: a gate asks for a kind of document count that there is not.
    """
    found = []
    for gate in gates:
        if asks_documents(gate):
            check_kind(gate, documents)
            found.append(judged(gate, documents[gate.metric], ""))
        elif gate.metric in COUNTS:
            before, after = (
                getattr(Counts(*sums), gate.metric)
                for sums in counted.counts(gate.path, gate.mode).sum(axis=2).tolist()
            )
            found.append(judged(gate, after - before, "", CHANGE_OF))
        else:
            figure = Figure(gate.path, gate.mode, gate.metric)
            value, empty = counted.change(figure), "nothing was counted in one of the runs"
            if gate.bound and value is not None:
                (interval,) = change_intervals([counted.sample(figure)], counted.ids, settings)
                value = None if interval is None else getattr(interval, gate.bound)
                empty = "too few documents say anything about it for a confidence interval"
            found.append(judged(gate, value, empty, CHANGE_OF))
    return found
