import numpy as np
import pytest

from stickler_cli.compare.thresholds import clipped, clipped_matrix, meets


@pytest.mark.parametrize(
    ("similarity", "threshold", "is_met"),
    [
        (0.8, 0.8, True),
        (0.7999999999999999, 0.8, True),
        (0.8 - 0.9e-9, 0.8, True),
        (0.8 - 2e-9, 0.8, False),
        (0.0, 0.0, True),
        (1.0, 1.0, True),
        (0.999, 1.0, False),
    ],
)
def test_a_threshold_is_met_within_a_billionth(similarity, threshold, is_met):
    assert meets(similarity, threshold) is is_met


@pytest.mark.parametrize(
    ("similarity", "clip", "score"),
    [
        (0.4, True, 0.0),
        (0.4, False, 0.4),
        (0.5, True, 0.5),
        (0.5 - 1e-10, True, 0.5 - 1e-10),
        (0.9, True, 0.9),
    ],
)
def test_only_what_is_below_the_threshold_is_clipped(similarity, clip, score):
    assert clipped(similarity, 0.5, clip=clip) == score


@pytest.mark.parametrize("clip", [True, False])
def test_a_matrix_is_clipped_like_each_of_its_cells(clip):
    cells = [0.0, 0.4, 0.5 - 2e-9, 0.5 - 1e-10, 0.5, 1.0]

    matrix = clipped_matrix(np.array([cells]), 0.5, clip=clip)

    assert matrix.tolist() == [[clipped(cell, 0.5, clip=clip) for cell in cells]]
