from functools import partial

import pytest

from stickler_cli.reports import formats
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown import CUT, code, truncate_lines, utf8_size
from stickler_cli.reports.run_sections import MARKER

render = partial(formats.render, "markdown")

STYLE = TableStyle()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("line_items.price", "`line_items.price`"),
        ("f1 0.8 < 0.9", "`f1 0.8 < 0.9`"),
        ('["a b"]', '`["a b"]`'),
        ("a|b", "<code>a&#124;b</code>"),
        ("`", "<code>&#96;</code>"),
        ("\\", "<code>&#92;</code>"),
        ("</td>", "<code>&#60;/td&#62;</code>"),
        ("&lt;", "<code>&#38;lt;</code>"),
        (" x", "<code> x</code>"),
        ("", "<code></code>"),
        ("a|www.b.example", "<code>a&#124;www&#46;b.example</code>"),
        ("a\nb", "<code>a&#92;nb</code>"),
    ],
)
def test_text_from_anywhere_is_code(text, written):
    assert code(text) == written


def test_the_first_line_is_the_marker(orders):
    assert render(orders, STYLE).splitlines()[0] == MARKER == "<!-- stickler -->"


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({}, "### `Order`"),
        ({"gates": ["f1>=0.5"]}, "### `Order`: all gates passed"),
        ({"gates": ["f1>=0.5", "f1>=0.9"]}, "### `Order`: 1 of 2 gates failed"),
        ({"gates": ["f1>=0.5"], "strict": True}, "### `Order`: incomplete"),
    ],
)
def test_the_title_tells_the_verdict(run_of, settings, title):
    assert render(run_of(**settings), STYLE).splitlines()[1] == title


LINES = "one\ntwo\nthree\n"
NOTE = f"\n{CUT}"


def test_what_fits_stays_as_it_is():
    assert truncate_lines(LINES, len(LINES)) == LINES


@pytest.mark.parametrize(("room", "kept"), [(13, "one\ntwo\n"), (8, "one\ntwo\n"), (7, "one\n")])
def test_whole_lines_are_kept_from_the_top_and_the_last_line_says_so(room, kept):
    text = LINES + "x" * 200 + "\n"

    assert truncate_lines(text, len(NOTE) + room) == kept + NOTE


def test_a_fold_that_is_cut_is_closed():
    opened = "a\n<details><summary>b</summary>\n"
    text = opened + "row\n" * 100 + "</details>\n"
    limit = len(opened) + len("row\n\n</details>\n") + len(NOTE)

    assert truncate_lines(text, limit) == f"{opened}row\n\n</details>\n{NOTE}"
    assert truncate_lines(text, limit - 1) == f"{opened}\n</details>\n{NOTE}"


def test_a_fold_that_has_no_room_is_not_opened():
    text = "a\n<details>\n" + "row\n" * 100

    assert truncate_lines(text, len("a\n<details>\n") + len(NOTE)) == f"a\n{NOTE}"


def test_a_fold_that_was_closed_is_not_closed_again():
    text = "<details>\n</details>\n" + "row\n" * 100
    limit = len("<details>\n</details>\nrow\n") + len(NOTE)

    assert truncate_lines(text, limit) == f"<details>\n</details>\nrow\n{NOTE}"


def test_without_room_for_a_line_only_the_note_is_left_and_without_that_nothing():
    assert truncate_lines("x" * 500 + "\n", len(CUT)) == CUT
    assert truncate_lines("x" * 500 + "\n", len(CUT) - 1) == ""
    assert truncate_lines(LINES, 0) == ""


def test_bytes_are_counted_where_bytes_are_the_limit():
    text = "é\n" * 100

    cut = truncate_lines(text, 160, utf8_size)
    assert utf8_size(cut) <= 160
    assert cut.count("é") == (160 - len(NOTE)) // 3
