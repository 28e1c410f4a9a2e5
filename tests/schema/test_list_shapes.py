"""Inference from the form of lists: positions, boxes, running numbers, single values."""

import pytest

from stickler_cli.schema.inference import infer
from stickler_cli.schema.inference.list_shapes import MAX_LENGTHS, MAX_POSITIONS, ListShape
from stickler_cli.schema.inference.observed_schemas import observed_schema
from stickler_cli.schema.loading import load_observed
from tests.schema.observing import seen_in

X = "x-aws-stickler-"


def inferred(*documents, schema=None):
    """Return the properties that are inferred from documents, with a schema or without."""
    seen = seen_in(*documents)
    return infer(schema or observed_schema(seen), seen=seen).schema["properties"]


def pairing_of(place):
    return place.get(f"{X}pairing")


@pytest.mark.parametrize(
    ("tables", "pairing"),
    [
        ([[["a", "b"], ["c", "d"]]], "position"),
        # Rows of each table have a length of their own.
        ([[["a", "b"], ["c", "d"]], [["a", "b", "c"], ["d", "e", "f"]]], "position"),
        # One row is not one to compare lengths with; with those of other documents it is.
        ([[["a", "b"]]], None),
        ([[["a", "b"]], [["c", "d"], ["e", "f"]]], "position"),
        ([[["a", "b"], ["c"]]], None),
        ([[["a"], ["c"]]], None),
        ([[["a", "b"], ["c", "d"]], [["a", "b", "c"], ["d", "e"]]], None),
        ([[["a", "b"], "c"]], None),
        ([[["a", "b"], None, ["c", "d"]]], "position"),
        # Kinds that differ by position, in one row, and kinds that do not.
        ([[[0, 8, "PERSON"]]], "position"),
        ([[[0, 8, "PERSON"], [1, 2.5]]], "position"),
        ([[[0, 8, "PERSON"], ["x", 8, 9, 1]]], None),
        ([[[{"k": 1}, {"k": 2}], [{"k": 3}, {"k": 4}]]], None),
        ([[[0, "x"] * MAX_POSITIONS, [0]]], None),
    ],
)
def test_rows_of_leaves_are_compared_cell_by_cell(tables, pairing):
    place = inferred(*({"table": table} for table in tables))["table"]

    rows = place["items"] if "items" in place else place["anyOf"][0]["items"]
    assert pairing_of(rows) == pairing
    assert pairing_of(place) is None
    if pairing:
        assert place[f"{X}threshold"] == 0.5
        assert "rows" in place["$comment"] if "$comment" in place else True


@pytest.mark.parametrize(
    ("name", "values", "pairing"),
    [
        ("coordinates", [10.5, 59.9], "position"),
        ("ageRange", [18, 65], "position"),
        ("text_colour", [255, 0, 10, 0.5], "position"),
        ("offsets", [3, 17], "position"),
        ("coordinates", [1, 2, 3, 4, 5], None),
        ("range", ["a", "b"], None),
        ("scores", [1, 2], None),
        ("location", [52.5, 13.4], "position"),
        ("image_size", [640, 480], "position"),
        ("sizes", [38, 40], None),
        ("location", [1, 2, 3, 4, 5], None),
        ("monthly_sales", [1, 2, 3, 4, 5], "ordered"),
        ("time_series", [0.1, 0.2], "ordered"),
        ("daily_notes", ["a", "b"], None),
        # Numbers of a box that are none to compare by their overlap.
        ("bbox", [1, 2, 3, 4, 0.9], "position"),
    ],
)
def test_names_say_that_the_order_of_numbers_matters(name, values, pairing):
    assert pairing_of(inferred({name: values})[name]) == pairing


@pytest.mark.parametrize(
    ("name", "pairing"), [("point", "position"), ("points", None), ("scores", None)]
)
def test_names_alone_say_it_in_the_singular(name, pairing):
    numbers = {"type": "array", "items": {"type": "number"}}

    assert pairing_of(infer({"properties": {name: numbers}}).schema["properties"][name]) == pairing


def test_lists_of_points_are_compared_number_by_number():
    place = inferred({"coordinates": [[1, 2], [3, 4, 5]]})["coordinates"]

    assert (pairing_of(place), pairing_of(place["items"])) == (None, "position")


@pytest.mark.parametrize(
    "stated",
    [
        {f"{X}pairing": "best"},
        {f"{X}ordered": True},
        {f"{X}distinct": True},
        {f"{X}pairing-floor": 0.1},
        {f"{X}exhaustive": False},
    ],
)
def test_what_a_schema_says_of_pairs_stays(stated):
    rows = {"type": "array", "items": {"type": "string"}, **stated}
    schema = {"properties": {"table": {"type": "array", "items": rows}}}

    place = inferred({"table": [["a", "b"], ["c", "d"]]}, schema=schema)["table"]

    assert pairing_of(place["items"]) == stated.get(f"{X}pairing")


BOXES = {
    "corners": ([10, 20, 200, 80], {}),
    "left": ([100, 100, 50, 20], {"format": "xywh"}),
    "pairs": ([[100, 100], [50, 120]], {"format": "xywh"}),
}


@pytest.mark.parametrize("kind", BOXES)
def test_a_box_whose_third_number_is_below_the_first_has_a_width(kind):
    box, config = BOXES[kind]
    place = inferred({"bbox": box})["bbox"]

    assert place[f"{X}comparator"] == "BBoxIoUComparator"
    assert place.get(f"{X}comparator-config", {}) == config


@pytest.mark.parametrize(
    ("documents", "is_sized"),
    [
        # Some boxes have their fourth number below the second, as heights have; all as of PDF.
        ([{"bbox": [1, 9, 5, 4]}, {"bbox": [1, 2, 5, 4]}], True),
        ([{"bbox": [1, 9, 5, 4]}, {"bbox": [1, 8, 5, 4]}], False),
        ([{"bbox": [10, 20, 30, 40], "area": 1200}], True),
        ([{"bbox": [10, 20, 30, 40], "area": 1205}], True),
        ([{"bbox": [10, 20, 30, 40], "area": 400}], False),
        ([{"bbox": [1, 2, 30, 40], "area": 1200}, {"bbox": [1, 2, 3, 4], "area": 4}], False),
        ([{"bbox": [10, 20, 30, 40], "area": "1200"}], False),
        ([{"bbox": [10, 20, 30, 40], "size": [1, 2], "area": 400}], False),
    ],
)
def test_values_say_that_boxes_have_sizes(documents, is_sized):
    place = inferred(*documents)["bbox"]

    assert (place.get(f"{X}comparator-config") == {"format": "xywh"}) is is_sized


@pytest.mark.parametrize(
    ("name", "value", "is_box"),
    [
        ("coco_bbox", [10, 20, 30, 40], True),
        ("bbox_xywh", [10, 20, 30, 40], True),
        ("polygon", [1, 2, 3, 4, 5, 6, 7, 8], True),
        ("bounding_box", [1, 2, 3, 4, 5, 6, 7, 8], True),
        ("quad", [[1, 2], [3, 4], [5, 6], [7, 8]], True),
        ("polygon", [10, 20, 30, 40], False),
        ("polygon", [[1, 2], [3, 4], [5, 6]], False),
        ("bboxes", [[1, 2], [3, 4]], False),
        ("bbox", [[1, 2, 3], [3, 4, 5]], False),
        ("bbox", ["a", "b", "c", "d"], False),
        ("bbox", [["a", "b"], ["c", "d"]], False),
    ],
)
def test_arrays_are_boxes_by_name_and_length(name, value, is_box):
    place = inferred({name: value})[name]

    assert (place.get(f"{X}comparator") == "BBoxIoUComparator") is is_box
    named_sized = {"format": "xywh"} if name.startswith("coco") or name.endswith("xywh") else None
    assert not is_box or place.get(f"{X}comparator-config") == named_sized


def test_the_format_of_a_run_is_for_boxes_without_another():
    numbers = {"type": "array", "items": {"type": "number"}}
    schema = {"properties": {"bbox": numbers}}

    box = infer(schema, boxes="xywh").schema["properties"]["bbox"]

    assert box[f"{X}comparator-config"] == {"format": "xywh"}


def items_with(*numbers):
    return [{"n": number, "name": f"item {number}"} for number in numbers]


@pytest.mark.parametrize(
    ("lists", "is_running"),
    [
        ([[1, 2, 3]], True),
        ([[0, 1, 2]], True),
        ([["1", "2", "3"]], True),
        ([["01", "02"], ["01", "02"]], True),
        ([[1, 2], [1]], False),  # too few to tell
        ([[1, 2], [1, 2]], True),
        ([[1, 2], [0, 1]], False),
        ([[1, 2, 3], [2, 1]], False),
        ([[1, 2, 4]], False),
        ([[2, 3, 4]], False),
        ([[1.0, 2.0, 3.0]], False),
        ([[True, 2, 3]], False),
        ([[1, 2, 3], [1, None]], False),
        ([["x", 2, 3]], False),
    ],
)
def test_a_number_that_counts_the_items_of_every_list_pairs_none(lists, is_running):
    place = inferred(*({"lines": items_with(*numbers)} for numbers in lists))["lines"]

    number = place["items"]["properties"]["n"]
    assert (number.get(f"{X}pairs-items") is False) is is_running


def test_a_running_number_of_one_schema_stays_as_it_says():
    item = {"properties": {"n": {"type": "integer", f"{X}pairs-items": True}}}
    schema = {"properties": {"lines": {"type": "array", "items": {"type": "object", **item}}}}

    place = inferred({"lines": items_with(1, 2, 3)}, schema=schema)["lines"]

    assert place["items"]["properties"]["n"][f"{X}pairs-items"] is True


@pytest.mark.parametrize(
    ("single", "several", "is_list"),
    [
        ({"k": 1}, [{"k": 2}], True),
        ("x", ["y"], True),
        (1, [2.5], True),
        (None, ["y"], True),
        ("x", [{"k": 2}], False),
        ({"k": 1}, [], True),  # an empty list has no value of another kind
    ],
)
def test_a_value_in_some_documents_and_a_list_in_others_is_a_list(single, several, is_list):
    place = inferred({"x": single, "y": "z"}, {"x": several, "y": "z"})["x"]

    kinds = place.get("type")
    assert (kinds in ("array", ["array", "null"])) is is_list


def test_a_list_whose_name_speaks_of_an_order_has_a_note():
    seen = seen_in(
        {
            "steps": ["mix", "bake"],
            "route": [{"stop": "A"}, {"stop": "B"}],
            "tool_calls": [{"name": "look_up"}, {"name": "pay_out"}],
            "tags": ["a", "b"],
        }
    )

    note = load_observed(seen, "gt").note

    expected = "the order of list items is ignored in steps, route, tool_calls"
    assert expected in note
    assert '"x-aws-stickler-ordered": true' in note


@pytest.mark.parametrize(
    ("name", "points", "is_noted"),
    [
        ("polygon", [[0, 0], [4, 0], [5, 2], [4, 3], [0, 3]], True),
        ("outline", [[0, 0], [4, 0], [5, 2]], True),
        ("polygon", [[0, 0], [4, 0], [4, 3], [0, 3]], False),  # compared as a box
        ("polygon", [0, 0, 4, 0, 5, 2], False),  # number by number
        ("readings", [5, 4, 5], True),
        ("cells", [[0, 0], [4, 0], [5, 2]], False),
    ],
)
def test_the_points_of_an_outline_have_a_note_on_their_order(name, points, is_noted):
    seen = seen_in({name: points})

    note = load_observed(seen, "gt").note

    assert (f"the order of list items is ignored in {name}." in note) is is_noted


@pytest.mark.parametrize(
    ("name", "columns", "pairing"),
    [
        ("sales_table", {"region": ["N", "S"], "sales": [10, 20]}, "position"),
        ("table", {"region": ["N", "S"], "sales": [10, 20, 30]}, None),
        ("table", {"region": ["N", "S"], "title": "Sales"}, None),
        ("table", {"region": ["N"], "sales": [10]}, None),
        ("table", {"region": ["N", "S"]}, None),
        ("paper", {"region": ["N", "S"], "sales": [10, 20]}, None),
    ],
)
def test_lists_of_equal_length_in_a_table_are_its_columns(name, columns, pairing):
    place = inferred({name: columns})[name]

    assert pairing_of(place["properties"]["region"]) == pairing


def test_what_was_seen_at_two_places_goes_together():
    first, second = ListShape(), ListShape()
    first.add([{"n": 1}, {"n": 2}])
    second.absorb(first)
    second.add([{"n": 1}, {"n": 2}])
    assert second.running_numbers == ("n",)

    other = ListShape()
    other.add([{"m": 1}])
    second.absorb(other)
    assert second.running_numbers == ()

    rows, other_list = ListShape(), ListShape()
    rows.add([["a", 1], ["b", 2]])
    other_list.add([["a", 1, 3]])
    rows.absorb(other_list)
    assert rows.is_table
    rows.absorb(ListShape(kinds_by_position=None))
    assert rows.kinds_by_position is None
    box = ListShape()
    box.add([5, 5, 1, 1])
    other.absorb(box)
    assert other.boxes.have_sizes
    assert [*map(len, box.kinds_by_position)] == [1, 1, 1, 1]


def test_lengths_are_told_apart_in_bounded_space():
    shape = ListShape()
    for length in range(2 * MAX_LENGTHS):
        shape.add([0] * length)

    assert len(shape.lengths) == MAX_LENGTHS


OPEN = {"any": {}, "meta": {"type": "object"}, "free": {"type": "array"}, "items": {"items": {}}}
VALUES = {
    "any": "DE44500105175407324931",
    "meta": {"iban": "DE44500105175407324931"},
    "free": [{"due": "2024-03-01"}],
    "items": ["2024-03-01"],
}


def test_places_that_a_schema_leaves_open_are_inferred_by_what_stands_there():
    seen = seen_in(VALUES)
    inferred_schema = infer({"properties": OPEN}, seen=seen)

    comparators = {
        field.path: field.comparator for field in inferred_schema.fields if field.comparator
    }
    assert inferred_schema.describes_more
    assert comparators == {
        ("any",): "ExactComparator",
        ("meta", "iban"): "ExactComparator",
        ("free", "due"): "DateComparator",
        ("items",): "DateComparator",
    }
    # Other keys may have any values, as before.
    assert inferred_schema.schema["properties"]["meta"]["additionalProperties"] == {}


@pytest.mark.parametrize("when", ["never", "auto"])
def test_open_places_of_an_annotated_schema_stay_open(when):
    seen = seen_in(VALUES)
    stated = {"type": "string", f"{X}threshold": 0.5}

    inferred_schema = infer({"properties": {**OPEN, "x": stated}}, when=when, seen=seen)

    assert not inferred_schema.describes_more
    assert inferred_schema.schema["properties"]["any"] == {}


def test_an_open_place_with_a_comparator_stays_as_it_says():
    seen = seen_in(VALUES)
    stated = {f"{X}comparator": "ANLSStarComparator"}

    inferred_schema = infer({"properties": {"any": stated, "none": {}}}, seen=seen)

    assert not inferred_schema.describes_more
    assert inferred_schema.schema["properties"]["any"] == stated


def test_the_lists_of_a_document_that_is_a_list_are_found_at_the_empty_path():
    seen = seen_in([[1, 2], [3, 4], [5, 6]])
    assert seen.find_shape((), 0).have_lengths(3)
    assert seen.find_shape((), 1).have_lengths(2)
