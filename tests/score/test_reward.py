"""The score of each document, by a figure that the user chooses."""

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.gates import document_rewards, field_rewards, has_no_error, parse_aim
from .batches import TEXT, a_list, an_object, batch

PLAN = compile_schema(an_object(id=TEXT, lines=a_list(an_object(sku=TEXT, note=TEXT))))
BOTH = {"id": "a1", "lines": [{"sku": "x", "note": "y"}]}
DOCUMENTS = {
    "right": (BOTH, BOTH),
    "wrong": (BOTH, {"id": "zz", "lines": [{"sku": "x", "note": "y"}]}),
    "invented": ({"id": "a1"}, BOTH),
    "missed": (BOTH, {"lines": []}),
    "nothing": ({}, {"id": ""}),
}


def scores(text):
    counts = batch(PLAN, DOCUMENTS).counts
    return document_rewards(parse_aim(text), counts, len(DOCUMENTS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # TP, and FD + FA + FN: 3 and 0, 2 and 1 wrong, 1 and 2 invented, 0 and 3 missed
        ("f1", [1, 4 / 5, 2 / 4, 0, 1]),
        ("precision", [1, 2 / 3, 1 / 3, 0, 1]),
        ("recall", [1, 1, 1, 0, 1]),
        ("id.f1", [1, 0, 1, 0, 1]),
        ("lines.sku.f1>=0.5", [1, 1, 0, 0, 1]),
        ("lines.*.recall", [1, 1, 0, 0, 1]),
        ("overall:f1", [1, 2 / 3, 2 / 3, 0, 1]),
        ("id.score", [1, 0, 1, 0, 1]),
    ],
)
def test_a_rate_of_a_document_is_1_where_nobody_has_anything_and_0_where_one_has(text, expected):
    assert scores(text) == pytest.approx(expected)


def test_a_field_that_no_document_has_is_right():
    counts = batch(PLAN, {"nothing": ({}, {})}).counts

    assert field_rewards(counts, ("lines", "sku"), "f1", 1).tolist() == [1.0]
    assert field_rewards(counts, ("lines",), "f1", 1).tolist() == [1.0]


def test_a_document_is_faultless_if_no_value_and_no_whole_is_wrong():
    assert has_no_error(batch(PLAN, DOCUMENTS).counts) == [True, False, False, False, True]
    only = compile_schema({"type": "array", "items": TEXT})
    assert has_no_error(batch(only, {"one": (["a"], ["b"]), "two": (["a"], ["a"])}).counts) == [
        False,
        True,
    ]


def test_an_aim_is_a_figure_or_a_gate_on_one():
    aim = parse_aim(" overall_score >= 0.8 ")

    assert aim.is_score
    assert aim.has_limit
    assert (aim.passes(0.8), aim.passes(0.79)) == (True, False)
    assert not parse_aim("overall_score").has_limit
    assert parse_aim("id.accuracy").rate == "accuracy"
    assert parse_aim("id.score").rate == "f1"
    assert not parse_aim("id.score").is_score


@pytest.mark.parametrize(
    "text",
    [
        "tp",
        "documents.failed",
        "metric:x",
        "f1.lower",
        "f1<=0.5",
        "confidence.auroc",
        "id",
        "",
        "f2",
    ],
)
def test_what_is_no_figure_of_one_document_that_is_better_when_higher_is_refused(text):
    with pytest.raises(UsageError, match="argument 'of': "):
        parse_aim(text)


def test_the_figures_of_one_document_are_told_and_how_to_require_a_lowest_value():
    with pytest.raises(UsageError) as caught:
        parse_aim("tp")

    assert str(caught.value) == (
        "argument 'of': the value is 'tp', expected overall_score, or [set:][path.]metric, such as "
        "f1 or items.price.recall, where metric is one of precision, recall, f1, accuracy, score; "
        "to require a lowest value, write it after the metric, as in f1>=0.9"
    )
