import pytest

from stickler_cli.reports.pair import LONGEST, pieces


def cut(gt, pred):
    """Return the pieces as text: `[-ground truth-]`, `{+prediction+}`."""
    marks = {"both": "{}", "gt": "[-{}-]", "pred": "{{+{}+}}"}
    return "".join(marks[piece.side].format(piece.text) for piece in pieces(gt, pred))


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        ("same", "same", "same"),
        ("", "", ""),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("12.50 EUR", "12.80 EUR", "12.[-5-]{+8+}0 EUR"),
        ("Acme", "Acme Inc", "Acme{+ Inc+}"),
        ("the Acme", "Acme", "[-the -]Acme"),
        ("colour", "color", "colo[-u-]r"),
        ("abcdef", "uvwxyz", "[-abcdef-]{+uvwxyz+}"),
        ("aXbYc-long", "aZbWc-long", "a[-XbY-]{+ZbW+}c-long"),
    ],
)
def test_texts_are_cut_where_they_differ(gt, pred, expected):
    assert cut(gt, pred) == expected


def test_very_long_texts_are_not_compared_letter_by_letter():
    gt = "x" * LONGEST + "y"

    assert [piece.side for piece in pieces(gt, "x" * LONGEST)] == ["gt", "pred"]


@pytest.mark.parametrize(("gt", "pred"), [("kitten sits", "sitting kit"), ("naïve é", "naive e")])
def test_the_pieces_make_up_both_texts(gt, pred):
    found = pieces(gt, pred)

    assert "".join(piece.text for piece in found if piece.side != "pred") == gt
    assert "".join(piece.text for piece in found if piece.side != "gt") == pred
