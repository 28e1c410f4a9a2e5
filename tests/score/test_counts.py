import pytest

from stickler_cli.compare.result import Outcome
from stickler_cli.score.sums import Counts, RateRule, Rates

SOME = Counts(tp=6, fd=2, fa=1, fn=4, tn=3)


def test_counts_add_class_by_class():
    assert SOME + Counts(tp=1, fd=2, fa=3, fn=4, tn=5) == Counts(tp=7, fd=4, fa=4, fn=8, tn=8)


def test_counts_are_listed_in_the_order_of_the_outcomes():
    by_outcome = [0] * len(Outcome)
    by_outcome[Outcome.FA] = 7

    assert Counts(*by_outcome) == Counts(fa=7)
    assert Counts(*[1, 2, 3, 4, 5]) == Counts(tp=1, fd=2, fa=3, fn=4, tn=5)


def test_the_total_holds_every_class():
    assert SOME.total == 16


def test_rates_are_those_of_their_definitions():
    rates, with_fd = SOME.derived(), SOME.derived(recall_with_fd=True)
    assert rates["precision"] == 6 / 9
    assert (rates["recall"], with_fd["recall"]) == (6 / 10, 6 / 12)
    assert rates["accuracy"] == 9 / 16


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1", "accuracy"),
    [
        (Counts(tn=5), 0, 0, 0, 1),
        (Counts(fn=5), 0, 0, 0, 0),
        (Counts(fa=5), 0, 0, 0, 0),
        (Counts(fd=5), 0, 0, 0, 0),
        (Counts(tp=5), 1, 1, 1, 1),
        (Counts(tp=1, fa=1), 0.5, 1, 2 / 3, 0.5),
        (Counts(tp=1, fn=1), 1, 0.5, 2 / 3, 0.5),
        (Counts(tp=1, fd=1), 0.5, 1, 2 / 3, 0.5),
    ],
)
def test_a_rate_without_a_denominator_is_0(counts, precision, recall, f1, accuracy):
    assert counts.derived() == pytest.approx(
        {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy}
    )


def test_results_show_counts_and_prefixed_rates():
    assert Counts(tp=1, fd=1).view() == {
        "tp": 1,
        "fd": 1,
        "fa": 0,
        "fn": 0,
        "fp": 1,
        "tn": 0,
        "derived": {
            "cm_precision": 0.5,
            "cm_recall": 1.0,
            "cm_f1": pytest.approx(2 / 3),
            "cm_accuracy": 0.5,
        },
    }
    assert Counts(tp=1, fd=1).view(recall_with_fd=True)["derived"]["cm_recall"] == 0.5


def test_a_rule_decides_what_recall_is_in_every_rate():
    plain, with_fd = RateRule(), RateRule(recall_with_fd=True)

    # Precision is 6 of 9, recall 6 of 10, or 6 of 12 where false discoveries count as missed.
    assert plain.f1(SOME) == pytest.approx(12 / 19)
    assert with_fd.f1(SOME) == pytest.approx(4 / 7)
    assert plain.rates(SOME) == pytest.approx(Rates(6 / 9, 6 / 10, 12 / 19))
    assert with_fd.rates(SOME) == pytest.approx(Rates(6 / 9, 6 / 12, 4 / 7))


def test_a_rule_tells_nothing_where_there_is_nothing_to_divide_by():
    assert RateRule().rates(Counts(tn=3)) == (None, None, None)
    assert RateRule().rates(Counts(fa=1)) == (0.0, None, 0.0)
    assert RateRule().f1(Counts(tn=3)) == 0.0
