"""Thresholds whose error is bounded: the test, the sequence of tests, and what they promise."""

from math import ceil, e, exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from benchmarks.accept import KINDS, SETS, kept
from stickler_cli.score.policy import (
    Losses,
    accept,
    losses,
    needed,
    p_values,
    rejected,
)

UNITS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 10), st.booleans()), min_size=1, max_size=40
)


def arrays(units):
    document, confidence, right = (np.array(part) for part in zip(*units, strict=True))
    return document, confidence / 10, right.astype(bool)


@given(UNITS)
def test_losses_are_those_of_each_threshold_by_itself(units):
    document, confidence, right = arrays(units)
    found = losses(document, confidence, right)
    assert found.threshold.tolist() == sorted(set(confidence.tolist()), reverse=True)
    for at, threshold in enumerate(found.threshold):
        passing = confidence >= threshold
        each = [1 - right[passing & (document == it)].mean() for it in set(document[passing])]
        assert found.documents[at] == len(each)
        assert found.mean[at] == pytest.approx(np.mean(each))
        assert found.whole[at] == all(loss in (0, 1) for loss in each)
        assert found.accepted[at] == passing.sum()


def test_of_many_thresholds_a_thousand_are_tried():
    confidence = np.linspace(0, 1, 5_000)
    found = losses(np.arange(5_000), confidence, np.ones(5_000, bool))
    assert len(found.threshold) == 1_000
    assert (found.threshold[0], found.threshold[-1]) == (1.0, 0.0)
    assert found.accepted[-1] == 5_000


def test_whole_losses_have_the_tail_of_a_binomial():
    right = np.arange(100) % 10 != 0
    found = losses(np.arange(100), np.full(100, 0.5), right)
    assert p_values(found, 0.2)[0] == pytest.approx(binom.cdf(10, 100, 0.2))
    bounded = p_values(found._replace(whole=np.array([False])), 0.2)[0]
    assert binom.cdf(10, 100, 0.2) < bounded < np.e * binom.cdf(10, 100, 0.2) + 1e-12


@pytest.mark.parametrize("most", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("documents", [1, 7, 60, 900])
@pytest.mark.parametrize("loss", [0.0, 0.003, 0.04, 0.09, 0.3, 1.0])
def test_shares_have_the_bound_of_hoeffding_and_bentkus(loss, documents, most):
    found = Losses(
        np.array([0.5]), np.array([documents]), np.array([loss]), np.array([False]), np.array([9])
    )
    mean = min(loss, most)
    distance = mean * log(mean / most) if mean else 0.0
    distance += (1 - mean) * log((1 - mean) / (1 - most))
    tail = binom.cdf(ceil(documents * loss - 1e-9), documents, most)
    expected = min(exp(-documents * distance), e * tail)
    assert p_values(found, most)[0] == pytest.approx(expected)


@given(
    st.lists(st.floats(0, 0.1), min_size=1, max_size=30),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_no_level_is_spent_twice(p, starts, random):
    positions = np.unique(len(p) * np.arange(starts) // starts)
    levels = rejected(np.array(p), positions, 0.05)
    assert (levels <= 0.05 + 1e-12).all()
    chosen = levels > 0
    assert (np.array(p)[chosen] <= levels[chosen]).all()
    # Nothing is rejected but at a start, or after a rejected one; all that is left failed.
    for at in np.flatnonzero(chosen).tolist():
        assert at in positions or chosen[(at - 1) % len(p)]


def test_a_sequence_that_ended_well_passes_its_level_on():
    p = np.array([0.001, 0.001, 0.02, 0.02])
    assert rejected(p, np.array([0, 2]), 0.03).tolist() == pytest.approx([0.015, 0.015, 0.03, 0.03])
    assert rejected(p, np.array([0]), 0.01).tolist() == pytest.approx([0.01, 0.01, 0, 0])
    assert rejected(np.array([0.02, 0.001]), np.array([0, 1]), 0.04).tolist() == [0.02, 0.04]
    round_again = np.array([0.03, 0.001])
    assert rejected(round_again, np.array([0, 1]), 0.04).tolist() == pytest.approx([0.04, 0.02])


@pytest.mark.parametrize(("level", "most", "documents"), [(0.05, 0.05, 59), (0.1, 0.1, 22)])
def test_the_least_number_of_documents_without_an_error(level, most, documents):
    assert needed(level, most) == documents
    for number in (documents - 1, documents):
        units = np.arange(number), np.full(number, 0.9), np.ones(number, bool)
        assert (accept(losses(*units), most, level) is None) is (number < documents)


def test_what_is_accepted_and_on_what_evidence():
    confidence = np.repeat([0.9, 0.5], 500)
    right = np.concatenate([np.ones(500, bool), np.arange(500) % 2 == 0])
    found = accept(losses(np.arange(1_000), confidence, right), 0.05, 0.05)
    assert (found.threshold, found.accepted, found.documents, found.error) == (0.9, 500, 500, 0)
    # All right: (1 - bound) ** 500 is the level, all of which the start has that is left.
    assert (1 - found.bound) ** 500 <= 0.05 + 1e-9
    assert found.error < found.bound < 0.05


def test_the_bound_is_the_greatest_share_that_the_last_test_leaves_open():
    right = np.arange(400) % 40 > 0
    found = accept(losses(np.arange(400), np.full(400, 0.9), right), 0.1, 0.05)
    assert (found.threshold, found.accepted, found.error) == (0.9, 400, 0.025)
    assert binom.cdf(10, 400, found.bound) == pytest.approx(0.05)


@pytest.mark.filterwarnings("ignore:Fixed sequence testing")
@pytest.mark.filterwarnings("ignore:No predict parameters")
def test_one_start_gives_the_thresholds_of_mapie():
    control = pytest.importorskip("mapie.risk_control", reason="MAPIE IS NOT INSTALLED")
    level, most, size, same = 0.05, 0.1, 600, 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        confidence = np.round(random.beta(8, 1, size), 3)
        right = random.random(size) < confidence
        found = losses(np.arange(size), confidence, right)
        some = found.among(slice(int(np.searchsorted(found.documents, needed(level, most))), None))
        ours = some.threshold[rejected(p_values(some, most), np.array([0]), level) > 0].tolist()
        controller = control.BinaryClassificationController(
            lambda values: np.hstack([1 - values, values]),
            "precision",
            1 - most,
            confidence_level=1 - level,
            list_predict_params=some.threshold,
            fwer_method="fixed_sequence",
        )
        controller.calibrate(confidence[:, None], right.astype(int))
        theirs = [float(threshold) for threshold in controller.valid_predict_params]
        assert ours[: len(theirs)] == theirs
        # It may count an error too many: it rounds n (1 - (n - errors) / n) up, noise included.
        errors = np.rint(some.mean * some.documents)
        share = 1 - (some.documents - errors) / some.documents
        if len(ours) > len(theirs):
            assert np.ceil(some.documents * share)[len(theirs)] > errors[len(theirs)]
        same += ours == theirs
    assert same >= 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_policies_break_their_promise_as_seldom_as_the_docs_say(kind):
    found = kept(kind, documents=200, max_error=0.1, sets=SETS, seed=0)
    assert found.broken <= 0.05
    page = (Path(__file__).parents[3] / "docs" / "accepting.md").read_text("utf-8")
    shown = f"| {kind.name} | {found.broken:.3f} | {found.none:.3f} | {found.passing:.2f} |"
    assert shown in page


def test_just_as_many_documents_as_several_sequences_take_are_tested_by_several():
    # The top value is wrong, and one of a hundred of its document at the lowest confidence. One
    # sequence begins where too little is known of that loss, and ends there.
    for documents, found in ((85, False), (86, True)):
        document = np.append(np.arange(documents), np.zeros(99, int))
        confidence = np.append(np.linspace(1, 0.5, documents), np.full(99, 0.1))
        accepted = accept(losses(document, confidence, np.arange(len(document)) > 0), 0.05, 0.05)
        assert (accepted is not None) is found


def test_sequences_begin_where_each_has_documents_enough():
    confidence, right = np.linspace(1, 0, 300), np.ones(300, bool)
    found = accept(losses(np.arange(300), confidence, right), 0.1, 0.05)

    # All of them pass, so that the last threshold has all of the level: (1 - bound) ** 300.
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 300))
