"""Shortcuts change no result: a limit for similar texts, and a join for equal ones."""

import random

from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.comparators.texts import FuzzyComparator, LevenshteinComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.compiler import compile_schema


class Plain(LevenshteinComparator):
    """The inherited comparator, without the shortcuts for columns."""

    def similarities(self, gts, preds):
        return super().similarities(gts, preds)


class PlainFuzzy(FuzzyComparator):
    """The inherited comparator, without the shortcuts for columns."""

    def similarities(self, gts, preds):
        return super().similarities(gts, preds)


def plan_of(comparator):
    comparators = {"Known": comparator}
    texts = {"type": "string", "x-aws-stickler-comparator": "Known"}
    items = {"type": "object", "properties": {"a": texts, "b": texts}}
    listed = {"l": {"type": "array", "items": texts}, "o": {"type": "array", "items": items}}
    properties = {"t": texts, **listed}
    return compile_schema({"type": "object", "properties": properties}, comparators=comparators)


QUICK, PLAIN = plan_of(LevenshteinComparator()), plan_of(Plain())
STRICT = {"same_digits": True, "same_words": True}
BOTH = [
    (plan_of(quick(**strategy)), plan_of(plain(**strategy)))
    for quick, plain, strategy in (
        (LevenshteinComparator, Plain, {}),
        (LevenshteinComparator, Plain, STRICT),
        (FuzzyComparator, PlainFuzzy, {}),
        (FuzzyComparator, PlainFuzzy, {"method": "token_sort_ratio"}),
        (FuzzyComparator, PlainFuzzy, {"method": "token_sort_ratio", "same_words": True}),
        (FuzzyComparator, PlainFuzzy, {"method": "token_set_ratio", **STRICT}),
    )
]


def results(plan, gt, pred):
    document = tree_of(compare(plan, [gt], [pred]))
    pairs = [
        [(item.gt_index, item.pred_index) for item in field.items] for field in document.fields[1:]
    ]
    return document.similarity, pairs


def test_the_plain_one_knows_nothing_more():
    plain = Plain()
    assert plain.equal_keys(["a"]) is None
    assert plain.similarities_above(["a"], ["a"], 0.9) is None


words = ["a", "ab", "AB ", "abc", "xyz", "xy", "b a", "zz", "a b", "a\xa0b", "b a\u2003", "not a"]
others = ["a 1", "a 2", "1 a", "Elm Street", "Elm St.", "x 2", 1, 1.0, 2, 2.0]
texts = st.lists(st.sampled_from([*words, *others]), max_size=14)


def person(name, town):
    return {"a": name, "b": town}


@given(st.sampled_from(range(len(BOTH))), texts, texts)
def test_lists_of_texts_pair_as_if_all_were_compared(number, gt, pred):
    plans = BOTH[number]
    gt, pred = ({"l": it, "o": [*map(person, it, reversed(it))]} for it in (gt, pred))
    assert results(plans[0], gt, pred) == results(plans[1], gt, pred)


@given(st.integers(0, 2**32), st.sampled_from([0, 1, 5, 40, 200, 900, 3000]))
def test_long_texts_have_the_similarity_that_they_have(seed, edits):
    letters = random.Random(seed)  # noqa: S311 - no secret
    gt = letters.choices("abcdefgh", k=3000)
    pred = list(gt)
    for _ in range(edits):
        pred[letters.randrange(len(pred))] = "#"
    documents = {"t": "".join(gt)}, {"t": "".join(pred)}
    assert results(QUICK, *documents) == results(PLAIN, *documents)
