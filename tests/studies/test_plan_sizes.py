"""Planned numbers of documents, computed by hand where possible."""

import pytest

from stickler_cli.score.intervals import Spread, rate_intervals
from stickler_cli.studies.plan.answer import (
    Pilot,
    curve_of,
    least,
    power_of,
    variance_ratio_interval,
)

TENTH = Pilot(Spread(90, 10, 90, 0, 10), 100, 0.95)
"""A pilot of a hundred documents with one value each; ten of them are wrong."""


def test_a_half_width_is_that_of_a_run_of_so_many_documents():
    number = TENTH.for_width(0.02)

    # Of independent values 1.96 * sqrt(0.09 / n) is 0.02 at 864; the exact interval is wider, and
    # ten wrong documents count for a thirtieth more.
    assert 864 < number < 960
    (ends,) = rate_intervals(
        [Spread(0.9 * number, 0.1 * number, 0.9 * number, 0, 0.1 * number)], 0.95
    )
    assert (ends.upper - ends.lower) / 2 == pytest.approx(0.02 / (31 / 30) ** 0.5, rel=0.01)


def test_a_gate_takes_more_to_be_likely_and_what_is_not_reached_has_no_number():
    even, likely = (TENTH.for_gate(0.85, power, lower_end=True) for power in (0.5, 0.8))
    # 0.05 is 1.96 standard errors at 0.85: 196; and 0.84 more of those at 0.9: 363. Two thirds of
    # a wrong document are added to ten.
    assert 196 <= even < 220
    assert 330 < likely < 410
    assert TENTH.for_gate(0.9, 0.5, lower_end=True) is None
    assert TENTH.for_gate(0.95, 0.5, lower_end=False) == pytest.approx(100, abs=20)
    assert TENTH.for_gate(0.9, 0.5, lower_end=False) is None


def test_what_has_no_errors_moves_by_nothing():
    clean = Pilot(Spread(50, 0, 50, 0, 0), 50, 0.95)
    assert clean.deviation == 0
    assert clean.share == 1
    assert clean.for_gate(0.9, 0.8, lower_end=True) == clean.for_gate(0.9, 0.5, lower_end=True)
    all_wrong = Pilot(Spread(0, 50, 0, 0, 50), 50, 0.95)
    assert all_wrong.for_gate(0.1, 0.8, lower_end=False) == pytest.approx(36, abs=2)
    nothing = Pilot(Spread(0, 0, 0, 0, 0), 50, 0.95)
    assert nothing.share is None
    assert nothing.for_width(0.02) is None


def test_an_unseen_document_makes_a_pilot_kinder_or_harder():
    kinder, harder = TENTH.extremes
    assert kinder.share == pytest.approx(91 / 101)
    assert harder.share == pytest.approx(90 / 101)


def test_the_variance_of_few_documents_is_hardly_known():
    # chi-squared of 4 degrees of freedom: 0.4844 and 11.143 at 0.025 and 0.975.
    assert variance_ratio_interval(5, 0.95) == pytest.approx((4 / 11.143, 4 / 0.4844), rel=1e-3)


def test_power_is_the_chance_of_being_beyond_the_critical_value():
    assert power_of(1.96, 10**6, 0.95) == pytest.approx(0.5, abs=1e-3)
    assert power_of(1.96 + 0.8416, 10**6, 0.95) == pytest.approx(0.8, abs=1e-3)
    assert power_of(100, 5, 0.95) == 0


def test_a_curve_goes_to_twice_the_number():
    curve = curve_of(lambda number: 1 / number, 12)
    assert (curve[0], curve[11], len(curve)) == ([1, 1], [12, 1 / 12], 24)
    assert curve_of(float, None) == []


def test_the_least_number_is_found_among_few_too():
    assert least(lambda number: number >= 3) == 3
    assert least(lambda number: True) == 2


def test_documents_of_very_unequal_size_vary_as_their_sizes_do():
    # Sizes 1 and 3: mean 2, standard deviation 1.
    spread = Spread(right=4, wrong=0, right_squares=1 + 9, right_times_wrong=0, wrong_squares=0)

    assert Pilot(spread, 2, 0.95).size_variation == pytest.approx(0.5)
    assert Pilot(Spread(0, 0, 0, 0, 0, 0), 2, 0.95).size_variation == 0.0
