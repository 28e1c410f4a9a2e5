"""The work of a comparison, counted before it is done; it limits documents, not time."""

import random
import tracemalloc

import numpy as np
import pytest

from stickler_cli.comparators.base import LETTERS_OF_WORD, STEPS_OF_PAIR, STEPS_OF_WORDS
from stickler_cli.comparators.texts import LevenshteinComparator
from stickler_cli.compare import engine
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import record_pairs
from stickler_cli.compare.plan import Options
from stickler_cli.compare.work import (
    CALL_STEPS,
    DECLARED_STEPS,
    NAME_STEPS,
    PAIR_STEPS,
    PREPARED_STEPS,
    STEPS_OF_UNIT,
    UNDECLARED_STEPS,
    VALUE_STEPS,
    FieldWork,
    TooMuchAtOnceError,
    Work,
)
from stickler_cli.core.problems import RoomLimitError, WorkLimitError
from stickler_cli.schema.compiler import compile_schema


def counted(work):
    """Return the number of all counted steps."""
    return sum(steps for (steps,) in work.steps_by_path.values())


def steps_of(schema, gt, pred, **options):
    """Return the number of steps for comparing two documents, or several pairs of documents."""
    gts, preds = (gt, pred) if isinstance(gt, list) else ([gt], [pred])
    work = Work(**options)
    columns = Columns(gts, preds, work.field_work())
    record_pairs(compile_schema(schema).root, columns, Options(), are_documents=True)
    return counted(work)


NODE = {
    "$ref": "#/$defs/n",
    "$defs": {
        "n": {
            "type": "object",
            "properties": {
                "v": {"type": "string"},
                "c": {"type": "array", "items": {"$ref": "#/$defs/n"}},
            },
        }
    },
}
ANY = {"type": "object", "properties": {"v": {}}}
ARM = {"type": "object", "properties": {"k": {"enum": ["x"]}, "c": {"$ref": "#/$defs/n"}}}
UNION = {
    "type": "object",
    "properties": {"v": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"anyOf": [ARM, {**ARM, "title": "other"}]}},
}


def tree(depth, name):
    below = [tree(depth - 1, name), {"v": f"{name}{depth}"}] if depth else []
    return {"v": name, "c": below}


def bushy(depth, name):
    below = [bushy(depth - 1, f"{name}{index}") for index in range(2)] if depth else []
    return {"v": name, "c": below}


def nested(depth, name):
    return {"v": [name, nested(depth - 1, name)["v"]] if depth else name}


def union(depth, name):
    return {"v": union_of(depth, name)}


def union_of(depth, name):
    return {"k": name, **({"c": union_of(depth - 1, name)} if depth else {})}


def size(value):
    if isinstance(value, dict):
        return 1 + sum(map(size, value.values()))
    return 1 + sum(map(size, value)) if isinstance(value, list) else 1


STEPS_OF_TWO_NODES = 600_000
"""Maximum number of steps for each pair of nodes, in documents that consist of nested lists and
objects only: a few calls of numpy."""


@pytest.mark.parametrize(
    ("schema", "make", "depths"),
    [
        (NODE, tree, (4, 8, 24)),
        (NODE, bushy, (3, 6)),
        (ANY, nested, (4, 30)),
        (UNION, union, (60,)),
    ],
)
@pytest.mark.parametrize("names", ["xx", "xy"])
def test_steps_grow_with_the_product_of_the_sizes_however_deep_documents_are(
    schema, make, depths, names
):
    for depth in depths:
        gt, pred = make(depth, names[0]), make(depth, names[1])

        assert steps_of(schema, gt, pred) <= STEPS_OF_TWO_NODES * size(gt) * size(pred)


def kinds(depth, prefix, suffix):
    """Return a full binary tree as JSON; its levels belong to the two arms of a union in turn."""
    below = [kinds(depth - 1, f"{prefix}{side}", suffix) for side in "01"] if depth else []
    return {"k": "ab"[depth % 2], "v": prefix + suffix, "c": below}


def an_arm(kind):
    items = {"type": "array", "items": {"$ref": "#/$defs/n"}}
    fields = {"k": {"const": kind}, "v": {"type": "string"}, "c": items}
    return {"type": "object", "properties": fields, "required": ["k"]}


TREES = {
    "type": "object",
    "properties": {"t": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"anyOf": [an_arm("a"), an_arm("b")]}},
}
CELL = 8
KEPT_OF_LISTS = 5 * CELL + 2 * 4 * CELL
"""Number of bytes that are kept for two paired lists: the results, and two pairs of items."""


def reserved_bytes_of(monkeypatch, gt, pred):
    """Return the number of bytes that are kept at the end, by path, and their peak in total."""
    kept, peak, keep = {}, [0], FieldWork.reserve

    def noted(place, size):
        kept[place.path] = kept.get(place.path, 0) + size
        peak.append(sum(kept.values()))
        keep(place, size)

    monkeypatch.setattr(FieldWork, "reserve", noted)
    steps_of(TREES, gt, pred)
    return kept, max(peak)


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_each_two_lists_are_kept_once_however_many_ways_lead_to_them(depth, monkeypatch):
    gt, pred = ({"t": kinds(depth, "", side)} for side in "xy")

    kept, _ = reserved_bytes_of(monkeypatch, gt, pred)

    for level in range(1, depth):  # each list of a level was held against each of the other side
        assert 0 < kept["t", *("c",) * (level + 1)] <= 4**level * KEPT_OF_LISTS


def chains(number, depth, side):
    """Return a node with `number` chains of nodes, each `depth` nodes long.

    Each chain is compared with each chain of the other side.
    """
    below = [{"k": "a", "v": f"{index}{side}", "c": []} for index in range(number)]
    for level in range(depth):
        below = [{"k": "ba"[level % 2], "v": "", "c": [node]} for node in below]
    return {"k": "a", "v": "", "c": below}


OF_ANY = 1_500_000
"""Number of bytes for the values themselves, and for the pairs that are compared in one call."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [lambda side: kinds(6, "", side), lambda side: chains(60, 5, side)]
)
def test_what_is_counted_as_kept_is_about_what_memory_it_takes(make, monkeypatch):
    gt, pred = ({"t": make(side)} for side in "xy")
    kept, kept_peak = reserved_bytes_of(monkeypatch, gt, pred)
    tracemalloc.start()
    try:
        steps_of(TREES, gt, pred)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert sum(kept.values()) < kept_peak  # of which some is given back
    assert peak - OF_ANY < 1.2 * kept_peak < 1.3 * peak


def test_what_would_be_kept_beyond_the_limit_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("stickler_cli.compare.work.MAX_RESERVED_BYTES", 1 << 20)
    trees = [({"t": kinds(depth, "", "x")}, {"t": kinds(depth, "", "y")}) for depth in (3, 9)]

    steps_of(TREES, *trees[0])
    with pytest.raises(
        RoomLimitError, match=r"lists inside lists in field t\.c(\.c)+ take more than 1 MB"
    ):
        steps_of(TREES, *trees[1])


TEXT = {"type": "string"}
TEXTS = {"type": "object", "properties": {"t": {"type": "array", "items": {"type": "string"}}}}


def texts(number, length, seed=0):
    letters = random.Random(seed)  # noqa: S311 - no secret
    return {"t": ["".join(letters.choices("abcdefgh ", k=length)) for _ in range(number)]}


def test_texts_cost_their_lengths_multiplied():
    words = 10_000 * 10_000 // 64  # of letters that are held against a letter; to pair, and chosen

    assert words < steps_of(TEXTS, texts(1, 10_000), texts(1, 10_000, 1)) < 8 * words


def test_documents_cost_together_at_least_what_each_costs_alone():
    gts = [texts(number, 20, number) for number in (1, 5, 30)]
    preds = [texts(number, 20, number + 50) for number in (30, 4, 1)]

    steps = [steps_of(TEXTS, gt, pred) for gt, pred in zip(gts, preds, strict=True)]

    assert steps_of(TEXTS, gts, preds) >= max(steps)


def test_what_exceeds_the_limit_is_told_with_the_field_that_cost_most():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "o": TEXTS}}
    gt, pred = ({"a": "x", "o": texts(300, 50, seed)} for seed in (1, 2))

    with pytest.raises(
        WorkLimitError, match=r"--work-limit 0.01 allows; most of the work is in field o\.t$"
    ):
        steps_of(schema, gt, pred, limit=0.01)


def test_of_fields_that_are_compared_together_the_one_that_cost_most_is_told():
    letters = random.Random(3)  # noqa: S311 - no secret
    gts, preds = (
        [
            {"a": str(index) + side, "b": "".join(letters.choices("abcd", k=900))}
            for index in range(40)
        ]
        for side in "xy"
    )

    with pytest.raises(WorkLimitError, match=r"most of the work is in field b$"):
        steps_of(an_object(a=TEXT, b=TEXT), gts, preds, limit=0.001)
    assert steps_of(an_object(a=TEXT, b=TEXT), gts, preds) > STEPS_OF_UNIT // 1000


def test_lists_of_texts_are_refused_before_any_is_compared(monkeypatch):
    monkeypatch.setattr(LevenshteinComparator, "similarities", None)  # would fail otherwise

    with pytest.raises(WorkLimitError):
        steps_of(TEXTS, texts(500, 500, 1), texts(500, 500, 2), limit=1)


def test_equal_texts_are_no_work():
    document = {"t": texts(1, 5_000)["t"] * 200}

    assert steps_of(TEXTS, document, document, limit=1) < STEPS_OF_UNIT // 10


def test_steps_of_all_places_add_up_to_the_limit_and_not_beyond():
    work = Work(limit=0.001, at_once=0.0005)
    top, below = work.field_work(), work.field_work().of_field("a")
    assert counted(work) == 0
    top.charge(300_000)
    below.charge(500_000)  # as much at once as may be
    work.field_work(("a",)).charge(200_000)
    assert counted(work) == 1_000_000
    top.check(0)
    with pytest.raises(WorkLimitError, match=r"most of the work is in field a$"):
        top.check(1)
    work.field_work(("b",))
    with pytest.raises(WorkLimitError, match=r"most of the work is in field a$"):
        work.field_work(("b",)).charge(1)
    with pytest.raises(TooMuchAtOnceError):
        Work(at_once=0.0005).field_work().charge(500_001)


@pytest.mark.parametrize("names", [["", "a", "ab"], ["abcdefgh" * 20, "x" * 90, "ab", "ab"]])
def test_the_least_steps_of_pairs_are_those_of_texts_that_differ(names):
    gts, preds = names, [*names[::-1], "another text", None]
    work = Work()
    columns = Columns(gts, preds, work.field_work())
    leaf = compile_schema({"type": "object", "properties": {"t": TEXT}}).root.fields[0].node
    codes = columns.codes
    all_pairs = np.arange(len(gts)), np.arange(len(preds))
    minimum_steps = leaf.min_steps(columns, codes.gt[all_pairs[0]], codes.pred[all_pairs[1]])
    unlike = [(len(gt), len(pred)) for gt in gts for pred in preds if gt and pred and gt != pred]
    cells = sum(gt * pred for gt, pred in unlike)
    assert minimum_steps == STEPS_OF_PAIR * len(unlike) + STEPS_OF_WORDS * cells // LETTERS_OF_WORD


def test_much_at_once_is_told_where_nobody_could_interrupt_it():
    gt, pred = texts(1, 100_000, 1), texts(1, 100_000, 2)

    with pytest.raises(TooMuchAtOnceError):
        steps_of(TEXTS, gt, pred, at_once=0.3)
    assert steps_of(TEXTS, gt, pred, at_once=1) > 0


def an_object(**properties):
    return {"type": "object", "properties": properties}


A_NODE = 2 * VALUE_STEPS + CALL_STEPS + PAIR_STEPS
"""Number of steps for a field of one pair of documents, without those that depend on its values."""


def in_words(*lengths):
    """Return the number of steps for comparing pairs of texts, given pairs of lengths."""
    return sum(
        STEPS_OF_PAIR + STEPS_OF_WORDS * -(min(pair) // -LETTERS_OF_WORD) * max(pair)
        for pair in lengths
    )


@pytest.mark.parametrize(
    ("schema", "gts", "preds", "expected"),
    [
        (
            an_object(a=TEXT),
            [{"a": "x" * 30}],
            [{"a": "y" * 72}],
            2 * A_NODE + in_words((30, 72)) + PREPARED_STEPS * 102 // 100 + 2 * PREPARED_STEPS,
        ),
        (  # three numbers that differ, one of which is on both sides, of 17 letters each
            an_object(a={"type": "number"}),
            [{"a": 1.5}, {"a": 2}],
            [{"a": 3.5}, {"a": 2}],
            2 * (4 * VALUE_STEPS + CALL_STEPS + 2 * PAIR_STEPS) + 2 * 17
            + PREPARED_STEPS * 51 // 100 + 2 * PREPARED_STEPS,
        ),
        (  # both are compared with the one, neither is a pair: three units
            an_object(a={"type": "array", "items": TEXT}),
            [{"a": ["x" * 30, "zz"]}],
            [{"a": ["y" * 70]}],
            2 * A_NODE + (3 * VALUE_STEPS) + 2 * PAIR_STEPS
            + (CALL_STEPS + 2 * PAIR_STEPS) + (CALL_STEPS + 3 * PAIR_STEPS)
            + in_words((30, 70), (2, 70)) + PREPARED_STEPS * 102 // 100 + 3 * PREPARED_STEPS,
        ),
        (
            {"type": "object", "additionalProperties": TEXT},
            [{"a": "x", "b": None}],
            [{"a": "x", "c": "y"}],
            A_NODE + 3 * NAME_STEPS + 3 * VALUE_STEPS + CALL_STEPS + 2 * PAIR_STEPS,
        ),
        (
            an_object(a=TEXT),
            [{"u": 1, "a": ""}],
            [{"v": 1, "w": 2, "a": None}],
            2 * A_NODE + 3 * UNDECLARED_STEPS,
        ),
        (
            an_object(a=TEXT),
            [{"a": "x" * 1_000}],
            [{"a": "y" * 1_000}],
            2 * A_NODE + in_words((1_000, 1_000)) + PREPARED_STEPS * 20 + 2 * PREPARED_STEPS,
        ),
        (  # of a long text each letter counts as much as the comparator takes to read it
            an_object(a={**TEXT, "x-aws-stickler-comparator": "TimeComparator"}),
            [{"a": "x" * 1_001}],
            [{"a": "y" * 1_000}],
            2 * A_NODE + 2_001 + 500 * 1_001 + PREPARED_STEPS * 10 + 2 * PREPARED_STEPS,
        ),
    ],
)  # fmt: skip
def test_steps_are_those_of_each_thing_that_is_done(schema, gts, preds, expected):
    assert steps_of(schema, gts, preds) == expected


def test_long_texts_are_looked_at_for_few_differences_before_they_are_compared():
    size = 1_200
    same = "".join(random.Random(1).choices("abcdefgh", k=size))  # noqa: S311 - no secret
    altered = [same[:-letters] + "?" * letters for letters in (1, 6, 60, 100, 600)]
    pairs = [*((same, other) for other in altered), ("abc", "abd")]

    gts, preds = ([{"a": pair[side]} for pair in pairs] for side in (0, 1))
    account = engine.compare(compile_schema(an_object(a=TEXT)), gts, preds)
    work = steps_of(an_object(a=TEXT), gts, preds)

    assert account.document_scores.tolist() == pytest.approx(
        [1199 / 1200, 0.995, 0.95, 11 / 12, 0.5, 2 / 3]
    )
    letters = size * 6 + 6
    word_steps = in_words((size, size))
    assert work == (
        2 * (12 * VALUE_STEPS + CALL_STEPS + 6 * PAIR_STEPS)
        + (PREPARED_STEPS * letters // 100 + 8 * PREPARED_STEPS)
        # Twice the share of letters that may differ: of all five, then of three.
        + int(2 * (1 - 0.99) * 5 * word_steps) + int(2 * (1 - 0.9) * 3 * word_steps)
        + word_steps + in_words((3, 3))
    )  # fmt: skip


def test_a_comparator_that_takes_other_words_for_unlike_counts_all_letters():
    field = {"type": "string", "x-aws-stickler-comparator": "LevenshteinComparator"}
    strict = {**field, "x-aws-stickler-comparator-config": {"same_words": True}}
    pair = {"a": "ab" * 5_000}, {"a": "cd" * 5_000}

    assert steps_of(an_object(a=strict), *pair) >= STEPS_OF_WORDS * 10_000**2 // LETTERS_OF_WORD


def test_lists_of_alike_texts_are_refused_where_all_their_words_are_to_be_looked_at():
    field = {"type": "string", "x-aws-stickler-comparator": "LevenshteinComparator"}
    strict = {**field, "x-aws-stickler-comparator-config": {"same_words": True}}
    schema = an_object(a={"type": "array", "items": strict})
    gt, pred = ({"a": [f"a common text {side * 3}{n:03}" for n in range(60)]} for side in "xy")

    # 3,600 pairs of 20 letters: 10,000 + 250 * 40 steps each, 72 million in all.
    with pytest.raises(WorkLimitError):
        steps_of(schema, gt, pred, limit=0.07)
    assert steps_of(schema, gt, pred, limit=1) > 72_000_000


def test_each_declared_field_in_the_value_of_a_key_is_charged_also_if_it_is_absent():
    fields = {f"f{index}": {"type": "boolean"} for index in range(1000)}
    schema = {"type": "object", "additionalProperties": {"type": "object", "properties": fields}}

    def steps_of_keys(n_keys):
        document = {f"key {index}": {"f0": True} for index in range(n_keys)}
        return steps_of(schema, document, document)

    # Each further key costs itself and its thousand fields, and what reads its values besides.
    further = steps_of_keys(3) - steps_of_keys(2)
    names = NAME_STEPS + 1000 * DECLARED_STEPS
    assert names <= further <= names + 1000 * (PAIR_STEPS + 4 * VALUE_STEPS)
    # The same field of several documents is charged once.
    document = {"key": {"f0": True}}
    both = steps_of(schema, [document] * 2, [document] * 2)
    assert both - steps_of(schema, document, document) < 1000 * DECLARED_STEPS


def test_a_small_document_whose_keys_share_a_large_schema_is_refused():
    fields = {f"f{index}": {"type": "boolean"} for index in range(1000)}
    schema = {"type": "object", "additionalProperties": {"type": "object", "properties": fields}}
    document = {f"key {index}": {"f0": True} for index in range(210)}  # 21 units of names

    with pytest.raises(WorkLimitError):
        steps_of(schema, document, document, limit=20)
