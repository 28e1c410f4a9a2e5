"""Texts of 25 kB that try to stall a comparator: the work grows linearly with the length.

Each comparator compares them in a process of its own. The system ends the process if one kind of
text takes much more time than a linear algorithm needs.
"""

import multiprocessing
import signal
import sys

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.schema.compiler import compile_schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits a process, by a timer of Unix"),
]

LENGTH = 25_000
PROCESSOR_SECONDS = 1.5
"""Limit for both comparisons with one kind of text, in which it is read three times. Linear
algorithms take at most 0.3 seconds. Quadratic patterns, such as `-+>` and `\\s+$`, take 0.7 to 9
seconds to search one text."""
UNITS = 0.25
"""Limit on the work for a pair, as for --work-limit. A pair that would need more is refused before
it is compared."""


def repeated(text):
    return (text * (LENGTH // len(text) + 1))[:LENGTH]


def words(form):
    return " ".join(form.format(number) for number in range(LENGTH // 6))


IN_LETTERS = str.maketrans("0123456789", "abcdefghij")
SHAPES = {
    "blanks between two letters": "x" + " " * LENGTH + "x",
    "line breaks between two letters": "x" + "\n" * LENGTH + "x",
    "no-break spaces between two letters": "x" + "\u00a0" * LENGTH + "x",
    "blanks and dashes": repeated(" -"),
    "digits": "1" * LENGTH,
    "digits and a letter": "1" * LENGTH + "x",
    "decimals and a letter": "1." + "1" * LENGTH + "x",
    "an exponent": "1e" + "1" * LENGTH + "x",
    "exponents": repeated("1e") + "x",
    "thousands and a digit too many": repeated("111,") + "1111",
    "single digits with commas": repeated("1,") + "1",
    "zeros": "0" * LENGTH + "x",
    "dialling prefixes": repeated("(0) 00 "),
    "one long word": "a" * LENGTH,
    "one long word before a sign": "a" * LENGTH + "$ 5",
    "underscores": "_" * LENGTH,
    "letters and underscores": repeated("a_"),
    "hyphens between letters": repeated("a-"),
    "a letter before dashes": "a" + "-" * LENGTH,
    "distinct words": words("w{}"),
    "a number before distinct words": "5 "
    + words("w{}").translate(str.maketrans("01234", "abcde")),
    "currencies": repeated("1 $ "),
    "credits": repeated("1 CR "),
    "brackets": repeated("()") + "1",
    "signs": repeated("-+<"),
    "times": repeated("1:11 to "),
    "negations": repeated("not un "),
    "combining marks out of order": "a" + "\u0300\u0323" * (LENGTH // 2),
    "two runs of combining marks": "\u0300" * (LENGTH // 2) + "\u0323" * (LENGTH // 2),
    "letters of eighteen letters": "\ufdfa" * (LENGTH // 6),
    "digits of another script": "\u0661," * (LENGTH // 2),
    "invisible letters": repeated("\u200b1"),
    "open arrays": "[" * LENGTH,
}
MEMBERS = [f"member {number}" for number in range(20_000)]
COMPARATORS = {
    "ANLSStar": ("ANLSStarComparator", {}),
    "BBoxIoU": ("BBoxIoUComparator", {}),
    "CaseInsensitive": ("CaseInsensitiveComparator", {}),
    "Date": ("DateComparator", {}),
    "Enum": ("EnumComparator", {"members": MEMBERS}),
    "Exact": ("ExactComparator", {}),
    "Exact, separators": ("ExactComparator", {"only_separators": True}),
    "Fuzzy": ("FuzzyComparator", {}),
    "Fuzzy, in part": ("FuzzyComparator", {"method": "partial_ratio"}),
    "Fuzzy, words": (
        "FuzzyComparator",
        {"method": "token_sort_ratio", "same_digits": True, "same_words": True},
    ),
    "Fuzzy, sets": ("FuzzyComparator", {"method": "token_set_ratio"}),
    "Levenshtein": ("LevenshteinComparator", {}),
    "Levenshtein, words": ("LevenshteinComparator", {"same_digits": True, "same_words": True}),
    "Normalized": ("NormalizedComparator", {"same_digits": True}),
    "Numeric": ("NumericComparator", {"relative_tolerance": 0.01}),
    "Numeric, comma": ("NumericComparator", {"decimal": ",", "unit": "same"}),
    "Numeric, unit": ("NumericComparator", {"decimal": "auto", "unit": "same"}),
    "Code": ("CodeComparator", {}),
    "Code, SQL": ("CodeComparator", {"language": "sql"}),
    "Code, markup": ("CodeComparator", {"language": "markup"}),
    "Code, tables": ("CodeComparator", {"language": "markdown"}),
    "Code, letters": ("CodeComparator", {"language": "letters"}),
    "Phone": ("PhoneComparator", {}),
    "Phone, digits": ("PhoneComparator", {"digits_only": True}),
    "StructuredModel": ("StructuredModelComparator", {}),
    "Time": ("TimeComparator", {}),
}


def compare_shapes(name, config):
    """Compare each shape; a timer that runs out ends the process by a signal."""
    leaf = {"x-aws-stickler-comparator": name, "x-aws-stickler-comparator-config": config}
    properties = {"a": {"type": "string", **leaf}}
    plan = compile_schema({"type": "object", "properties": properties})
    for title, shape in SHAPES.items():
        print(title, flush=True)  # noqa: T201 - of a test that fails, the last one is shown
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
        for gt, pred in (("a", shape), (shape, f"{shape[:-2]}y{shape[-2:]}")):
            try:
                compare(plan, [{"a": gt}], [{"a": pred}], Options(work_limit=UNITS))
            except WorkLimitError:
                assert len(gt) > 1, "a text against a letter is little work"


@pytest.mark.parametrize(
    ("comparator", "n_letters"),
    [
        ("Code", 30_000_000),
        ("Fuzzy, words", 30_000_000),
        ("Levenshtein, words", 30_000_000),
        ("Exact, separators", 15_000_000),
        ("Normalized", 8_000_000),
        ("Numeric, unit", 10_000_000),
    ],
)
def test_a_text_that_takes_longer_to_read_than_the_limit_is_refused(comparator, n_letters):
    """One letter takes 0.7 microseconds and more, and the default limit is about 20 seconds."""
    name, config = COMPARATORS[comparator]
    leaf = {"x-aws-stickler-comparator": name, "x-aws-stickler-comparator-config": config}
    plan = compile_schema({"type": "object", "properties": {"a": {"type": "string", **leaf}}})

    with pytest.raises(WorkLimitError):
        compare(plan, [{"a": "é" * n_letters}], [{"a": "a"}], Options(work_limit=20.0))


@pytest.mark.parametrize("comparator", COMPARATORS)
def test_no_shape_of_a_long_text_stalls_a_comparator(comparator):
    process = multiprocessing.get_context("fork").Process(
        target=compare_shapes, args=COMPARATORS[comparator]
    )
    process.start()
    process.join()

    assert process.exitcode == 0
