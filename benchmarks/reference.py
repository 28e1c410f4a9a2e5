"""Evaluate two directories with stickler-eval's bulk evaluator: `reference.py SCHEMA GT PRED`.

Run it as a script with a Python that has stickler-eval; it imports nothing else. It also prints the
seconds that the documents took, without the time to load the library.
"""

import contextlib
import json
import sys
import time
from pathlib import Path

from stickler.structured_object_evaluator.bulk_structured_model_evaluator import (
    BulkStructuredModelEvaluator,
)
from stickler.structured_object_evaluator.models.structured_model import StructuredModel

schema, gts, preds = map(Path, sys.argv[1:])
model = StructuredModel.from_json_schema(json.loads(schema.read_text("utf-8")))
start = time.perf_counter()
evaluator = BulkStructuredModelEvaluator(target_schema=model, document_non_matches=False)
with contextlib.redirect_stdout(sys.stderr):  # it prints advice on large lists
    for gt in sorted(gts.iterdir()):
        pred = preds / gt.name
        evaluator.update(
            model(**json.loads(gt.read_text("utf-8"))),
            model(**json.loads(pred.read_text("utf-8"))),
        )
    evaluation = evaluator.compute()
if evaluation.errors:
    sys.exit(f"stickler-eval failed: {evaluation.errors[0]}")
outcomes = ("tp", "fd", "fa", "fn", "tn")
nodes = {"": evaluation.metrics, **evaluation.field_metrics}
print(
    json.dumps(
        {
            "comparing": time.perf_counter() - start,
            "documents": evaluation.document_count,
            "score": evaluation.metrics["weighted_overall_score"],
            "counts": {
                path: [int(node.get(outcome, 0)) for outcome in outcomes]
                for path, node in sorted(nodes.items())
            },
        }
    )
)
