"""Recognising texts that are code, markup or formulas, and texts that are prose."""

import pytest

from stickler_cli.schema.inference import code_forms, infer
from stickler_cli.schema.inference.code_forms import code_form
from tests.schema.observing import seen_in

SQL, MARKUP, TABLE, LATEX, CODE, MOLECULE, SEQUENCE, FORMULA = (
    "SQL",
    "HTML or XML",
    "a Markdown table",
    "LaTeX",
    "source code",
    "a molecule",
    "a sequence",
    "a chemical formula",
)
PATH = "a path or key"
COMMAND = "a command"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT name FROM users", SQL),
        ("select id, count(*) from orders group by id", SQL),
        ("select * from orders", SQL),
        ("WITH t AS (SELECT 1) SELECT * FROM t", SQL),
        ("SELECT a + b AS c\nFROM t\nWHERE c > 3;", SQL),
        ("insert into t (a, b) values (1, 2)", SQL),
        ("UPDATE t SET a = 1 WHERE b = 2", SQL),
        ("delete from t where a = 1", SQL),
        ("CREATE TABLE t (a int)", SQL),
        ("drop table t", SQL),
        ("<table><tr><td>1</td></tr></table>", MARKUP),
        ('<?xml version="1.0"?><a b="c"/>', MARKUP),
        ("<!DOCTYPE html>\n<html></html>", MARKUP),
        ("<p>Dear <b>Ada</b></p>", MARKUP),
        ("| a | b |\n|---|---|\n| 1 | 2 |", TABLE),
        ("a | b\n:-- | --:\n1 | 2", TABLE),
        (r"x = \frac{1}{2}", LATEX),
        ("$x_{1} + x_{2}$", LATEX),
        ("a^2 + b^2 = c^2", LATEX),
        ("def add(a, b):\n    return a + b", CODE),
        ("import os\nprint(os.getcwd())", CODE),
        ("function add(a, b) { return a + b; }", CODE),
        ("const add = (a, b) => a + b;", CODE),
        ("for (int i = 0; i < n; i++) {\n  sum += i;\n}", CODE),
        ("public static int add(int a, int b) { return a + b; }", CODE),
        ("#include <stdio.h>\nint main() { return 0; }", CODE),
        ("x = foo(1);", CODE),
        ("CC(C)Cc1ccc(cc1)C(C)C(=O)O", MOLECULE),
        ("C[C@@H](N)C(=O)O", MOLECULE),
        ("ATGGCCATTGTAATGGGCC", SEQUENCE),
        (">seq 1\nATGGCCATTG\nTAATGGGCC", SEQUENCE),
        ("MKTAYIAKQRQISFVKSHFSRQ", SEQUENCE),
        ("/srv/A", PATH),
        ("~/Notes/2024", PATH),
        ("../a/b.c", PATH),
        (r"C:\temp\new", PATH),
        (r"\\server$\Share\x", PATH),
        ("src/main.PY", PATH),
        ("Annual Report 2024.pdf", PATH),
        ("dQw4w9WgXcQ", PATH),
        ("sk-AbC123dEf456", PATH),
        ("CO2", FORMULA),
        ("NaCl", FORMULA),
        ("grep -r foo .", COMMAND),
        ("$ sudo tar -xzf a.tgz -C /opt", COMMAND),
        ("git log --oneline", COMMAND),
        ("python3.11 -m venv", COMMAND),
        ("curl --output=a.html example.org", COMMAND),
        ("s.split(' ')", CODE),
        ("df.groupby('a').sum();", CODE),
    ],
)
def test_code_markup_and_formulas_are_told_by_their_signs(text, form):
    assert code_form(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "Please select one of the options from the list below and order by Friday",
        "Select items from the list",
        "select options from below, where there are any",
        "Update your address set by the office",
        "Delete from the list all that is done",
        "With love as ever",
        "<john@example.com>",
        "Dear <name>, welcome",
        "5 < 6 and 7 > 3",
        "either | or",
        "-----\ntext",
        "m^2",
        "area = 5 m^2 only",
        "Return the form to the office; thank you",
        "for example: apples",
        "If you agree, sign here:",
        "class 5 of the school",
        "import from China (20 %)",
        "return to sender",
        "a/b of c",
        "24/7",
        "mg/dL",
        "and/or",
        "https://example.org/A",
        "iPhone15ProMax256GB",
        "GB29NWBK60161331926819",
        "a1b2c3d4e5f6",
        "BCC-10",
        "INV-2024-001",
        "CONFIDENTIAL",
        "CN",
        "SSN",
        "Boston",
        "PINK",
        "CASE CLOSED",
        "well -known and low -density goods",
        "a temperature of -5 and below",
        "Use grep -r here",
        "total (net)",
        "Acme.Ltd(UK)",
        "n.a.(see below) and more",
        "+1 (555) 010-0000",
        "12.50 EUR",
        "2024-01-05T10:00:00Z",
        "",
    ],
)
def test_prose_names_and_codes_are_none_of_these(text):
    assert code_form(text) is None


def field_of(name, *texts):
    """Return the field that is inferred from a name and texts."""
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    (field,) = infer(schema, seen=seen_in(*({name: text} for text in texts))).fields
    return field


def comparator_of(name, *texts):
    field = field_of(name, *texts)
    return field.comparator, dict(field.config).get("language")


@pytest.mark.parametrize(
    ("texts", "is_case_sensitive"),
    [
        (["AbCd-EfGh-IjKl", "QrSt-UvWx-YzAb"], True),
        (["AbCd-EfGh-IjKl", "ABCD-1"], True),
        (["AbCd-EfGh-IjKl", "ABCD-1", "Inv-2"], False),
        (["ABCD-EFGH", "Inv-2"], False),
    ],
)
def test_case_matters_in_keys_if_at_least_half_mix_capitals_and_small_letters(
    texts, is_case_sensitive
):
    field = field_of("license_key", *texts)

    assert field.comparator == "ExactComparator"
    assert ("case_sensitive" in field.config) == is_case_sensitive


def test_a_field_is_code_if_most_of_its_texts_are():
    assert comparator_of("body", "<p>a</p>", "<p>b</p>", "c") == ("CodeComparator", "markup")
    assert comparator_of("body", "<p>a</p>", "b")[0] == "FuzzyComparator"
    assert comparator_of("code", "import os\nprint(os.name)") == ("CodeComparator", "code")
    assert comparator_of("due_date", "2024-01-05", "2024-01-06")[0] == "DateComparator"


@pytest.mark.parametrize(
    ("name", "comparator"),
    [("gas", "CodeComparator"), ("sku", "ExactComparator"), ("supplier", "FuzzyComparator")],
)
def test_a_field_with_a_rule_for_its_name_has_no_chemical_formulas(name, comparator):
    assert field_of(name, "NO2", "SO2", "CO2", "CO").comparator == comparator


@pytest.mark.parametrize("blank", [" ", "\n", " \n", "\t"])
@pytest.mark.parametrize("head", ["x", ">", "select ", "x = 1;"])
def test_no_pattern_searches_a_long_run_of_blanks(monkeypatch, head, blank):
    n_characters = []

    def note_length(text):
        n_characters.append(len(text))

    tests = (("SQL", note_length), *code_forms._TESTS_OF_FORMS)  # noqa: SLF001
    monkeypatch.setattr(code_forms, "_TESTS_OF_FORMS", tests)
    code_form(head + blank * 100_000 + "x")

    assert n_characters == [len(head.rstrip()) + code_forms.MAX_BLANKS + 1]


def test_a_long_indentation_does_not_change_the_form_of_a_text():
    code = "def first():\n" + " " * 5_000 + "return 1;\n"
    assert code_form(code) == "source code"
