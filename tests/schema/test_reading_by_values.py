"""How dates and amounts are read, depending on other values of their field."""

import pytest

from stickler_cli.schema.inference import infer
from stickler_cli.schema.inference.observation import SAMPLE
from stickler_cli.schema.loading import load_observed
from tests.schema.observing import seen_in

CENT = {"absolute_tolerance": 0.01, "unit": "same"}


def config(name, *values, schema=None, other_values=()):
    """Return the keywords of the comparator that is inferred for a field with these values."""
    others = other_values or [{}] * len(values)
    seen = seen_in(*({name: value, **other} for value, other in zip(values, others, strict=True)))
    declared = {name: schema or {"type": "string"}}
    inference = infer({"type": "object", "properties": declared}, seen=seen)
    return dict(inference.fields[0].config)


@pytest.mark.parametrize(
    ("texts", "keywords"),
    [
        (["25/12/2024", "06/08/2025"], {"dayfirst": True}),
        (["06/08/2025", "25.12.24"], {"dayfirst": True}),
        (["12/25/2024", "06/08/2025"], {"dayfirst": False}),
        (["12/25", "06/08"], {"dayfirst": False}),
        (["06/08/2025", "01/02/2025"], {}),
        (["25/12/2024", "12/25/2024"], {}),
        (["2024-12-25", "2024-01-13"], {}),
        (["25 December 2024", "06/08/2025"], {}),
        (["01/12/2024 - 25/12/2024"], {"dayfirst": True}),
        (["25/12/2024 10:30", "06/08/2025 11:45"], {"compare_time": True, "dayfirst": True}),
        (["2024-12-25T10:30:00Z", "2024-12-25"], {"compare_time": True}),
        (["2024-12-25T10:30:00Z", "2024-12-25", "2024-12-26"], {}),
        (["5 May 2024 7 pm", "6 May 2024 8 pm"], {"compare_time": True}),
    ],
)
def test_dates_are_read_in_the_order_that_the_values_show(texts, keywords):
    assert config("due_date", *texts) == keywords


def test_the_order_of_dates_is_looked_for_in_all_values():
    texts = ["06/08/2025"] * (SAMPLE + 1)

    assert config("due_date", *texts) == {}
    assert config("due_date", *texts, "25/12/2024") == {"dayfirst": True}


def test_a_format_has_its_order_too():
    assert config("due", "25/12/2024", schema={"type": "string", "format": "date"}) == {
        "dayfirst": True
    }
    assert config("due", "2024-12-25", schema={"type": "string", "format": "date-time"}) == {
        "compare_time": True
    }


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["25.000", "3.500"], "money"),
        (["25.000", "12.50"], "auto"),
        (["25.000", "1,234.5678"], "auto"),
        (["25.000", "1.234,56"], "money"),
        (["25.000", "1.234.567"], "money"),
        (["12.50", "1.234,56"], "money"),
    ],
)
def test_a_dot_in_an_amount_is_read_as_other_values_show(texts, decimal):
    assert config("total_price", *texts) == {**CENT, "decimal": decimal}


@pytest.mark.parametrize("name", ["weight", "quantity", "figure"])
@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["9.100", "3.500"], "auto"),
        (["9.100", "1.234,5"], "money"),
        (["9.100", "1.234.567"], "money"),
        (["9.100", "1.234,5", "12.50"], "auto"),
        (["9.100", "2,5"], "auto"),
    ],
)
def test_a_dot_in_a_quantity_separates_thousands_only_where_other_values_show_it(
    name, texts, decimal
):
    assert config(name, *texts) == {"unit": "same", "decimal": decimal}


@pytest.mark.parametrize(
    ("currencies", "decimal"),
    [(("KWD", "OMR"), "auto"), (("KWD", "EUR"), "currency"), (("?", "?"), "money")],
)
def test_the_currency_beside_an_amount_says_how_many_decimals_it_has(currencies, decimal):
    other_values = [{"currency": code, "note": "paid"} for code in currencies]

    assert config("total", "1.250", "2.500", other_values=other_values)["decimal"] == decimal


def test_values_with_currencies_are_amounts_whatever_their_name():
    assert config("figure", "€ 4.750", "€ 980") == {**CENT, "decimal": "money"}
    assert config("figure", "4.750", "980") == {"unit": "same", "decimal": "auto"}


@pytest.mark.parametrize(
    ("values", "is_fine"),
    [
        (["0.011", "0.25"], True),
        (["2.3456", "0.5"], True),
        (["0.5", "20.00", "30.00"], False),
        (["12.3456", "1234.5678"], False),
        (["0.00", "5.00"], False),
        (["2.34567891234"], False),
    ],
)
def test_a_cent_is_no_rounding_where_it_is_much_of_an_amount(values, is_fine):
    keyword = "relative_tolerance" if is_fine else "absolute_tolerance"

    assert keyword in config("unit_price", *values)
    assert keyword in config("unit_price", *map(float, values), schema={"type": "number"})


def test_a_currency_around_an_amount_counts_where_none_is_beside_it():
    seen = seen_in({"currency": "KWD", "lines": [{"total": "1.250"}]})
    line = {"type": "object", "properties": {"total": {"type": ["string", "number"]}}}
    lines = {"type": "array", "items": line}
    schema = {"type": "object", "properties": {"currency": {"type": "string"}, "lines": lines}}

    fields = {field.path: field for field in infer(schema, seen=seen).fields}

    assert fields["lines", "total"].config["decimal"] == "auto"


@pytest.mark.parametrize(
    ("name", "texts", "comparator"),
    [
        ("tool_name", ["lookup", "get_weather"], "CodeComparator"),
        ("function", ["getWeather"], "CodeComparator"),
        ("name", ["get_weather", "send_mail"], "CodeComparator"),
        ("name", ["lookup", "search"], "FuzzyComparator"),
        ("tool", ["Hammer"], "LevenshteinComparator"),
        ("status", ["in_progress"], "ExactComparator"),
        ("pattern", [r"^\d{3}-\w+$"], "CodeComparator"),
        ("pattern", ["Floral"], "LevenshteinComparator"),
        ("api_key", ["sk-aB3"], "CodeComparator"),
        ("regex", ["CO|Co"], "CodeComparator"),
        ("chemical_formula", ["CO"], "CodeComparator"),
        ("file_path", ["/srv/Data"], "CodeComparator"),
        ("homepage", ["https://ex.com/A"], "CaseInsensitiveComparator"),
    ],
)
def test_case_counts_where_names_and_values_say_so(name, texts, comparator):
    seen = seen_in(*({name: text} for text in texts))

    (field,) = infer({"properties": {name: {"type": "string"}}}, seen=seen).fields

    assert field.comparator == comparator


@pytest.mark.parametrize("format_", ["uri", "iri-reference"])
def test_case_counts_in_the_path_of_a_format_of_addresses(format_):
    assert config("a", "https://ex.com/A", schema={"type": "string", "format": format_}) == {
        "case_of_paths": True
    }


def test_a_name_in_an_object_that_is_called_is_one_of_code():
    seen = seen_in({"function": {"name": "lookup"}, "buyer": {"name": "lookup"}})

    fields = {field.path: field for field in load_observed(seen, "gt").fields}

    assert fields["function", "name"].comparator == "CodeComparator"
    assert fields["buyer", "name"].comparator == "FuzzyComparator"


def test_a_summary_tells_how_many_decimals_the_currencies_beside_amounts_have():
    summaries = set()
    for codes in (("KWD",), ("EUR",), ("KWD", "EUR")):
        seen = seen_in(*({"currency": code, "total": "1.250"} for code in codes))
        summaries.add(seen.summary())

    assert len(summaries) == 3


@pytest.mark.parametrize(
    ("texts", "comparator"),
    [
        (["/srv/A", "/var/log/B"], "CodeComparator"),
        (["/srv/A", "/var/log/B"] * 8, "CodeComparator"),  # few values, each seen often
        (["scan.PDF", "Letter 5.docx", "by post"], "CodeComparator"),
        (["dQw4w9WgXcQ", "kJQP7kiw5Fk"], "CodeComparator"),
        (["/srv/A", "Software engineer", "Data analyst"], "LevenshteinComparator"),
    ],
)
def test_case_counts_in_paths_and_keys(texts, comparator):
    seen = seen_in(*({"path": text} for text in texts))

    assert load_observed(seen, "gt").fields[0].comparator == comparator


CALL = {"name": "get_weather", "parameters": {"days": 3, "city": "Rome"}}


@pytest.mark.parametrize(
    ("document", "path", "is_argument"),
    [
        ({"arguments": {"days": 3}}, ("arguments", "days"), True),
        ({"arguments": {"is_metric": True}}, ("arguments", "is_metric"), True),
        ({"arguments": '{"days": 3}'}, ("arguments", "days"), True),
        ({"kwargs": {"zip_code": "3"}}, ("kwargs", "zip_code"), True),
        ({"args": [3, 4]}, ("args",), True),
        ({"call": CALL}, ("call", "parameters", "days"), True),
        ({"call": CALL}, ("call", "parameters", "city"), False),  # its comparator has no types
        ({"tool": "search", "input": {"days": 3}}, ("input", "days"), True),
        ({"name": "Ann Lee", "parameters": {"days": 3}}, ("parameters", "days"), False),
        ({"days": 3}, ("days",), False),
        ({"arguments": 3}, ("arguments",), False),
    ],
)
def test_the_type_of_an_argument_counts(document, path, is_argument):
    seen = seen_in(document)

    (field,) = [field for field in load_observed(seen, "gt").fields if field.path == path][-1:]
    assert ("same_type" in field.config) is is_argument


def test_the_arguments_of_a_schema_without_documents_have_types():
    days = {"type": "object", "properties": {"days": {"type": "integer"}}}
    properties = {"args": days, "name": {"type": "string"}, "params": days}
    fields = infer({"type": "object", "properties": properties}).fields

    by_path = {field.path: field for field in fields}
    assert by_path["args", "days"].config["same_type"] is True
    assert "same_type" not in by_path["params", "days"].config
