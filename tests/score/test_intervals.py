"""Confidence intervals: the weights, the sums, what they cover, and that no order changes them."""

import json
from dataclasses import replace
from hashlib import blake2b
from math import log

import numpy as np
import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.records.run_reading import read_evaluation, read_settings
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.accounts import Accounts
from stickler_cli.score.batch import Batch
from stickler_cli.score.bootstrap import Bootstrap
from stickler_cli.score.counts import RATES
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.intervals import (
    CHUNK,
    METHOD,
    MOST_REPLICATES,
    UNIT,
    Interval,
    IntervalSettings,
    Share,
    added_weights,
    ends,
    intervals_of,
    shares_of_documents,
    size_of,
    weights,
)
from stickler_cli.score.tally import COUNTING_MODES
from stickler_cli.settings.deciding import IntervalOptions
from .batches import batch, not_compared

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": EXACT,
            "note": EXACT,
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": EXACT}}},
        },
    }
)
SETTINGS = IntervalSettings(replicates=200)


def line(name: str, *, tp: int = 0, fn: int = 0, fd: int = 0, score: float | None = 1.0) -> bytes:
    """An account in which only the whole document counts anything."""
    counts = {name: count for name, count in (("tp", tp), ("fn", fn), ("fd", fd)) if count}
    record = {"id": name, "status": "evaluated", "score": score, "fields": {"": counts}}
    return json.dumps(record).encode()


def bootstrap(*lines: bytes, settings: IntervalSettings = SETTINGS) -> Bootstrap:
    return Bootstrap(settings, waiting=list(lines))


def recall_of(made: Bootstrap) -> Interval | None:
    return made.of("", recall_with_fd=False).rates["overall"]["recall"]


def evaluation(*names: int, keep: bool = True) -> Evaluation:
    """Return the results of `documents`."""
    made = Evaluation(
        accounts=Accounts() if keep else None, bootstrap=Bootstrap(SETTINGS) if keep else None
    )
    made.update(documents(*names))
    return made


def documents(*names: int) -> Batch:
    """Documents of which every third has a wrong id, and every fifth misses a line."""
    pairs = {}
    for name in names:
        gt = {"id": str(name), "lines": [{"sku": "a"}, {"sku": "b"}]}
        pred = {
            "id": "x" if name % 3 == 0 else str(name),
            "lines": gt["lines"][: 1 + bool(name % 5)],
        }
        pairs[str(name)] = gt, pred
    return batch(PLAN, pairs)


# --- weights


def test_weights_are_exponential_with_mean_one():
    drawn = weights([f"document {number}" for number in range(500)], IntervalSettings())

    assert drawn.shape == (500, 1001)
    assert set(drawn[:, 0]) == {UNIT}
    # 500,000 draws: the standard error of the mean is 0.0014, that of a share below 0.0007.
    values = drawn[:, 1:] / UNIT
    assert values.min() > 0
    assert values.mean() == pytest.approx(1, abs=0.006)
    assert values.var() == pytest.approx(1, abs=0.02)
    beyond = [(values > bound).mean() for bound in (0.1, 0.5, 1, 2, 4)]
    assert beyond == pytest.approx(np.exp([-0.1, -0.5, -1, -2, -4]), abs=0.004)


def test_a_name_of_half_a_character_has_weights_too():
    assert weights(["\ud800", "a"], SETTINGS).shape == (2, 201)


def test_weights_of_documents_and_of_replicates_do_not_go_together():
    names = [str(number) for number in range(400)]
    drawn = weights(names, IntervalSettings(replicates=400))[:, 1:]
    for matrix in (drawn, drawn.T):
        related = np.corrcoef(matrix)
        np.fill_diagonal(related, 0)
        # 79,800 coefficients of standard error 0.05: none should be beyond six of them.
        assert np.abs(related).max() < 0.3
        assert abs(related.mean()) < 0.001


def test_a_document_has_the_same_weights_whatever_is_beside_it():
    alone = weights(["b"], SETTINGS)
    assert (weights(["a", "b", "c"], SETTINGS)[1] == alone[0]).all()
    more = weights(["b"], IntervalSettings(replicates=999))
    assert (more[0, :201] == alone[0]).all()


def test_another_seed_draws_other_weights():
    assert (
        weights(["a"], SETTINGS) != weights(["a"], IntervalSettings(seed=1, replicates=200))
    ).any()


def split_mix(name: bytes, key: bytes) -> list[int]:
    """Draw four weights by SplitMix64 with the published constants, lowest bits first."""
    mask = (1 << 64) - 1
    state = int.from_bytes(blake2b(name, digest_size=8, key=key).digest(), "little")
    state = (state + 0x9E3779B97F4A7C15) & mask
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    mixed ^= mixed >> 31
    parts = [(mixed >> shift) & 0xFFFF for shift in (0, 16, 32, 48)]
    return [max(1, round(-UNIT * log(1 - (part + 0.5) / 65536))) for part in parts]


def test_weights_are_those_of_every_machine_and_version():
    settings = IntervalSettings(replicates=4)
    assert weights(["a"], settings).tolist() == [[UNIT, *split_mix(b"a", b"0")]]
    assert added_weights(settings).tolist() == [0, *split_mix(b"", b"0 added")]


def test_the_document_that_is_added_is_no_other_and_not_there_at_first():
    added = added_weights(SETTINGS)

    assert added[0] == 0
    assert (added[1:] != weights([""], SETTINGS)[0, 1:]).any()
    assert (added != added_weights(IntervalSettings(seed=1, replicates=200))).any()


# --- ends


def test_ends_are_interpolated_between_replicates():
    row = np.array([[0.5, *np.arange(101) / 100]])
    (found,) = ends(row, row, 0.9)

    # 101 replicates at 0.00, 0.01 ... 1.00: five of a hundred steps from each end.
    assert (found.lower, found.upper) == pytest.approx((0.05, 0.95))


def test_one_replicate_is_both_ends():
    figures = np.array([[0.5, 0.25]])
    assert ends(figures, figures + np.array([[0.0, 0.5]]), 0.9) == [Interval(0.25, 0.75)]


def test_lower_ends_are_of_one_row_and_upper_ends_of_the_other():
    wrong, right = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])
    (found,) = ends(wrong, right, 0.5)

    assert (found.lower, found.upper) == pytest.approx((0.125, 0.875))


def test_a_figure_is_within_its_interval_wherever_replicates_are():
    low, high = np.array([[0.5, 0.1, 0.2]]), np.array([[0.5, 0.8, 0.9]])

    assert ends(high, high, 0.5)[0].lower == 0.5
    assert ends(low, low, 0.5)[0].upper == 0.5
    assert ends(low * np.nan, low, 0.5) == [None]


# --- shares of sums over documents


@pytest.mark.parametrize("chunk", [1, 2, CHUNK])
def test_shares_of_documents_are_those_of_all_of_them_drawn_anew(monkeypatch, chunk):
    monkeypatch.setattr("stickler_cli.score.intervals.CHUNK", chunk)
    names = ["c", "b", "a", "e", "d"]
    above, below = np.array([1, 0, 2, 3, 0]), np.array([2, 0, 4, 3, 1])
    nothing = np.zeros(5, int)
    shares = {"x": (above, below), "none": (nothing, nothing)}
    found = shares_of_documents(names, shares, SETTINGS)

    drawn = weights(names, SETTINGS)[:, 1:].astype(float)
    # One document more is as large as the quadratic mean of the four that have anything.
    more = added_weights(SETTINGS)[1:] * (30 / 4) ** 0.5
    whole = below @ drawn + more
    ends = [np.quantile((above @ drawn) / whole, 0.025)]
    ends += [np.quantile((above @ drawn + more) / whole, 0.975)]
    assert found["x"].value == 0.6
    assert found["x"].interval == pytest.approx(ends)
    assert found["none"] == Share(None, None)
    turned = {name: (one[::-1], other[::-1]) for name, (one, other) in shares.items()}
    assert shares_of_documents(names[::-1], turned, SETTINGS) == found


def test_shares_are_the_same_in_any_order_of_documents_to_the_last_digit():
    above, below = np.array([1e16, 1.0, 1.0]), np.array([1e16, 3.0, 5.0])
    found = shares_of_documents(["a", "b", "c"], {"x": (above, below)}, SETTINGS)
    turned = {"x": (above[::-1], below[::-1])}
    assert shares_of_documents(["c", "b", "a"], turned, SETTINGS) == found


def test_one_document_and_no_settings_have_shares_without_intervals():
    one = {"x": (np.array([1, 1]), np.array([2, 2]))}
    assert shares_of_documents(["a", "b"], one, None) == {"x": Share(0.5, None)}
    assert shares_of_documents(["a", "b"], one, SETTINGS)["x"].interval is not None
    alone = {"x": (np.array([1]), np.array([2]))}
    assert shares_of_documents(["a"], alone, SETTINGS) == {"x": Share(0.5, None)}


# --- what has an interval


def test_documents_without_an_error_show_as_much_as_their_number_does():
    for number in (1, 2, 5, 30, 100):
        lines = (line(f"document {name}", tp=3) for name in range(number))
        found = bootstrap(*lines, settings=IntervalSettings()).of("", recall_with_fd=False)
        # The exact binomial interval: of weights of n + 1 documents the last has a share that is
        # beyond x with a chance of (1 - x) ** n. Four standard errors of 1000 replicates.
        exact = 0.025 ** (1 / number)
        error = 4 * (0.025 / 1000) ** 0.5 * exact / (0.025 * number)
        for interval in (found.rates["overall"]["recall"], found.score):
            assert interval.lower == pytest.approx(exact, abs=error)
            assert interval.upper == 1.0


def test_all_wrong_is_the_mirror_of_all_right():
    right = recall_of(bootstrap(*(line(str(number), tp=3) for number in range(20))))
    wrong = recall_of(bootstrap(*(line(str(number), fn=3) for number in range(20))))

    assert wrong == (0.0, pytest.approx(1 - right.lower))


def test_documents_without_the_field_make_its_interval_no_narrower():
    some = [line(str(number), tp=3) for number in range(5)]
    others = [line(f"other {number}") for number in range(100)]

    assert recall_of(bootstrap(*some, *others)) == recall_of(bootstrap(*some))


def test_what_is_added_has_the_size_of_documents():
    small = [line(f"small {number}", tp=1) for number in range(10)]
    large = [line(f"large {number}", tp=9) for number in range(10)]

    assert size_of(20, 10 * 1 + 10 * 81) == 41**0.5
    assert size_of(0, 0) == 0
    assert recall_of(bootstrap(*small, *large)).lower < recall_of(bootstrap(*large, *small)).upper
    made = bootstrap(*small, *large)
    made.of("", recall_with_fd=False)
    ((_, sizes),) = made.sizes.items()
    # Documents and squares for precision, recall, F1 (which counts a right value twice), accuracy.
    assert sizes[0].tolist() == [[20, 820], [20, 820], [20, 3280], [20, 820]]


def test_nothing_to_divide_by_has_no_interval():
    for lines in ((), [line(str(number)) for number in range(9)]):
        assert recall_of(bootstrap(*lines)) is None


def test_a_field_that_no_document_has_has_no_interval():
    found = evaluation(*range(10)).bootstrap.of("nowhere", recall_with_fd=False)

    assert found.score is None
    assert {mode: dict.fromkeys(RATES) for mode in COUNTING_MODES} == found.rates
    assert found.view(whole=False) == {}


def test_of_no_documents_there_are_no_intervals_to_write():
    made = Evaluation(bootstrap=Bootstrap(SETTINGS))
    made.update(not_compared("x"))
    assert made.to_dict()["intervals"]["overall_score"] is None


def test_documents_that_were_not_compared_do_not_count():
    lines = [line(str(number), tp=1, fn=number % 2) for number in range(10)]
    failed = b'{"id":"x","status":"failed","score":null,"fields":{}}'

    assert recall_of(bootstrap(*lines, failed)) == recall_of(bootstrap(*lines))
    assert recall_of(bootstrap(failed)) is None
    made = evaluation(*range(10)).bootstrap
    before = recall_of(made)
    made.add(not_compared("x"))
    made.add(documents(1, 2), np.zeros(2, bool))
    assert recall_of(made) == before


def test_what_waits_on_both_sides_is_merged():
    lines = [line(str(number), tp=1, fn=number % 2) for number in range(10)]
    made = bootstrap(*lines[:4])
    made.merge(bootstrap(*lines[4:]))
    assert recall_of(made) == recall_of(bootstrap(*lines))


def test_of_what_waits_no_more_than_a_chunk_stays():
    lines = [line(str(number), tp=1, fn=number % 2) for number in range(CHUNK)]
    made, one = bootstrap(*lines[1:]), bootstrap(lines[0])

    assert len(made.waiting) == CHUNK - 1
    made.merge(one)
    assert made.waiting == []
    assert recall_of(made) == recall_of(bootstrap(*lines))


def test_of_groups_the_whole_is_read_alone():
    field = b'{"id":"x","status":"evaluated","score":1.0,"fields":{"":{"tp":1},"a":{"tp":1}}}'
    nothing = b'{"id":"y","status":"evaluated","score":1.0,"fields":{}}'
    made = Bootstrap(SETTINGS, whole_only=True, waiting=[field, nothing])
    assert recall_of(made) == recall_of(bootstrap(field, nothing))
    assert {path for path, _ in made.sums} == {""}


def test_columns_are_summed_some_at_a_time(monkeypatch):
    whole = records(evaluation(*range(10)))
    monkeypatch.setattr("stickler_cli.score.bootstrap._COLUMNS_AT_ONCE", 2)
    assert records(evaluation(*range(10))) == whole


def test_recall_counts_false_discoveries_where_that_is_asked_for():
    made = bootstrap(*(line(str(number), tp=2, fd=1, fn=1) for number in range(9)))
    rates = made.of("", recall_with_fd=True).rates["overall"]

    assert rates["recall"].lower < 0.5 < rates["recall"].upper
    assert recall_of(made).lower < 2 / 3 < recall_of(made).upper
    assert rates["recall"].lower < recall_of(made).lower


def test_every_mode_has_its_own_interval():
    found = evaluation(*range(60)).bootstrap.of("lines.sku", recall_with_fd=False)

    # A missed line is a missed value for leaves only; the others see the lines that were found.
    assert found.rates["overall"]["recall"].upper == 1.0
    assert found.rates["aggregate"]["recall"].upper == 1.0
    leaves = found.rates["leaves"]["recall"]
    assert leaves.lower < 1 - 12 / 120 < leaves.upper < 1
    assert found.score is None


def test_a_group_has_the_intervals_of_its_documents():
    some = documents(*range(60))
    some.results = [
        replace(result, groups={"side": "left" if int(result.id) % 3 else "right"})
        for result in some.results
    ]
    made = Evaluation(bootstrap=Bootstrap(SETTINGS))
    made.update(some)

    left = made.by["side"]["left"].bootstrap.of("", recall_with_fd=False)
    alone = evaluation(*(name for name in range(60) if name % 3))
    assert left == alone.bootstrap.of("", recall_with_fd=False)
    assert left != made.bootstrap.of("", recall_with_fd=False)
    assert left.score.lower < left.score.upper
    record = made.to_dict()
    assert "intervals" not in record["by"]["side"]["left"]["confusion_matrix"]["fields"]["id"]
    assert "intervals" in record["confusion_matrix"]["fields"]["id"]


def test_the_mean_score_of_a_field_has_an_interval():
    made = evaluation(*range(60))
    found = made.bootstrap.of("id", recall_with_fd=False).score

    assert found.lower < made.tally.fields["id"].mean_score < found.upper


def test_intervals_hold_their_estimates_and_widen_with_the_level():
    names = range(100)
    by_level = [
        bootstrap(
            *(line(str(name), tp=3, fn=name % 4) for name in names),
            settings=IntervalSettings(level=level),
        )
        for level in (0.5, 0.9, 0.99)
    ]
    narrow, middle, wide = map(recall_of, by_level)

    # 300 right and 25 times 0 + 1 + 2 + 3 missed.
    assert wide.lower < middle.lower < narrow.lower < 300 / 450 < narrow.upper
    assert narrow.upper < middle.upper < wide.upper


# --- order, parts, files


def records(*parts: Evaluation) -> set[str]:
    whole = Evaluation()
    for part in parts:
        whole.merge(part)
    return {json.dumps(whole.to_dict())}


def test_no_order_and_no_cut_changes_an_interval():
    names = list(range(CHUNK + 50))
    whole = records(evaluation(*names))

    assert records(evaluation(*reversed(names))) == whole
    assert records(evaluation(*names[:300]), evaluation(*names[300:])) == whole
    assert records(evaluation(*names[200:]), Evaluation(), evaluation(*names[:200])) == whole


def test_reading_an_interval_in_between_changes_nothing():
    names = list(range(40))
    watched = evaluation(*names[:20])
    watched.to_dict()
    watched.merge(evaluation(*names[20:]))

    assert records(watched) == records(evaluation(*names))


def test_merging_leaves_the_other_sums_alone():
    part = evaluation(*range(20))
    before = json.dumps(part.to_dict())
    whole = Evaluation()
    whole.merge(part)
    whole.merge(evaluation(*range(20, 40)))
    whole.to_dict()

    assert json.dumps(part.to_dict()) == before


def test_an_evaluation_that_is_read_back_has_the_same_intervals():
    made = evaluation(*range(30))
    record = json.loads(json.dumps(made.to_dict()))

    assert json.dumps(read_evaluation(record).to_dict()) == json.dumps(record)


def test_nobody_pays_for_intervals_who_does_not_ask():
    made = evaluation(*range(10), keep=False)

    assert made.bootstrap is None
    assert "intervals" not in made.to_dict()
    assert "intervals" not in made.to_dict()["confusion_matrix"]


def test_intervals_of_some_documents_only_are_none():
    for first, second in ((True, False), (False, True)):
        whole = evaluation(1, keep=first)
        whole.merge(evaluation(2, keep=second))
        assert whole.bootstrap is None


def test_intervals_of_other_settings_are_not_merged():
    with pytest.raises(UsageError, match="expected the same level, seed and replicates"):
        Bootstrap(SETTINGS).merge(Bootstrap(IntervalSettings()))


def test_scores_and_counts_stand_in_the_record():
    record = evaluation(*range(30)).to_dict()

    assert record["intervals"].keys() == {"level", "method", "replicates", "seed", "overall_score"}
    lower, upper = record["intervals"]["overall_score"]
    assert lower < record["overall_score"] < upper
    node = record["confusion_matrix"]
    assert "threshold_applied_score" not in node["intervals"]
    lower, upper = node["intervals"]["overall"]["cm_f1"]
    assert lower < node["overall"]["derived"]["cm_f1"] < upper
    assert "threshold_applied_score" in node["fields"]["id"]["intervals"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"method": "magic"}, "intervals/method"),
        ({"level": 1.0}, "intervals/level"),
        ({"replicates": 0}, "intervals/replicates"),
        ({"replicates": MOST_REPLICATES + 1}, "intervals/replicates"),
        ({"seed": -1}, "intervals/seed"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_their_place(change, place):
    record = {"level": 0.95, "method": METHOD, "replicates": 1000, "seed": 0}
    assert read_settings(record, "run.json") == IntervalSettings()
    with pytest.raises(UsageError, match=place):
        read_settings({**record, **change}, "run.json")


def test_options_decide_the_level_and_the_seed_or_that_there_are_no_intervals():
    assert intervals_of(IntervalOptions(ci=0.9, seed=7)) == IntervalSettings(0.9, 7)
    assert intervals_of(IntervalOptions(ci="none", seed=7)) is None
