"""Several runs on each side: how certain a change still is."""

import numpy as np
import pytest
from scipy import stats

from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import Interval
from stickler_cli.studies.diff.answer import LOWEST, compare_runs
from stickler_cli.studies.diff.record import Decision, Trend
from stickler_cli.studies.diff.significance import p_of_runs, variance_of_runs, widen_interval
from .runs import document, run_of, single

NONE = np.zeros(9)


def name_runs(*runs):
    return {f"{number}": run for number, run in enumerate(runs)}


def flags(text):
    return run_of(*(single(f"d{n:03}", flag == "1") for n, flag in enumerate(text)))


def test_the_variance_of_runs_is_that_of_welch():
    runs = [0.80, 0.84, 0.83], [0.90, 0.91]
    variance = variance_of_runs(runs)
    expected = stats.ttest_ind(*runs, equal_var=False)

    assert variance.freedom == pytest.approx(expected.df)
    assert variance.value == pytest.approx(
        np.var(runs[0], ddof=1) / 3 + np.var(runs[1], ddof=1) / 2
    )


def test_a_side_with_one_run_is_taken_to_vary_as_the_other():
    variance = variance_of_runs(([0.8, 0.9], [0.7]))

    assert (variance.value, variance.freedom) == (pytest.approx(0.005 * (1 + 1 / 2)), 1)
    assert variance_of_runs(([0.8], [0.7])) is None
    assert variance_of_runs(([0.8, 0.8], [0.7, 0.7])).value == 0


def test_without_differences_among_documents_p_is_that_of_the_t_test_of_welch():
    runs = [0.80, 0.84, 0.83], [0.90, 0.91, 0.95]
    change = np.mean(runs[1]) - np.mean(runs[0])

    expected = stats.ttest_ind(*runs, equal_var=False).pvalue
    assert p_of_runs(change, NONE, runs) == pytest.approx(expected, abs=1e-9)


def test_without_differences_among_runs_p_is_that_of_the_t_test_of_documents():
    deviations = np.array([0.01, -0.03, 0.02, 0.04, -0.04])
    runs = [0.8, 0.8], [0.84, 0.84]
    # Each document adds its share of the change to it, and differs from that by its deviation.
    expected = stats.ttest_1samp(5 * (deviations + 0.04 / 5), 0).pvalue

    assert p_of_runs(0.04, deviations, runs) == pytest.approx(expected, abs=1e-9)


def test_single_runs_say_nothing_of_runs_and_one_document_nothing_at_all():
    assert p_of_runs(0.5, NONE, ([0.1], [0.6])) == 0
    assert p_of_runs(0.5, np.zeros(1), ([0.1, 0.2], [0.6])) == 1
    assert widen_interval(Interval(-0.1, 0.2), 0.1, ([0.1], [0.2]), 0.95) == Interval(-0.1, 0.2)


def test_an_interval_has_room_for_other_runs():
    runs = [0.80, 0.84, 0.83], [0.90, 0.91, 0.95]
    t_test = stats.ttest_ind(*runs[::-1], equal_var=False)
    change = np.mean(runs[1]) - np.mean(runs[0])
    widened = widen_interval(Interval(change, change), change, runs, 0.95)

    assert widened == pytest.approx(tuple(t_test.confidence_interval(0.95)))
    assert widen_interval(Interval(-0.9, 0.9), 0.0, ([0.0, 1.0], [0.5]), 0.95) == (-1, 1)


def test_runs_of_which_one_was_better_by_chance_are_no_improvement():
    worse, better = "0" * 40 + "1" * 60, "0" * 10 + "1" * 90
    single_runs = compare_runs(name_runs(flags(worse)), name_runs(flags(better)))
    several = compare_runs(
        name_runs(flags(worse), flags(better)), name_runs(flags(better), flags(worse))
    )
    (only_field,) = several.fields

    assert single_runs.fields[0].trend is Trend.IMPROVED
    assert (only_field.trend, only_field.change) == (Trend.INCONCLUSIVE, 0)
    assert only_field.interval.upper - only_field.interval.lower > 0.5


def test_runs_that_all_got_better_are_an_improvement():
    worse = [flags("1" * n + "0" * (60 - n)) for n in (10, 11, 12)]
    better = [flags("1" * n + "0" * (60 - n)) for n in (50, 51, 52)]
    (only_field,) = compare_runs(name_runs(*worse), name_runs(*better)).fields

    assert (only_field.trend, only_field.decided_by) == (Trend.IMPROVED, Decision.RUNS)
    assert len(only_field.runs_before) == len(only_field.runs_after) == 3
    # Right in more than half of the runs: 11 documents before, 51 after.
    assert (only_field.fixed, only_field.broken) == (40, 0)


def test_sides_of_unequal_numbers_of_runs_are_compared_by_their_means():
    gates = [parse_gate(text, lowest=LOWEST) for text in ("fd<=0", "f1>=0")]
    difference = compare_runs(
        name_runs(flags("11"), flags("10")), name_runs(flags("10"), flags("10"), flags("01")), gates
    )
    (field,) = difference.fields

    # 2 x 3 right of 3 + 3 predicted and 3 true values; 2 x 3 right of 6 predicted, 3 true values.
    assert (field.before, field.after) == (6 / 7, 6 / 9)
    assert field.documents == 2
    # Half a false discovery in a run before, one after.
    assert [gate.value for gate in difference.gates] == [0.5, field.change]


def test_of_a_document_in_several_runs_scores_and_errors_are_means():
    difference = compare_runs(
        name_runs(flags("1"), flags("1"), flags("0")), name_runs(flags("0"), flags("0"), flags("0"))
    )
    (document_change,) = difference.changed_documents

    assert document_change.score_before == 2 / 3
    assert (document_change.errors_before, document_change.errors_after) == (1 / 3, 1)
    assert (document_change.broken, document_change.fixed) == (["total"], [])


def test_a_document_that_a_run_did_not_compare_counts_as_missed_in_it():
    base = run_of(single("a", True))
    difference = compare_runs(name_runs(flags("11"), flags("11")), name_runs(flags("11"), run_of(
        single("d000", True), document("d001", None, "failed")
    )))  # fmt: skip

    assert difference.lost == ["d001"]
    assert difference.changed_documents[0].score_after == 0.5
    assert compare_runs(name_runs(flags("1"), base), name_runs(base)).documents["compared"] == 2
