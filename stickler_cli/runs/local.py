"""A run in this process: documents stream through, memory does not grow with their number."""

from collections.abc import Iterable, Sequence

from stickler_cli.documents import DocumentPair
from stickler_cli.metrics.evaluation import Evaluation
from stickler_cli.runs.chunk import Job, evaluate_pairs
from stickler_cli.runs.depth import room_for_depth
from stickler_cli.runs.progress import Observer


def run_local(
    job: Job, pairs: Iterable[DocumentPair], observers: Sequence[Observer] = ()
) -> Evaluation:
    """Evaluate pairs in their order; each observer sees every document."""
    evaluation = job.evaluation()
    with room_for_depth():
        for result in evaluate_pairs(job, pairs):
            evaluation.update(result)
            for observer in observers:
                observer.see(result)
    return evaluation
