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
    """Compare an answer with a ground truth, and return the score and the figures of the fields.

    The key `score` has the score of the answer. The key `passed` is 1.0 if the answer passes,
    else 0.0. All other keys are field paths, with the F1 (or the rate in `of`) of the field.
    """
    scored = scorer_for(schema, of).score(ground_truth, solution_str)
    return {"score": scored.score, "passed": float(scored.passed), **scored.fields}
