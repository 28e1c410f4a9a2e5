"""Feedback: its sentences on errors, their order, and how much of the ground truth they show."""

import pytest

from stickler_cli import Scorer

LETTERS = {
    "type": "string",
    "x-aws-stickler-comparator": "LevenshteinComparator",
    "x-aws-stickler-threshold": 1.0,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {"type": "string", "x-aws-stickler-comparator": "DateComparator"},
        "vendor": {"type": "string"},
        "total": {**LETTERS, "x-aws-stickler-weight": 3},
        "rates": {"type": "object", "additionalProperties": {"type": "string"}},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
            },
        },
    },
}
GT = {
    "date": "2025-06-07",
    "vendor": "ACME Incorporated",
    "total": "12.50",
    "rates": {"secret_key": "nine", "k": "one"},
    "lines": [{"sku": "bolt", "count": 4}, {"sku": "nut", "count": 5}, {"sku": "gear", "count": 6}],
}
PRED = {
    "date": "2025-07-06",
    "total": "$12.50",
    "rates": {"k": "one"},
    "lines": [{"sku": "bolt", "count": 44}, {"sku": "XYZZY QUX", "count": 77}],
    "made_up": "hm",
}


def feedback(gt=GT, pred=PRED, **options):
    return Scorer(SCHEMA, **options).score(gt, pred).feedback


def test_feedback_names_what_is_wrong_worst_first():
    assert feedback().splitlines() == [
        "2 of 11 values right.",
        'lines: 2 items missed: {"sku": "nut", "count": 5}; {"sku": "gear", "count": 6}',
        'total: expected "12.50", got "$12.50" (an extra currency symbol)',
        'lines: 1 item invented: {"sku": "XYZZY QUX", "count": 77}',
        'date: expected "2025-06-07", got "2025-07-06" (day and month swapped)',
        'vendor: missed, expected "ACME Incorporated"',
        'rates.secret_key: missed, expected "nine"',
        "lines[0].count: expected 4, got 44",
        'made_up: expected nothing, got "hm"',
    ]


def test_of_a_document_without_errors_it_says_what_is_right():
    assert feedback(pred=GT) == "All is right, 11 values: date, vendor, total, rates, lines."
    assert feedback({}, {}) == "All is right, 0 values: there is nothing to extract."


def test_the_shape_has_no_value_of_the_ground_truth_and_no_key_that_only_it_has():
    feedback_text = feedback(reveal="shape")

    assert "lines: 2 items missed\n" in feedback_text
    assert "vendor: missed, expected a text" in feedback_text
    assert "rates.*: missed, expected a text" in feedback_text
    assert "(day and month swapped)" in feedback_text
    for secret in ("ACME", "secret", "nine", "nut", "gear", "06-07"):
        assert secret not in feedback_text


def test_with_nothing_revealed_an_object_that_one_side_lacks_is_not_told_from_a_wrong_one():
    seller = {"type": "object", "properties": {"name": {"type": "string"}}}
    scorer = Scorer({"type": "object", "properties": {"seller": seller}}, reveal="none")
    pred = {"seller": {"name": "Bolt"}}

    wrong, invented = (scorer.score(gt, pred) for gt in ({"seller": {"name": "ACME"}}, {}))
    assert wrong.feedback == invented.feedback == "Look again at: seller.name."


def test_with_nothing_revealed_only_fields_are_named():
    assert feedback(reveal="none") == (
        "Look again at: date, vendor, total, rates.*, lines.sku, lines.count, "
        "keys that the schema does not declare."
    )
    assert feedback(pred=GT, reveal="none") == "All is right."
    other = {**GT, "date": "1999-01-01", "vendor": "Someone Else", "total": "1"}
    assert feedback(other, reveal="none") == feedback(reveal="none")


@pytest.mark.slow
@pytest.mark.parametrize("reveal", ["all", "shape", "none"])
@pytest.mark.parametrize("budget", [0, 1, 10, 40, 100, 300, 10_000])
def test_it_takes_no_more_characters_than_it_may(budget, reveal):
    feedback_text = feedback(budget=budget, reveal=reveal)

    assert len(feedback_text) <= budget
    assert feedback_text == feedback(budget=budget, reveal=reveal)
    if 40 <= budget <= 300 and reveal == "all":
        assert feedback_text.endswith(" more")


def test_of_many_documents_it_names_causes():
    scorer = Scorer(SCHEMA)
    pairs = [({"total": f"{index}.50"}, {"total": f"${index}.50"}) for index in range(6)]
    pairs += [({"vendor": "ACME Ltd"}, {"vendor": "ACME Ltd"}), ({"vendor": "Bee"}, {})]
    batch = scorer.score_batch(*zip(*pairs, strict=True))

    assert scorer.feedback(batch).splitlines() == [
        "1 of 8 documents right.",
        'in 6 of 8 documents total: an extra currency symbol, such as "$0.50" is "0.50"',
        'in 1 of 8 documents vendor: missed, such as "Bee"',
    ]
    shape = Scorer(SCHEMA, reveal="shape")
    assert 'such as "$0.50"\n' in shape.feedback(batch)
    assert "Bee" not in shape.feedback(batch)
    none = Scorer(SCHEMA, reveal="none")
    assert none.feedback(batch) == "Look again at: vendor, total."
    lost = [*batch, scorer.score({}, "no")]
    line = "in 1 of 9 documents, there is no answer to compare"
    assert scorer.feedback(lost).splitlines()[:2] == ["1 of 9 documents right.", line]
    assert none.feedback(lost) == f"{line}\nLook again at: vendor, total."
    assert none.feedback(lost[-1:]) == line.replace("9 documents", "1 document")
    assert scorer.feedback([]) == "0 of 0 documents right."


@pytest.mark.parametrize(
    ("gt", "pred", "reason"),
    [
        ("Acme Co Berlin", "ACME CO BERLIN", "only upper and lower case differ"),
        ("Acme Co Berlin", "AcmeCo  Berlin", "spaces differ"),
        ("Acme Co Berlin", "Acme Co", "cut short"),
    ],
)
def test_how_a_value_is_wrong_is_said(gt, pred, reason):
    schema = {
        "type": "object",
        "properties": {"a": {**LETTERS, "x-aws-stickler-comparator-config": {"normalize": False}}},
    }
    assert f"({reason})" in Scorer(schema).score({"a": gt}, {"a": pred}).feedback


def test_an_item_that_is_wrong_as_a_whole_is_told_by_its_values():
    items = {**SCHEMA["properties"]["lines"]["items"], "x-aws-stickler-match-threshold": 1.0}
    lines = {"type": "array", "items": items}
    scorer = Scorer({"type": "object", "properties": {"lines": lines}})
    scored = scorer.score({"lines": [{"sku": "bolt", "count": 4}]}, {"lines": [{"sku": "bolt"}]})

    assert "lines[0].count: missed, expected 4" in scored.feedback
    assert "lines[0]:" not in scored.feedback
