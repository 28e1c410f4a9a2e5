import pytest

from stickler_cli.compare.engine import renamed

NAMES = {
    "": {"IBAN": ("iban", ()), "iban": ("iban", ()), "parties": ("parties", ("Party",))},
    "Party": {"vatNumber": ("vat", ()), "of": ("of", ("Party",))},
}


def test_keys_become_the_names_of_their_fields_through_lists_and_objects():
    parties = [{"vatNumber": 1, "of": {"vatNumber": 2}}, None]

    found = renamed({"IBAN": "x", "parties": parties, "more": {"IBAN": 1}}, NAMES)

    assert found == {
        "iban": "x",
        "parties": [{"vat": 1, "of": {"vat": 2}}, None],
        "more": {"IBAN": 1},
    }


def test_a_key_stays_where_its_field_is_there_under_its_name():
    assert renamed([{"IBAN": 1, "iban": 2}], NAMES) == [{"IBAN": 1, "iban": 2}]


PATHS = {
    "": {
        **{name: (name, ()) for name in ("city", "first", "bank", "bic")},
        "/address/city": ("city", ()),
        "/names/0": ("first", ()),
        "/bank/bic": ("bic", ()),
    }
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"address": {"city": 1}}, {"city": 1}),
        ({"address": {"city": 1, "zip": 2}}, {"city": 1, "address": {"zip": 2}}),
        ({"names": [1]}, {"first": 1}),
        ({"names": [1, 2]}, {"first": 1, "names": [None, 2]}),
        ({"names": []}, {"names": []}),
        ({"names": "ab"}, {"names": "ab"}),
        ({"address": {"city": 1}, "city": 2}, {"address": {"city": 1}, "city": 2}),
        ({"bank": {"bic": 1}}, {"bic": 1, "bank": {"bic": 1}}),
    ],
)
def test_a_path_leads_to_a_field_and_the_rest_stays(value, found):
    assert renamed(value, PATHS) == found
