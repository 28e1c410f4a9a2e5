"""`Scorer`: predictions of any shape, batches, pickling, threads, and requested figures."""

import json
import pickle
import threading
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from stickler_cli import BaseComparator, EvalSpec, Options, Scorer, UsageError, eval_for, evaluate


class Line(BaseModel):
    sku: str
    count: int


class Order(BaseModel):
    id: str
    total: float | None = None
    lines: list[Line] = []


GT = {"id": "A-17", "total": 9.5, "lines": [{"sku": "bolt", "count": 4}]}
SCORER = Scorer(Order)


@dataclass
class Plain:
    id: str
    total: float


def nest_value(value, levels):
    for _ in range(levels):
        value = {"id": value}
    return value


def in_itself():
    value = {"id": "A-17"}
    value["lines"] = [value]
    return value


def kind_named(value):
    return type(value).__name__


class Hostile(dict):
    def items(self):
        raise RuntimeError

    keys = values = __iter__ = items


def test_a_score_is_f1_of_values_and_more_is_made_when_it_is_asked_for():
    scored = SCORER.score(GT, {"id": "A-17", "total": 8.5, "lines": [{"sku": "bolt"}]})

    assert scored.score == pytest.approx(4 / 6)
    assert not scored.passed
    assert scored.problem == ""
    assert scored.fields == {"id": 1.0, "total": 0.0, "lines.sku": 1.0, "lines.count": 0.0}
    assert [(error.path, error.outcome) for error in scored.errors] == [
        ("total", "FD"),
        ("lines[0]", "FD"),
        ("lines[0].count", "FN"),
    ]
    assert scored.feedback.startswith("2 of 4 values right.\n")
    assert repr(scored) == "Scored(score=0.6666666666666666, passed=False)"


def test_a_scorer_can_be_called_and_says_what_it_judges_by():
    pred = {**GT, "total": 8.5}

    assert SCORER(GT, pred).score == SCORER.score(GT, pred).score == 6 / 7
    assert repr(SCORER) == "Scorer('Order', 4 fields, of='f1')"
    assert repr(eval_for(Order)) == repr(SCORER)
    rules = {"total": {"weight": 2.0}}
    gated = Scorer(Order, of="total.f1 >= 0.9", fields=rules)
    assert repr(gated) == "Scorer('Order', 4 fields, of='total.f1 >= 0.9')"


def test_a_scorer_does_all_that_a_spec_does():
    assert EvalSpec is Scorer
    assert isinstance(eval_for(Order), Scorer)
    assert SCORER.evaluate(GT, GT).to_dict() == evaluate(GT, GT, schema=Order).to_dict()
    assert SCORER.explain() == eval_for(Order).explain()


@pytest.mark.parametrize(
    "pred",
    [
        GT,
        Order(**GT),
        json.dumps(GT),
        json.dumps(GT).encode(),
        bytearray(json.dumps(GT), "utf-8"),
        f"Here it is:\n```json\n{json.dumps(GT)}\n```\nI hope this helps.",
        [GT],
        json.dumps([GT]),
        json.dumps(json.dumps(GT)),
        {**GT, "lines": ({"sku": "bolt", "count": 4},)},
    ],
)
def test_a_prediction_may_come_in_many_forms(pred):
    scored = SCORER.score(json.dumps(GT), pred)

    assert (scored.score, scored.passed, scored.errors) == (1.0, True, ())


class Silent:
    """An object whose `repr` fails."""

    def __repr__(self):
        raise ValueError


def test_what_cannot_say_what_it_is_is_a_wrong_value():
    (error,) = SCORER.score(GT, {**GT, "id": Silent()}).errors

    assert (error.path, error.outcome, error.pred) == ("id", "FD", "<Silent>")


@pytest.mark.parametrize(
    "pred",
    [
        "",
        "I cannot do that.",
        "```json\n{'id': 1\n```",
        '{"id": "A-17"',
        b"\xff\xfe",
        "\ud800",
        5,
        True,
        float("nan"),
        object(),
        [],
        [GT, GT],
        [[GT]],
        Order,
        print,
        Silent(),
        nest_value("x", 5_000),
        "[" * 5_000,
    ],
    ids=kind_named,
)
def test_what_is_no_document_has_score_0_and_says_why(pred):
    scored = SCORER.score(GT, pred)

    assert (scored.score, scored.passed) == (0.0, False)
    assert scored.problem.startswith("the answer of the model")
    assert set(scored.fields.values()) == {0.0}
    assert scored.errors == ()
    assert scored.feedback == f"Nothing to compare: {scored.problem}."


@pytest.mark.parametrize(
    "pred",
    [
        None,
        {},
        {"id": object()},
        {1: 2, None: 3, (4, 5): 6},
        {"id": float("inf"), "total": float("nan")},
        {"id": {1, 2}, "total": b"\xff", "lines": (letter for letter in "ab")},
        {"id": "\ud800", "total": 10**5000},
        {"id": [[[]]], "total": {"a": {}}, "lines": "no list"},
        in_itself(),
        Hostile(id="A-17"),
        Plain("zz", 1.0),
    ],
    ids=kind_named,
)
def test_nothing_that_a_prediction_holds_raises(pred):
    scored = SCORER.score(GT, pred)

    assert 0.0 <= scored.score < 1.0
    assert not scored.passed
    assert scored.feedback


def test_nothing_on_either_side_is_1():
    for figure in ("f1", "overall_score", "lines.sku.recall", "total.score"):
        for pred in ({}, None, "{}", {"lines": []}):
            scored = Scorer(Order, of=figure).score({}, pred)
            assert (scored.score, scored.passed) == (1.0, True)


def test_a_batch_gives_what_each_gives_alone():
    preds = [GT, "no", {"id": "B"}, None, {**GT, "lines": []}, 5, {}]
    together = SCORER.score_batch([GT] * len(preds), preds)

    assert [pickle.dumps(score) for score in together] == [
        pickle.dumps(SCORER.score(GT, pred)) for pred in preds
    ]
    assert SCORER.score_batch([], []) == []
    with pytest.raises(ValueError, match="there are 1 ground truths but 2 predictions"):
        SCORER.score_batch([GT], [GT, GT])


def test_a_ground_truth_that_is_no_document_is_an_error():
    with pytest.raises(TypeError, match="gt is of type int"):
        SCORER.score(5, GT)
    with pytest.raises(UsageError, match="the ground truth, line 1, column 1: not valid JSON"):
        SCORER.score("no", GT)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id": 1,\n"total"}', ", line 2, column 8: not valid JSON: unexpected character"),
        (b"\xd7", ", line 1, column 1: the text is not UTF-8: byte 0xd7 is not allowed here"),
        ("", ": the text is empty, expected a JSON object"),
        ("[{}, {}]", ": the document is of type array, expected a JSON object"),
    ],
)
def test_a_text_that_is_no_document_is_told_without_files_and_options(text, problem):
    with pytest.raises(UsageError) as caught:
        SCORER.score(text, GT)

    assert str(caught.value).startswith(f"the ground truth{problem}")
    assert SCORER.score(GT, text).problem.startswith(f"the answer of the model{problem}")
    for message in (str(caught.value), SCORER.score(GT, text).problem):
        assert "file" not in message


def test_two_ground_truths_in_one_text_are_told_where_the_second_begins():
    with pytest.raises(UsageError) as caught:
        SCORER.score("{}\n{}", GT)

    assert str(caught.value) == (
        "the ground truth, line 2, column 1: not valid JSON: unexpected content after document"
    )


@pytest.mark.parametrize(
    ("figure", "score", "passed"),
    [
        ("overall_score", 0.5, False),
        ("overall_score>=0.5", 0.5, True),
        ("f1>0.7", 2 / 3, False),
        ("id.f1>=1", 1.0, True),
        ("total.f1>=1", 0.0, False),
    ],
)
def test_the_figure_of_a_gate_may_be_the_score(figure, score, passed):
    scored = Scorer(Order, of=figure).score({"id": "A", "total": 1}, {"id": "A", "total": 2})

    assert scored.score == pytest.approx(score)
    assert scored.passed is passed


def test_options_are_those_of_a_comparison():
    ignoring = Scorer(Order, options=Options(extra_fields="ignore"))
    pred = {**GT, "more": 1}

    assert (SCORER.score(GT, pred).passed, ignoring.score(GT, pred).passed) == (False, True)
    weighed = Scorer(Order, of="overall_score", fields={"id": {"weight": 3.0}})
    assert weighed.score({"id": "a1", "total": 1}, {"id": "a1", "total": 2}).score == 0.75


def test_a_schema_of_arrays_takes_arrays():
    scorer = Scorer({"type": "array", "items": {"type": "string"}})

    assert scorer.score(["a"], '```["a"]```').score == 1.0
    assert scorer.score([], None).score == 1.0
    assert scorer.score(["a"], {"a": 1}).problem == (
        "the answer of the model: the value is of type object, expected a JSON array"
    )
    assert scorer.score(["a"], ["b"]).fields == {}


class Fragile(BaseComparator):
    """A comparator that fails if the prediction is "boom"."""

    def compare(self, gt, pred):
        if pred == "boom":
            raise RuntimeError("it was secret")
        return float(gt == pred)


def test_where_a_comparison_fails_that_prediction_has_score_0():
    fields = {"id": {"comparator": Fragile(threshold=0.5)}}
    preds = [{"id": "a"}, {"id": "boom"}, {"id": "b"}]
    scored = Scorer(Order, fields=fields).score_batch([{"id": "a"}] * 3, preds)

    assert [score.score for score in scored] == [1.0, 0.0, 0.0]
    assert "it was secret" in scored[1].problem
    assert scored[2].problem == ""
    hidden = Scorer(Order, fields=fields, reveal="shape").score({"id": "a"}, {"id": "boom"})
    assert hidden.feedback == "Nothing to compare: the answer of the model could not be compared."


@pytest.mark.parametrize(("answer", "state"), [("", "empty"), (b" \n", "blank")])
def test_an_answer_without_text_is_called_so(answer, state):
    problem = f"the answer of the model: the text is {state}, expected a JSON object"

    assert SCORER.score(GT, answer).problem == problem


def test_too_much_work_is_score_0():
    scorer = Scorer(Order, options=Options(work_limit=1e-9))

    assert "takes more work than" in scorer.score(GT, GT).problem


def copied(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - its own


def test_scorers_and_what_they_say_can_be_pickled():
    again = copied(Scorer(Order, of="overall_score", reveal="none"))
    scored = again.score(GT, {"id": "A-17"})
    kept = copied(scored)

    plain = Scorer(Order, of="overall_score").score(GT, {"id": "A-17"})
    assert kept.score == scored.score == plain.score
    for name in ("passed", "problem", "fields", "errors", "feedback"):
        assert getattr(kept, name) == getattr(scored, name)
    assert len(pickle.dumps(scored)) < 2_000


@pytest.mark.slow
def test_threads_may_share_a_scorer():
    scorer = Scorer(Order)
    preds = [{**GT, "total": float(index % 3)} for index in range(60)]
    pickles = [pickle.dumps(scorer.score(GT, pred)) for pred in preds]
    pickles_by_thread = [[] for _ in range(4)]

    def judge(into):
        into += (pickle.dumps(score) for score in scorer.score_batch([GT] * len(preds), preds))

    threads = [threading.Thread(target=judge, args=(into,)) for into in pickles_by_thread]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert pickles_by_thread == [pickles] * 4


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: Scorer(GT, GT),
            r"Scorer takes only a schema and keyword arguments; evaluate\(gt, pred\)",
        ),
        (lambda: Scorer(Order(**GT)), r"schema is Order\(.* expected a pydantic class"),
        (lambda: Scorer(int), "schema is the class int, expected a pydantic class"),
        (lambda: Scorer(None), "schema is None"),
        (
            lambda: Scorer(Order, reveal="shapes"),
            "argument 'reveal': the value is 'shapes'.*did you mean shape",
        ),
        (lambda: Scorer(Order, budget=-1), "argument 'budget': the value is -1"),
        (lambda: Scorer(Order, budget=1.5), "argument 'budget': the value is 1.5"),
        (
            lambda: Scorer(Order, of="f2"),
            "argument 'of': 'f2' names the metric f2, which does not exist, .* write f2.f1$",
        ),
        (
            lambda: Scorer(Order, of="totl.f1"),
            "^argument 'of': 'totl.f1' names the field totl, .* mean total.f1\\?$",
        ),
    ],
)
def test_a_scorer_that_is_made_wrongly_says_how(call, expected):
    with pytest.raises((TypeError, UsageError), match=expected):
        call()


def test_other_figures_of_a_judgement_can_be_asked_for():
    scored = SCORER.score(GT, {**GT, "total": 1})

    assert scored.judged("id.f1>=1") == (1.0, True)
    assert scored.judged("total.f1") == (0.0, False)
    assert scored.judged("overall_score>=0.5") == (pytest.approx(2 / 3), True)
    assert SCORER.score(GT, "no").judged("f1>=0") == (0.0, True)
    with pytest.raises(UsageError, match=r"^argument 'of': .* the field totl.* total.f1>=1\?$"):
        scored.judged("totl.f1>=1")
    assert scored.explain() == SCORER.evaluate(GT, {**GT, "total": 1}).comparison.explain(
        "errors", 100
    )
    assert SCORER.score(GT, "no").explain().startswith("Nothing to compare")


def test_judgements_make_a_run():
    scored = SCORER.score_batch([GT, GT, GT], [GT, "no", {**GT, "total": 1}])
    evaluation = SCORER.evaluation(dict(zip("abc", scored, strict=True)))

    run = json.loads(evaluation.report("json"))
    assert run["documents"]["evaluated"] == 2
    assert [(document["id"], document["score"]) for document in run["per_document"]] == [
        ("a", 1.0),
        ("b", None),
        ("c", pytest.approx(2 / 3)),
    ]
