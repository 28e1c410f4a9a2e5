"""Texts that are JSON are compared by the values in them."""

import json

import numpy as np
import pytest

from stickler_cli.comparators.exact import CaseInsensitiveComparator
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import compare
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.json_text import JsonTextNode, with_read_texts
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import Alternative, Gold
from .nodes import a_list, alike, an_object, compared, exact, number, table, text

CONTENT = an_object(threshold=0.7, match_threshold=0.4, id=exact(), n=number(1.0))
AS_WRITTEN = LeafNode(threshold=1.0, comparator=CaseInsensitiveComparator())
NODE = JsonTextNode(threshold=0.7, weight=3.0, content=CONTENT, text=AS_WRITTEN)


def as_text(**value):
    return json.dumps(value)


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        (as_text(id="A", n=1), '{"n":1,"id":"A"}', 1.0),
        (as_text(id="A", n=1), as_text(id="A", n=2), 0.5),
        (as_text(id="A", n=1), {"id": "A", "n": 1}, 1.0),
        ({"id": "A", "n": 1}, as_text(id="A", n=1), 1.0),
        (as_text(id="A", n=1), '{"id": "A", "n": 1', 0.0),
        (as_text(id="A", n=1), 5, 0.0),
        ("none", "None", 1.0),
        ("none", as_text(id="A"), 0.0),
        (as_text(id="A"), None, 0.0),
        (None, "{}", 1.0),
    ],
)
def test_a_text_is_as_similar_as_the_values_in_it(gt, pred, similarity):
    assert alike(NODE, gt, pred) == similarity
    assert table(NODE, [gt], [pred]) == [[similarity]]


def test_what_is_no_json_is_one_wrong_value():
    wrong = compared(NODE, as_text(id="A", n=1), "A, 1")

    assert wrong.outcome is Outcome.FD
    assert [*wrong.fields] == []


def test_elements_that_are_texts_of_json_are_paired_by_their_content():
    # (1 + 0.5) / 2: the second pair differs in one of two fields, which meets 0.4.
    gt = [as_text(id="A", n=1), as_text(id="B", n=2)]
    pred = [as_text(id="B", n=3), as_text(n=1, id="A")]

    assert alike(a_list(NODE), gt, pred) == 0.75
    assert alike(a_list(NODE), [*gt, "x"], [*pred, "x"]) == pytest.approx(2.5 / 3)
    assert NODE.item_threshold == 0.4
    assert NODE.source_for(gt[0]) == CONTENT.source_for({"id": "A", "n": 1})


def test_an_element_has_the_threshold_of_its_content_or_of_its_text():
    columns = Columns([as_text(id="A"), "none"], [])

    assert NODE.element_thresholds(columns, np.array([0, 1])).tolist() == [0.4, 1.0]


def test_a_value_leads_to_the_node_of_its_content():
    assert NODE.node_for(as_text(id="A")) is CONTENT
    assert NODE.node_for("A") is NODE.text
    assert not NODE.counts_as_absent(as_text(id="A"))


def plan():
    return Plan(an_object(p=NODE, q=text()), "documents")


def test_its_fields_are_those_of_its_content():
    rows = [(row.field, row.kind) for row in field_listing(plan())]

    assert rows == [
        (("p",), "JSON text"),
        (("p", "id"), "leaf"),
        (("p", "n"), "leaf"),
        (("q",), "leaf"),
    ]


def test_an_alternative_may_be_a_text_of_json():
    gold = Gold()
    own_gold = Gold()
    own_gold.alternatives = (Alternative(as_text(id="A"), None), Alternative(as_text(id="B"), None))
    gold.children = {"p": own_gold}
    gt, pred = {"p": as_text(id="A")}, {"p": as_text(id="B")}

    assert compare(plan(), [gt], [pred]).document_scores.tolist() == [0.0]
    assert compare(plan(), [gt], [pred], gold=[gold]).document_scores.tolist() == [1.0]


def test_the_confidence_of_a_text_is_that_of_the_values_in_it():
    content = an_object(n=number(1.0), tags=a_list(exact()))
    documents = Plan(
        an_object(p=JsonTextNode(threshold=0.7, content=content, text=AS_WRITTEN)), "documents"
    )
    gt = {"p": as_text(n=1, tags=["x"])}

    for stated in (0.9, {"n": 0.9, "tags": [0.9]}, None):
        account = compare(documents, [gt, gt], [gt, {"p": 5}], confidences=[{"p": stated}, None])
        assert account.document_scores.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        ({"a": {"b": 1}}, {"a": '{"b": 2}'}, {"a": {"b": 2}}),
        ({"a": [1]}, {"a": "[2]"}, {"a": [2]}),
        ({"a": [1]}, {"a": '{"b": 2}'}, None),
        ({"a": "x"}, {"a": "[2]"}, None),
        ({"a": [{"b": [1]}]}, {"a": [{"b": "[2]"}, {"b": "[3]"}]}, {"a": [{"b": [2]}, {"b": [3]}]}),
        ({"a": [{"b": 1}]}, {"a": ['{"b": 2}']}, {"a": [{"b": 2}]}),
        ({"a": ["x"]}, {"a": ["[2]"]}, None),
        ({"a": []}, {"a": ["[2]"]}, None),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, None),
        ({"a": [1]}, {"c": "[2]"}, None),
        ({"a": {"b": 1}}, {"a": [1]}, None),
        ([{"a": [1]}], [{"a": "[2]"}], [{"a": [2]}]),
    ],
)
def test_predicted_texts_are_read_where_the_ground_truth_is_no_text(gt, pred, expected):
    read = with_read_texts(gt, pred)

    assert read == (pred if expected is None else expected)
    assert (read is pred) is (expected is None)


def test_texts_are_read_only_where_a_plan_says_so():
    gt, pred = {"p": {"id": "A"}}, {"p": '{"id": "A"}'}
    documents = Plan(an_object(p=CONTENT), "documents")

    assert compare(documents, [gt], [pred]).document_scores.tolist() == [0.0]
    reading = Plan(an_object(p=CONTENT), "documents", reads_texts=True)
    assert compare(reading, [gt], [pred]).document_scores.tolist() == [1.0]
