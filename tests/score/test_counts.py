"""Counts of the units of a table: the cells in which they are counted."""

import numpy as np
import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.counts import number_cells
from .batches import TEXT, batch


@pytest.mark.parametrize("n_keys", [9, 10_000])
def test_cells_are_numbered_in_the_order_of_their_keys_however_many_there_could_be(n_keys):
    different, cell = number_cells(np.array([7, 3, 7, 8]), n_keys)

    assert different.tolist() == [3, 7, 8]
    assert cell.tolist() == [1, 0, 1, 2]


def test_keys_without_end_have_cells_for_the_documents_that_have_them_only():
    schema = {"type": "object", "additionalProperties": TEXT}
    documents = {str(index): ({f"k{index}": "x"}, {f"k{index}": "x"}) for index in range(40)}

    counts = batch(compile_schema(schema), documents).counts

    assert len(counts.paths) == 41
    assert len(counts.documents) == 80
    assert counts.cells[40:, 0].tolist() == [1] * 40
