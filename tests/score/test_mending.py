"""A ground truth that is corrected where a prediction has errors, value by value."""

import pytest

from stickler_cli.core.locations import field_path
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.marks import correct_truth
from .batches import TEXT, a_list, an_object, batch


def a_tuple(*items):
    return {"type": "array", "prefixItems": [*items]}


ITEM = an_object(a=TEXT, b=TEXT)
ITEMS = an_object(l=a_list(ITEM))
TEXTS = an_object(l=a_list(TEXT))
TWO_LISTS = an_object(l=a_list(TEXT), k=a_list(TEXT))
LISTS = an_object(l=a_list(a_list(TEXT)))
A_TUPLE = an_object(t=a_tuple(TEXT, TEXT, ITEM))
NESTED = an_object(o=an_object(p=ITEM), c=TEXT)
MAP = an_object(m={"type": "object", "additionalProperties": TEXT})
P, Q, Z = {"a": "p"}, {"a": "q", "b": "w"}, {"a": "z", "b": "k"}


def errors(schema, gt, pred):
    """Return the errors of a document, by path and class."""
    errors_of_document = batch(compile_schema(schema), {"one": (gt, pred)}).classified_errors(0)
    return {
        f"{field_path(error.unit.path)} {error.unit.outcome.name}": error.unit
        for error in errors_of_document
    }


@pytest.mark.parametrize(
    ("schema", "gt", "pred", "mended"),
    [
        # Of an object what is wrong, missed and invented.
        (ITEM, Q, {"a": "z"}, {"a": "z"}),
        (ITEM, {"b": "w"}, {"a": "q", "c": 1}, {"a": "q", "c": 1}),
        (NESTED, {"c": "k"}, {"c": "k", "o": {"p": P}}, {"c": "k", "o": {"p": P}}),
        (NESTED, {"c": "k", "o": {"p": P}}, {"c": "k"}, {"c": "k"}),
        (MAP, {"m": {"x": "1", "y": "2"}}, {"m": {"y": "3"}}, {"m": {"y": "3"}}),
        # New items of a list come last, be it one or none of the ground truth.
        (TEXTS, {"l": ["p", "q", "r"]}, {"l": ["q", "z", "y"]}, {"l": ["q", "z", "y"]}),
        (TEXTS, {"l": ["r"]}, {"l": ["p", "r", "q"]}, {"l": ["r", "p", "q"]}),
        (TEXTS, {"l": "x"}, {"l": ["x", "y"]}, {"l": ["x", "y"]}),
        (TEXTS, {"l": "x"}, {"l": ["quite another", "y"]}, {"l": ["quite another", "y"]}),
        (TEXTS, {}, {"l": ["x", "y"]}, {"l": ["x", "y"]}),
        (TEXTS, {"l": None}, {"l": "x"}, {"l": ["x"]}),
        (TEXTS, {"l": ["p", "q"]}, {}, {"l": []}),
        (ITEMS, {"l": [P, Q, {"a": "r"}]}, {"l": [Q, Z]}, {"l": [Q, Z]}),
        (LISTS, {"l": [["x"]]}, {"l": [["x"], ["v", "w"]]}, {"l": [["x"], ["v", "w"]]}),
        (LISTS, {"l": "x"}, {"l": [["x", "y"]]}, {"l": [["x", "y"]]}),
        (a_list(ITEM), [P], [P, Z], [P, Z]),
        (a_list(ITEM), [P], [], []),
        (TWO_LISTS, {"l": ["x"]}, {"l": ["x", "y"], "k": ["z"]}, {"l": ["x", "y"], "k": ["z"]}),
        (a_list(TEXTS), [{"l": [*"abc"]}], [{"l": [*"abcd"]}], [{"l": [*"abcd"]}]),
        # Of a tuple each position stays where it is.
        (A_TUPLE, {"t": ["x", "y"]}, {"t": ["x", None, P]}, {"t": ["x", None, P]}),
        (A_TUPLE, {"t": ["x", "y", P]}, {"t": ["x", None, Z]}, {"t": ["x", None, Z]}),
        (A_TUPLE, {}, {"t": [None, "y", P]}, {"t": [None, "y", P]}),
        # A value of another kind comes whole.
        (an_object(o=ITEM), {"o": ["x"]}, {"o": {"b": "x"}}, {"o": {"b": "x"}}),
        (an_object(o=ITEM), {"o": P}, {"o": ["x", "y"]}, {"o": ["x", "y"]}),
    ],
)  # fmt: skip
def test_with_all_errors_mended_it_says_what_the_prediction_says(schema, gt, pred, mended):
    assert correct_truth(errors(schema, gt, pred).values(), gt) == mended


@pytest.mark.parametrize(
    ("schema", "gt", "pred", "marked", "mended"),
    [
        (ITEM, P, {"b": "w"}, "b FA", {"a": "p", "b": "w"}),
        (TEXTS, {"l": ["p", "q", "r"]}, {"l": ["q"]}, "l[2] FN", {"l": ["p", "q"]}),
        (TEXTS, {"l": ["p", "q", "r"]}, {"l": ["q"]}, "l[0] FN", {"l": ["q", "r"]}),
        (TEXTS, {"l": [None, "p", "q"]}, {"l": ["q"]}, "l[1] FN", {"l": [None, "q"]}),
        (TEXTS, {"l": ["p"]}, {"l": ["p", "x", "y"]}, "l[2] FA", {"l": ["p", "y"]}),
        (TEXTS, {}, {"l": ["x", "y"]}, "l[1] FA", {"l": ["y"]}),
        # Values in what one side lacks.
        (NESTED, {"c": "k"}, {"o": {"p": Q}}, "o.p.a FA", {"c": "k", "o": {"p": {"a": "q"}}}),
        (NESTED, {"o": {"p": Q}}, {}, "o.p.a FN", {"o": {"p": {"b": "w"}}}),
        (NESTED, {"o": {"p": Q}}, {}, "o.p.a FN, o.p.b FN", {"o": {"p": {}}}),
        (ITEMS, {"l": [P]}, {"l": [P, Z]}, "l[1].b FA", {"l": [P, {"b": "k"}]}),
        (ITEMS, {"l": [P]}, {"l": [P, Q, Z]}, "l[1].b FA, l[2].b FA, l[2].a FA",
         {"l": [P, {"b": "w"}, Z]}),
        (ITEMS, {"l": [P]}, {"l": [P, Z]}, "l[1].b FA, l[1] FA", {"l": [P, Z]}),
        (ITEMS, {"l": [P]}, {"l": [P, Z]}, "l[1] FA, l[1].b FA", {"l": [P, Z]}),
        (ITEMS, {"l": [P, Q]}, {"l": [P]}, "l[1].b FN", {"l": [P, {"a": "q"}]}),
        (ITEMS, {"l": Q}, {"l": []}, "l[0].b FN", {"l": [{"a": "q"}]}),
        (ITEMS, {"l": [P]}, {"l": [P, {**Z, "u": 2}]}, "l[1].u FA", {"l": [P, {"u": 2}]}),
        (LISTS, {"l": [["x"]]}, {"l": [["x"], ["v", "w"]]}, "l[1][1] FA",
         {"l": [["x"], [None, "w"]]}),
        # Others of a tuple stay where they are.
        (A_TUPLE, {}, {"t": ["x", None, Z]}, "t[2] FA", {"t": [None, None, Z]}),
        (A_TUPLE, {"t": ["x"]}, {"t": ["x", None, Z]}, "t[2].b FA", {"t": ["x", None, {"b": "k"}]}),
        (A_TUPLE, {"t": ["x", "y", Z]}, {}, "t[0] FN", {"t": [None, "y", Z]}),
        (a_tuple(ITEM, TEXT), [P, "y"], [None, "y"], "[0].a FN", [{}, "y"]),
        (a_list(a_tuple(TEXT, TEXT)), [], [["v", "w"]], "[0][1] FA", [[None, "w"]]),
        # What goes makes room for what comes, whatever it was.
        (an_object(o=ITEM), {"o": ["x"]}, {"o": P}, "o FN", {}),
        (an_object(o=ITEM), {"o": ["x"]}, {"o": P}, "o FN, o.a FA", {"o": P}),
        (an_object(o=ITEM), {"o": ["x"]}, {"o": P}, "o FD, o FN", {"o": P}),
        (ITEM, ["x"], P, "a FA", P),
        (a_list(ITEM), P, [Q], "[0] FN", []),
        (a_list(ITEM), P, [Q], "[0] FA", [P, Q]),
        (an_object(o=TEXTS), {"o": "x"}, {"o": {"l": ["y"]}}, "o.l[0] FA", {"o": {"l": ["y"]}}),
        (TEXTS, {"l": {"k": "x"}}, {"l": ["x"]}, "l[0] FA", {"l": [{"k": "x"}, "x"]}),
        (TEXTS, {"l": {"k": "x"}}, {"l": ["x"]}, "l[0] FN, l[0] FA", {"l": ["x"]}),
    ],
)  # fmt: skip
def test_an_error_that_is_not_mended_stays(schema, gt, pred, marked, mended):
    units = errors(schema, gt, pred)
    assert correct_truth([units[name] for name in marked.split(", ")], gt) == mended


def test_what_it_was_made_from_stays_as_it_was():
    gt, pred = {"l": [{"a": "p"}]}, {"l": [{"a": "p", "b": "w"}, {"a": "z", "b": "k"}]}
    assert correct_truth(errors(ITEMS, gt, pred).values(), gt) == pred
    assert gt == {"l": [{"a": "p"}]}
    assert pred == {"l": [{"a": "p", "b": "w"}, {"a": "z", "b": "k"}]}
