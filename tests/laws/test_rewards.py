"""Laws for scores as rewards, whatever is predicted."""

import json
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.corrections import corrections
from stickler_cli import Scorer
from stickler_cli.api.scorer import compared
from .strategies import LEAVES, Scope, cases, json_values

ANYTHING = Scope(wrong=True)
OF_VALUES = Scope(kinds=(*LEAVES, "object"), undeclared=False)
PAIRED_BY_PLACE = Scope(kinds=(*LEAVES, "object", "tuple", "map"))
AIMS = ("f1", "overall_score", "recall", "precision", "aggregate:f1")


def scorer_of(case, aim="f1", reveal="all"):
    return Scorer(case.schema, of=aim, reveal=reveal, options=case.options)


@given(cases(ANYTHING), json_values | st.text() | st.binary(), st.sampled_from(AIMS))
def test_any_answer_has_a_reward_from_0_to_1(case, answer, aim):
    for pred in (answer, case.pred, json.dumps(case.pred)):
        scored = scorer_of(case, aim).score(case.gt, pred)

        assert 0.0 <= scored.score <= 1.0
        assert all(0.0 <= figure <= 1.0 for figure in scored.fields.values())
        assert len(scored.feedback) <= 2_000


@given(cases(ANYTHING, sides=3))
def test_together_and_alone_documents_have_the_same_reward(case):
    # If rules are inferred, a batch infers them from all of its ground truths, as a run does.
    scorer = scorer_of(case)._seeing(case.gts)  # noqa: SLF001 - one scorer with these rules
    together = scorer.score_batch(case.gts, case.preds)

    for gt, pred, reward in zip(case.gts, case.preds, together, strict=True):
        single = scorer.score(gt, pred)
        assert (single.score, single.passed, single.fields) == (
            reward.score,
            reward.passed,
            reward.fields,
        )
        assert single.feedback == reward.feedback
        assert reward.passed == (not reward.errors)


@given(cases(Scope()))
def test_the_truth_has_the_whole_reward(case):
    for aim in AIMS:
        scored = scorer_of(case, aim).score(case.gt, case.gt)

        assert (scored.score, scored.passed) == (1.0, True)


@given(cases(PAIRED_BY_PLACE), st.sampled_from(("f1", "overall_score")))
def test_to_correct_an_error_never_lowers_the_reward_where_no_list_is_paired_anew(case, of):
    scorer = scorer_of(case, of)
    before = scorer.score(case.gt, case.pred).score
    batch = compared(scorer.plan, [case.gt], [case.pred], case.options)
    better = [pred for _, pred in corrections(batch, 0, case.pred)]

    for pred, after in zip(
        better, scorer.score_batch([case.gt] * len(better), better), strict=True
    ):
        assert after.score >= before - 1e-9, pred


@given(cases(ANYTHING), st.sampled_from(("shape", "none")))
def test_feedback_has_no_text_of_the_ground_truth_that_may_not_be_told(case, reveal):
    marker = "qzx7 marker"

    def marked(value):
        match value:
            case dict():
                return {key: marked(child) for key, child in value.items()}
            case list():
                return [marked(child) for child in value]
            case str():
                return f"{marker} {value}"
        return value

    gt = marked(case.gt)
    scorer = scorer_of(case, reveal=reveal)
    scored = scorer.score(gt, case.pred)
    assert marker not in scored.feedback
    assert marker not in scorer.feedback([scored, scored])


@pytest.mark.slow
@settings(max_examples=2 * settings.default.max_examples)  # some have no errors
@given(cases(OF_VALUES, sides=3))
def test_with_nothing_revealed_feedback_depends_on_which_fields_are_wrong_alone(case):
    # If predictions are changed copies, the first is one of the third ground truth.
    scorer = scorer_of(case, reveal="none")
    first, two = scorer.score_batch(case.gts[:2], [case.pred] * 2)
    fields = [{name for name, value in score.fields.items() if value < 1} for score in (first, two)]
    assume(fields[0] == fields[1])
    assume({e.field for e in first.errors} == {e.field for e in two.errors})

    assert first.feedback == two.feedback


VALUE = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "paid": {"type": "boolean"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
            },
        },
    },
}
honest = st.fixed_dictionaries(
    {
        "vendor": st.text("abcdefghij", min_size=6, max_size=12),
        "date": st.dates().map(str),
        "total": st.integers(100, 10_000).map(lambda cents: cents / 100),
        "items": st.lists(
            st.fixed_dictionaries(
                {
                    "sku": st.text("ABCDEFGH", min_size=5, max_size=8),
                    "count": st.integers(10, 10**6),
                }
            ),
            min_size=2,
            max_size=5,
            unique_by=lambda item: item["sku"],
        ),
    }
)
PROMPT = (
    f"Extract the invoice as JSON by this schema:\n```json\n{json.dumps(VALUE)}\n```\nPage: ACME"
)


def repeated(value):
    match value:
        case dict():
            return {key: repeated(child) for key, child in value.items()}
        case list():
            return [repeated(child) for child in value for _ in range(2)]
        case str():
            return f"{value} {value}"
    return value


ATTACKS = {
    "empty": lambda gt: {},
    "nothing": lambda gt: None,
    "no text": lambda gt: "",
    "schema": lambda gt: VALUE,
    "schema as text": lambda gt: json.dumps(VALUE),
    "prompt": lambda gt: PROMPT,
    "many items": lambda gt: {"items": [{"sku": "A", "count": count} for count in range(1_000)]},
    "all items many times": lambda gt: {**gt, "items": gt["items"] * 50},
    "each item twice": lambda gt: {**gt, "items": [item for item in gt["items"] for _ in range(2)]},
    "repeated": repeated,
    "lists of all": lambda gt: {key: [field_value, field_value] for key, field_value in gt.items()},
    "any key": lambda gt: {**gt, **{f"key {number}": "ACME" for number in range(100)}},
    "each item with a wrong twin": lambda gt: {
        **gt,
        "items": [copy for item in gt["items"] for copy in (item, {"sku": "zz", "count": 0})],
    },
    "items crossed": lambda gt: {
        **gt,
        "items": [
            {"sku": item["sku"], "count": other["count"]}
            for item in gt["items"]
            for other in gt["items"]
        ],
    },
    "right and wrong at each place": lambda gt: {
        key: [field_value, "0000"] if key != "items" else field_value
        for key, field_value in gt.items()
    },
    "gold in the prediction": lambda gt: {
        key: {"_value": "0000", "_alternatives": [field_value]} for key, field_value in gt.items()
    },
    "all values in each text": lambda gt: {
        key: field_value if isinstance(field_value, list | float) else json.dumps(gt)
        for key, field_value in gt.items()
    },
}


@pytest.fixture(scope="module")
def scorer():
    return Scorer(VALUE)


@pytest.mark.slow
@given(gt=honest)
def test_no_trick_beats_an_honest_answer_with_one_error(scorer, gt):
    tricks = [attack(gt) for attack in ATTACKS.values()]
    honest_answers = [
        {**gt, "vendor": "0000"},
        {**gt, "total": gt["total"] + 10},
        {key: field_value for key, field_value in gt.items() if key != "date"},
        {**gt, "items": [{**gt["items"][0], "count": 1}, *gt["items"][1:]]},
    ]

    rewards_of_tricks = dict(zip(ATTACKS, rewards_of(scorer, gt, tricks), strict=True))
    least = min(rewards_of(scorer, gt, honest_answers))
    assert {name for name, reward in rewards_of_tricks.items() if reward > least} == set()


def rewards_of(scorer, gt, answers):
    """Return the rewards of several answers to the same ground truth."""
    return [scored.score for scored in scorer.score_batch([gt] * len(answers), answers)]


@given(gt=honest, right=st.sets(st.sampled_from(("vendor", "date", "total", "items"))))
def test_each_value_that_is_right_is_a_part_of_the_reward(scorer, gt, right):
    answers = [
        {key: gt[key] for key in sorted(right)[:n_right]} for n_right in range(len(right) + 1)
    ]
    rewards = rewards_of(scorer, gt, answers)

    assert all(fewer < larger for fewer, larger in pairwise(rewards))
