"""How well `stickler audit` finds wrong labels, in simulations; docs/auditing.md has the table."""

from pathlib import Path

import pytest

from benchmarks.auditing import (
    COVERAGE_KINDS,
    KINDS,
    SETS,
    UNSEEN,
    Labels,
    measure_coverage,
    measure_named_shares,
    measure_unseen_coverage,
    simulate_audits,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("labels", KINDS, ids=lambda labels: labels.name)
def test_intervals_hold_the_share_of_wrong_labels(labels):
    # 100 sets of 0.95: the standard error of the share is 0.022.
    assert simulate_audits(labels, sets=100, seed=1).covered >= 0.94 - 0.022


@pytest.mark.parametrize("wrong", UNSEEN)
def test_so_they_do_where_no_vote_shows_a_mistake(wrong):
    assert measure_unseen_coverage(wrong, 1000, 1) >= 0.94


@pytest.mark.parametrize("looked_at", [60, 100, 500])
@pytest.mark.parametrize("systems", [2, 3, 6])
def test_so_they_do_where_fewer_or_more_are_looked_at(systems, looked_at):
    figures = simulate_audits(Labels(systems, 0.03), sets=100, seed=1, looked_at=looked_at)
    assert figures.covered >= 0.94 - 0.022, figures


@pytest.mark.parametrize("labels", COVERAGE_KINDS, ids=lambda labels: labels.name)
def test_intervals_hold_f1_with_a_right_ground_truth_and_agreement(labels):
    # 60 sets of 0.95: the standard error of the share is 0.028.
    shares = measure_coverage(labels, sets=60, seed=1)
    assert min(shares.values()) >= 0.94 - 0.028, shares


def test_votes_find_most_of_what_is_wrong():
    assert simulate_audits(Labels(3, 0.03), sets=100, seed=1).precision > 0.9
    assert simulate_audits(Labels(4, 0.03), sets=100, seed=1).precision > 0.97


def test_a_copy_is_named_and_independent_systems_are_not():
    assert measure_named_shares(50, 1, copies=True) > 0.9
    assert measure_named_shares(50, 1, copies=False) < 0.05


def test_the_docs_show_what_the_simulation_does():
    page = (Path(__file__).parents[2] / "docs" / "auditing.md").read_text("utf-8")
    audit = simulate_audits(KINDS[3], SETS, 0)
    assert audit.labels.name == "3 systems, 3.0% wrong, 30% shared"
    figures = f"{audit.precision:.2f}, {audit.covered:.3f}, {audit.width:.2f}"
    assert f"| 3% | 30% shared | {figures} |" in page
