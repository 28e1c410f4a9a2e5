"""Schemas that contain themselves; plans as values: equality, pickling, size."""

import pickle
import sys

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.one_of import RecursionNode
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.compiler import LARGE, compile_schema
from stickler_cli.schema.places import DEEPEST

STRING = {"type": "string"}
TREE = {
    "type": "object",
    "x-aws-stickler-match-threshold": 0.9,
    "properties": {
        "name": STRING,
        "left": {"$ref": "#"},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
}


def chain(length):
    """Return a schema of `length` objects, each of which contains the next by a reference."""
    definitions = {
        f"d{number}": {"properties": {"next": {"$ref": f"#/$defs/d{number + 1}"}}}
        for number in range(length)
    }
    definitions[f"d{length}"] = STRING
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def nested(length, value):
    for _ in range(length):
        value = {"next": value}
    return value


def large(name):
    return {"type": "object", "properties": {f"{name}{field}": STRING for field in range(LARGE)}}


def copy_of(plan):
    return pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own


def field(node, *names):
    for name in names:
        node = next(entry.node for entry in node.fields if entry.name == name)
        if isinstance(node, RecursionNode):
            node = node.choose(None)
    return node


def test_a_recursion_has_the_match_threshold_of_what_it_leads_to():
    children = field(compile_schema(TREE).root, "left", "children")

    assert isinstance(children.items, RecursionNode)
    assert children.items.item_threshold == children.threshold == 0.9


def test_an_object_that_contains_itself_in_a_list_does_not_speak_for_the_list():
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {
            "tree": {
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                "x-aws-stickler-aggregate": False,
                "x-aws-stickler-weight": 3,
            }
        },
    }

    (tree,) = compile_schema(schema).root.fields
    assert (tree.aggregate, tree.node.weight) == (False, 3.0)
    (children,) = tree.node.fields
    assert (children.aggregate, children.node.weight) == (None, 1.0)


def test_a_field_that_contains_its_own_kind_is_counted_as_its_schema_says():
    tree = {"properties": {"tree": {"$ref": "#/$defs/tree"}}, "x-aws-stickler-aggregate": False}
    plan = compile_schema({"$ref": "#/$defs/tree", "$defs": {"tree": tree}})

    (field,) = plan.root.fields
    assert isinstance(field.node, RecursionNode)
    assert field.aggregate is False


def test_mutual_recursion_through_unions_and_maps_ends():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {
            "a": {"anyOf": [STRING, {"properties": {"b": {"$ref": "#/$defs/b"}}}]},
            "b": {"additionalProperties": {"$ref": "#/$defs/a"}},
        },
    }
    plan = compile_schema(schema)
    document = {"a": {"b": {"x": {"b": {"y": "z"}}}}}

    assert compare(plan, [document], [document]).document_scores.item() == 1.0
    assert (
        compare(plan, [document], [{"a": {"b": {"x": {"b": {"y": "q"}}}}}]).document_scores.item()
        == 0.0
    )


def test_a_schema_that_describes_schemas_is_compared():
    schema = {
        "type": "object",
        "properties": {"s": {"$ref": "https://json-schema.org/draft/2020-12/schema"}},
    }
    document = {"s": {"type": "object", "properties": {"a": {"type": "string"}}}}

    assert compare(compile_schema(schema), [document], [document]).document_scores.item() == 1.0


PLANS = {
    "leaves": {"type": "object", "properties": {"a": STRING, "b": {"format": "date"}, "c": {}}},
    "tree": TREE,
    "map": {"patternProperties": {r"^\p{L}": STRING}, "additionalProperties": {}},
    "union": {"properties": {"a": {"anyOf": [{**STRING, "minLength": 2}, {"type": "number"}]}}},
    "tuple": {"properties": {"a": {"prefixItems": [STRING, {"type": "number"}]}}},
    "free-form": {},
    "chain": chain(100),
    "large": {
        "properties": {name: {"$ref": "#/$defs/x"} for name in "abc"},
        "$defs": {"x": large("x")},
    },
}
DOCUMENTS = [
    {"a": "x", "b": "2024-01-31", "c": [1, {"d": 2}], "name": "n", "children": [{"name": "m"}]},
    {"a": [5, 6], "ä": "z", "next": {"next": {"next": {}}}, "left": {"left": {"name": "l"}}},
    {"a": {"x0": "one"}, "b": {"x1": "two"}, **nested(100, "end")},
    {},
]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_survives_pickling(name):
    plan = compile_schema(PLANS[name])
    again = copy_of(plan)

    assert again == plan
    gts, preds = [*DOCUMENTS[:2], *DOCUMENTS[:2]], [*DOCUMENTS[:2], *DOCUMENTS[1::-1]]
    original, copy = (compare(plan, gts, preds) for plan in (plan, again))
    assert original.document_scores.tolist() == copy.document_scores.tolist()
    assert original.outcome.tolist() == copy.outcome.tolist()


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_has_been_used_survives_pickling(name):
    plan = compile_schema(PLANS[name])
    compare(plan, DOCUMENTS[:1], DOCUMENTS[1:2])

    assert copy_of(plan) == plan == compile_schema(PLANS[name])


@pytest.mark.parametrize("name", PLANS)
def test_the_same_schema_gives_equal_plans(name):
    assert compile_schema(PLANS[name]) == compile_schema(PLANS[name])


def test_other_schemas_give_other_plans():
    plans = [compile_schema(schema) for schema in PLANS.values()]

    assert [[plan == other for other in plans].count(True) for plan in plans] == [1] * len(plans)


def test_what_is_deep_inside_waits_behind_a_reference():
    node = compile_schema(chain(DEEPEST + 1)).root

    for _ in range(DEEPEST):
        assert not isinstance(node, RecursionNode)
        node = node.fields[0].node
    assert isinstance(node, RecursionNode)
    assert node.choose(None).fields[0].node.comparator.name == "LevenshteinComparator"


def test_a_reference_to_what_is_deep_inside_has_its_match_threshold():
    schema = {"x-aws-stickler-match-threshold": 0.3, "properties": {"end": STRING}}
    for _ in range(DEEPEST):
        schema = {"properties": {"next": schema}}

    node = compile_schema(schema).root
    for _ in range(DEEPEST):
        node = node.fields[0].node
    assert isinstance(node, RecursionNode)
    assert node.item_threshold == 0.3


def test_a_chain_of_references_longer_than_the_stack_compiles():
    plan = compile_schema(chain(sys.getrecursionlimit() + 1))
    gt, pred = nested(30, {"next": "x"}), nested(30, {"next": "y"})

    assert compare(copy_of(plan), [gt], [gt]).document_scores.item() == 1.0
    assert compare(plan, [gt], [pred]).document_scores.item() == 0.0


def test_a_large_place_stands_in_a_plan_once():
    first, second, third = compile_schema(PLANS["large"]).root.fields

    assert not isinstance(first.node, RecursionNode)
    assert isinstance(second.node, RecursionNode)
    assert second.node.choose(None) is third.node.choose(None)
    assert second.node.choose(None).fields == first.node.fields
    assert (first.node.weight, second.node.weight) == (1.0, 1.0)


def test_a_large_place_has_its_weight_and_threshold_wherever_it_stands():
    annotations = {"x-aws-stickler-weight": 3, "x-aws-stickler-match-threshold": 0.4}
    schema = {**PLANS["large"], "$defs": {"x": {**large("x"), **annotations}}}

    nodes = [plan_field.node for plan_field in compile_schema(schema).root.fields]
    assert [type(node) is RecursionNode for node in nodes] == [False, True, True]
    assert [(node.weight, node.item_threshold) for node in nodes] == [(3.0, 0.4)] * 3


@pytest.mark.parametrize("inner", [STRING, {"$ref": "#/$defs/large"}])
@pytest.mark.parametrize(("fields", "again"), [(LARGE - 1, False), (LARGE, True)])
def test_from_so_many_nodes_on_a_place_stands_in_a_plan_once(inner, fields, again):
    definition = {
        "type": "object",
        "properties": {f"x{index}": dict(inner) for index in range(fields)},
    }
    ref = {"$ref": "#/$defs/part"}
    before = {"large": {"$ref": "#/$defs/large"}, "text": STRING, "texts": {"items": STRING}}
    schema = {
        "properties": {**before, "a": ref, "b": ref},
        "$defs": {"part": definition, "large": large("y")},
    }

    *_, first, second = compile_schema(schema).root.fields
    assert not isinstance(first.node, RecursionNode)
    assert isinstance(second.node, RecursionNode) is again


def levels(node):
    """Return how many nested objects a node contains without following a recursion."""
    children = [plan_field.node for plan_field in getattr(node, "fields", ())]
    return 1 + max(map(levels, children)) if children else 0


def test_no_part_of_a_plan_is_deeper():
    schema = STRING
    for _ in range(2 * DEEPEST):
        sibling = {"properties": {"c": {"properties": {"d": STRING}}}}
        schema = {"properties": {"a": schema, "b": sibling}}

    assert levels(compile_schema(schema).root) == DEEPEST


def test_levels_are_those_around_a_place_and_not_beside_it():
    siblings = {
        f"x{index}": {"properties": {"b": {"properties": {"c": STRING}}}}
        for index in range(2 * DEEPEST)
    }
    schema = chain(DEEPEST + 1)
    schema["$defs"]["d0"]["properties"] = {**siblings, **schema["$defs"]["d0"]["properties"]}

    node = compile_schema(schema).root
    assert not any(isinstance(plan_field.node, RecursionNode) for plan_field in node.fields)
    for _ in range(DEEPEST):
        assert not isinstance(node, RecursionNode)
        node = node.fields[-1].node
    assert isinstance(node, RecursionNode)


def recursions(node):
    """Return the paths of all recursions inside a node."""
    if isinstance(node, RecursionNode):
        return [node.location]
    children = (
        [node for _, node in node.list_fields()] if hasattr(node, "fields") else node.inner_nodes()
    )
    return [place for child in children for place in recursions(child)]


def test_recursions_are_named_by_their_place_and_what_they_inherit():
    nested = {"anyOf": [STRING, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}
    lists = {"type": "array", "items": {"$ref": "#/$defs/n"}}
    variants = [{}, {"x-aws-stickler-comparator": "FuzzyComparator"}]
    variants += [{**variants[1], "x-aws-stickler-clip-under-threshold": True}]
    fields = {f"x{index}": {**lists, **variant} for index, variant in enumerate(variants)}
    plan = compile_schema({"type": "object", "properties": fields, "$defs": {"n": nested}})

    plain, fuzzy, clipped = (recursions(plan_field.node) for plan_field in plan.root.fields)
    assert plain == ["urn:stickler:schema#/%24defs/n"]
    assert [names[0].partition(" ")[0] for names in (fuzzy, clipped)] == plain * 2
    assert len({*plain, *fuzzy, *clipped}) == 3
    assert recursions(compile_schema(chain(DEEPEST + 2)).root) == [
        f"urn:stickler:schema#/%24defs/d{DEEPEST}"
    ]
    large_ones = recursions(compile_schema(PLANS["large"]).root)
    assert large_ones == ["urn:stickler:schema#/%24defs/x"] * 2


def test_a_small_place_stands_wherever_it_is_needed():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"properties": {"c": STRING}}},
    }

    a, b = compile_schema(schema).root.fields
    assert a.node == b.node
    assert not isinstance(b.node, RecursionNode)


def test_a_root_may_be_large_and_in_use_elsewhere():
    definition = large("x")
    schema = {
        "oneOf": [
            {"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"]},
            {"$ref": "#/$defs/x"},
        ],
        "$defs": {"x": definition},
    }

    first, second = (arm.node for arm in compile_schema(schema).root.arms)
    assert [entry.name for entry in first.fields] == ["a"]
    assert len(second.fields) == LARGE


def test_lists_of_what_contains_them_pass_on_its_match_threshold():
    item = {**TREE, "properties": {"name": STRING, "grid": {"items": {"items": {"$ref": "#"}}}}}
    plan = compile_schema(item)

    def grid(*names):
        return {"grid": [[{"name": name}] for name in names]}

    account = compare(plan, [grid("abcd", "efgh")], [grid("abcx", "efgh")])

    elements = tree_of(account, 0).fields[-1].items
    # The score of the first list is 0.75.
    assert [(element.threshold, element.outcome.name) for element in elements] == [
        (0.9, "FD"),
        (0.9, "TP"),
    ]


def test_a_recursion_has_the_weight_that_stands_beside_it():
    weighed = {"$ref": "#/$defs/n", "x-aws-stickler-weight": 3}
    node = {"type": "object", "properties": {"v": {"type": "string"}, "c": weighed}}
    plan = compile_schema({"$ref": "#/$defs/n", "$defs": {"n": node}})
    gt, pred = ({"v": "a", "c": {"v": "a", "c": {"v": last}}} for last in "ab")
    # The innermost is wrong: (1 + 3 * 0) / 4, and around it (1 + 3 * 1/4) / 4.
    assert compare(plan, [gt], [pred]).document_scores.tolist() == [0.4375]
