import pytest

from stickler_cli.documents.sources import difference, folded

COMPOSED = "caf\u00e9"
DECOMPOSED = "cafe\u0301"


@pytest.mark.parametrize(
    ("name", "other"),
    [("Invoice", "invoice"), (COMPOSED, DECOMPOSED), (COMPOSED.upper(), DECOMPOSED)],
)
def test_names_that_differ_only_in_case_or_form_are_folded_alike(name: str, other: str):
    assert folded(name) == folded(other)


def test_names_of_other_letters_are_not_folded_alike():
    assert folded("cafe") != folded(COMPOSED)
    assert folded(folded(COMPOSED)) == folded(COMPOSED)


ENDING = "; two ids are paired only if every character is equal"


@pytest.mark.parametrize(
    ("name", "other", "sentence"),
    [
        ("a/Invoice", "a/invoice", "there is 'a/invoice', which differs only in case" + ENDING),
        (
            COMPOSED,
            DECOMPOSED,
            r"there is 'cafe\u0301', which differs only in Unicode form (here 'caf\xe9')" + ENDING,
        ),
    ],
)
def test_a_difference_in_case_or_form_is_made_visible(name: str, other: str, sentence: str):
    assert difference(name, other) == sentence


def test_without_another_name_there_is_nothing_to_say():
    assert difference("a", None) == ""
