import pytest

from stickler_cli.reports.markdown import CUT, truncate_lines, utf8_size

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
