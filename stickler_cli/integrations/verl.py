"""verl: the function `compute_score`, for the setting `custom_reward_function`.

The argument `schema` is given in the setting `reward_kwargs` (see docs/integrations.md).
"""

from stickler_cli.api.scorer import scorer_for


def compute_score(  # noqa: PLR0913 - four of them are verl's
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: object = None,
    *,
    schema: str,
    of: str = "f1",
) -> dict[str, float]:
    """Return the score of an answer, whether it passes, and the figure of each field."""
    scored = scorer_for(schema, of).score(ground_truth, solution_str)
    return {"score": scored.score, "passed": float(scored.passed), **scored.fields}
