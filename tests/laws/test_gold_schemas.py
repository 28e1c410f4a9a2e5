"""Laws for statements of schemas about ground truths: order, keys, aliases, absent values."""

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view

X = "x-aws-stickler-"
TEXT = {"type": "string"}
WORDS = ("ant", "ants", "aunt", "bee", "bees nest", "wasp", "mite")


def a_list(items, **said):
    rules = {X + name.replace("_", "-"): value for name, value in said.items()}
    return compile_schema(
        {"type": "object", "properties": {"a": {"type": "array", "items": items, **rules}}}
    )


def counted(plan, gt, pred):
    """Return all counts of a document, and its score."""
    account = compare(plan, [{"a": gt}], [{"a": pred}])
    view = comparison_view(batch_of_unit(tree_of(account, 0)))
    return view["confusion_matrix"], pytest.approx(view["overall_score"], abs=1e-9)


def alignments(n, m):
    """Yield all pairings of two lists in which pairs are in the same order on both sides."""
    for size in range(min(n, m) + 1):
        for rows in combinations(range(n), size):
            for columns in combinations(range(m), size):
                yield list(zip(rows, columns, strict=True))


words = st.lists(st.sampled_from(WORDS), max_size=4)


@given(words, words)
def test_to_reverse_both_sides_of_an_ordered_list_changes_no_count(gt, pred):
    similarity = LevenshteinComparator().compare
    totals = sorted(
        sum(
            max(similarity(gt[i], pred[j]) - 0.2, 0) and similarity(gt[i], pred[j])
            for i, j in pairs
        )
        for pairs in alignments(len(gt), len(pred))
    )
    assume(len(totals) == 1 or totals[-1] - totals[-2] > 1e-6)

    plan = a_list(TEXT, ordered=True)
    assert counted(plan, gt, pred) == counted(plan, gt[::-1], pred[::-1])


@given(words, words)
def test_an_ordered_list_scores_no_more_than_one_in_any_order(gt, pred):
    (ordered, score), (free, free_score) = (
        counted(a_list(TEXT, ordered=ordered), gt, pred) for ordered in (True, False)
    )

    assert score.expected <= free_score.expected + 1e-9
    assert counted(a_list(TEXT, ordered=True), gt, gt)[0]["overall"]["fn"] == 0
    assert ordered["overall"]["fn"] >= free["overall"]["fn"]


ALIASES = {"ant": ["formica", "Ameise"], "bee": ["Biene"]}


@st.composite
def spelt(draw):
    """Draw a list of words, and the same list in other spellings and aliases."""
    spoken = draw(words)
    return spoken, [
        draw(st.sampled_from([word, f" {word.upper()}", *ALIASES.get(word, ())])) for word in spoken
    ]


@given(spelt(), spelt())
def test_the_names_of_a_thing_are_the_same(gt, pred):
    plan = a_list(TEXT, aliases=ALIASES)

    assert counted(plan, gt[0], pred[0]) == counted(plan, gt[1], pred[1])


@given(words, words)
def test_names_that_nobody_uses_change_nothing(gt, pred):
    assert counted(a_list(TEXT), gt, pred) == counted(
        a_list(TEXT, aliases={"Xx": ["Yy"]}), gt, pred
    )


NOTHING = ("-", "N/A", "n/a ", 0)
mixed = st.lists(st.sampled_from((*WORDS, *NOTHING, None)), max_size=5)


@given(mixed, mixed)
def test_what_stands_for_nothing_is_as_null(gt, pred):
    plan = a_list(TEXT, absent_values=["-", "N/A", 0])
    nulls = [[None if word in NOTHING else word for word in side] for side in (gt, pred)]

    assert counted(plan, gt, pred) == counted(plan, *nulls)


@given(words, words, st.data())
def test_to_say_it_twice_changes_nothing_in_a_distinct_list(gt, pred, data):
    plan = a_list(TEXT, distinct=True)
    again = [[*side, *data.draw(st.lists(st.sampled_from(side or [None])))] for side in (gt, pred)]

    assert counted(plan, gt, pred) == counted(plan, *again)


ITEM = {"type": "object", "properties": {"k": TEXT, "v": TEXT, "n": {**TEXT, X + "ignore": True}}}
items = st.lists(
    st.fixed_dictionaries({"k": st.sampled_from("abcdef"), "v": st.sampled_from(WORDS)}),
    max_size=5,
    unique_by=lambda item: item["k"],
)


@given(items, items, st.randoms())
def test_items_with_keys_may_come_in_any_order(gt, pred, random):
    plan = a_list(ITEM, key="k")
    shuffled = random.sample(pred, len(pred))

    (counts, score), (again, same) = counted(plan, gt, pred), counted(plan, gt, shuffled)
    assert (counts, score) == (again, same)
    shared_keys = {item["k"] for item in gt} & {item["k"] for item in pred}
    assert counts["overall"]["fn"] == max(len(gt) - len(shared_keys), 0)


@given(items, items, st.data())
def test_what_is_ignored_may_be_anything(gt, pred, data):
    anything = st.sampled_from(["x", None, 3, [1], {"z": 1}])
    noted = [[{**item, "n": data.draw(anything)} for item in side] for side in (gt, pred)]

    assert counted(a_list(ITEM), gt, pred) == counted(a_list(ITEM), *noted)
