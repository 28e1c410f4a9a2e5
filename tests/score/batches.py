"""Functions that make schemas and compared documents, for the tests of this directory."""

import numpy as np

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.comparison_view import counts_view, document_view
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.field_counts import CELL_SIZE, N_UNIT_COUNTS, read_confident_values

X = "x-aws-stickler-"
TEXT = {"type": "string"}


def an_object(**properties):
    """Return the schema of an object with these fields."""
    return {"type": "object", "properties": properties}


def a_list(items):
    """Return the schema of a list of `items`."""
    return {"type": "array", "items": items}


def cells_of(counts):
    """Return the cells for counts of units, (n_rows, CELL_SIZE).

    `counts` has the shape (3 counting modes, n_rows, 5 outcomes).
    """
    cells = np.zeros((counts.shape[1], CELL_SIZE), np.int64)
    cells[:, :N_UNIT_COUNTS] = counts.swapaxes(0, 1).reshape(len(cells), -1)
    return cells


def compare(plan, gt, pred, options=None):
    """Compare two documents; return the tree of units."""
    return tree_of(engine.compare(plan, [gt], [pred], options), 0)


def batch(plan, documents, options=None, status=Status.EVALUATED, *, confidences=(), **rest):
    """Compare documents together, and return them as a batch.

    `documents` maps ids to (ground truth, prediction). `confidences` has an entry for each
    document.
    """
    gts, preds = map(list, zip(*documents.values(), strict=True))
    account = engine.compare(plan, gts, preds, options, confidences)
    return batch_of_table(documents, account, status, **rest)


def annotated_batch(plan, documents):
    """Compare documents whose ground truths have annotations, and return them as a batch.

    `documents` maps ids to (ground truth, prediction). An annotation is a key such as `_labelled`.
    """
    truths, preds = map(list, zip(*documents.values(), strict=True))
    bare = [Unwrapper(plan.root)(truth, is_truth=True) for truth in truths]
    gold = [truth.gold for truth in bare]
    account = engine.compare(plan, [truth.value for truth in bare], preds, gold=gold)
    return batch_of_table(documents, account)


def batch_of_table(names, table, status=Status.EVALUATED, **rest):
    """Return compared documents with these ids as a batch."""
    results = [
        DocumentResult(name, status, score, **rest)
        for name, score in zip(names, table.document_scores.tolist(), strict=True)
    ]
    return Batch(results, table)


def not_compared(name, status=Status.FAILED, *problems, **rest):
    """Return a batch of one document that was not compared."""
    return Batch([DocumentResult(name, status, None, problems, **rest)])


def records(*batches):
    """Return the records of the documents of batches, as files have them."""
    blocks = Blocks()
    for part_batch in batches:
        blocks.add(part_batch)
    return [*blocks.records()]


def add_confidences(found, name, record):
    """Add the confidences of a document, from its record in files."""
    found.add([name], read_confident_values([record]))


def comparison_view(batch, *, recall_with_fd=False):
    """Return the results of a batch of one document as JSON values."""
    counts = counts_view(batch, recall_with_fd=recall_with_fd)
    return {
        "overall_score": batch.results[0].score,
        "confusion_matrix": {"fields": {}, **counts},
        **document_view(batch, 0),
    }


def evaluate(batches):
    """Return the evaluation of the documents of batches."""
    evaluation = Evaluation()
    for part_batch in batches:
        evaluation.add(part_batch)
    return evaluation
