"""A prediction that equals its ground truth is perfect, by every figure."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.comparators.comparator_registry import BUILT_IN, comparator_class
from stickler_cli.schema.compiler import compile_schema
from .accounts import compare, non_matches, tally
from .strategies import KINDS, Scope, X, cases

RANGES = {"strict", "contains", "graded"}
CONFIGS = {
    "DateComparator": [
        {},
        *({"range_mode": mode, "precision_mode": "overlap"} for mode in sorted(RANGES)),
        {"tolerance": 1, "dayfirst": True, "precision_mode": "gt_loose"},
    ],
    "ExactComparator": [{}, {"strip": False, "case_sensitive": True}],
    "FuzzyComparator": [{}, {"method": "partial_ratio"}, {"method": "token_set_ratio"}],
    "NumericComparator": [{}, {"relative_tolerance": 0.1}],
    "PhoneComparator": [{}, {"region": "US"}],
}
JUDGED = {"LLMComparator", "BERTComparator", "BertComparator", "SemanticComparator"}
"""Comparators that ask models; no law holds for their answers."""

TEXTS = [
    "n/a",
    "",
    "  ",
    "soon",
    "12,5",
    "2024-01-01 to 2024-01-03",
    "May 2024 to May 5",
    "-",
    "O+",
    "+1 650 253 0000",
    "true",
    "1e99999",
]
SCALARS = st.one_of(
    st.sampled_from(TEXTS),
    st.text(max_size=5),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, 1e300, -0.0, 1.0, 20240105, 20240105.0]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        st.lists(st.integers(0, 2), min_size=4, max_size=4),
    ),
    max_leaves=8,
)
PLACES = [
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "string", "format": "date"},
    {"enum": ["O+", "O-", 1, True]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "array"}},
    {},
]


def perfect(plan, document, options=None):
    """Compare a document with a copy that shares no object with it."""
    again = json.loads(json.dumps(document))
    comparison = compare(plan, document, again, options)
    return comparison.similarity == 1 and not non_matches(comparison)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BUILT_IN.keys() - JUDGED))
def test_by_every_built_in_comparator_at_every_place(name):
    @given(
        st.sampled_from(CONFIGS.get(name, [{}])),
        st.sampled_from(PLACES),
        st.sampled_from([None, 0.0, 1.0]),
        st.lists(VALUES, min_size=1, max_size=3),
    )
    def holds(config, place, threshold, values):
        annotations = {X + "comparator": name, X + "comparator-config": config}
        annotations |= {} if threshold is None else {X + "threshold": threshold}
        field = {"x": {**place, **annotations}}
        rows = {"type": "array", "items": {"type": "object", "properties": field}}
        plan = compile_schema({"type": "object", "properties": {**field, "rows": rows}})

        document = {"x": values[0], "rows": [{"x": value} for value in values]}
        assert perfect(plan, document)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_by_the_defaults_of_every_kind_with_values_of_any_other(kind):
    @given(cases(Scope(wrong=True), kind=kind))
    def holds(case):
        assert perfect(case.plan, case.gt, case.options)

    holds()


@given(cases(Scope(wrong=True)))
def test_by_the_defaults_of_any_kind_every_unit_counts_as_right(case):
    counts = tally(compare(case.plan, case.gt, case.gt, case.options)).counts("overall")

    assert counts.fd == counts.fn == counts.fa == 0


@given(VALUES)
def test_by_the_defaults_of_every_place_with_any_value(value):
    fields = {str(index): place for index, place in enumerate(PLACES)}
    plan = compile_schema({"type": "object", "properties": fields})

    assert perfect(plan, dict.fromkeys(fields, value))


def test_but_for_a_range_of_dates_where_ranges_are_rejected():
    annotations = {
        X + "comparator": "DateComparator",
        X + "comparator-config": {"range_mode": "reject"},
    }
    plan = compile_schema(
        {"type": "object", "properties": {"x": {"type": "string", **annotations}}}
    )

    assert not perfect(plan, {"x": "2024-01-01 to 2024-01-03"})
    assert not perfect(plan, {"x": "soon"})
    assert perfect(plan, {"x": "2024-01-01"})


def test_what_a_comparator_of_ones_own_says_of_equal_values_holds():
    class Never(comparator_class("NumericComparator")):
        def compare(self, gt, pred):
            return 0.0

    schema = {"type": "object", "properties": {"x": {"type": "number", X + "comparator": "Never"}}}

    assert not perfect(compile_schema(schema, comparators={"Never": Never()}), {"x": 1})
