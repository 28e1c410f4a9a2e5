"""The one function behind the command line, the Python models and every runner."""

from dataclasses import replace

from stickler_cli.clients.rounds import answered
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.core.json_values import JsonObject


def compare(
    plan: Plan, gt: JsonObject, pred: JsonObject, options: Options | None = None
) -> ObjectComparison:
    """Compare two documents under a plan.

    The root is never atomic: an empty document is compared field by field like any other.

    Raises:
        ComparisonError: a comparator failed, or gave no finite number in [0, 1].
    """
    node = plan.root.resolve(None if is_absent(gt) else gt, None if is_absent(pred) else pred)
    if not isinstance(node, ObjectNode | MapNode):
        raise TypeError(f"the root of {plan.model_name} is not an object")
    options = options or Options()
    if not plan.asks_models:
        return node.compare_fields(gt, pred, options)
    options = replace(options, asks_models=True)
    return answered(lambda: node.compare_fields(gt, pred, options))
