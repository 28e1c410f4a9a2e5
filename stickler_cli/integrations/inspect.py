"""A scorer for the evaluation framework Inspect. It gives a value for each field."""

from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from stickler_cli.api.scorer import scorer_for


@scorer(metrics={"*": [mean(), stderr()]})
def extraction(schema: str, of: str = "f1") -> Any:
    """Return an Inspect scorer that compares completions with targets.

    `schema` is the path of the schema file. The target of a sample is the ground truth as JSON.
    `of` names the figure that is used as the score, such as `f1`.
    """

    async def score(state: Any, target: Any) -> Score:
        answer = state.output.completion
        scored = scorer_for(schema, of).score(target.text, answer)
        value = {"score": scored.score, "passed": scored.passed, **scored.fields}
        reason = "invalid_response_format" if scored.problem else None
        return Score(value=value, answer=answer, explanation=scored.feedback, reason=reason)

    return score
