"""How often intervals contain the true value, in simulations; docs/statistics.md has the tables."""

from pathlib import Path

import pytest

from benchmarks import changes, coverage
from benchmarks.changes import SHIFTS, SYSTEMS, measure_significance, simulate_changes
from benchmarks.coverage import KINDS, measure_coverage, render_cell

pytestmark = pytest.mark.slow

MOVING = [system for system in SYSTEMS if system.spread != (0, 0) and not system.better]


@pytest.mark.parametrize("documents", [5, 30, 100, 1000])
def test_intervals_hold_the_true_value_as_often_as_they_say(documents):
    for cell in measure_coverage(documents, repetitions=400, seed=1):
        # 400 simulations of 0.95: the standard error of the share is 0.011.
        assert cell.covered >= 0.95 - 3 * 0.011 or not cell.promised, cell


def test_intervals_of_many_documents_are_nearly_as_narrow_as_can_be():
    (cell,) = measure_coverage(1000, repetitions=30, seed=1, kinds=[KINDS[0]])

    # Of 10,000 independent values, 90% are right: accuracy has a standard error of 0.0030, and F1,
    # 2a / (1 + a), of that times 2 / 1.9 ** 2; an interval has 3.92 of them.
    assert cell.width == pytest.approx(3.92 * 0.0030 * 2 / 1.9**2, rel=0.3)


@pytest.fixture
def table():
    """The rows of all tables in docs/statistics.md, as a dict from first cell to other cells."""
    page = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text("utf-8")
    rows = [[*map(str.strip, line.split("|"))] for line in page.splitlines() if "|" in line]
    return {row[1]: row[2:] for row in rows}


def test_the_docs_show_what_the_simulation_does(table):
    place = table["errors"].index("30 documents")
    cells = [cell for cell in measure_coverage(30, coverage.REPETITIONS, 0) if cell.kind in table]
    assert len(cells) == 10
    for cell in cells:
        assert table[cell.kind][place] == render_cell(cell)


@pytest.mark.parametrize("systems", SYSTEMS, ids=str)
def test_the_docs_show_what_is_said_of_two_runs(table, systems):
    place = table["systems"].index("1 and 1 runs")
    share = measure_significance(systems, (1, 1), changes.REPETITIONS, seed=0)
    assert table[systems.name][place] == f"{share:.2f}"


@pytest.mark.parametrize("documents", [10, 30])
def test_intervals_of_changes_hold_the_true_change(documents):
    for cell in simulate_changes(documents, repetitions=100, seed=1):
        assert cell.covered >= 0.95 - 3 * 0.0218, cell
        if cell.shift.startswith("none"):
            # 100 simulations of 0.05: the standard error of the share is 0.022.
            assert cell.changed <= 0.05 + 3 * 0.0218, cell


def test_three_hundred_documents_without_an_error_show_that_nothing_changed():
    (none,) = [shift for shift in SHIFTS if "no errors" in shift.name]
    (cell,) = simulate_changes(300, repetitions=20, seed=1, shifts=[none])

    assert cell.unchanged == 1


@pytest.mark.parametrize("runs", [(2, 2), (3, 3)])
@pytest.mark.parametrize("systems", MOVING, ids=str)
def test_what_moves_from_run_to_run_is_seldom_called_a_difference_between_systems(systems, runs):
    # 150 simulations of 0.05: the standard error of the share is 0.018.
    assert measure_significance(systems, runs, 150, seed=1) <= 0.05 + 2 * 0.018


def test_five_runs_of_each_show_that_a_system_is_better():
    (better,) = [system for system in SYSTEMS if system.better and system.spread != (0, 0)]

    assert measure_significance(better, (5, 5), 40, seed=1) > 0.6
