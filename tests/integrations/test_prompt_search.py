"""A search for a prompt takes fewer calls with feedback than with scores alone.

No model is asked. The function that extracts follows the rules in its prompt. The function that
writes prompts adds the rule that the feedback calls for, or any other rule if there is no feedback.
"""

import json
from itertools import cycle

import pytest

from stickler_cli import Scorer
from stickler_cli.integrations.gepa import evaluator

TEXT = {
    "type": "string",
    "x-aws-stickler-comparator": "LevenshteinComparator",
    "x-aws-stickler-threshold": 1.0,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "vendor": TEXT,
        "date": {"type": "string", "x-aws-stickler-comparator": "DateComparator"},
        "total": TEXT,
        "items": {"type": "array", "items": TEXT},
    },
}
PAGES = [
    {
        "ground_truth": {
            "vendor": f"{name} Trading Company",
            "date": f"2025-0{index + 1}-1{index}",
            "total": f"{index}2.50",
            "items": [f"{name} bolt", f"{name} nut", f"{name} washer"],
        }
    }
    for index, name in enumerate(("Acme", "Bolton", "Cedar", "Delta"))
]
NEEDED = {
    "cut short": "Write the vendor's name in full.",
    "day and month swapped": "Dates are year, month, day: the day comes last.",
    "an extra currency symbol": "Leave out currency symbols.",
    "missed": "List every item, not only the first.",
}
"""Maps a phrase of the feedback to the rule that prevents the error."""

USELESS = [
    f"Rule {index}: {feedback_text}."
    for index, feedback_text in enumerate(
        ("be brief", "be kind", "think", "check", "count", "sort", "quote", "stop")
    )
]
START = "Extract the invoice."


def extract(prompt, page):
    """Return a prediction that follows the rules in the prompt.

    For each rule that the prompt lacks, the prediction has a usual mistake of models.
    """
    truth = page["ground_truth"]
    year, month, day = truth["date"].split("-")
    phrases = {phrase for phrase, rule in NEEDED.items() if rule in prompt}
    return {
        "vendor": truth["vendor"] if "cut short" in phrases else truth["vendor"].split()[0],
        "date": truth["date"] if "day and month swapped" in phrases else f"{year}-{day}-{month}",
        "total": truth["total"] if "an extra currency symbol" in phrases else f"${truth['total']}",
        "items": truth["items"] if "missed" in phrases else truth["items"][:1],
    }


def calls_until_perfect(*, feedback):
    """Return how many extractions gepa judges until the prompt is perfect."""
    from gepa.optimize_anything import EngineConfig, GEPAConfig, ReflectionConfig, optimize_anything

    judge = evaluator(Scorer(SCHEMA), extract)
    judged = []
    rules = cycle([*USELESS, *NEEDED.values()])

    def evaluate(candidate, example):
        score, side = judge(candidate, example)
        judged.append(candidate)
        return score, side if feedback else {"score": score}

    def writer(request):
        text = str(request)
        current = text.partition("```\n")[2].partition("\n```")[0]
        read = [rule for phrase, rule in NEEDED.items() if phrase in text and rule not in current]
        return f"```\n{current}\n{read[0] if read else next(rules)}\n```"

    result = optimize_anything(
        START,
        evaluator=evaluate,
        dataset=PAGES,
        config=GEPAConfig(
            engine=EngineConfig(max_metric_calls=600, parallel=False, seed=1),
            reflection=ReflectionConfig(reflection_lm=writer),
        ),
    )
    assert max(result.val_aggregate_scores) == 1.0
    perfect = next(prompt for prompt in judged if all(rule in prompt for rule in NEEDED.values()))
    return judged.index(perfect)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_with_feedback_a_prompt_is_perfect_after_fewer_calls_than_with_the_score_alone():
    pytest.importorskip("gepa", reason="gepa IS NOT INSTALLED: no prompt is optimised")

    with_feedback, blind = (calls_until_perfect(feedback=is_shown) for is_shown in (True, False))

    assert with_feedback < blind, (with_feedback, blind)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_gepa_of_dspy_finds_the_prompt_by_the_feedback_of_the_metric(tmp_path, monkeypatch):
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path))
    dspy = pytest.importorskip("dspy", reason="DSPy IS NOT INSTALLED: no prompt is optimised")
    from dspy.utils import DummyLM

    from stickler_cli.integrations.dspy import metric

    class Scripted(dspy.Adapter):
        def __call__(self, lm, lm_kwargs, signature, demos, inputs):
            return [{"invoice": json.dumps(extract(signature.instructions, inputs["page"]))}]

    def writer(candidate, reflective_dataset, components_to_update):
        (name,) = components_to_update
        feedback = str([example["Feedback"] for example in reflective_dataset[name]])
        rules = [rule for phrase, rule in NEEDED.items() if phrase in feedback]
        missing = (rule for rule in rules if rule not in candidate[name])
        return {name: f"{candidate[name]}\n{next(missing, '')}"}

    examples = [
        dspy.Example(page=page, invoice=page["ground_truth"]).with_inputs("page") for page in PAGES
    ]
    judge = metric(Scorer(SCHEMA), "invoice")
    with dspy.context(lm=DummyLM([]), adapter=Scripted()):
        optimized = dspy.GEPA(
            judge, max_metric_calls=60, instruction_proposer=writer, seed=1, num_threads=1
        ).compile(dspy.Predict(dspy.Signature("page -> invoice", START)), trainset=examples)

    assert all(rule in optimized.signature.instructions for rule in NEEDED.values())


def test_the_toy_is_perfect_with_all_rules_and_without_any_it_errs_in_all_these_ways():
    scorer = Scorer(SCHEMA)
    for page in PAGES:
        truth = page["ground_truth"]
        feedback = scorer.score(truth, extract(START, page)).feedback
        assert all(phrase in feedback for phrase in NEEDED)
        assert scorer.score(truth, extract(" ".join(NEEDED.values()), page)).score == 1.0
