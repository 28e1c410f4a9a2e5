"""Boxes in the formats of extractors, and average precision compared with that of COCO."""

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.runs.boxes import PageBox, Rectangle, box_of, spot_of
from stickler_cli.studies.places.answer import Detections, mean_precision

BOX = Rectangle(10, 20, 40, 30)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ([10, 20, 40, 30], "corners"),
        ([40, 30, 10, 20], "corners"),
        ([[10, 20], [40, 30]], "corners"),
        ([[10, 20], [40, 30]], "xywh"),
        ([10, 20, 30, 10], "xywh"),
        ([10, 20, 40, 20, 40, 30, 10, 30], "corners"),
        ([[10, 25], [25, 20], [40, 25], [25, 30]], "corners"),
        ([{"x": 10, "y": 20}, {"x": 40, "y": 20}, {"x": 40, "y": 30}], "corners"),
        ({"vertices": [{"x": 10, "y": 20}, {"x": 40, "y": 30}]}, "corners"),
        ({"x1": 10, "y1": 20, "x2": 40, "y2": 30}, "xywh"),
        ({"BoundingBox": {"Left": 10, "Top": 20, "Width": 30, "Height": 10}}, "corners"),
    ],
)
def test_forms_of_boxes(value, form):
    assert box_of(value, form) == BOX


@pytest.mark.parametrize(
    "value",
    [
        *(None, 3, [], [1, 2, 3], [1, 2, 1, 4], [1, 2, "x", 4], {"left": 1}, [0, 0, 1e300, 1]),
        [[1, 2], ["x", 3], [4, 5]],
        [{"x": 1, "y": 2}, {"x": 3}, {"x": 4, "y": 5}],
    ],
)
def test_what_is_no_box(value):
    assert box_of(value, "corners") is None


def test_a_spot_is_a_box_and_a_page():
    azure = {"boundingRegions": [{"pageNumber": 2, "polygon": [10, 20, 40, 20, 40, 30, 10, 30]}]}
    assert spot_of(azure, "corners").page == "2"
    assert spot_of(azure, "corners").box == BOX
    spot_made = spot_of(
        {"_bbox": [10, 20, 40, 30], "_page": 1, "_page_size": [100, 200]}, "corners"
    )
    assert (spot_made.page, spot_made.size) == ("1", (100, 200))
    assert spot_of({"_page": 1}, "corners") is None


def test_overlaps_and_centres():
    page_box, other = PageBox(BOX, "1"), Rectangle(10, 25, 40, 35)
    for page in ("1", None):
        assert page_box.overlap(PageBox(other, page)) == pytest.approx(1 / 3)
        assert page_box.holds_centre_of(PageBox(other, page))
    assert page_box.overlap(PageBox(other, "2")) == 0
    assert not page_box.holds_centre_of(PageBox(other, "2"))
    assert not page_box.holds_centre_of(PageBox(Rectangle(10, 31, 40, 41), "1"))
    assert BOX.scaled(100, 200) == Rectangle(0.1, 0.1, 0.4, 0.15)
    assert BOX.scaled(100, 200).is_fraction


corners = st.tuples(*[st.integers(0, 6)] * 2, *[st.integers(1, 5)] * 2)


def from_the_top(corner):
    return corner[1], corner[0], corner[2], corner[3]


pages = st.lists(  # COCO takes boxes of one confidence as they come
    st.tuples(
        st.lists(corners, max_size=5).map(lambda true: sorted(true, key=from_the_top)),
        st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.5001, 0.9]), corners), max_size=6).map(
            lambda boxes: sorted(boxes, key=lambda box: from_the_top(box[1]))
        ),
    ),
    min_size=1,
    max_size=4,
)


def spot(corner, page=None):
    x, y, width, height = corner
    return PageBox(Rectangle(x, y, x + width, y + height), page)


@given(st.lists(pages, min_size=1, max_size=2))
def test_average_precision_is_that_of_coco(kinds):
    coco = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    detections_by_kind, truths, guesses = {}, [], []
    images = max(map(len, kinds))
    for kind, documents in enumerate(kinds, 1):
        detections_by_kind[str(kind)] = Detections()
        for image, (true, boxes) in enumerate(documents, 1):
            spots = [(score, spot(box)) for score, box in boxes]
            detections_by_kind[str(kind)].add(f"{image:03}", [spot(box) for box in true], spots)
            about = {"image_id": image, "category_id": kind}
            truths += [
                {**about, "bbox": [*box], "area": box[2] * box[3], "iscrowd": 0} for box in true
            ]
            guesses += [{**about, "bbox": [*box], "score": score} for score, box in boxes]
    for number, truth in enumerate(truths, 1):
        truth["id"] = number
    if not truths or not guesses:
        return
    with contextlib.redirect_stdout(io.StringIO()):
        theirs = coco.COCO()
        theirs.dataset = {
            "images": [{"id": image} for image in range(1, images + 1)],
            "annotations": truths,
            "categories": [{"id": kind} for kind in range(1, len(kinds) + 1)],
            "info": {},
        }
        theirs.createIndex()
        run = cocoeval.COCOeval(theirs, theirs.loadRes(guesses), "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    assert mean_precision(detections_by_kind) == pytest.approx(run.stats[0])
    assert mean_precision(detections_by_kind, (0.5,)) == pytest.approx(run.stats[1])


def test_nothing_to_find_has_no_precision():
    assert mean_precision({}) is None
    only_found = Detections()
    only_found.add("a", [], [(1.0, PageBox(BOX))])
    assert mean_precision({"a": only_found}) is None
    missed = Detections()
    missed.add("a", [PageBox(BOX)], [])
    assert missed.precision(0.5) == 0


def test_the_order_of_documents_is_no_matter():
    first, other = Detections(), Detections()
    right, wrong = PageBox(BOX), PageBox(Rectangle(0, 0, 1, 1))
    documents = [("a", [right], [(0.5, right)]), ("b", [right], [(0.5, wrong)])]
    for document in documents:
        first.add(*document)
    for document in reversed(documents):
        other.add(*document)
    assert first.precision(0.5) == other.precision(0.5) == pytest.approx(51 / 101)


def test_boxes_are_matched_on_their_page():
    detections = Detections()
    detections.add("a", [PageBox(BOX, "1")], [(0.9, PageBox(BOX, "2")), (0.8, PageBox(BOX, "1"))])
    assert [match[0] for match in detections.matches] == [False, True]
    anywhere = Detections()
    anywhere.add("a", [PageBox(BOX, "1")], [(0.9, PageBox(BOX))])
    assert anywhere.precision(0.5) == 1


@given(
    st.lists(corners, max_size=5),
    st.lists(st.tuples(st.sampled_from([0.5, 1.0]), corners), max_size=6),
    st.randoms(use_true_random=False),
)
def test_the_order_of_boxes_is_no_matter(true, boxes, random):
    first, other = Detections(), Detections()
    spots, scored_spots = [spot(box) for box in true], [(score, spot(box)) for score, box in boxes]
    first.add("a", spots, scored_spots)
    random.shuffle(spots)
    random.shuffle(scored_spots)
    other.add("a", spots, scored_spots)
    assert first.matches == other.matches
