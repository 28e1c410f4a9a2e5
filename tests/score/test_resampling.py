"""Documents resampled: the weights, and the percentiles of what comes of them."""

from hashlib import blake2b
from math import log

import numpy as np
import pytest

from stickler_cli.score.intervals import (
    REPLICATES,
    UNIT,
    IntervalSettings,
    added_weights,
    ends,
    resample,
)

SETTINGS = IntervalSettings()


def weights(documents, settings):
    """Return what the statistic that is the weights themselves is in every replicate."""
    return resample(documents, lambda drawn: drawn, settings)


# --- weights


def test_weights_are_exponential_with_mean_one():
    drawn = weights([f"document {number}" for number in range(500)], IntervalSettings())

    assert drawn.shape == (500, 1001)
    assert set(drawn[:, 0]) == {1.0}
    # 500,000 draws: the standard error of the mean is 0.0014, that of a share below 0.0007.
    values = drawn[:, 1:]
    assert values.min() > 0
    assert values.mean() == pytest.approx(1, abs=0.006)
    assert values.var() == pytest.approx(1, abs=0.02)
    beyond = [(values > bound).mean() for bound in (0.1, 0.5, 1, 2, 4)]
    assert beyond == pytest.approx(np.exp([-0.1, -0.5, -1, -2, -4]), abs=0.004)


def test_a_name_of_half_a_character_has_weights_too():
    assert weights(["\ud800", "a"], SETTINGS).shape == (2, 1 + REPLICATES)


def test_a_document_has_the_same_weights_whatever_is_beside_it():
    alone = weights(["b"], SETTINGS)
    assert (weights(["a", "b", "c"], SETTINGS)[1] == alone[0]).all()


def test_half_of_the_documents_change_places_in_a_swap_whatever_is_beside_them():
    names = [f"document {number}" for number in range(500)]
    swapped = resample(names, lambda drawn: drawn, SETTINGS, replicates=999, swaps=True)[:, 1:]

    assert swapped.shape == (500, 999)
    assert set(np.unique(swapped)) == {0.0, 1.0}
    assert swapped.mean() == pytest.approx(0.5, abs=0.004)  # 499,500 draws: six standard errors
    alone = resample(names[7:8], lambda drawn: drawn, SETTINGS, replicates=999, swaps=True)
    assert (alone[0, 1:] == swapped[7]).all()


def split_mix(name: bytes, key: bytes) -> list[int]:
    """Draw four weights by SplitMix64 with the published constants, lowest bits first."""
    mask = (1 << 64) - 1
    state = int.from_bytes(blake2b(name, digest_size=8, key=key).digest(), "little")
    state = (state + 0x9E3779B97F4A7C15) & mask
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    mixed ^= mixed >> 31
    parts = [(mixed >> shift) & 0xFFFF for shift in (0, 16, 32, 48)]
    return [max(1, round(-UNIT * log(1 - (part + 0.5) / 65536))) / UNIT for part in parts]


def test_weights_are_those_of_every_machine_and_version():
    assert weights(["a"], SETTINGS)[0, :5].tolist() == [1.0, *split_mix(b"a", b"0")]
    assert added_weights(SETTINGS)[:5].tolist() == [0, *split_mix(b"", b"0 added")]


def test_the_document_that_is_added_is_no_other_and_not_there_at_first():
    added = added_weights(SETTINGS)

    assert added[0] == 0
    assert (added[1:] != weights([""], SETTINGS)[0, 1:]).any()
    assert len(added) == 1 + REPLICATES
    assert (added != added_weights(IntervalSettings(seed=1))).any()


def test_a_statistic_is_the_same_however_many_replicates_are_made_at_once(monkeypatch):
    whole = resample("abc", lambda drawn: drawn[:2] * 3, SETTINGS, replicates=10)
    monkeypatch.setattr("stickler_cli.score.intervals._AT_ONCE", 16)

    assert whole.shape == (2, 11)
    assert (resample("abc", lambda drawn: drawn[:2] * 3, SETTINGS, replicates=10) == whole).all()


# --- ends


def test_ends_are_interpolated_between_replicates():
    row = np.array([[0.5, *np.arange(101) / 100]])
    (found,) = ends(row, row, 0.9)

    # 101 replicates at 0.00, 0.01 ... 1.00: five of a hundred steps from each end.
    assert (found.lower, found.upper) == pytest.approx((0.05, 0.95))


def test_lower_ends_are_of_one_row_and_upper_ends_of_the_other():
    wrong, right = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])
    (found,) = ends(wrong, right, 0.5)

    assert (found.lower, found.upper) == pytest.approx((0.125, 0.875))


def test_a_figure_is_within_its_interval_wherever_replicates_are():
    low, high = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])

    assert ends(high, high, 0.5)[0].lower == 0.5
    assert ends(low, low, 0.5)[0].upper == 0.5
    assert ends(low * np.nan, low, 0.5) == [None]
