import pytest

from stickler_cli.reports.html.charts import (
    BAR,
    HEIGHT,
    MIN_BAR_HEIGHT,
    WIDTH,
    similarity_chart,
)
from stickler_cli.score.detail import BINS, Histogram


def histogram(matched: dict[int, int], unlike: dict[int, int]) -> Histogram:
    histogram_made = Histogram()
    for counts, counts_given in (
        (histogram_made.matched, matched),
        (histogram_made.unlike, unlike),
    ):
        for position, count in counts_given.items():
            counts[position] = count
    return histogram_made


def test_heights_go_by_the_square_root():
    low, high = similarity_chart(histogram({0: 1, 2: 4}, {}), None).bars

    assert (low.height, high.height) == (HEIGHT / 2, HEIGHT)
    assert (low.title, high.title) == (
        "0.00 to below 0.05: 1 pair",
        "0.10 to below 0.15: 4 pairs",
    )


def test_one_beside_a_million_can_be_seen():
    bar, _ = similarity_chart(histogram({0: 1, BINS: 10**6}, {}), None).bars

    assert bar.height == MIN_BAR_HEIGHT
    assert bar.y == HEIGHT - MIN_BAR_HEIGHT


def test_pairs_on_both_sides_of_a_threshold_share_a_bar():
    below, above = similarity_chart(histogram({14: 1}, {14: 3}), 0.72).bars[::-1]

    assert (below.name, above.name) == ("fd", "tp")
    assert below.x == above.x
    assert below.y + below.height == pytest.approx(above.y)
    assert below.height == pytest.approx(3 * above.height)


def test_the_line_stands_at_the_threshold():
    chart = similarity_chart(histogram({}, {}), 0.5)

    assert chart.threshold == pytest.approx(BINS * BAR / 2)
    assert chart.bars == []
    assert [text for _, text in chart.ticks] == ["0", "1", "0.5"]


def test_a_threshold_of_1_stands_before_the_bar_of_what_is_exactly_1():
    chart = similarity_chart(histogram({BINS: 2}, {19: 1}), 1.0)
    almost, exactly = chart.bars

    assert almost.x + BAR <= chart.threshold <= exactly.x
    assert exactly.x + BAR == pytest.approx(WIDTH)
    assert chart.label == (
        "Similarity of 3 pairs of values: 2 at or above the threshold of 1, 1 below"
    )


def test_without_one_threshold_there_is_no_line():
    chart = similarity_chart(histogram({3: 1}, {}), None)

    assert chart.threshold is None
    assert chart.label == "Similarity of 1 pair of values: 1 at or above their threshold, 0 below"
    assert [text for _, text in chart.ticks] == ["0", "0.5", "1"]
