"""Ground truths with lists of values that are all right."""

import pytest

from stickler_cli.api.many import evaluate_many
from stickler_cli.api.scorer import Scorer
from stickler_cli.api.zero import evaluate
from stickler_cli.core.problems import UsageError
from stickler_cli.documents.wrappers import FieldNameTree, Unwrapper
from stickler_cli.schema.compiler import compile_schema

ANY = {"x-aws-stickler-any-of": True}
TEXT = {"type": "string"}
TAGS = {"type": "array", "items": TEXT}


def objects(**properties):
    return {"type": "object", "properties": properties}


def outcomes(schema, gt, pred):
    leaves = evaluate_many(schema, [(gt, pred)], infer="never").to_dict()["confusion_matrix"]
    return "".join(name * leaves["leaves"][name.lower()] for name in ("tp", "fd", "fn", "fa"))


@pytest.mark.parametrize(
    ("place", "gt", "pred", "expected"),
    [
        (TEXT | ANY, ["celsius", "C"], "C", "tp"),
        (TEXT | ANY, ["celsius", "C"], "kelvin", "fd"),
        (TEXT | ANY, ["celsius", "C"], None, "fn"),
        (TEXT | ANY, "celsius", "celsius", "tp"),
        (TEXT | ANY, ["celsius", None], None, ""),
        (TEXT | ANY, [None, "celsius"], "celsius", "tp"),
        (TEXT | ANY, ["celsius", ""], "kelvin", "fd"),
        (TEXT | ANY, [], "kelvin", "fa"),
        (TEXT | ANY, [], None, ""),
        # only ground truths list values
        (TEXT | ANY, ["celsius"], ["celsius", "kelvin"], "fd"),
        ({"type": "number"} | ANY, [10, 20], 20, "tp"),
        (ANY, ["celsius", "C"], "C", "tp"),
        ({"anyOf": [TEXT, {"type": "number"}]} | ANY, ["ten", 10], 10, "tp"),
        ({"type": ["string", "null"]} | ANY, ["ten", "10"], "10", "tp"),
        ({"$ref": "#/$defs/unit"}, ["celsius", "C"], "C", "tp"),
        # wrappers stand around the list, or around its values
        (TEXT | ANY, {"_value": ["celsius", "C"]}, "C", "tp"),
        (TEXT | ANY, [{"_value": "celsius"}, {"_value": "C"}], "C", "tp"),
        (TEXT | ANY, {"_value": ["celsius"], "_alternatives": ["C"]}, "C", "tp"),
        # lists: a list of lists, or one list
        (TAGS | ANY, [["red"], ["teal", "grey"]], ["grey", "teal"], "tptp"),
        (TAGS | ANY, ["red", "teal"], ["teal", "red"], "tptp"),
        (TAGS | ANY, [["red"], None], None, ""),
        ({"type": "array", "items": TEXT | ANY}, [["a", "b"], "c"], ["c", "b"], "tptp"),
        # objects
        (objects(a=TEXT, b=TEXT) | ANY, [{"a": "x", "b": "y"}, {"a": "z"}], {"a": "z"}, "tp"),
        (objects(a=TEXT | ANY) | ANY, [{"a": "x"}, {"a": ["y", "z"]}], {"a": "z"}, "tp"),
    ],
)
def test_each_value_of_the_list_is_right(place, gt, pred, expected):
    schema = objects(place=place) | {"$defs": {"unit": TEXT | ANY}}
    assert outcomes(schema, {"place": gt}, {"place": pred}) == expected


def test_lists_stay_where_no_place_has_the_annotation():
    root = compile_schema(objects(tags=TAGS)).root
    unwrapped = Unwrapper(root)({"tags": [["a"], ["b"]]}, is_truth=True)
    assert not unwrapped.is_changed
    assert FieldNameTree.from_paths([("tags",)])["tags"].any_of is False


def test_documents_without_wrappers_are_looked_at_where_a_place_has_the_annotation():
    assert Unwrapper(compile_schema(objects(tags=TEXT | ANY)).root).marks == (b"",)
    assert b"" not in Unwrapper(compile_schema(objects(tags=TEXT)).root).marks


def test_a_schema_that_contains_itself_may_have_the_annotation():
    node = objects(name=TEXT | ANY, child={"$ref": "#/$defs/node"})
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    gt = {"name": ["a", "b"], "child": {"name": ["c", "d"], "child": {"name": "e"}}}
    pred = {"name": "b", "child": {"name": "d", "child": {"name": "x"}}}
    assert outcomes(schema, gt, pred) == "tptpfd"


@pytest.mark.parametrize(("pred", "f1"), [("C", 1.0), ("kelvin", 2 / 3)])
def test_a_scorer_and_evaluate_read_the_list_too(pred, f1):
    schema = objects(unit=TEXT | ANY, city=TEXT)
    gt, pred = {"unit": ["celsius", "C"], "city": "Ulm"}, {"unit": pred, "city": "Ulm"}
    assert Scorer(schema).score(gt, pred).score == pytest.approx(f1)
    assert evaluate(gt, pred, schema=schema).f1 == pytest.approx(f1)


NESTED = [
    (TEXT | ANY, ["a", ["b"]], "/place/1", '["b"]'),
    (TEXT | ANY, [[["a"]]], "/place/0", '[["a"]]'),
    (TEXT | ANY, {"_value": [["a"]]}, "/place/0", '["a"]'),
    ({"type": "number"} | ANY, [[1], [2]], "/place/0", "[1]"),
    (TAGS | ANY, [[["a"]]], "/place/0/0", '["a"]'),
    (TAGS | ANY, [["a"], ["b", ["c"]]], "/place/1/1", '["c"]'),
    ({"type": "array", "items": TEXT | ANY}, [["a", ["b"]]], "/place/0/1", '["b"]'),
    (objects(a=TEXT | ANY) | ANY, [{"a": "x"}, {"a": [["y"]]}], "/place/a/0", '["y"]'),
]


@pytest.mark.parametrize(("place", "gt", "pointer", "value"), NESTED)
def test_a_list_of_right_values_inside_another_one_fails_the_ground_truth(
    place, gt, pointer, value
):
    schema = objects(place=place)
    finding = f"{pointer} is {value}, expected a single value"

    evaluated = evaluate_many(schema, [({"place": gt}, {"place": "a"})], infer="never")

    (problem,) = evaluated.to_dict()["problems"]
    assert (problem["status"], finding in problem["problem"]) == ("failed", True)
    with pytest.raises(UsageError) as raised:
        Scorer(schema).score({"place": gt}, {"place": "a"})
    assert finding in str(raised.value)


@pytest.mark.parametrize(
    ("place", "gt"),
    [
        ({"type": "array", "items": TAGS} | ANY, [[["a"]]]),
        ({"type": "array", "items": TEXT | ANY} | ANY, [[["a", "b"]]]),
        (ANY, [[["a"]]]),
    ],
)
def test_lists_in_right_values_that_are_lists_stay(place, gt):
    unwrapped = Unwrapper(compile_schema(objects(place=place)).root)({"place": gt}, is_truth=True)
    assert unwrapped.nested_lists == []
