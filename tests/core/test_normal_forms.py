"""Unicode normal forms of long texts: equal to the standard library's, in linear time."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core import normal_forms
from stickler_cli.core.normal_forms import SHORT_TEXT, mark_exponents, normalize_text

FORMS = ("NFC", "NFKC", "NFKD")
# Letters, composed letters, marks of several classes, signs that decompose into marks, Hangul.
LETTERS = "aé\u0300\u0323\u0315\u0345\u0f73\u0f71\uff9e\u3099\u1100\u1161\uac00ﬁß1 \u0344"


@given(st.text(st.sampled_from(LETTERS), min_size=1, max_size=40), st.sampled_from(FORMS))
def test_a_text_of_any_length_has_the_form_of_the_standard_library(text, form):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normal_forms, "SHORT_TEXT", 0)  # so that no text takes the short way

        assert normalize_text(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["x" * 2 * SHORT_TEXT, "ж" * 2 * SHORT_TEXT, "é" * 5])
def test_a_text_without_marks_stays(text, form):
    assert normalize_text(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_marks_of_a_long_text_come_in_their_order(form):
    text = "a" + "\u0300\u0323" * SHORT_TEXT

    assert normalize_text(form, text) == unicodedata.normalize(form, text)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_long_text_of_marks_comes_to_an_end(form):
    marks = "\u0300\u0323" * 400_000  # more than ten minutes by insertion

    assert len(normalize_text(form, "a" + marks)) >= len(marks)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("10⁶", "10^⁶"),
        ("10⁻³ m²", "10^⁻³ m²"),
        ("5 m²", "5 m²"),
        ("H₂O", "H₂O"),
        ("10^2", "10^2"),
    ],
)
def test_an_exponent_behind_a_digit_is_marked(text, marked):
    assert mark_exponents(text) == marked
