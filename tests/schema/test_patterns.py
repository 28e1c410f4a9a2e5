import pickle
import re

import pytest

from stickler_cli.schema.backtracking import most_steps
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


CATASTROPHES = [
    r"^(a+)+$",
    r"^(a|a)*$",
    r"^(a|aa)+$",
    r"(a*)*b",
    r"^(\w+\s?)*$",
    r"a*a*a*a*a*a*a*a*a*a*b",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$",
]


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_no_pattern_of_the_linear_engine_takes_more_than_linear_time(pattern):
    """With `re`, each of these takes longer than anybody waits."""
    found = compile_pattern(pattern).search("a" * 50_000 + "!")

    assert found is False


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_pattern_for_python_that_could_take_for_ever_is_refused(pattern):
    nested = pattern.removeprefix("^")
    if nested.startswith("a*"):
        assert compile_pattern(f"^(?=a){nested}").search("a" * 100 + "!") is None
    else:
        with pytest.raises(re.error, match="looks around"):
            compile_pattern(f"^(?=a){nested}")


@pytest.mark.parametrize(
    ("pattern", "length", "steps"),
    [
        ("^abc$", 9, 10),
        ("abc", 9, 10 * 10),
        ("^a?b?c", 9, 2 * 2 * 10),
        ("^a{2,4}", 9, 3 * 10),
        ("^a{3}", 9, 10),
        ("^a{,2}", 9, 3 * 10),
        ("^a{2,}", 9, 8 * 10),
        ("^(a|b|c)", 9, 3 * 10),
        ("^(a|b){2}", 9, 4 * 10),
        ("^(?:a[*|)]\\*)*", 9, 10 * 10),
        ("^a|^b", 9, 2 * 10 * 10),
        ("^(?=a*b)c*", 9, 10 * 11 * 10),
        ("^(?:(?!a)b)*", 9, 10 * 11 * 10),
        ("^(?>a*)b*", 9, 10 * 11 * 10),
        ("^(?i:a)*+", 9, 10 * 10),
        ("^(?i)a*", 9, 10 * 10),
        ("^(?<a>a*)", 9, 10 * 10),
        ("(a*)*", 1, float("inf")),
        ("^(a?)*", 9, float("inf")),
        ("^(?#[)(a+)+$[]]", 9, float("inf")),
        ("^(?#()(a+)+$", 9, float("inf")),
        ("^(?x)#[\n(a+)+$#]", 9, float("inf")),
        ("^(?:(a+|x){})+", 9, float("inf")),
        ("^(?:a{0})+", 9, 9 * 10),
    ],
)
def test_steps_are_counted_from_above(pattern, length, steps):
    assert most_steps(pattern, length) == steps


def test_passwords_and_keys_are_searched_as_ever():
    password = compile_pattern(r"^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{8,}$")

    assert password.search("Passw0rd") is True
    assert password.search("password") is False
    assert password.search("Passw0rd" * 10_000) is None


@pytest.mark.parametrize("pattern", ["(" * 50_000 + ")" * 50_000, "a{99999999999999999999}"])
def test_a_pattern_that_is_too_much_for_python_is_an_error(pattern):
    with pytest.raises(re.error):
        compile_pattern(pattern)


def test_a_pattern_can_be_sent_to_another_process():
    pattern = compile_pattern("^a(?!b)")

    assert pickle.loads(pickle.dumps(pattern)) == pattern  # noqa: S301


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("pattern", [r"[a&&b]", r"[a~~b]", r"[+--]", r"[\&&]", r"\<a\>", "]}"])
def test_what_only_the_linear_engine_gives_a_meaning_has_none(pattern):
    regex = re.compile(pattern)
    for text in ("", "a", "b", "&", "~", "-", ",", "<a>", "]}", "+"):
        assert compile_pattern(pattern).search(text) == bool(regex.search(text))
