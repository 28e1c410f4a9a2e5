"""Laws for every comparator and any values: columns give the same results as single pairs."""

import json
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickler_cli.comparators import (
    BBoxIoUComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    NumericComparator,
    SemanticComparator,
    StructuredModelComparator,
)
from stickler_cli.comparators.comparator_registry import BUILT_IN, construct

awkward = st.sampled_from(
    [
        *("", " ", "\t\n", "\u00a0", "🙂", "👩‍👩‍👧", "İ", "ß", "e\u0301", "\ud800", "-", "..."),
        *("1", "1.0", "01", "true", "True", "nan", "inf"),
        *("-0", "(1)", "$1", "1e3", "1e-3", "1,000"),
        *("1e999999999", "-1e-999999999", "9" * 400, "0." + "0" * 400 + "1"),
        *(0, -0.0, 0.0, 1, 1.0, -1, True, False, 0.1, 0.3, 0.30000000000000004, 5e-324, 1.7e308),
        *(10**20, 1e20, 10**20 + 1, -(10**400), 10**4000, float("nan"), float("inf")),
    ]
)
near_integers = st.builds(
    lambda units, cents: units + cents / 100, st.integers(-3, 3), st.integers(0, 99)
)
short_texts = st.text(st.sampled_from("ab AB.-1é🙂"), max_size=8)
scalars = st.one_of(
    awkward,
    near_integers,
    short_texts,
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)

coordinates = st.one_of(
    st.integers(-5, 5),
    st.floats(-1, 1),
    st.floats(),
    st.sampled_from([0.1, 0.2, 0.30000000000000004, 1e-320, 1e154, -1e308, 1.7e308, 10**400, True]),
)
boxes = st.one_of(
    st.lists(coordinates, min_size=4, max_size=4),
    st.lists(st.lists(coordinates, min_size=2, max_size=2), min_size=2, max_size=2),
    values,
)

dates = st.one_of(
    st.sampled_from(
        [
            *("2024-01-02", "2024-02-01", "01/02/2024", "2/1/24", "Jan 2, 2024", "1 Feb 2024"),
            *("2024-01-02T23:30:00Z", "2024-01-03T01:30:00+02:00", "2024-01-03", 20240102, "n/a"),
            *("Jan 2", "Jan 2024", "2024-01-01 to 2024-01-10", "2024-01-02 to 2024-01-02"),
            date(2024, 1, 2),
        ]
    ),
    st.dates(date(2024, 1, 1), date(2024, 3, 1)).map(str),
    scalars,
)


def embedding(text):
    """Return a small vector that depends on the text; some vectors are zero, negative or huge."""
    return [len(text) - 3.0, text.count("a") * 1e200, float(text.count("1"))]


FAMILIES = {
    "single values": (
        scalars,
        [
            *(
                ExactComparator(case_sensitive=case, strip=strip)
                for case in (True, False)
                for strip in (True, False)
            ),
            SemanticComparator(embedding_function=embedding),
        ],
    ),
    "values but for objects": (
        values.filter(lambda value: not isinstance(value, dict)),
        [LevenshteinComparator(normalize=normalize) for normalize in (True, False)],
    ),
    "values": (
        values,
        [
            *(
                FuzzyComparator(method=method, normalize=normalize)
                for method in ("ratio", "partial_ratio", "token_sort_ratio", "token_set_ratio")
                for normalize in (True, False)
            ),
            NumericComparator(),
            NumericComparator(absolute_tolerance=0.01),
            NumericComparator(relative_tolerance=0.1),
            NumericComparator(relative_tolerance=0.1, absolute_tolerance=0.3),
            NumericComparator(tolerance=10**400),
            NumericComparator(relative_tolerance=1e308),
            StructuredModelComparator(),
        ],
    ),
    "dates": (
        dates,
        [
            DateComparator(),
            DateComparator(dayfirst=True, range_mode="reject"),
            DateComparator(tolerance=1, allow_partial_year=True),
            DateComparator(tolerance=0.5, precision_mode="overlap"),
        ],
    ),
    "boxes": (boxes, [BBoxIoUComparator()]),
}
"""Kinds of values, and comparators for them. Each example is compared by all of them, as drawing
an example takes longer than comparing it."""


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_similarities_are_those_of_each_pair_and_floats_from_0_to_1(family):
    strategy, comparators = FAMILIES[family]

    @settings(max_examples=4 * settings.default.max_examples)
    @given(st.lists(st.tuples(strategy, strategy), max_size=8))
    def holds(pairs):
        for comparator in comparators:
            gts = [comparator.prepare(gt) for gt, _ in pairs]
            preds = [comparator.prepare(pred) for _, pred in pairs]

            similarities = comparator.similarities(gts, preds)

            assert similarities.shape == (len(pairs),), comparator
            assert similarities.dtype == np.float64, comparator
            expected = list(map(comparator.similarity, gts, preds))
            assert similarities.tolist() == expected, comparator
            for gt, pred in pairs:
                similarity = comparator.compare(gt, pred)
                assert isinstance(similarity, float), comparator
                assert 0 <= similarity <= 1, comparator

    holds()


@pytest.mark.parametrize("family", ["single values", "values", "dates"])
def test_values_of_unequal_keys_have_similarity_0(family):
    strategy, comparators = FAMILIES[family]

    @settings(max_examples=4 * settings.default.max_examples)
    @given(st.lists(strategy, max_size=8))
    def holds(values):
        for comparator in comparators:
            prepared = [comparator.prepare(value) for value in values]
            keys = comparator.keys(prepared)
            if keys is None:
                continue

            assert keys.dtype == np.intp, comparator
            assert set(keys.tolist()) == set(range(len(set(keys.tolist())))), comparator
            for gt, gt_key in zip(prepared, keys, strict=True):
                for pred, pred_key in zip(prepared, keys, strict=True):
                    assert gt_key == pred_key or comparator.similarity(gt, pred) == 0.0, comparator

    holds()


CONFIGS = [
    ("BBoxIoUComparator", {"threshold": 0.9}),
    ("BERTComparator", {"threshold": 0}),
    ("DateComparator", {"tolerance": 1.5, "dayfirst": True, "range_mode": "strict"}),
    ("ExactComparator", {"case_sensitive": True, "strip": False, "threshold": 0.5}),
    ("FuzzyComparator", {"method": "partial_ratio", "normalize": False, "threshold": 0.1}),
    ("LLMComparator", {"model": "a-model", "eval_guidelines": "be kind"}),
    ("LevenshteinComparator", {"normalize": False, "threshold": 1}),
    ("NumericComparator", {"relative_tolerance": 0.1, "absolute_tolerance": 2}),
    ("NumericComparator", {"tolerance": 0.01}),
    ("NumericComparator", {"tolerance": 0}),
    ("SemanticComparator", {"model_id": "a-model", "threshold": 0.2}),
    ("StructuredModelComparator", {"strict_types": True, "threshold": 0.3}),
]


@pytest.mark.parametrize(("name", "config"), CONFIGS)
def test_name_and_config_construct_an_equal_comparator(name, config):
    comparator = construct(name, config)

    assert comparator.config == config
    assert construct(comparator.name, comparator.config) == comparator
    assert json.loads(json.dumps(comparator.config)) == config


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"LLMComparator"}))
def test_a_config_leaves_defaults_out(name):
    assert construct(name, {}).config == {}


@pytest.mark.parametrize("name", BUILT_IN)
def test_two_nothings_are_alike_and_one_is_unlike_anything(name):
    comparator = construct(name, {"model": "a-model"} if name == "LLMComparator" else {})

    assert comparator(None, None) == 1.0
    assert comparator(None, "x") == 0.0
    assert comparator("x", None) == 0.0
