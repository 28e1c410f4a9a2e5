"""Squares and products of the counts of documents, against sums over the documents themselves."""

import numpy as np
import pytest

from stickler_cli.compare.result import FA, FD, FN, TP
from stickler_cli.score.counts import RATES
from stickler_cli.score.field_counts import FieldCounts
from stickler_cli.score.moments import KEYS, documents_with, moments_of, no_moments, products

RANDOM = np.random.default_rng(3)
COUNTS = RANDOM.integers(0, 3, (3, 9, 5))
"""By counting mode, of four documents in one field and five in another."""


@pytest.fixture
def by_field():
    scores, nobody, items = np.zeros((4, 9)), np.zeros(9, int), np.zeros((2, 9), int)
    known = nobody, COUNTS, scores, [], [], {}, items
    return moments_of(FieldCounts([("a",), ("b",)], np.array([0, 4]), *known))


@pytest.mark.parametrize(("field", "some"), [(0, slice(0, 4)), (1, slice(4, 9))])
def test_products_are_those_of_each_document_added_up(by_field, field, some):
    for mode in range(3):
        counts = COUNTS[mode, some].astype(float)

        assert products(by_field[field][mode]).tolist() == (counts.T @ counts).tolist()


@pytest.mark.parametrize(("recall_with_fd", "relevant"), [(False, [TP, FN]), (True, [TP, FD, FN])])
def test_a_rate_is_about_the_documents_that_have_what_it_divides_by(
    by_field, recall_with_fd, relevant
):
    about = {
        "precision": [TP, FD, FA],
        "recall": relevant,
        "f1": [TP, FD, FA, FN],
        "accuracy": range(5),
    }
    assert [*about] == [*RATES]
    for mode in range(3):
        counts = COUNTS[mode, 4:]
        expected = [
            sum(any(document[outcome] for outcome in some) for document in counts.tolist())
            for some in about.values()
        ]
        found = documents_with(by_field[1][mode], recall_with_fd=recall_with_fd)
        assert found == expected


def test_of_no_documents_all_are_0_and_each_has_a_name():
    assert len(set(KEYS)) == len(KEYS) == 20
    assert KEYS[:2] == ("tp_tp", "tp_fd")
    assert no_moments() == [[0] * 20] * 3
    assert no_moments()[0] is not no_moments()[0]
