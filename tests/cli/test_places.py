"""`stickler places`: right and wrong values in right and wrong boxes."""

import copy
import json

import pytest

from .conftest import write

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "x-aws-stickler-threshold": 1},
        "total": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "seal": {
            "type": "array",
            "items": {"type": "number"},
            "x-aws-stickler-comparator": "BBoxIoUComparator",
        },
    },
}


def boxed(value, *box, page=1):
    return {"_value": value, "_bbox": list(box), "_page": page}


GT = {"name": boxed("Anna", 0, 0, 10, 10), "total": boxed(5, 50, 0, 60, 10)}


@pytest.fixture
def places(stickler, data):
    write(data / "boxes.json", SCHEMA)

    def run(pred, *more, gt=GT, code=0):
        for side, document in (("there", gt), ("found", pred)):
            write(data / side / "one.json", document)
        result = stickler("places", "boxes.json", "there", "found", "-f", "json", *more)
        assert result.code == code, result.err
        return json.loads(result.out) if result.out else result.err

    return run


def field(report, name):
    return next(field_record for field_record in report["fields"] if field_record["field"] == name)


def cells(found):
    return [found[key] for key in ("both_right", "place_wrong", "value_wrong", "both_wrong")]


def changed(**parts):
    pred = copy.deepcopy(GT)
    for name, value in parts.items():
        pred[name] |= value
    return pred


@pytest.mark.parametrize(
    ("pred", "expected"),
    [
        (GT, [1, 0, 0, 0]),
        (changed(name={"_bbox": [2, 0, 12, 10]}), [1, 0, 0, 0]),
        (changed(name={"_bbox": [6, 0, 16, 10]}), [0, 1, 0, 0]),
        (changed(name={"_page": 2}), [0, 1, 0, 0]),
        (changed(name={"_value": "Berta"}), [0, 0, 1, 0]),
        (changed(name={"_value": "Berta", "_bbox": [90, 0, 99, 10]}), [0, 0, 0, 1]),
    ],
)
def test_values_and_places_are_counted_apart(places, pred, expected):
    assert cells(field(places(pred), "name")) == expected


def test_missed_and_invented_boxes_count(places):
    report = places({"name": GT["name"], "seal": [0, 0, 5, 5]})
    assert (field(report, "total")["missed"], field(report, "total")["recall"]) == (1, 0)
    assert (field(report, "seal")["invented"], field(report, "seal")["precision"]) == (1, 0)
    assert report["whole"]["f1"] == 0.5
    assert report["whole"]["located"] == 1


def test_a_field_that_is_a_box_is_its_own_place(places):
    two_seals = {**GT, "seal": [0, 0, 10, 10]}
    report = places({**GT, "seal": [0, 0, 10, 8]}, gt=two_seals)
    assert cells(field(report, "seal")) == [1, 0, 0, 0]
    # It is right where it overlaps, which says nothing of its place.
    assert field(report, "seal")["located"] is None
    assert report["whole"]["located"] == 1
    (note,) = report["notes"]
    assert note.startswith("boxes that are fields of their own (seal) are compared as values")
    assert "--wrapped" not in note


def test_boxes_beside_values_that_became_fields_name_the_option(stickler, data):
    gt = [{"name": {"value": f"a {index}", "bbox": [0, 0, 10, 5]}} for index in range(3)]
    pred = [{"name": {"value": f"a {index}", "bbox": [5, 0, 10, 5]}} for index in range(3)]
    for name, documents in (("g", gt), ("p", pred)):
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        (data / f"{name}.jsonl").write_text(lines)

    record = stickler("places", "g.jsonl", "p.jsonl", "-f", "json").json
    assert record["whole"]["located"] is None
    assert "--wrapped value would extract values from their objects" in record["notes"][0]
    mended = stickler("places", "g.jsonl", "p.jsonl", "--wrapped", "value", "-f", "json").json
    # Half of the box is the overlap.
    assert (mended["whole"]["located"], mended["notes"]) == (1, [])


def test_pixels_and_fractions_need_the_size_of_the_page(places):
    pred = changed(name={"_bbox": [0, 0, 0.1, 0.1]}, total={"_bbox": [0.5, 0, 0.6, 0.1]})
    report = places(pred)
    assert cells(report["whole"]) == [0, 2, 0, 0]
    assert "2 pairs of boxes are in pixels on one side" in report["notes"][0]
    assert cells(places(pred, "--page-size", "100x100")["whole"]) == [2, 0, 0, 0]
    sized = changed(name={"_page_size": [100, 100]}, total={"_page_size": [100, 100]})
    assert cells(places(pred, gt=sized)["whole"]) == [2, 0, 0, 0]


def test_pixels_of_two_resolutions_are_one_place(places):
    gt = {"total": {**boxed(5, 50, 0, 60, 10), "_page_size": [100, 100]}}
    pred = {"total": {**boxed(5, 100, 0, 120, 20), "_page_size": [200, 200]}}
    assert cells(places(pred, gt=gt)["whole"]) == [1, 0, 0, 0]


def test_boxes_of_unlike_items_are_in_one_unit_too(places):
    gt = {"tags": [boxed("Anna", 0, 0, 10, 10)]}
    pred = {"tags": [boxed("Berta", 0, 0, 0.1, 0.1)]}
    report = places({**GT, **pred}, "--page-size", "100x100", gt={**GT, **gt})
    tags = field(report, "tags")
    assert (tags["missed"], tags["invented"], tags["average_precision"]) == (1, 1, 1)


def test_a_box_without_a_page_may_be_on_any(places):
    pred = {name: {key: value[key] for key in ("_value", "_bbox")} for name, value in GT.items()}
    report = places(pred)
    assert (report["whole"]["f1"], report["whole"]["average_precision_all"]) == (1, 1)


def test_what_four_numbers_are_may_be_said(places):
    gt = {"name": boxed("Anna", 10, 10, 5, 5), "total": boxed(5, 50, 0, 10, 10)}
    assert cells(places(gt, "--boxes", "xywh", gt=gt)["whole"]) == [2, 0, 0, 0]


def test_without_boxes_there_is_nothing_to_say(places):
    record = places({"name": "Anna"}, gt={"name": "Anna"}, code=3)
    assert record["whole"]["located"] is None


def test_sizes_of_pages_are_checked(stickler, places):
    assert "WIDTHxHEIGHT, such as 1654x2339" in places(GT, "--page-size", "large", code=2)


def test_a_document_of_too_much_work_is_left_out_by_name(places):
    long = {**GT, "name": boxed("ab" * 30_000, 0, 0, 10, 10)}
    other = {**GT, "name": boxed("cd" * 30_000, 0, 0, 10, 10)}

    report = places(other, "--work-limit", "0.1", gt=long, code=3)

    assert "document one was skipped: comparing this document takes more work" in report["notes"][0]


def test_an_alternative_has_the_box_that_stands_beside_it(places):
    other = {"name": boxed("Anne", 0, 50, 10, 60), "tags": []}
    inner = [other | {"_x": 1}, {"_value": other, "_alternatives": [{"name": "Bo"}]}]
    for alternatives in ([other], inner):
        gt = {"_value": GT, "_alternatives": alternatives}
        assert cells(places({"name": other["name"]}, gt=gt)["whole"]) == [1, 0, 0, 0]
    gt = {"name": GT["name"] | {"_alternatives": ["Anne"]}}
    assert cells(places({"name": boxed("Anne", 0, 0, 10, 10)}, gt=gt)["whole"]) == [1, 0, 0, 0]
