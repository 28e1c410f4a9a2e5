from functools import partial

import pytest

from stickler_cli.reports import formats
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown import code
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
    ("gates", "title"),
    [
        ((), "### `Order`"),
        (("f1>=0.5",), "### `Order`: all gates passed"),
        (("f1>=0.5", "f1>=0.9"), "### `Order`: 1 of 2 gates failed"),
    ],
)
def test_the_title_tells_the_verdict(run_of, gates, title):
    assert render(run_of(gates=gates), STYLE).splitlines()[1] == title


def test_a_run_that_is_not_complete_is_not_told_by_its_gates(run_of):
    text = render(run_of(gates=["f1>=0.5"], strict=True), STYLE)

    assert text.splitlines()[1] == "### `Order`: incomplete"
