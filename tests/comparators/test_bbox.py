import pytest

from stickler_cli.comparators import BBoxIoUComparator

UNIT = [0, 0, 1, 1]


def test_an_array_is_one_value():
    assert BBoxIoUComparator.takes == {"array"}


@pytest.mark.parametrize(
    "value",
    [
        *([0, 0, "1", 1], [[0, 0], 1, 1], [[0, 0], [1, 1], [1, 1]], []),
        *([0, 0, float("nan"), 1], [0, 0, float("inf"), 1], [0, 0, 10**400, 1]),
        [-1.7e308, 0, 1.7e308, 1],  # its width is beyond the floats
        [0, 0, 1e200, 1e200],  # its area is
        [0, 0, 1e-200, 1e-200],  # its area is 0 in floats
    ],
)
def test_what_is_no_box_with_an_area_overlaps_nothing_not_even_itself(value):
    assert BBoxIoUComparator().compare(value, value) == 0.0
    assert BBoxIoUComparator().compare(UNIT, value) == 0.0


def test_the_largest_boxes_overlap_themselves():
    box = [0, 0, 1.3e154, 0.6e154]

    assert BBoxIoUComparator().compare(box, box) == 1.0


def test_tuples_are_read_as_arrays():
    assert BBoxIoUComparator().compare(((0, 0), (1, 1)), UNIT) == 1.0


def test_boxes_at_either_end_of_the_floats_share_nothing():
    comparator = BBoxIoUComparator()
    left = comparator.prepare([-1.7e308, 0, -1.6e308, 1e-10])
    right = comparator.prepare([1.6e308, 0, 1.7e308, 1e-10])

    assert comparator.similarity(left, right) == 0.0
    assert comparator.similarities([left], [right]).tolist() == [0.0]


def test_columns_of_boxes_leave_at_0_what_is_no_box():
    comparator = BBoxIoUComparator()
    gts = [comparator.prepare(box) for box in (UNIT, [0, 0, 2, 2], "no box", UNIT)]
    preds = [comparator.prepare(box) for box in (UNIT, UNIT, UNIT, None)]

    assert comparator.similarities(gts, preds).tolist() == [1, 0.25, 0, 0]


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        # As corners these two share 110 of 190 columns; as sizes 120 of 280.
        ([10, 20, 200, 80], [90, 20, 200, 80], 120 / 280),
        ([[0, 0], [2, 1]], [0, 0, 1, 1], 0.5),
        ([0, 0, 0, 1], [0, 0, 0, 1], 0.0),
        ([0, 0, 1, -1], [0, 0, 1, 1], 0.0),
        # Four corners are what they are in any format.
        ([0, 0, 2, 0, 2, 1, 0, 1], [0, 0, 1, 1], 0.5),
    ],
)
def test_boxes_may_have_a_corner_width_and_height(gt, pred, similarity):
    comparator = BBoxIoUComparator(format="xywh")

    assert comparator.compare(gt, pred) == pytest.approx(similarity)
    assert comparator.config == {"format": "xywh"}


def test_another_format_is_refused():
    with pytest.raises(ValueError, match="format is 'xyxy', expected one of corners, xywh"):
        BBoxIoUComparator(format="xyxy")


@pytest.mark.parametrize(
    "value", [[1, 0, 3, 0.5, 2, 2, 0, 1.5], [[1, 0], [3, 0.5], [2, 2], [0, 1.5]]]
)
def test_a_quadrilateral_is_compared_by_its_bounding_rectangle(value):
    assert BBoxIoUComparator().compare([0, 0, 3, 2], value) == 1.0
    assert BBoxIoUComparator().compare([0, 0, 3, 4], value) == 0.5


RING = [[0, 0], [0, 2], [2, 2], [2, 0]]
CROSSED = [[0, 0], [2, 2], [0, 2], [2, 0]]


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        (RING, CROSSED, 0.0),
        (RING, [0, 2, 0, 0, 2, 2, 2, 0], 0.0),
        (CROSSED, [0, 0, 2, 2], 0.0),
        (RING, [[2, 0], [2, 2], [0, 2], [0, 0]], 1.0),  # from another corner, the other way round
        (CROSSED, [0, 0, 2, 2, 0, 2, 2, 0], 1.0),  # both in an order that crosses itself
        (RING, [[0, 0], [0, 2], [2, 2], [0, 2]], 1.0),  # a corner twice: nothing crosses
    ],
)
def test_corners_in_an_order_that_crosses_itself_are_another_outline(gt, pred, similarity):
    comparator = BBoxIoUComparator()

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == similarity
