import re

import pytest

from stickler_cli.schema.patterns import compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^a", "ab", True),
        (r"b", "abc", True),
        (r"^a$", "a\n", False),
        (r"[$]", "$", True),
        (r"\$", "$", True),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\W$", "é", True),
        (r"^\s$", "\u00a0", True),
        (r"^[\s]$", "\ufeff", True),
        (r"^\S$", "\u00a0", False),
        (r"^[\S]$", "a", True),
        (r"^(?<year>\d\d)-\k<year>$", "24-24", True),
        (r"^(?<year>\d\d)-\k<year>$", "24-25", False),
        (r"^(x)(?<a-b>y)\k<a-b>$", "xyy", True),
        (r"^(?P<a>x)(?P=a)$", "xx", True),
        (r"(?<=a)b", "ab", True),
        (r"(?<!a)b", "ab", False),
        (r"(?:a)(?=b)", "ab", True),
        (r"^\p{L}+$", "Łódź", True),
        (r"^\p{L}+$", "a1", False),
        (r"^\p{Letter}$", "ж", True),
        (r"^\p{gc=Nd}$", "٣", True),
        (r"^\P{L}$", "1", True),
        (r"^\P{L}$", "a", False),
        (r"^[\p{Lu}_]+$", "Ä_", True),
        (r"^[^\p{Lu}]$", "a", True),
        (r"^\u{1F600}$", "😀", True),
        (r"^\u00e9$", "é", True),
        (r"^\cJ$", "\n", True),
        (r"^\-\_\e$", "-_e", True),
        (r"^\Aa\z", "a", True),
        (r"^[^]$", "\n", True),
        (r"a[]b", "ab", False),
        (r"^[[a]$", "[", True),
        (r"^[(?<a]+$", "(?<a", True),
        (r"^[a\]]$", "]", True),
        (r"^[\d-]$", "-", True),
        (r"(?i)^a$", "A", True),
    ],
)
def test_a_pattern_means_what_ecma_262_says(pattern, text, found):
    assert bool(compile_pattern(pattern).search(text)) is found


@pytest.mark.parametrize(
    ("pattern", "cause"),
    [
        ("(", "missing \\)"),
        (r"\p{Script=Greek}", "no general category"),
        (r"\p{Lx}", "no general category"),
        (r"\k<a>", "no group a before"),
        (r"(?<=a+)b", "look-behind"),
        ("\\", "bad escape"),
    ],
)
def test_a_pattern_that_python_cannot_express_is_an_error(pattern, cause):
    with pytest.raises(re.error, match=cause):
        compile_pattern(pattern)
