"""promptfoo: `get_assert`. A file of the user's project imports it (docs/integrations.md)."""

from collections.abc import Mapping
from typing import Any

from stickler_cli.api.scorer import scorer_for


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade an output for promptfoo. The result has the score and the figure of each field."""
    config = context.get("config") or {}
    truth = context["vars"][config.get("truth", "ground_truth")]
    scored = scorer_for(config["schema"], config.get("of", "f1")).score(truth, output)
    return {
        "pass": scored.passed,
        "score": scored.score,
        "reason": scored.feedback,
        "namedScores": scored.fields,
    }
