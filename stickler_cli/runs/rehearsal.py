"""A run before it is paid for: how many pairs judges would be asked about."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.pairs import Pairs
from stickler_cli.runs.executors.pipeline import chunk_results
from .interruption import Interruption
from .job import Job, OutputsRequested, Workers

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

MAX_PAIRS: Final = "--max-pairs"


def check_pairs(job: Job, client: "Client", pairs: Pairs, interruption: Interruption) -> None:
    """Compare all documents without asking anybody, and count what judges would be asked.

    Which pairs of list items that is may depend on embeddings that nobody knows yet.

    Raises:
        UsageError: it is more than the policy of the run allows.
    """
    read = 0
    with client.rehearsing() as counting:
        options = replace(job.options, client=counting)
        bare = replace(job, options=options, requested=OutputsRequested(), validation=None, by=())
        results = chunk_results(bare, pairs.refs(), Workers(1), interruption=interruption)
        for chunk in results:
            read += len(chunk.ids)
            hint = "--dry-run tells how many there are in all"
            refuse_runaway(counting, f"of the first {read} documents", hint)


def refuse_runaway(counting: "Client", counted: str, hint: str = "") -> None:
    """Raise UsageError if more pairs were counted than the policy of a client allows."""
    judges = [need for need in counting.needs if need.model.is_judge]
    count, limit = sum(need.questions for need in judges), counting.policy.max_pairs
    if count > limit:
        cached = sum(need.cached for need in judges)
        found = (
            f"judges would be asked about {count} pairs {counted}, beside {cached} in the cache; "
            "nothing was asked"
        )
        hint = "; ".join(filter(None, [hint, "allow more if they are worth it"]))
        raise UsageError([Problem(MAX_PAIRS, found, f"at most {limit}", hint)])
