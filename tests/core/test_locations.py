"""Field paths and JSON Pointers."""

import pytest

from stickler_cli.core.locations import (
    field_names,
    field_path,
    json_pointer,
    matches_pattern,
    parse_field_path,
)

PATHS = [
    ((), ""),
    (("a",), "a"),
    (("a", 2, "b", "c"), "a[2].b.c"),
    ((0, "a"), "[0].a"),
    (("a.b", "c d", "[0]"), '["a.b"]["c d"]["[0]"]'),
    (('"', "é", ""), r'["\""].é[""]'),
    (("invoice/", "lines", 2), "invoice/lines[2]"),
    (("invoice/",), "invoice/"),
    (("km/h", "a"), '["km/h"].a'),
    (("a", "km/h"), "a.km/h"),
    (("/",), '["/"]'),
    (("a/b/", "c"), '["a/b/"].c'),
]


@pytest.mark.parametrize(("path", "text"), PATHS)
def test_a_path_is_printed_so_that_it_can_be_read_again(path: tuple[str | int, ...], text: str):
    assert field_path(path) == text
    assert parse_field_path(text) == path


@pytest.mark.parametrize(
    ("text", "remainder"),
    [("a..b", "..b"), ("a[x]", "[x]"), (".a", ".a"), ('["a]', '["a]'), ("a ", " ")],
)
def test_what_is_no_path_is_refused_from_the_place_where_it_is_none(text: str, remainder: str):
    with pytest.raises(ValueError, match="is not a field path") as refused:
        parse_field_path(text)
    assert str(refused.value) == (
        f"{text!r} is not a field path: the text from {remainder!r} on cannot be read"
    )


def test_the_names_of_a_path_are_those_without_indexes():
    assert field_names('lines[2]["a.b"][0][1].price') == ("lines", "a.b", "price")
    assert field_names("invoice/lines[0]") == ("invoice/", "lines")
    assert field_names("[3]") == ()


def test_a_pointer_names_steps_with_their_slashes_and_tildes_escaped():
    assert json_pointer(()) == ""
    assert json_pointer(("a/b", 0, "m~n", "")) == "/a~1b/0/m~0n/"
    assert json_pointer(("~1",)) == "/~01"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a", False),
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("**.c", "c", True),
        ("**.c", "a.b.c", True),
        ("**.c", "a.c.b", False),
        ("a.**", "a", True),
        ("a.**.c", "a.b.b.c", True),
        ("**.**.**.c", "a.b", False),
        ("a.*.c.d", "a.b.c.d", True),
        ("a.*.c.d", "a.b.x.d", False),
        ("**.c.d", "a.b.c.d", True),
        ("**.c.d", "a.c.b.d", False),
    ],
)
def test_a_pattern_matches_paths(pattern, path, expected):
    assert matches_pattern(tuple(pattern.split(".")), tuple(path.split("."))) is expected
