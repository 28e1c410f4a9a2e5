"""Code and markup match if they differ only in white space, or in case where it has no meaning."""

import pytest

from stickler_cli.comparators import CodeComparator
from stickler_cli.comparators.base import KeywordError

PYTHON = "def f(a):\n    if a:\n        g()\n    return a"


@pytest.mark.parametrize(
    ("language", "gt", "pred", "is_same"),
    [
        ("sql", "SELECT a, b FROM t", "select a,b\n  from t", True),
        ("sql", "SELECT a FROM t WHERE b = 'X'", "select a from t where b='X'", True),
        ("sql", "SELECT a FROM t WHERE b = 'X'", "select a from t where b = 'x'", False),
        ("sql", "SELECT a FROM t WHERE b = 'x y'", "SELECT a FROM t WHERE b = 'xy'", False),
        ("sql", "WHERE a < 3", "WHERE a > 3", False),
        ("sql", "a AND b", "a OR b", False),
        ("sql", "SELECT a FROM t;", "select a from t", True),
        ("sql", "SELECT a; SELECT b", "SELECT a SELECT b", False),
        ("sql", "it's", "IT's", True),
        ("markup", "<TD>Ada</TD>", "<td> Ada </td>", True),
        ("markup", "<td>Ada</td>", "<td>ada</td>", False),
        ("markup", "<p>a b</p>", "<p>a\n  b</p>", True),
        ("markup", "<p>a b</p>", "<p>ab</p>", False),
        ("markdown", "| a | b |\n|---|---|\n| 1 | 2 |", "|a|b|\n|-----|:---:|\n|1|2|", True),
        ("markdown", "| a | b |\n|---|---|\n| 1 | 2 |", "|a|b|\n|-----|----|\n| 1 |  2|\n", True),
        ("markdown", "| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 2 | 1 |", False),
        ("latex", r"x = \frac{a}{b}", r"x=\frac{a}{b}", True),
        ("latex", r"\alpha x", r"\alphax", False),
        ("latex", r"x_n", r"x_N", False),
        ("code", "f(a, b)", "f( a,b )", True),
        ("code", "return a", "returna", False),
        ("code", "function f() { return 1; }", "function f() {\n  return 1;\n}", True),
        ("code", PYTHON, PYTHON.replace("    ", "\t"), True),
        ("code", PYTHON, PYTHON.replace("    ", "  ") + "\n\n", True),
        ("code", PYTHON, PYTHON.replace("    return", "        return"), False),
        ("code", "a = 1", "A = 1", False),
        ("code", "s.split(' ')", "s.split('')", False),
        ("code", "s.split( ' ' )", "s.split(' ')", True),
        ("code", 's.split("\\"  ")', 's.split("\\" ")', False),
        ("code", "print(`a b`)", "print(`a  b`)", False),
        ("code", "if a:\n  f(' ')", "if a:\n  f('')", False),
        ("code", "x = 1  # set x\ny = 2", "x = 1 # set x y = 2", False),
        ("code", "x = 1  # set x\ny = 2", "x=1 # set  x\ny=2\n", True),
        ("code", "f(); // done\ng();", "f(); // done g();", False),
        ("code", "see http://a.b/c\nd", "see http://a.b/c d", True),
        ("code", r"it\'s\na", r"it\'s\na", True),
        ("letters", "CC(C)c1ccc", "CC(C)C1CCC", False),
        ("letters", "ATGGCC", "ATG\nGCC", True),
    ],
)
def test_white_space_makes_no_difference_and_signs_do(language, gt, pred, is_same):
    comparator = CodeComparator(language=language)

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == is_same
    codes = comparator.keys([comparator.prepare(text) for text in (gt, pred)])
    assert (codes[0] == codes[1]) == is_same


def test_another_language_is_refused():
    with pytest.raises(KeywordError, match='language is "html", expected one of code, sql'):
        CodeComparator(language="html")


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [("H₂SO₄", "H2SO4", 1.0), ("H₂SO₄", "H2SO3", 0.0), ("Ca²⁺", "Ca2+", 0.0)],
)
@pytest.mark.parametrize("language", ["code", "letters"])
def test_subscripts_are_digits_and_superscripts_are_not(language, gt, pred, similarity):
    assert CodeComparator(language=language).compare(gt, pred) == similarity
