"""Squares and products of the counts of documents, against sums over the documents themselves."""

import numpy as np
import pytest

from stickler_cli.score.field_counts import FieldCounts
from stickler_cli.score.moments import KEYS, moments_of, no_moments, products

RANDOM = np.random.default_rng(3)
COUNTS = RANDOM.integers(0, 3, (3, 9, 5))
"""By counting mode, of four documents in one field and five in another."""


@pytest.fixture
def by_field():
    scores, nobody = np.zeros((4, 9)), np.zeros(9, int)
    known = nobody, COUNTS, scores, [], [], {}
    return moments_of(FieldCounts([("a",), ("b",)], np.array([0, 4]), *known))


@pytest.mark.parametrize(("field", "some"), [(0, slice(0, 4)), (1, slice(4, 9))])
def test_products_are_those_of_each_document_added_up(by_field, field, some):
    for mode in range(3):
        counts = COUNTS[mode, some].astype(float)

        assert products(by_field[field][mode]).tolist() == (counts.T @ counts).tolist()


def test_of_no_documents_all_are_0_and_each_has_a_name():
    assert len(set(KEYS)) == len(KEYS) == 15
    assert KEYS[:2] == ("tp_tp", "tp_fd")
    assert no_moments() == [[0] * 15] * 3
    assert no_moments()[0] is not no_moments()[0]
