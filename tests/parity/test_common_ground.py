"""Both libraries give the same results for schemas and documents that they treat alike.

For these, every declared value is on both sides and has the declared type, annotations whose
defaults differ are stated, list items are always paired, only fields of the root clip, and items
contain no lists (stickler-eval pairs lists in items by another similarity than it reports). What
else the libraries have in common is in test_programs, and the differences are in test_differences.
"""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stickler_cli
from stickler_cli import Options

X = "x-aws-stickler-"
NAMES = ("a", "b", "c")
WORDS = ("ant", "ants", "aunt", "bee", "bees nest", "abcd", "abcx", "x", "y z")
OUTCOMES = ("tp", "fd", "fa", "fn")
PAIRED = Options(pairing_floor=-1)

thresholds = st.sampled_from((0.3, 0.5, 0.75, 0.9, 1.0))
weights = st.sampled_from((0.5, 1.0, 2.0, 3.5))
words = st.sampled_from(WORDS)
LEAVES = (
    ("string", "LevenshteinComparator", words),
    ("string", "ExactComparator", words),
    ("string", "FuzzyComparator", words),
    ("number", "NumericComparator", st.integers(1, 4).map(float)),
    ("integer", "NumericComparator", st.integers(1, 4)),
    ("boolean", "ExactComparator", st.booleans()),
)


class Triple(NamedTuple):
    """A schema, a ground truth and a prediction."""

    schema: dict
    gt: dict
    pred: dict


def annotations(clip):
    """Return a strategy for the annotations whose defaults differ between the two libraries."""
    clips = st.booleans() if clip else st.just(False)
    return st.fixed_dictionaries(
        {X + "threshold": thresholds, X + "clip-under-threshold": clips, X + "weight": weights}
    )


@st.composite
def fields(draw, kinds, *, clip=False):
    """Draw the schema of a field, and a strategy for its values.

    `kinds` are the kinds to choose from; fields of an object have all kinds but the last.
    """
    kind = draw(st.sampled_from(kinds))
    if kind in {"leaf", "leaves"}:
        name, comparator, values = draw(st.sampled_from(LEAVES))
        field_annotations = draw(annotations(clip and kind == "leaf")) | {
            X + "comparator": comparator
        }
        if kind == "leaf":
            return {"type": name, **field_annotations}, values
        return draw_list_schema({"type": name}, values, field_annotations)
    if kind == "object":
        schema, values = draw(objects(kinds[:-1]))
        return {**schema, **draw(annotations(clip=False))}, values
    schema, values = draw(objects(("leaf", "object")))
    field_annotations = {X + "weight": draw(weights), X + "clip-under-threshold": False}
    return draw_list_schema(
        {**schema, X + "match-threshold": draw(thresholds)}, values, field_annotations
    )


def draw_list_schema(items, values, list_annotations):
    """Return the schema of a list, and a strategy for its values."""
    return {"type": "array", "items": items, **list_annotations}, st.lists(
        values, min_size=1, max_size=4
    )


@st.composite
def objects(draw, kinds, *, clip=False):
    """Draw the schema of an object whose fields are all required, and a strategy for its values."""
    names = sorted(draw(st.sets(st.sampled_from(NAMES), min_size=1)))
    drawn_fields = {name: draw(fields(kinds, clip=clip)) for name in names}
    properties = {name: schema for name, (schema, _) in drawn_fields.items()}
    values = st.fixed_dictionaries({name: values for name, (_, values) in drawn_fields.items()})
    return {"type": "object", "properties": properties, "required": names}, values


@st.composite
def triples(draw):
    schema, values = draw(objects(("leaf", "object", "leaves", "items"), clip=True))
    return Triple({**schema, X + "model-name": "Root"}, draw(values), draw(values))


def numbers(library, triple, **options):
    """Return the score of the document, and scores and counts of its fields, by name."""
    model = library.StructuredModel.from_json_schema(triple.schema)
    gt, pred = model(**triple.gt), model(**triple.pred)
    result = gt.compare_with(pred, include_confusion_matrix=True, **options)
    scores = {"score": result["overall_score"], **result["field_scores"]}
    for name, node in result["confusion_matrix"]["fields"].items():
        scores |= {f"{name}.{key}": node["overall"][key] for key in OUTCOMES}
    return scores


@given(triples())
def test_random_documents_score_and_count_alike(triple):
    reference = pytest.importorskip("stickler", reason="stickler-eval is not installed")

    assert numbers(stickler_cli, triple, options=PAIRED) == pytest.approx(
        numbers(reference, triple)
    )


leaves = st.sampled_from((*WORDS, "", "12345", 12345, 12346, 1, 1.0, 0.5, True, None))
nested = st.recursive(
    leaves,
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=3) | st.lists(inner),
    max_leaves=6,
)


@given(st.fixed_dictionaries({"a": nested}), st.fixed_dictionaries({"a": nested}))
def test_anls_scores_of_values_of_any_shape_are_alike(gt, pred):
    reference = pytest.importorskip("stickler", reason="stickler-eval is not installed")

    assert stickler_cli.anls_score(gt, pred) == pytest.approx(reference.anls_score(gt, pred))
