"""What is observed in documents, and the schema that it implies; memory stays small."""

import pytest

from stickler_cli.schema.inference import field_walker, infer
from stickler_cli.schema.inference.observation import (
    DEEPEST,
    MOST_KEYS,
    MOST_PLACES,
    SAMPLE,
    Observed,
    PlaceBudget,
    stated_currencies,
)
from stickler_cli.schema.inference.observed_schemas import is_map, item_key, observed_schema
from tests.schema.observing import seen_in

X = "x-aws-stickler-"


def field(*values, name="x"):
    """Return the schema that is inferred for a field with these values."""
    return observed_schema(seen_in(*({name: value} for value in values)))["properties"][name]


def choice(*values, name="x"):
    """Return the comparison that is inferred for a field with these values."""
    root = seen_in(*({name: value} for value in values))
    (choice_found,) = infer(observed_schema(root), seen=root).fields
    return choice_found.comparator, choice_found.threshold, choice_found.reason


def describe_observed(seen):
    """Return everything that was observed at a field and inside it."""
    children = {key: describe_observed(field) for key, field in seen.fields.items()}
    elements = seen.elements and describe_observed(seen.elements)
    figures = (
        seen.kinds,
        seen.forms,
        seen.values,
        seen.n_lists,
        seen.n_lists_by_key,
        seen.has_other_keys,
    )
    return (*figures, children, elements)


PARTS = [
    [{"a": "x", "n": 1}, {"a": "2024-03-01", "l": [{"k": "1"}, {"k": "2"}]}],
    [{"a": "y", "l": []}, {"b": {"c": None}}, 7],
    [{"l": [{"k": "3", "m": True}, {"k": "3", "m": "no"}]}, ["in a list", 1]],
    [{"a": "a text of many words " * 20}],
]


@pytest.mark.parametrize("first", range(len(PARTS)))
def test_what_one_place_sees_of_another_is_as_if_it_had_seen_it_itself(first):
    total, separate = Observed(), Observed()
    order = [*PARTS[first:], *PARTS[:first]]
    for observation in order:
        seen = seen_in(*observation)
        separate.absorb(seen)
        for document in observation:
            total.add(document)
    assert describe_observed(separate) == describe_observed(total)
    assert separate.total == sum(map(len, PARTS))


def test_more_values_than_are_told_apart_are_none(monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.inference.observation.MOST_VALUES", 3)
    monkeypatch.setattr("stickler_cli.schema.inference.observation.MOST_KEYS", 2)
    three = seen_in("a", "b", "c", {"k": 1, "l": 2})
    assert (three.values, three.has_other_keys) == ({"a", "b", "c"}, False)
    three.absorb(seen_in("b"))
    assert three.values == {"a", "b", "c"}
    three.absorb(seen_in("d", {"m": 3}))
    assert (three.values, three.has_other_keys, [*three.fields]) == (None, True, ["k", "l"])
    three.absorb(seen_in("e"))
    assert three.has_other_keys
    other = Observed()
    other.absorb(three)
    assert other.has_other_keys
    assert is_map(other)


def test_a_place_is_found_through_lists_at_any_depth():
    seen = seen_in({"l": [[{"a": [["x"]]}]], "t": "y"})
    assert seen.find_field(("l", "a")).kinds == {"string": 1}
    assert seen.find_field(("l",)).kinds == {"object": 1}
    assert seen.find_field(()).kinds == {"object": 1}
    assert (seen.find_field(("t", "a")), seen.find_field(("x",)), seen.find_field(("x", "y"))) == (
        None,
        None,
        None,
    )
    assert seen_in(["x"]).share("date") == 0.0
    assert seen.find_field(("t",)).share("date") == 0.0


@pytest.mark.parametrize(
    ("form", "yes", "no"),
    [
        ("email", "A.b@example.ORG", "a.b@example"),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
        ("looks like a date", " 3 Mar. 2024", "3 lines 20244"),
        ("number", "EUR 1,250.00", "n/a"),
        ("money", "EUR 12,50", "12.50"),
        ("measurement", "<5 mg", "5 men"),
        ("measurement", "4.40 mmol/L", "12C"),
        ("measurement", "24 V", "24 B"),
        ("readable date", "Wednesday, 3 January 2024", "3 rooms 2024"),
        ("number", "5 mg", "5 mg" + " as before" * 10),
        ("time of day", "4:05 pm", "44:05"),
        ("address of a host", "10.0.0.1", "10.0.1"),
        ("code", "D02 X285", "Dublin 2"),
        ("leading zero", "007", "70"),
        ("code", "INV-7/2", "INV"),
        ("prose", "one two three four five six seven eight", "one two three four five six seven"),
        ("digits and signs", "1'200.50 CHF", "12 lines"),
    ],
)
def test_texts_have_forms(form, yes, no):
    assert (seen_in(yes).share(form), seen_in(no).share(form)) == (1.0, 0.0)
    assert seen_in(yes, no, " ").share(form) == 0.5


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, 2], "integer"),
        ([1, 2.5], "number"),
        ([True], "boolean"),
        (["a", None], ["string", "null"]),
        ([1, True], ["integer", "boolean"]),
        ([{}], "object"),
        ([[]], "array"),
    ],
)
def test_the_types_that_occurred_are_told(values, type_):
    assert field(*values)["type"] == type_


def test_texts_beside_values_of_other_kinds_are_an_alternative_of_their_own():
    kinds = [arm["type"] for arm in field("a", 1, None, ["x"])["anyOf"]]

    assert kinds == ["string", "integer", "array", "null"]


def test_a_schema_says_its_dialect_and_goes_by_names_at_any_depth():
    texts = ["open", "closed"] * 6

    assert observed_schema(seen_in(*texts)) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "string",
        "enum": ["closed", "open"],
    }
    assert observed_schema(seen_in(texts))["items"]["enum"] == ["closed", "open"]
    for name, is_there in (("tags", True), ("vendors", False)):
        assert ("enum" in field(texts, name=name)["items"]) is is_there
        maps = [{f"k{index}": "open", f"k{index + 9}": "closed"} for index in range(9)]
        assert ("enum" in field(*maps, name=name)["additionalProperties"]) is is_there


@pytest.mark.parametrize(
    ("value", "format_"),
    [
        ("2024-03-01", "date"),
        ("2024-03-01T10:00:00Z", "date-time"),
        ("a.b@example.org", "email"),
        ("https://example.org/a?b", "uri"),
        ("123e4567-e89b-12d3-a456-426614174000", "uuid"),
        ("1/3/2024", None),
    ],
)
def test_a_format_that_all_texts_have_is_told(value, format_):
    assert field(value, value, None).get("format") == format_
    assert "format" not in field(value, "something else")


def test_a_few_texts_seen_often_are_an_enum():
    values = ["open", "closed", None] * 8

    assert field(*values) == {
        "type": ["string", "null"],
        "enum": ["closed", "open", None],
    }
    assert field(*["b", "a", "c"] * 4) == {"type": "string", "enum": ["a", "b", "c"]}
    assert "enum" not in field(*["b", "a", "c"] * 4, "d")
    assert field(*["EUR"] * 12) == {"type": "string", "enum": ["EUR"]}
    assert "enum" not in field(*["EUR"] * 11)
    assert len(field(*map(str, [*range(20)] * 4))["enum"]) == 20
    assert "enum" not in field(*map(str, [*range(21)] * 4))
    assert "enum" not in field(*values[:9])
    assert "enum" not in field(*map(str, range(100)))
    assert "enum" not in field(*values, name="vendor")
    assert "enum" in field(*values, name="status")


def test_keys_that_are_data_make_a_map():
    weeks = seen_in(*({"hours": {f"2024-W{week}": 1, f"2024-W{week + 1}": 2}} for week in range(9)))
    skills = seen_in(*({"hours": {f"skill {'abcdefghi'[n]}": [1]}} for n in range(9)))
    record = seen_in(*[{"hours": {"monday": 1, "tuesday": 2}}] * 9)

    number = {"type": "integer"}
    assert observed_schema(weeks)["properties"]["hours"] == {
        "type": "object",
        "additionalProperties": number,
    }
    assert "additionalProperties" in observed_schema(skills)["properties"]["hours"]
    assert observed_schema(record)["properties"]["hours"]["properties"] == {
        "monday": number,
        "tuesday": number,
    }


def split_over_two(fields):
    """Return two objects, each with half of the fields."""
    names = list(fields)
    return [{name: fields[name] for name in names[start::2]} for start in (0, 1)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (dict.fromkeys("abcdefgh", 1), True),
        (dict.fromkeys("abcdefg", 1), False),
        (dict.fromkeys("abcdefghijkl", "x"), True),
        (dict.fromkeys("abcdefghijk", "x"), False),
        (dict.fromkeys("abcdefgh", 1) | {"h": True}, False),
        (dict.fromkeys("abcdefgh", 1) | {"g": None, "h": None}, True),
        (dict.fromkeys("abcdefgh"), False),
        ({"y2023": 1, "y2024": 2}, True),
        ({"y2023": 1, "other": 2}, False),
        ({"y2023": 1}, False),
        ({name: {"v": 1} for name in "abcdefgh"}, True),
        ({name: {name: 1} for name in "abcdefgh"}, False),
        # A key that was always null says nothing of the others.
        ({name: {name: 1} for name in "abcdefgh"} | {"i": None}, False),
        ({name: {"v": 1} for name in "abcdefgh"} | {"i": None}, True),
    ],
)
def test_many_rare_keys_of_one_kind_make_a_map(fields, expected):
    assert is_map(seen_in(*split_over_two(fields))) is expected
    first, second = split_over_two(fields)
    assert not is_map(seen_in({**first, **second}, second))


def test_the_values_of_a_map_are_put_together():
    root = seen_in(
        *({f"k{n}": {"a": n, "b": None}} for n in range(3)), {"k3": {"a": 0.5, "b": "x"}}
    )

    assert observed_schema(root)["additionalProperties"] == {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": ["string", "null"]}},
    }


def items(*skus, extra=0):
    return {
        "items": [{"name": "n", "sku": sku, **dict.fromkeys("abcdef"[:extra], 1)} for sku in skus]
    }


def test_a_field_that_tells_items_apart_is_their_key():
    documents = [items("A-1", "A-2"), items("A-2", "A-3"), items("A-1"), items("A-3", "A-4")]

    assert item_key(seen_in(*documents).fields["items"]) == "sku"
    assert item_key(seen_in(*documents[:2]).fields["items"]) is None
    assert item_key(seen_in(*documents, items("A-1", "A-1")).fields["items"]) is None
    assert item_key(seen_in(*documents, items("A-1", None)).fields["items"]) is None
    assert item_key(seen_in(*documents, items("A-1", "")).fields["items"]) is None
    assert seen_in(items("A-1")).fields["items"].n_lists == 0


def test_the_first_identifier_is_the_key_and_nothing_else():
    rows = [{"total": 1, "who": "a", "sku": "x", "id": 7}, {"id": 8, "sku": "y", "total": 2}]
    rows[1]["who"] = "b"

    assert item_key(seen_in(*[rows] * 3)) == "sku"
    plain = [{"total": row["total"], "who": row["who"]} for row in rows]
    assert item_key(seen_in(*[plain] * 3)) is None


@pytest.mark.parametrize(("extra", "weight"), [(3, None), (4, 2)])
def test_a_key_weighs_more_where_it_cannot_tear_items_apart(extra, weight):
    root = seen_in(*[items("A-1", "A-2", extra=extra)] * 3)

    sku = observed_schema(root)["properties"]["items"]["items"]["properties"]["sku"]

    assert sku.get(X + "weight") == weight


@pytest.mark.parametrize(
    ("name", "values", "comparator", "threshold"),
    [
        ("x", ["1 March 2024", "12/3/2024"], "DateComparator", 1.0),
        ("x", ["1,250.00", "EUR 3.50"], "NumericComparator", 1.0),
        ("x", ["12", "7"], "NumericComparator", 1.0),
        ("x", ["0012", "7000"], "ExactComparator", 1.0),
        ("x", ["AB-123", "CD-9"], "ExactComparator", 1.0),
        ("x", ["one two three four five six seven eight nine"], "FuzzyComparator", 0.8),
        ("x", ["one two three four five six seven eight", "one two"], "FuzzyComparator", 0.9),
        ("x", ["steel", "stone"], "LevenshteinComparator", 0.9),
        ("order_id", ["a b c", "d e f"], "ExactComparator", 1.0),
        ("due", ["2024-13-45 or so", "when delivered", "at once"], "LevenshteinComparator", 0.9),
        ("due", ["1 March 2024", "at once"], "DateComparator", 1.0),
        ("total", ["n/a", "free", "included"], "LevenshteinComparator", 0.9),
    ],
)
def test_values_say_how_they_are_compared(name, values, comparator, threshold):
    assert choice(*values, name=name)[:2] == (comparator, threshold)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 March 2024", "its texts are dates"),
        ("€ 12,50", "the texts are amounts of money: rounding to a cent is not an error"),
        ("12,50", "the texts are numbers: numbers must be equal, but may be written differently"),
        ("16:05", "the texts are times of day"),
        (
            "j.doe@example.com",
            "the texts are e-mail, host or web addresses: every character matters",
        ),
        ("12", "the texts are numbers: numbers must be equal, but may be written differently"),
        ("007", "the texts are numbers with leading zeros, as in identifiers"),
        ("AB-12", "the texts are codes: one wrong character makes a different code"),
    ],
)
@pytest.mark.parametrize(("other_texts", "holds"), [(1, True), (2, False)])
def test_nine_texts_of_ten_say_what_all_are(text, reason, other_texts, holds):
    assert (choice(*[text] * (10 - other_texts), *["so"] * other_texts)[2] == reason) is holds


def test_numbers_among_texts_that_are_dates_or_numbers_are_compared_as_these():
    assert choice("May 2020", "June 2021", 2022, name="end_date")[0] == "DateComparator"
    assert choice("12.50", 3, 4.5)[0] == "NumericComparator"


def test_a_few_texts_seen_often_are_compared_exactly_where_the_schema_has_no_enum():
    def choice_of(documents):
        schema = {"type": "object", "properties": {"x": {"type": "string"}}}
        (field_found,) = infer(schema, seen=seen_in(*documents)).fields
        return field_found.comparator, field_found.threshold, field_found.reason

    documents = [{"x": "open"}, {"x": "closed"}] * 6
    assert choice_of(documents) == (
        "ExactComparator",
        1.0,
        "the texts are a few different values, each seen often",
    )
    assert choice_of(documents[1:])[:2] == ("LevenshteinComparator", 0.9)


def test_why_a_name_was_passed_over_is_told():
    assert choice("when delivered", "at once", name="due")[2] == (
        "0 of 2 texts read as a date; texts like any other"
    )
    assert choice("free of charge", "none", name="total")[2].startswith(
        "0 of 2 texts read as a number; "
    )


def test_what_is_kept_does_not_grow_with_the_documents():
    root = Observed()
    for n in range(2 * MOST_KEYS):
        root.add(
            {f"k{n}": {"deep": [str(n)]}, "text": f"value {n}", "list": [{"id": n}, {"id": -n}]}
        )

    assert len(root.fields) <= MOST_KEYS
    assert root.has_other_keys
    assert root.fields["text"].values is None
    assert root.fields["text"].forms[""] == SAMPLE
    assert root.fields["list"].n_lists == SAMPLE
    assert root.fields["text"].total == 2 * MOST_KEYS


def test_places_that_are_told_apart_are_bounded():
    def places(seen):
        children = [*seen.fields.values(), *([seen.elements] if seen.elements else [])]
        return 1 + sum(map(places, children))

    for value in ({"a": 1, "b": 2}, [{"a": 1, "b": 2}], [[[1]]]):
        total = seen_in({str(n): value for n in range(20)})
        for room in (10, 11):
            root, other = Observed(PlaceBudget(room)), Observed(PlaceBudget(room))
            root.add({str(n): value for n in range(20)})
            other.absorb(total)
            assert places(root) == places(other) == room
    for left, is_there in ((1, False), (2, True)):
        last = Observed(PlaceBudget(left))
        last.add([1])
        assert (last.elements is not None) is is_there
        assert last.kinds == {"array": 1}
    assert MOST_PLACES > 1000


def test_depth_is_bounded():
    deep = "x"
    for _ in range(500):
        deep = {"a": [deep]}

    seen = seen_in(deep)

    assert infer(observed_schema(seen), seen=seen).fields
    deep = []
    for _ in range(500):
        deep = [deep]
    for observation in (seen, seen_in(deep)):
        levels = 0
        while observation := observation.elements or observation.fields.get("a"):
            levels += 1
        assert levels == DEEPEST


def test_a_field_that_was_always_null_may_be_anything():
    assert field(None, None) == {}


def test_a_list_that_was_always_empty_may_have_any_elements():
    assert field([], []) == {"type": "array"}


def test_a_summary_tells_values_of_other_forms_apart():
    def summary(*documents):
        return seen_in(*documents).summary()

    assert summary({"a": "16:05", "b": ["x"]}) == summary({"b": ["y"], "a": "17:05"})
    assert summary({"a": "16:05"}) != summary({"a": "X-1"}) != summary({"b": "X-1"})
    assert summary({"b": ["x"]}) != summary({"b": ["X-1"]})
    assert summary(*[{"a": "no"}] * 12) != summary(*[{"a": f"no {index}"} for index in range(12)])


def test_forms_of_texts_are_determined_up_to_a_number_of_characters():
    for n_characters, n_texts in ((19, 0), (20, 1), (39, 1), (40, 2), (1000, 3)):
        seen = Observed(PlaceBudget(characters_left=n_characters))
        for text in ("a" * 20, "b" * 20, "c" * 20):
            seen.add(text)
        assert seen.forms[""] == n_texts
        assert seen.kinds == {"string": 3}


def test_each_object_is_asked_once_for_its_currencies_and_its_arguments(monkeypatch):
    """However many fields an object has, and however deep they are."""
    asked = []

    def note(values):
        asked.append(id(values))
        return stated_currencies(values)

    monkeypatch.setattr(field_walker, "stated_currencies", note)
    fields = {f"amount_{letter}": letter for letter in "abcdefgh"}
    root = seen_in({"id": "1", "outer": {"middle": {"inner": fields, "x": "y"}}})
    schema = observed_schema(root)
    asked.clear()

    infer(schema, seen=root)
    assert len(asked) == len(set(asked)) == 4  # the document, outer, middle and inner


def test_amounts_have_the_currencies_of_the_nearest_object_that_states_some():
    amounts = {"total": "1.234", "inner": {"price": "5.678"}}
    root = seen_in({"currency": "KWD", **amounts, "sale": {"currency": "EUR", **amounts}})
    inferred = {
        field.path: field.config for field in infer(observed_schema(root), seen=root).fields
    }

    of_dinars, of_euros = inferred["total",], inferred["sale", "total"]
    assert of_dinars != of_euros
    assert inferred["inner", "price"] == of_dinars
    assert inferred["sale", "inner", "price"] == of_euros


def test_values_beyond_the_budget_are_not_counted():
    root = Observed(PlaceBudget(values_left=6))
    for document in [{"a": [1, 2, 3, 4], "b": 5}] * 3:
        root.add(document)

    # The first document, its list, and the first four of its numbers use the budget up.
    assert root.kinds == {"object": 3}
    assert root.fields["a"].kinds == {"array": 1}
    assert root.fields["a"].elements.kinds == {"integer": 4}
    assert root.fields["b"].kinds == {"integer": 1}
