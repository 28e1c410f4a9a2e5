"""Drawings in the HTML report that show where values were lost."""

import pytest

from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.formats import render
from stickler_cli.reports.html import payload
from stickler_cli.reports.html.charts import HEIGHT, threshold_curve
from stickler_cli.reports.html.payload import (
    HeatMap,
    axis_of,
    confusion_matrices,
    describe_places,
    dot_plot,
    field_views,
    heat_maps,
    place_picture,
)
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.view import RunView
from stickler_cli.score.detail import BINS, Histogram
from stickler_cli.score.intervals import Interval
from stickler_cli.score.item_places import PlaceRate
from stickler_cli.score.sums import Counts, RateRule


@pytest.mark.parametrize(
    ("lowest", "low", "marks"),
    [
        (0.93, 0.92, ["0.92", "0.94", "0.96", "0.98", "1"]),
        (0.2, 0.2, ["0.2", "0.4", "0.6", "0.8", "1"]),
        (0.0, 0.0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (1.0, 0.99, ["0.99", "0.992", "0.994", "0.996", "0.998", "1"]),
    ],
)
def test_an_axis_is_as_long_as_its_values_need(lowest, low, marks):
    axis = axis_of(lowest)

    assert axis.low == pytest.approx(low)
    assert [text for _, text in axis.ticks] == marks
    assert [axis.ticks[0][0], axis.ticks[-1][0]] == pytest.approx([0, 100])


def draw_plot(run):
    view = RunView(run)
    return dot_plot(view, field_views(view, run.detail.histograms if run.detail else {}))


def test_the_whole_stands_first_then_fields_the_lowest_first(run_of, monkeypatch):
    monkeypatch.setattr("stickler_cli.reports.view.MIN_DOCUMENTS", 1)
    plot = draw_plot(run_of(detailed=True, intervals=True))

    values = [dot.f1 for dot in plot.dots[1:]]
    assert values == sorted(values)
    assert (plot.dots[0].name, plot.dots[0].lost) == ("", None)
    assert {dot.name for dot in plot.dots[1:]} == {
        *("id", "total", "customer.name", "customer.city", "lines.sku", "lines.qty", "rates.*")
    }
    bounds = [(dot.f1, dot.interval) for dot in plot.dots if dot.interval]
    assert len(bounds) > 3
    for f1, (lower, upper) in bounds:
        places = [plot.axis.place(bound) for bound in (lower, f1, upper)]
        assert [-1e-9, *places, 100 + 1e-6] == sorted([-1e-9, *places, 100 + 1e-6])


def test_a_gate_stands_at_the_fields_that_it_asks_for(run_of):
    gates = ["f1>=0.7", "leaves:lines.*.f1>=0.9", "total.recall>=0.5", "total.fd<=3"]
    gates += ["leaves:f1>=0.2", "overall:total.f1>=0.1"]  # the last of a figure that is not drawn
    by_name = {dot.name: dot.gates for dot in draw_plot(run_of(gates=gates)).dots}

    assert [text for _, text, _ in by_name[""]] == ["f1>=0.7", "leaves:f1>=0.2"]
    assert [text for _, text, _ in by_name["lines.sku"]] == ["leaves:lines.*.f1>=0.9"]
    assert by_name["total"] == by_name["id"] == []


def test_fields_beyond_the_most_are_counted(run_of, monkeypatch):
    monkeypatch.setattr(payload, "MOST_DOTS", 2)
    run = run_of(detailed=True)

    assert (len(draw_plot(run).dots), draw_plot(run).left_out) == (3, 5)
    assert heat_maps(RunView(run))[0].left_out > 0


def test_the_maps_hold_every_error_of_a_declared_field_once(run_of):
    run = run_of(detailed=True)
    values, wholes = heat_maps(RunView(run))
    errors = run.evaluation.errors

    counted = sum(count for _, cells in values.rows for count, *_ in cells)
    undeclared = sum(errors.fields[("*",)].values())
    assert counted == sum(counts.total() for counts in errors.fields.values()) - undeclared
    assert sum(count for _, cells in wholes.rows for count, *_ in cells) == sum(
        counts.total() for counts in errors.units.values()
    )
    totals = [sum(count for count, *_ in cells) for _, cells in values.rows]
    assert totals == sorted(totals, reverse=True)


def test_without_errors_there_is_no_map(run_of):
    assert heat_maps(RunView(run_of(pairs=[]))) == []


def test_the_curve_is_the_f1_that_other_thresholds_would_give():
    pairs = Histogram()
    pairs.matched[BINS], pairs.unlike[10] = 3, 1
    path = threshold_curve(pairs, Counts(tp=3, fd=1, fa=1, fn=1), RateRule())
    heights = [float(point.split(",")[1]) for point in path[1:].split(" L")]

    # Up to 0.5 all four pairs match: precision and recall are 4 of 5. Above it three do, and one
    # is wrong: precision 3 of 5, recall 3 of 4.
    low, high = 0.8, 2 * 0.6 * 0.75 / (0.6 + 0.75)
    assert heights[:11] == pytest.approx([HEIGHT * (1 - low)] * 11, abs=0.06)
    assert heights[11:] == pytest.approx([HEIGHT * (1 - high)] * (BINS - 10), abs=0.06)


def test_one_similarity_makes_no_curve():
    pairs = Histogram()
    pairs.matched[BINS] = 3

    assert threshold_curve(pairs, Counts(tp=3), RateRule()) == ""


UNITS = {
    "type": "object",
    "properties": {"unit": {"enum": ["kg", "lb", "t"]}, "name": {"type": "string"}},
}


def matrix_of(run_of, units) -> HeatMap:
    pairs = [
        DocumentPair(
            str(index), {"unit": gt, "name": f"n{index}"}, {"unit": pred, "name": f"m{index}"}
        )
        for index, (gt, pred) in enumerate(units)
    ]
    run = run_of(UNITS, pairs, detailed=True)
    fields = field_views(RunView(run), run.detail.histograms)
    (matrix,) = confusion_matrices(fields, run.detail.value_pairs)
    return matrix


def test_the_matrix_has_wrong_values_first_and_right_ones_as_one_column(run_of):
    units = [("kg", "kg")] * 4 + [("kg", "lb")] * 2 + [("lb", "kg"), ("t", None)]
    matrix = matrix_of(run_of, units)

    assert matrix.title == "unit: 3 values predicted in place of another value"
    assert matrix.columns == ['"lb"', "absent", '"kg"', "right"]
    assert [(gt, [cell.errors for cell in row], row[-1].right) for gt, row in matrix.rows] == [
        ('"kg"', [2, 0, 0, 0], 4),
        ('"lb"', [0, 0, 1, 0], 0),
        ('"t"', [0, 1, 0, 0], 0),
    ]


def test_values_that_were_always_right_are_counted_below_the_matrix(run_of):
    matrix = matrix_of(run_of, [("kg", "kg")] * 3 + [("t", "t"), ("lb", "kg"), ("lb", "lb")])

    assert [gt for gt, _ in matrix.rows] == ['"lb"']
    assert matrix.left_out == 2


def test_wrong_values_beyond_the_room_of_a_page_are_one_column(run_of, monkeypatch):
    monkeypatch.setattr(payload, "MAX_WRONG_COLUMNS", 1)
    units = [("kg", "lb")] * 2 + [("kg", "t"), ("t", "kg"), ("t", "t"), ("t", "t")]
    matrix = matrix_of(run_of, units)

    assert matrix.columns == ['"lb"', "2 others", "right"]
    assert [[cell.errors for cell in row] for _, row in matrix.rows] == [[2, 1, 0], [0, 1, 0]]


def place_rate(name: str, lost: int, values: int, *bounds: float) -> PlaceRate:
    return PlaceRate(name, lost, values, Interval(*bounds) if bounds else None)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (
            [place_rate("0", 8, 100, 0.04, 0.15), place_rate("1", 10, 100, 0.05, 0.18)],
            (
                "Evenly spread: 9.0% of values are lost at every position in the list, as far as "
                "the intervals show."
            ),
        ),
        (
            [place_rate("0", 2, 100, 0.0, 0.07), place_rate("1", 30, 100, 0.21, 0.4)],
            (
                "Rising: from 2.0% at place 0 to 30.0% at place 1. "
                "This is typical of lists that are cut off, which lose their last items."
            ),
        ),
        (
            [place_rate("0", 30, 100, 0.21, 0.4), place_rate("1", 2, 100, 0.0, 0.07)],
            "Falling: from 30.0% at place 0 to 2.0% at place 1.",
        ),
        (
            [place_rate("0", 1, 10), place_rate("1", 2, 10)],
            "15.0% of 20 values in list items are wrong or missed.",
        ),
    ],
)
def test_what_places_show_is_said_by_the_data(rates, message):
    assert describe_places(rates) == message


def test_places_are_drawn_only_where_there_are_two_and_one_lost_a_value(run_of):
    def picture(gt, pred):
        schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
        run = run_of(schema, [DocumentPair("a", {"tags": gt}, {"tags": pred})], detailed=True)
        return place_picture(RunView(run), run.detail.item_places)

    assert picture(["a"], []) is None
    assert picture(["a", "b"], ["a", "b"]) is None
    drawn = picture(["a", "b"], ["a"])
    assert [drawn.height(rate.share) for rate in drawn.rates] == [0, 100]


@pytest.mark.parametrize(("documents", "is_shown"), [(29, False), (30, True)])
def test_of_too_few_documents_no_interval_is_drawn(run_of, documents, is_shown):
    pairs = [DocumentPair(str(index), {"unit": "kg"}, {"unit": "kg"}) for index in range(documents)]
    run = run_of(UNITS, pairs, intervals=True, detailed=True)
    view = RunView(run)
    dots = dot_plot(view, field_views(view, run.detail.histograms)).dots

    assert {dot.interval is not None for dot in dots} == {is_shown}
    assert ("CI" in render("html", run, TableStyle())) == is_shown
