"""Confidence intervals: known cases, and independence of the order of documents."""

import json
from hashlib import blake2b
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from stickler_cli.compare.result import FD, FN, TP
from stickler_cli.core.problems import UsageError
from stickler_cli.records.codec import decode
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.field_counts import IS_SCORED, SCORE, FieldCounts
from stickler_cli.score.intervals import (
    METHOD,
    N_REPLICATES,
    WEIGHT_SCALE,
    Interval,
    IntervalSettings,
    Share,
    Spread,
    added_weights,
    beta_percentiles,
    document_shares,
    field_intervals,
    intervals_of,
    rate_intervals,
    resample,
    resampled_intervals,
)
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.sums import (
    COUNTING_MODES,
    RATES,
    RateRule,
    Tally,
    rate_fractions,
    sum_counts,
)
from stickler_cli.settings.deciding import IntervalOptions
from .batches import TEXT, a_list, an_object, batch, cells_of, not_compared

PLAN = compile_schema(an_object(id=TEXT, note=TEXT, lines=a_list(an_object(sku=TEXT))))
SETTINGS = IntervalSettings()
USUAL = RateRule(recall_with_fd=False)


def spread_of(right, wrong) -> Spread:
    right, wrong = np.asarray(right, float), np.asarray(wrong, float)
    products = (
        float(first @ other) for first, other in ((right, right), (right, wrong), (wrong, wrong))
    )
    return Spread(float(right.sum()), float(wrong.sum()), *products)


def interval_of(right, wrong, level: float = 0.95, all_right: float = 0.0) -> Interval | None:
    spread = spread_of(right, wrong)._replace(all_right=all_right)
    (rate_interval,) = rate_intervals([spread], level)
    return rate_interval


# --- what they are


@pytest.mark.parametrize(
    ("right", "documents"), [(0, 1), (1, 1), (0, 7), (1, 7), (7, 7), (35, 40), (999, 1000)]
)
@pytest.mark.parametrize("size", [1, 12])
def test_of_documents_wholly_right_or_wrong_it_is_the_exact_binomial_interval(
    right, documents, size
):
    is_right = np.arange(documents) < right
    exact = binomtest(right, documents).proportion_ci(0.95, method="exact")
    assert interval_of(size * is_right, size * ~is_right) == pytest.approx(
        (exact.low, exact.high), 1e-4
    )


def test_of_many_documents_it_is_the_interval_of_the_delta_method():
    random = np.random.default_rng(5)
    sizes = random.integers(1, 20, 40_000)
    right = random.binomial(sizes, 0.8)
    share = right.sum() / sizes.sum()
    error = np.sqrt(((right - share * sizes) ** 2).sum()) / sizes.sum()
    resampled_intervals = share - 1.96 * error, share + 1.96 * error
    assert interval_of(right, sizes - right) == pytest.approx(resampled_intervals, rel=2e-4)


@pytest.mark.parametrize(
    ("right", "wrong", "all_right", "wrong_one", "right_one"),
    [
        # Of sixteen values two are in a document with two, four in one with four, ten in one
        # with ten: 7.5 on average. Of the eight wrong ones six are in the one with ten.
        ([1, 3, 4], [1, 1, 6], 0, (2 + 4 + 60) / 8, 7.5),
        ([1, 1, 6], [1, 3, 4], 0, 7.5, (2 + 4 + 60) / 8),
        ([1, 1, 6], [1, 3, 4], 20, 7.5, 20),
    ],
)
def test_ends_are_those_of_the_beta_distribution_with_the_mean_and_variance_of_the_share(
    right, wrong, all_right, wrong_one, right_one
):
    interval = interval_of(right, wrong, 0.9, all_right)

    for end, added, level in (
        (interval.lower, (0, wrong_one), 0.05),
        (interval.upper, (right_one, 0), 0.95),
    ):
        good, bad = np.append(right, added[0]), np.append(wrong, added[1])
        sizes = good + bad
        mean = good.sum() / sizes.sum()
        # Of the share, where the weights of documents are drawn and add up to one.
        variance = ((good - mean * sizes) ** 2).sum() / (sizes.sum() ** 2 + (sizes**2).sum())
        as_many = mean * (1 - mean) / variance - 1
        exact = beta.ppf(level, mean * as_many, (1 - mean) * as_many)
        assert end == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("tail", [0.0005, 0.025, 0.5, 0.975, 0.995])
def test_percentiles_of_beta_distributions_are_those_of_scipy(tail):
    sizes = np.array([0.5, 0.9, 1, 1.2, 3, 20, 500, 1e5])
    first, second = (size_grid.ravel() for size_grid in np.meshgrid(sizes, sizes))
    percentiles = beta_percentiles(first, second, tail)
    assert percentiles == pytest.approx(beta.ppf(tail, first, second), rel=5e-4)


def test_all_wrong_is_the_mirror_of_all_right_and_nothing_has_no_interval():
    sizes = np.array([3, 1, 8])
    nothing = 0 * sizes
    right, wrong = interval_of(sizes, nothing, 0.9), interval_of(nothing, sizes, 0.9)

    assert right.upper == 1
    assert wrong == pytest.approx((0, 1 - right.lower), rel=1e-4)
    assert interval_of(nothing, nothing) is None


def test_a_billion_documents_with_one_error_have_an_interval_around_it():
    documents, size = 10**9, 1000.0
    spread = Spread(documents * size - 1, 1.0, documents * size**2, size - 1, 1.0)
    (rate_interval,) = rate_intervals([spread], 0.95)

    # The upper end is of a Poisson rate of one; the lower one takes a whole document to be wrong.
    assert 1 - rate_interval.upper == pytest.approx(0.0253 / (documents * size), rel=0.1)
    assert rate_interval.lower < 1 - 1 / (documents * size) < rate_interval.upper < 1


DOCUMENTS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(any), min_size=1, max_size=40
)


@given(DOCUMENTS)
def test_an_interval_holds_its_rate_and_is_wider_at_a_higher_level(documents):
    right, wrong = np.array(documents).T
    share = right.sum() / (right.sum() + wrong.sum())
    narrow, wide = (interval_of(right, wrong, level) for level in (0.9, 0.99))
    assert 0 <= wide.lower <= narrow.lower <= share <= narrow.upper <= wide.upper <= 1


# --- of fields


@pytest.mark.parametrize("recall_with_fd", [False, True])
def test_intervals_of_a_field_are_those_of_its_documents(recall_with_fd):
    random = np.random.default_rng(2)
    counts = random.integers(0, 4, (3, 50, 5))
    counts[:, 5:9] = 0
    scores = random.random(50)
    intervals_found = field_intervals(tallied(counts, scores), 0.95, recall_with_fd=recall_with_fd)

    for mode, of_mode in zip(COUNTING_MODES, counts, strict=True):
        fractions = rate_fractions(of_mode.T, recall_with_fd=recall_with_fd)
        for name in RATES:
            above, below = fractions[name]
            values = of_mode[:, [TP, FD, FN]].sum(axis=1)
            if_right = {"recall": 1, "f1": 2}.get(name, 0) * (values @ values) / values.sum()
            expected = interval_of(above, below - above, all_right=if_right)
            assert intervals_found.rates[mode][name] == pytest.approx(expected, rel=1e-12)
    assert intervals_found.score == pytest.approx(interval_of(scores, 1 - scores))


def tallied(counts, scores=None) -> Tally:
    """Return the sums of a field, given its counts, (3 modes, documents, 5 outcomes)."""
    documents = counts.shape[1]
    values = np.zeros((4, documents))
    if scores is not None:
        values[IS_SCORED], values[SCORE] = 1, scores
    rows = np.arange(documents), cells_of(counts), values, [], [], {}
    return sum_counts(FieldCounts([()], np.zeros(1, int), *rows))[()]


# --- shares of sums over documents


def test_shares_of_documents_have_the_interval_of_their_sums():
    above, below = np.array([1, 0, 2, 3, 0]), np.array([2, 0, 4, 3, 1])
    nothing = np.zeros(5, int)
    shares = document_shares({"x": (above, below), "none": (nothing, nothing)}, SETTINGS)

    # The document that has nothing is none of those that say how large one more is.
    assert shares["x"] == Share(0.6, [*interval_of(above, below - above)])
    assert shares["none"] == Share(None, None)


def test_one_document_and_no_settings_have_shares_without_intervals():
    two_documents = {"x": (np.array([1, 1]), np.array([2, 2]))}
    assert document_shares(two_documents, None) == {"x": Share(0.5, None)}
    assert document_shares(two_documents, SETTINGS)["x"].interval is not None
    one_document = {"x": (np.array([1]), np.array([2]))}
    assert document_shares(one_document, SETTINGS) == {"x": Share(0.5, None)}


# --- of runs


def documents(*names: int) -> Batch:
    """Return documents; every third one has a wrong id, and every fifth one misses a line."""
    pairs = {}
    for name in names:
        gt = {"id": str(name), "lines": [{"sku": "a"}, {"sku": "b"}]}
        pred = {
            "id": "x" if name % 3 == 0 else str(name),
            "lines": gt["lines"][: 1 + bool(name % 5)],
        }
        pairs[str(name)] = gt, pred
    return batch(PLAN, pairs)


def evaluation(*names: int, keep: bool = True, settings=SETTINGS) -> Evaluation:
    """Return the evaluation of `documents`, which keeps single documents if `keep` is true."""
    run_evaluation = Evaluation(
        ledger=Ledger(blocks=Blocks() if keep else None), interval_settings=settings
    )
    if names:
        run_evaluation.add(documents(*names))
    return run_evaluation


def test_documents_without_the_field_make_its_interval_no_narrower():
    plan = compile_schema(an_object(id=TEXT, note=TEXT))
    noted = {f"{index}": ({"id": "x", "note": "y"}, {"id": "x", "note": "y"}) for index in range(5)}
    without_note = {f"other {index}": ({"id": "x"}, {"id": "x"}) for index in range(100)}
    noted_only, with_others = (
        Evaluation(interval_settings=SETTINGS),
        Evaluation(interval_settings=SETTINGS),
    )
    noted_only.add(batch(plan, noted))
    with_others.add(batch(plan, {**noted, **without_note}))
    for name in ("precision", "recall", "f1"):
        few, wide = (
            measured.intervals(USUAL, "note").rates["leaves"][name]
            for measured in (noted_only, with_others)
        )
        assert few == wide


def test_a_field_that_no_document_has_has_no_interval():
    absent = evaluation(*range(10)).intervals(USUAL, "nowhere")

    assert absent.score is None
    assert {mode: dict.fromkeys(RATES) for mode in COUNTING_MODES} == absent.rates
    assert absent.view(whole=False) == {}


def intervals(*parts: Evaluation) -> str:
    total = Evaluation()
    for shard in parts:
        total.merge(shard)
    record = total.to_dict()
    return json.dumps([record["intervals"], record["confusion_matrix"]])


def test_intervals_of_some_documents_only_are_none():
    for first, second in ((SETTINGS, None), (None, SETTINGS)):
        total = evaluation(1, settings=first)
        total.merge(evaluation(2, settings=second))
        assert total.interval_settings is None


def test_intervals_of_other_settings_are_not_merged():
    with pytest.raises(UsageError, match="expected intervals with the same level and seed"):
        evaluation(1).merge(evaluation(2, settings=IntervalSettings(level=0.9)))


def test_scores_and_counts_stand_in_the_record():
    record = evaluation(*range(30)).to_dict()

    assert record["intervals"].keys() == {"level", "method", "seed", "overall_score"}
    lower, upper = record["intervals"]["overall_score"]
    assert lower < record["overall_score"] < upper
    node = record["confusion_matrix"]
    assert "threshold_applied_score" not in node["intervals"]
    lower, upper = node["intervals"]["overall"]["cm_f1"]
    assert lower < node["overall"]["derived"]["cm_f1"] < upper
    assert "threshold_applied_score" in node["fields"]["id"]["intervals"]


@pytest.mark.parametrize(
    ("change", "place"), [({"level": 1.0}, "intervals/level"), ({"seed": -1}, "intervals/seed")]
)
def test_settings_that_cannot_be_are_refused_with_their_place(change, place):
    record = {"level": 0.95, "method": METHOD, "seed": 0}
    assert decode(IntervalSettings, record, "run.json") == IntervalSettings()
    with pytest.raises(UsageError, match=place):
        decode(IntervalSettings, {**record, **change}, "run.json", ("intervals",))


def test_options_decide_the_level_and_the_seed_or_that_there_are_no_intervals():
    assert intervals_of(IntervalOptions(ci=0.9, seed=7)) == IntervalSettings(0.9, 7)
    assert intervals_of(IntervalOptions(ci="none", seed=7)) is None


def test_documents_that_were_not_compared_do_not_count():
    run_evaluation = evaluation(*range(10))
    run_evaluation.add(not_compared("x"))
    assert run_evaluation.intervals(USUAL) == evaluation(*range(10)).intervals(USUAL)
    failed = evaluation()
    failed.add(not_compared("x"))
    assert failed.to_dict()["intervals"]["overall_score"] is None


def test_nobody_has_intervals_who_does_not_ask():
    record = evaluation(*range(10), settings=None).to_dict()

    assert "intervals" not in record
    assert "intervals" not in record["confusion_matrix"]


def weights(documents, settings):
    """Return the weights of documents in every replicate, (n_documents, 1 + n_replicates)."""
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
    assert weights(["\ud800", "a"], SETTINGS).shape == (2, 1 + N_REPLICATES)


def test_a_document_has_the_same_weights_whatever_is_beside_it():
    single = weights(["b"], SETTINGS)
    assert (weights(["a", "b", "c"], SETTINGS)[1] == single[0]).all()


def test_half_of_the_documents_change_places_in_a_swap_whatever_is_beside_them():
    names = [f"document {number}" for number in range(500)]
    swapped = resample(names, lambda drawn: drawn, SETTINGS, replicates=999, swaps=True)[:, 1:]

    assert swapped.shape == (500, 999)
    assert set(np.unique(swapped)) == {0.0, 1.0}
    assert swapped.mean() == pytest.approx(0.5, abs=0.004)  # 499,500 draws: six standard errors
    single = resample(names[7:8], lambda drawn: drawn, SETTINGS, replicates=999, swaps=True)
    assert (single[0, 1:] == swapped[7]).all()


def split_mix(name: bytes, key: bytes) -> list[int]:
    """Draw four weights by SplitMix64 with the published constants, lowest bits first."""
    mask = (1 << 64) - 1
    state = int.from_bytes(blake2b(name, digest_size=8, key=key).digest(), "little")
    state = (state + 0x9E3779B97F4A7C15) & mask
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    mixed ^= mixed >> 31
    words = [(mixed >> shift) & 0xFFFF for shift in (0, 16, 32, 48)]
    return [
        max(1, round(-WEIGHT_SCALE * log(1 - (word + 0.5) / 65536))) / WEIGHT_SCALE
        for word in words
    ]


def test_weights_are_those_of_every_machine_and_version():
    assert weights(["a"], SETTINGS)[0, :5].tolist() == [1.0, *split_mix(b"a", b"0")]
    assert added_weights(SETTINGS)[:5].tolist() == [0, *split_mix(b"", b"0 added")]


def test_the_document_that_is_added_is_no_other_and_not_there_at_first():
    added = added_weights(SETTINGS)

    assert added[0] == 0
    assert (added[1:] != weights([""], SETTINGS)[0, 1:]).any()
    assert len(added) == 1 + N_REPLICATES
    assert (added != added_weights(IntervalSettings(seed=1))).any()


def test_a_seed_of_very_many_digits_draws_as_any_other():
    first, other = (added_weights(IntervalSettings(seed=10**70 + offset)) for offset in (0, 1))
    assert (first >= 0).all()
    assert (first != other).any()


def test_a_statistic_is_the_same_however_many_replicates_are_made_at_once(monkeypatch):
    all_samples = resample("abc", lambda drawn: drawn[:2] * 3, SETTINGS, replicates=10)
    monkeypatch.setattr("stickler_cli.score.intervals._MAX_CELLS", 16)

    assert all_samples.shape == (2, 11)
    assert (
        resample("abc", lambda drawn: drawn[:2] * 3, SETTINGS, replicates=10) == all_samples
    ).all()


# --- ends


def test_ends_are_interpolated_between_replicates():
    row = np.array([[0.5, *np.arange(101) / 100]])
    (resampled_interval,) = resampled_intervals(row, row, 0.9)

    # 101 replicates at 0.00, 0.01 ... 1.00: five of a hundred steps from each end.
    assert (resampled_interval.lower, resampled_interval.upper) == pytest.approx((0.05, 0.95))


def test_lower_ends_are_of_one_row_and_upper_ends_of_the_other():
    wrong, right = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])
    (resampled_interval,) = resampled_intervals(wrong, right, 0.5)

    assert (resampled_interval.lower, resampled_interval.upper) == pytest.approx((0.125, 0.875))


def test_a_figure_is_within_its_interval_wherever_replicates_are():
    low, high = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])

    assert resampled_intervals(high, high, 0.5)[0].lower == 0.5
    assert resampled_intervals(low, low, 0.5)[0].upper == 0.5
    assert resampled_intervals(low * np.nan, low, 0.5) == [None]
