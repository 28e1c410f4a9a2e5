from dataclasses import replace

import numpy as np
import pytest

from stickler_cli.comparators.base import Answers, BaseComparator
from stickler_cli.compare import engine
from stickler_cli.compare.engine import rename_keys
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.tree import tree_of
from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.schema.compiler import compile_schema
from .nodes import an_object, anything, exact, text


def compare(plan, gt, pred, options=None):
    return tree_of(engine.compare(plan, [gt], [pred], options), 0)


PLAN = Plan(an_object(name=exact(), city=text()), "Person")


def outcomes(comparison):
    return {entry.name: entry.outcome.name for entry in comparison.fields}


def union_of(*kinds):
    return compile_schema(
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": kind}, kind: {"type": "string"}},
                    "required": ["kind"],
                }
                for kind in kinds
            ]
        }
    )


def test_the_arm_of_a_root_union_follows_the_ground_truth():
    plan = union_of("cat", "dog")

    comparison = compare(plan, {"kind": "dog", "dog": "Rex"}, {"kind": "cat", "cat": "Tom"})

    assert outcomes(comparison) == {"kind": "FD", "dog": "FN"}
    assert comparison.extra_keys == ("cat",)


@pytest.mark.parametrize("gt", [{}, {"kind": None}, {"cat": "", "dog": []}])
def test_the_arm_of_a_root_union_follows_the_prediction_where_there_is_no_ground_truth(gt):
    comparison = compare(union_of("cat", "dog"), gt, {"kind": "dog", "dog": "Rex"})

    assert outcomes(comparison) == {"kind": "FA", "dog": "FA"}


TREE = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "string"}]}}


def test_a_value_in_the_place_of_a_list_that_contains_itself_counts_as_a_list_of_one():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}}
    plan = compile_schema({**schema, "$defs": {"tree": TREE}})

    assert compare(plan, {"a": ["x"]}, {"a": "x"}).similarity == 1.0
    assert compare(plan, {"a": "x"}, {"a": [["x"], "x"]}).similarity == 0.5
    # What is no list on either side is compared as what it is.
    assert compare(plan, {"a": 5}, {"a": 5}).similarity == 1.0
    # No other arm takes a number: a list of one of it would be wrapped for ever.
    assert compare(plan, {"a": ["x"]}, {"a": 5}).similarity == 0.0


def test_a_value_in_the_place_of_a_tuple_counts_as_its_first_position():
    pair = {"type": "array", "prefixItems": [{"type": "string"}, {"$ref": "#/$defs/pair"}]}
    schema = {"type": "object", "properties": {"a": pair}, "$defs": {"pair": pair}}
    plan = compile_schema(schema)

    assert compare(plan, {"a": ["x"]}, {"a": "x"}).similarity == 1.0
    assert compare(plan, {"a": "x"}, {"a": ["x", ["y"]]}).similarity == 0.5


def test_documents_together_may_take_the_work_of_one_pair_and_no_more_at_once():
    gt, pred = {"city": "x" * 3_000}, {"city": "y" * 3_000}

    with pytest.raises(WorkLimitError, match="most of the work is in field city"):
        compare(PLAN, gt, pred, Options(work_limit=0.0005))
    with pytest.raises(TooMuchAtOnceError):
        compare(PLAN, gt, pred, Options(work_limit=1, work_at_once=0.0003))
    assert compare(PLAN, gt, pred, Options(work_limit=0.002, work_at_once=0.001)).similarity == 0


class Asking(BaseComparator):
    """A model comparator that records the client by which it was asked."""

    asks_models = True

    def similarity(self, gt, pred):
        raise AssertionError

    def ask(self, client, gts, preds):
        self.client = client
        return Answers(np.ones(len(gts)))


def test_the_client_of_the_run_asks_models_and_the_plan_s_where_there_is_none():
    asking = Asking()
    plan = Plan(an_object(name=LeafNode(threshold=0.5, comparator=asking)), "Doc", True)
    pair = {"name": "a"}, {"name": "b"}

    compare(plan, *pair, Options(client="the run's"))
    assert asking.client == "the run's"
    compare(plan, *pair)
    assert asking.client is plan.client
    compare(plan, *pair, Options(pairing_floor=0.3))
    assert asking.client is plan.client


@pytest.mark.parametrize(
    ("plan", "name", "field"),
    [
        (Plan(anything().choose({}), "Any"), "key", r"\*"),
        (plan_of_schemas({"one/": PLAN}, "Documents"), "one/", "one/city"),
    ],
)
def test_the_field_that_cost_most_may_be_a_key_or_of_one_of_several_schemas(plan, name, field):
    wrap = (lambda value: {"city": value}) if name == "one/" else str
    gt, pred = ({name: wrap(letter * 9_000)} for letter in "xy")

    with pytest.raises(WorkLimitError, match=f"most of the work is in field {field}$"):
        compare(plan, gt, pred, Options(work_limit=0.002))


def test_a_comparison_is_shown_by_its_outcome_and_similarity():
    comparison = compare(PLAN, {"name": "a", "city": "b"}, {"name": "a", "city": "x"})

    assert repr(comparison) == "<UnitTree FD similarity=0.5>"


def test_comparisons_are_equal_if_all_that_they_say_is():
    first, other = {"name": "a", "city": "b"}, {"name": "a", "city": "x"}

    assert compare(PLAN, first, other) == compare(PLAN, first, other)
    assert compare(PLAN, first, other) != compare(PLAN, first, first)
    assert compare(PLAN, first, first) != compare(PLAN, first, {**first, "new": 1})
    assert compare(PLAN, first, first) != "another kind"


def test_documents_are_compared_under_the_names_of_their_fields():
    plan = replace(PLAN, renames={"": {"NAME": ("name", ()), "Town": ("city", ())}})
    account = engine.compare(
        plan,
        [{"NAME": "a", "Town": "b"}],
        [{"name": "a", "Town": "x"}],
        confidences=[{"Town": 0.5}],
    )

    assert outcomes(tree_of(account, 0)) == {"name": "TP", "city": "FD"}


NAMES = {
    "": {"IBAN": ("iban", ()), "iban": ("iban", ()), "parties": ("parties", ("Party",))},
    "Party": {"vatNumber": ("vat", ()), "of": ("of", ("Party",))},
}


def test_keys_become_the_names_of_their_fields_through_lists_and_objects():
    parties = [{"vatNumber": 1, "of": {"vatNumber": 2}}, None]

    renamed = rename_keys({"IBAN": "x", "parties": parties, "more": {"IBAN": 1}}, NAMES)

    assert renamed == {
        "iban": "x",
        "parties": [{"vat": 1, "of": {"vat": 2}}, None],
        "more": {"IBAN": 1},
    }


def test_a_key_stays_where_its_field_is_there_under_its_name():
    assert rename_keys([{"IBAN": 1, "iban": 2}], NAMES) == [{"IBAN": 1, "iban": 2}]


PATHS = {
    "": {
        **{name: (name, ()) for name in ("city", "first", "bank", "bic")},
        "/address/city": ("city", ()),
        "/names/0": ("first", ()),
        "/bank/bic": ("bic", ()),
    }
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"address": {"city": 1}}, {"city": 1}),
        ({"address": {"city": 1, "zip": 2}}, {"city": 1, "address": {"zip": 2}}),
        ({"names": [1]}, {"first": 1}),
        ({"names": [1, 2]}, {"first": 1, "names": [None, 2]}),
        ({"names": []}, {"names": []}),
        ({"names": "ab"}, {"names": "ab"}),
        ({"address": {"city": 1}, "city": 2}, {"address": {"city": 1}, "city": 2}),
        ({"bank": {"bic": 1}}, {"bic": 1, "bank": {"bic": 1}}),
    ],
)
def test_a_path_leads_to_a_field_and_the_rest_stays(value, found):
    assert rename_keys(value, PATHS) == found
