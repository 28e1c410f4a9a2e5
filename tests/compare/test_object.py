import re

import pytest

from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare import object as object_module
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import Outcome
from stickler_cli.core.problems import ComparisonError
from stickler_cli.schema.compiler import compile_schema
from .nodes import (
    alike,
    an_object,
    anything,
    compared,
    compared_together,
    exact,
    figures,
    table,
    text,
)


def outcomes(comparison):
    return {entry.name: entry.outcome.name for entry in comparison.fields}


PERSON = an_object(name=text(weight=3), city=text(weight=1))


class Failing(BaseComparator):
    """A comparator that fails if the ground truth is `bad`, and records the pairs."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def compare(self, gt, pred):
        self.asked.append(gt)
        if gt == "bad":
            raise ValueError("no")
        return 1.0


@pytest.mark.parametrize(
    ("gt", "path", "asks_second"),
    [
        ({"a": "x", "b": "bad", "c": "bad"}, ("b",), True),
        ({"a": "bad", "b": "bad", "c": "x"}, ("a",), False),
        ({"a": "x", "b": "x", "c": "bad"}, ("c",), True),
    ],
)
def test_of_fields_that_fail_the_first_is_told_whoever_compares_them(gt, path, asks_second):
    first, other = Failing(), Failing()  # of one class, and still they share nothing
    nodes = [LeafNode(threshold=0.5, comparator=comparator) for comparator in (first, other, first)]
    node = an_object(**dict(zip("abc", nodes, strict=True)))

    with pytest.raises(ComparisonError) as caught:
        compared(node, gt, dict.fromkeys("abc", "y"))
    assert caught.value.path == path
    assert bool(other.asked) is asks_second


def test_leaves_of_one_comparator_are_compared_by_one_call_with_rules_of_their_own(monkeypatch):
    calls = []
    original = LevenshteinComparator.similarities

    def counted(self, gts, preds):
        calls.append(len(gts))
        return original(self, gts, preds)

    monkeypatch.setattr(LevenshteinComparator, "similarities", counted)
    node = an_object(
        a=text(threshold=0.5), b=text(threshold=0.9, weight=3.0), c=text(threshold=0.9, clip=True)
    )
    gt, pred = dict.fromkeys("abc", "abcd"), dict.fromkeys("abc", "abcx")

    (first, second) = compared_together(node, [gt, gt], [pred, {"a": "abcd"}])

    assert calls == [3]
    assert outcomes(first) == {"a": "TP", "b": "FD", "c": "FD"}
    assert first.field_scores == {"a": 0.75, "b": 0.75, "c": 0.0}
    assert (first.similarity, first.score) == (0.75, (0.75 + 3 * 0.75 + 0.0) / 5)
    assert outcomes(second) == {"a": "TP", "b": "FN", "c": "FN"}
    assert second.similarity == 1 / 5


def test_a_clipped_field_lowers_the_score_beside_objects_that_both_sides_lack():
    node = an_object(a=text(threshold=0.9, clip=True))
    clipped, absent = compared_together(node, [{"a": "abcd"}, None], [{"a": "abcx"}, None])

    assert (clipped.similarity, clipped.score) == (0.75, 0.0)
    assert (absent.similarity, absent.score) == (1.0, 1.0)


def test_documents_that_are_lists_have_no_field_scores():
    plan = compile_schema({"type": "array", "items": {"type": "string"}})
    result = compare(plan, [["a", "b"]], [["a"]], Options())

    assert result.field_scores(0) == {}


def test_field_scores_are_those_of_the_fields():
    node = an_object(a=text(), b=an_object(c=text()))
    (_, second) = compared_together(node, [{}, {"a": "x", "b": {"c": "y"}}], [{}, {"a": "x"}])

    assert second.field_scores == {"a": 1.0, "b": 0.0}
    assert second.fields[0].field_scores == {}
    assert compared(anything(), {"k": "x", "l": "y"}, {"k": "x"}).field_scores == {
        "k": 1.0,
        "l": 0.0,
    }


@pytest.mark.parametrize(
    ("flags", "counted"),
    [
        ((None, None, None), "abc"),
        ((None, False, None), "ac"),
        ((True, None, None), "a"),
        ((True, False, None), "a"),
        ((True, None, True), "ac"),
        ((False, False, False), ""),
    ],
)
def test_one_true_makes_fields_opt_in_and_else_false_opts_out(flags, counted):
    fields = tuple(Field(name, text(), flag) for name, flag in zip("abc", flags, strict=True))
    node = ObjectNode(threshold=0.7, fields=fields)
    comparison = compared(node, {"a": "x"}, {"a": "x"})

    assert {entry.name for entry in comparison.fields if entry.in_aggregate} == set(counted)


@pytest.mark.parametrize("wrong", ["x", 0, False, ["x"]])
def test_a_value_of_another_kind_is_one_false_discovery_with_both_sides_told(wrong):
    gt = {"name": "abcd", "city": "ab"}

    comparison = compared(PERSON, gt, wrong)

    missed, invented = comparison.sides
    assert comparison.shape == "mismatch"
    assert (comparison.outcome, comparison.similarity) == (Outcome.FD, 0.0)
    assert outcomes(missed) == {"name": "FN", "city": "FN"}
    assert figures(invented) == ("leaf", None, wrong, Outcome.FA, 0.0, 0.0, 0.7)
    assert alike(PERSON, gt, wrong) == 0.0
    assert table(PERSON, [gt], [wrong, gt]) == [[0.0, 1.0]]


def test_two_values_of_another_kind_are_compared_as_that_kind():
    node = an_object(name=text(), extra_keys={"other": anything()})

    assert figures(compared(node, "abcd", "abcx")) == figures(compared(text(), "abcd", "abcx"))
    assert alike(node, ["ab", "cd"], ["cd", "ab"]) == 1.0


def test_objects_that_some_of_a_column_lack_are_told_apart():
    absent, half = {"name": None}, {"name": "abcd", "city": "z"}
    gts = [absent, {"name": "abcd"}, {}, {"name": "abcd", "city": "y"}, None]
    preds = [{}, {"name": "abcx"}, absent, half, ""]

    comparisons = compared_together(PERSON, gts, preds)

    # The name weighs three of four.
    assert [comparison.outcome.name for comparison in comparisons] == ["TN", "TP", "TN", "TP", "TN"]
    assert [comparison.similarity for comparison in comparisons] == [1.0, 0.75, 1.0, 0.75, 1.0]
    assert [outcomes(comparison) for comparison in comparisons] == [
        {},
        {"name": "TP", "city": "TN"},
        {},
        {"name": "TP", "city": "FD"},
        {},
    ]


def a_map(*, rest_node=None, patterns=(), **settings):
    settings = {"threshold": 0.7, **settings}
    families = (*patterns, Field("", rest_node)) if rest_node else patterns
    return ObjectNode(families=families, **settings)


def family(pattern, node, aggregate=None):
    return Field("", node, aggregate, key_pattern=re.compile(pattern))


SCORES = a_map(rest_node=exact())


def test_a_declared_name_goes_before_a_pattern_and_a_pattern_before_the_rest():
    node = a_map(
        fields=an_object(n_total=text()).fields,
        patterns=(family("^n_", exact(weight=2)), family("_x$", text())),
        rest_node=exact(weight=5),
    )
    comparison = compared(node, {"n_total": "a", "n_x": 1, "b_x": "c", "d": 4}, {"d": 4})

    assert [(entry.name, entry.weight) for entry in comparison.fields] == [
        ("n_total", 1),
        ("n_x", 2),
        ("b_x", 1),
        ("d", 5),
    ]


def test_a_position_is_no_field_but_may_be_of_a_family():
    node = an_object(**{"0": text()})
    assert (node.child_node("0"), node.child_node(0)) == (node.fields[0].node, None)
    assert a_map(fields=node.fields, rest_node=exact()).child_node(0) is None
    assert a_map(patterns=(family("^0", exact()),)).child_node(0) == exact()
    assert a_map(patterns=(family("^0", exact()),)).child_node(1) is None


def test_keys_that_nothing_names_are_undeclared():
    node = a_map(patterns=(family("^n_", exact()),))
    gt, pred = {"n_a": 1, "x": 1}, {"n_a": 1, "y": 2}

    comparison = compared(node, gt, pred)

    assert (comparison.extra_keys, comparison.undeclared_keys) == (("y",), ("x",))
    assert compared(node, gt, pred, Options(extra_fields="ignore")).extra_keys == ()


def test_patterns_and_the_rest_have_their_say_on_the_aggregate():
    node = ObjectNode(
        threshold=0.7,
        fields=an_object(a=text()).fields,
        families=(family("^n_", exact(), True), Field("", exact(), aggregate=False)),
    )
    comparison = compared(node, {"a": "a", "n_b": "b", "c": "c"}, {"a": "a"})

    assert {entry.name: entry.in_aggregate for entry in comparison.fields} == {
        "a": False,
        "n_b": True,
        "c": False,
    }


def test_a_map_against_another_kind_is_one_false_discovery():
    comparison = compared(SCORES, {"a": 1}, [1])

    assert comparison.shape == "mismatch"
    assert comparison.outcome is Outcome.FD


def test_keys_that_only_documents_name_weigh_what_their_family_does():
    node = a_map(
        fields=an_object(a=text(weight=2)).fields,
        patterns=(family("^n_", exact(weight=5)),),
        rest_node=exact(weight=3),
    )

    # 5 of 10 are wrong; 3 of 5; 2 of 5.
    assert alike(node, {"a": "x", "n_b": 1, "c": 2}, {"a": "x", "n_b": 9, "c": 2}) == 0.5
    assert alike(node, {"a": "x", "c": 2}, {"a": "x", "c": 9}) == 0.4
    assert alike(node, {"a": "x", "c": 2}, {"a": "y", "c": 2}) == 0.6


def test_a_key_has_its_say_on_the_aggregate_only_where_it_is_present():
    node = ObjectNode(
        threshold=0.7,
        fields=an_object(a=text()).fields,
        families=(family("^n_", exact(), True), Field("", exact(), aggregate=None)),
    )
    with_say, without = {"a": "x", "n_b": 1, "c": 2}, {"a": "x", "c": 2}

    comparisons = compared_together(node, [{}, without, with_say], [{}, without, with_say])

    assert [
        {entry.name: entry.in_aggregate for entry in comparison.fields}
        for comparison in comparisons
    ] == [
        {},
        {"a": True, "c": True},
        {"a": False, "n_b": True, "c": False},
    ]


def test_keys_that_opt_out_are_not_counted_wherever_they_are():
    node = ObjectNode(
        threshold=0.7,
        families=(family("^n_", exact(), False), Field("", exact())),
    )
    document = {"n_b": 1, "c": 2}

    (comparison,) = compared_together(node, [document], [document])

    assert {entry.name: entry.in_aggregate for entry in comparison.fields} == {
        "n_b": False,
        "c": True,
    }


class HasKey(Acceptor):
    def __init__(self, name):
        self.name = name

    def __call__(self, value):
        return isinstance(value, dict) and self.name in value


def test_maps_that_are_arms_of_one_union_have_families_of_their_own():
    with_patterns = a_map(patterns=(family("^n_", exact(weight=3)),), rest_node=exact(weight=1))
    node = OneOfNode(
        threshold=0.5,
        arms=(Arm(HasKey("p"), with_patterns), Arm(HasKey("q"), a_map(rest_node=exact(weight=2)))),
    )
    gts = [{"p": 1, "n_a": 1}, {"q": 1, "n_a": 1}]
    preds = [{"p": 1, "n_a": 9}, {"q": 1, "n_a": 9}]

    comparisons = compared_together(node, gts, preds)

    # 1 of 4, and 2 of 4.
    assert [comparison.similarity for comparison in comparisons] == [0.25, 0.5]


class Picky(BaseComparator):
    """A comparator that fails on one ground-truth value."""

    def compare(self, gt, pred):
        if gt == "bad":
            raise LookupError("cannot")
        return 0.5


@pytest.mark.parametrize("names", [("b",), ("a", "b"), ("c", "b", "a")])
def test_the_key_that_a_comparator_fails_on_is_named(names):
    node = a_map(rest_node=LeafNode(threshold=0.5, comparator=Picky()))
    gt = {name: "bad" if name == "b" else "good" for name in names}

    with pytest.raises(ComparisonError) as failed:
        compared(node, gt, dict.fromkeys(names, "other"))

    assert failed.value.path == ("b",)


@pytest.mark.parametrize("max_keys", [1, 7, 50])
def test_keys_of_many_pairs_are_scored_in_blocks_with_the_same_result(monkeypatch, max_keys):
    rows = {"type": "array", "items": {"type": "object", "additionalProperties": True}}
    plan = compile_schema({"type": "object", "properties": {"rows": rows}})
    gt_rows = [{"a": row, "b": {"c": row % 3}} for row in range(9)]
    pred_rows = [{"a": row + row % 2, "b": {"c": row % 3, "d": 1}} for row in range(8, -1, -1)]
    gt, pred = {"rows": [*gt_rows, {}]}, {"rows": pred_rows}
    at_once = compare(plan, [gt], [pred]).document_scores.tolist()
    n_blocks = []
    join_scores = ObjectNode._join_scores  # noqa: SLF001 - what is joined is what is tested
    monkeypatch.setattr(
        ObjectNode,
        "_join_scores",
        lambda node, columns, segments: (
            n_blocks.append(len(segments)) or join_scores(node, columns, segments)
        ),
    )
    monkeypatch.setattr(object_module, "MAX_COMPARED_KEYS", max_keys)

    assert compare(plan, [gt], [pred]).document_scores.tolist() == at_once
    assert min(n_blocks) > 1
    assert 0 < at_once[0] < 1
