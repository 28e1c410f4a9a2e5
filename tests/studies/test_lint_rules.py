"""Problems that lint finds in ground truth, and what it does not report."""

import json

import pytest

from stickler_cli.schema.loading import load_schema
from stickler_cli.studies.lint.answer import lint
from stickler_cli.studies.lint.findings import MAX_PLACES, RULES
from stickler_cli.studies.lint.question import LintSettings

X = "x-aws-stickler-"
TEXT = {"type": ["string", "null"]}
CITIES = ("Aachen", "Bremen", "Cottbus")


def an_object(**properties):
    return {"type": "object", "properties": properties}


@pytest.fixture
def run_lint(tmp_path):
    """Return a function that lints documents, and returns the findings by (rule, field)."""

    def run(schema, documents, **options):
        (tmp_path / "schema.json").write_text(json.dumps(schema))
        gt = tmp_path / "gt.jsonl"
        lines = (
            document if isinstance(document, str) else json.dumps(document)
            for document in documents
        )
        gt.write_text("\n".join(lines))
        loaded = load_schema(str(tmp_path / "schema.json"))
        report = lint(loaded, str(gt), LintSettings(**options))
        assert report.documents == len(documents)
        return {(finding.rule, finding.field): finding for finding in report.findings}

    return run


def places(finding):
    return [(problem.line, problem.pointer, problem.found) for problem in finding.places]


def test_nothing_is_found_in_good_ground_truth(run_lint):
    documents = [
        {
            "name": f"no {index}",
            "paid": bool(index % 2),
            "city": CITIES[index % 3],
            "sum": 1.5 * index + 3,
        }
        for index in range(60)
    ]
    schema = an_object(
        name=TEXT, paid={"type": "boolean"}, city=TEXT, sum={"type": "number"}, note=TEXT
    )
    assert run_lint(schema, documents) == {}


def test_a_value_that_its_comparator_cannot_read_is_found(run_lint):
    schema = an_object(day={"type": "string", X + "comparator": "DateComparator"})
    result = run_lint(schema, [{"day": "2024-01-31"}, {"day": "soon"}, {"day": "2024-02-30"}])
    assert [*result] == [("unreadable-value", "day")]
    assert [(line, pointer) for line, pointer, _ in places(result["unreadable-value", "day"])] == [
        (2, "/day"),
        (3, "/day"),
    ]


def test_a_number_that_is_none_is_found_in_a_list_of_items_too(run_lint):
    item = an_object(n={"type": ["number", "string"], X + "comparator": "NumericComparator"})
    schema = an_object(lines={"type": "array", "items": item})
    result = run_lint(schema, [{"lines": [{"n": 1}, {"n": "many"}]}])
    ((_, pointer, _),) = places(result["unreadable-value", "lines.n"])
    assert pointer == "/lines/1/n"


def test_a_field_of_which_no_value_matches_itself_has_a_threshold_out_of_reach(run_lint):
    config = {X + "comparator": "DateComparator", X + "comparator-config": {"range_mode": "reject"}}
    schema = an_object(day={"type": "string", **config})
    result = run_lint(schema, [{"day": f"May {index} 2024 to May 9 2024"} for index in range(1, 6)])
    assert ("unreachable-threshold", "day") in result
    assert result["never-matches", "day"].count == 5


@pytest.mark.parametrize(
    ("schema", "value", "rule"),
    [
        ({"type": "number"}, "12.50", "wrong-kind"),
        ({"type": "string", "enum": ["paid", "open"]}, "payed", "not-listed"),
        ({"type": "string", "format": "email"}, "nobody", "wrong-format"),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "Euro", "wrong-format"),
        ({"type": "number", "maximum": 100}, 101, "out-of-range"),
        ({"type": "string"}, None, "null-not-allowed"),
        ({"type": "string", "pattern": "^x"}, "", "null-not-allowed"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "not-valid"),
    ],
)
def test_what_the_schema_forbids_is_found_with_the_place(run_lint, schema, value, rule):
    (finding,) = run_lint(an_object(x=schema), [{"x": value}]).values()
    assert (finding.rule, finding.field, places(finding)[0][:2]) == (rule, "x", (1, "/x"))


def test_a_place_that_is_not_labelled_breaks_no_rule(run_lint):
    number = {"type": "number"}
    schema = an_object(x=number, l={"type": "array", "items": an_object(y=number)})
    unknown = {"_labelled": False}

    assert run_lint(schema, [{"x": unknown, "l": [{"y": unknown}, {"y": 1}]}]) == {}


def test_a_required_value_that_is_missing_is_found(run_lint):
    schema = {**an_object(x=TEXT), "required": ["x"]}
    assert [*run_lint(schema, [{}])] == [("missing-required", "x")]


def test_a_key_that_the_schema_does_not_declare_is_found_at_any_depth_once_a_field(run_lint):
    item = {**an_object(a=TEXT), "additionalProperties": False}
    schema = an_object(lines={"type": "array", "items": item})
    result = run_lint(schema, [{"lines": [{"a": "x", "b": 1}, {"b": 2}]}, {"lines": [{"b": None}]}])
    assert [*result] == [("undeclared-key", "lines.b")]
    assert places(result["undeclared-key", "lines.b"]) == [
        (1, "/lines/0/b", "1"),
        (1, "/lines/1/b", "2"),
    ]


@pytest.mark.parametrize("text", ["N/A", "null", " ", "-", "None"])
def test_a_text_that_says_that_there_is_nothing_is_found(run_lint, text):
    assert [*run_lint(an_object(x=TEXT), [{"x": text}])] == [("text-for-null", "x")]


def test_such_a_text_is_right_where_the_schema_lists_it(run_lint):
    schema = an_object(x={"type": "string", "enum": ["None", "some"]}, y={"const": "-"})
    assert run_lint(schema, [{"x": "None", "y": "-"}]) == {}


def test_absence_that_is_written_in_two_ways_is_a_note_on_the_rarer_one(run_lint):
    result = run_lint(an_object(x=TEXT), [{"x": None}, {"x": ""}, {"x": None}, {}])
    assert places(result["mixed-absence", "x"]) == [(2, "/x", '""')]


def test_ids_that_are_there_twice_are_found_in_lines_and_in_values(run_lint):
    schema = an_object(id=TEXT, key=TEXT)
    documents = [{"id": "a", "key": "k"}, {"id": "b", "key": "k"}, {"id": "a", "key": "l"}]
    assert [*run_lint(schema, documents)] == [("duplicate-value", "id")]
    result = run_lint(schema, documents, id_field="key")
    assert [*result] == [("duplicate-id", ""), ("duplicate-value", "id")]


def test_what_cannot_be_read_is_found_and_keys_that_are_there_twice(run_lint):
    result = run_lint(an_object(x=TEXT), ["{", '{"x": "a", "x": "b"}', "[]"])
    assert [(rule, finding.count) for (rule, _), finding in result.items()] == [
        ("unusable-document", 2),
        ("duplicate-key", 1),
    ]


def days(count):
    return [
        {"day": f"20{20 + index % 5}-{1 + index % 12:02d}-{1 + index % 28:02d}"}
        for index in range(count)
    ]


def test_a_date_and_a_number_far_from_all_others_are_found(run_lint):
    schema = an_object(
        day={"type": "string", "format": "date"}, sum={"type": "number"}, none={"type": "number"}
    )
    documents = [{**day, "sum": 10 + index, "none": 1} for index, day in enumerate(days(40))]
    documents[7] |= {"day": "2205-03-04", "none": 50}
    documents[8]["sum"] = 2_000_000_000
    result = run_lint(schema, documents)
    assert {key: places(finding)[0][1:] for key, finding in result.items()} == {
        ("outlier", "day"): ("/day", '"2205-03-04"'),
        ("outlier", "sum"): ("/sum", "2000000000"),
    }


@pytest.mark.parametrize(
    "amounts",
    [
        pytest.param([10 + n + 10**9 * (n % 10 == 0) for n in range(100)], id="of a second kind"),
        pytest.param([10 + n + 10**9 * (n == 0) for n in range(20)], id="too few"),
        pytest.param([1.2**n for n in range(100)], id="of many magnitudes"),
        pytest.param(
            [10 + n % 90 + 10**9 * (n % 40 == 0) for n in range(1000)],  # 25: more than 2%
            id="of a second kind, of which not all are kept",
        ),
    ],
)
def test_amounts_of_two_kinds_of_many_magnitudes_or_too_few_have_no_outliers(run_lint, amounts):
    schema = an_object(sum={"type": "number"})
    assert run_lint(schema, [{"sum": amount} for amount in amounts]) == {}


def test_a_text_in_another_form_than_all_others_is_found(run_lint):
    documents = [{"no": f"INV-{index:04d}"} for index in range(60)]
    documents[5]["no"] = "INV/5"
    result = run_lint(an_object(no=TEXT), documents)
    assert places(result["odd-format", "no"]) == [(6, "/no", '"INV/5"')]


def test_dates_in_both_orders_are_found(run_lint):
    schema = an_object(due={"type": "string", "format": "date"})
    texts = ["25/12/2024", "01/02/2024", "31.01.2024", "12/26/2024", "2024-12-27"]
    result = run_lint(schema, [{"due": text} for text in texts])
    finding = result["mixed-date-order", "due"]
    assert places(finding) == [(4, "/due", '"12/26/2024"')]
    assert ("mixed-date-order", "due") not in run_lint(
        schema, [{"due": text} for text in texts[:3]]
    )


def test_spellings_of_a_frequent_text_are_found_but_not_other_texts(run_lint):
    documents = [{"city": CITIES[index % 3], "plan": f"Plan {index % 2}"} for index in range(90)]
    documents[4]["city"], documents[5]["city"], documents[6]["city"] = "BREMEN", "Bremem", "Berlin"
    result = run_lint(an_object(city=TEXT, plan=TEXT), documents)
    assert [(place[1], place[2]) for place in places(result["inconsistent-spelling", "city"])] == [
        ("/city", '"BREMEN"'),
        ("/city", '"Bremem"'),
    ]
    assert len(result) == 1


def test_texts_that_hardly_repeat_are_no_enum(run_lint):
    documents = [
        {"name": f"shop {chr(97 + index % 26)}{chr(97 + index // 26)}"} for index in range(80)
    ]
    documents[3]["name"] = documents[4]["name"].upper()
    assert run_lint(an_object(name=TEXT), documents) == {}


def test_each_finding_keeps_so_many_places_and_counts_all(run_lint):
    schema = an_object(x={"type": "number"})
    (finding,) = run_lint(schema, [{"x": "1"}] * (MAX_PLACES + 20)).values()
    assert (len(finding.places), finding.count) == (MAX_PLACES, MAX_PLACES + 20)


def test_thresholds_and_weights_without_effect_are_found(run_lint):
    leaf = {"type": "string", X + "threshold": 0.1}
    schema = an_object(
        a={**TEXT, X + "threshold": 0},
        b={"type": "array", "items": leaf},
        c={**TEXT, X + "weight": 1000},
        d={**TEXT, X + "weight": 0.5},
    )
    schema["properties"]["b"][X + "weight"] = 10
    schema["properties"]["a"][X + "weight"] = 10
    result = run_lint(schema, [{}])
    assert {key: places(finding)[0][:2] for key, finding in result.items()} == {
        ("threshold-zero", "a"): (1, "/properties/a"),
        ("threshold-below-floor", "b"): (1, "/properties/b"),
        ("irrelevant-weight", "d"): (1, "/properties/d"),
    }


def test_a_schema_that_contains_itself_and_one_of_any_kind_are_looked_at(run_lint):
    tree = an_object(v={"type": "number"}, kids={"type": "array", "items": {"$ref": "#"}}, any={})
    document = {"v": 1, "kids": [{"kids": [{"v": "x"}]}], "any": {"a": [1, {"b": "n/a"}]}}
    assert {*run_lint(tree, [document])} == {
        ("wrong-kind", "kids.kids.v"),
        ("unreadable-value", "kids.kids.v"),
        ("text-for-null", "any.a.b"),
    }


def test_values_are_taken_out_of_wrappers_as_runs_do(run_lint):
    schema = an_object(n={"type": "number"}, day={"type": "string", "format": "date"})
    good = {"n": {"value": 5, "confidence": 0.9}, "day": {"_value": "2024-01-31"}}
    bad = {"n": {"value": "5", "confidence": 0.9}}
    assert run_lint(schema, [good]) == {}
    assert [*run_lint(schema, [good, bad])] == [("wrong-kind", "n")]
    assert ("wrong-kind", "n") in run_lint(schema, [good], wrapped="none")


def test_documents_below_a_key_are_looked_at_and_pointed_to_where_they_stand(run_lint):
    schema = an_object(n={"type": "number"})
    result = run_lint(schema, [{"result": {"n": "x"}}, {"n": 1}], gt_root="result")
    assert places(result["wrong-kind", "n"])[0][:2] == (1, "/result/n")
    assert result["unusable-document", ""].count == 1


def test_models_are_not_asked(run_lint):
    schema = an_object(x={"type": "string", X + "comparator": "SemanticComparator"})
    assert run_lint(schema, [{"x": "anything"}]) == {}


def test_every_rule_says_what_to_do():
    assert all(rule.means and rule.advice for rule in RULES.values())


def test_a_violation_under_an_empty_key_is_told_of_though_its_pointer_lacks_it(run_lint):
    schema = an_object(a={"additionalProperties": an_object(b={"type": "number"})})
    result = run_lint(schema, [{"a": {"": {"b": "x"}}}])
    assert result["wrong-kind", "a.*.b"].count == 1


KEYED = {
    "type": "array",
    "items": an_object(sku={"type": "string"}, n={"type": "number"}),
    "x-aws-stickler-key": "sku",
}


def test_items_that_share_a_key_or_lack_it_are_found(run_lint):
    items = [
        {"sku": "A 1"},
        {"sku": "b"},
        {"sku": "a1"},
        {"n": 1},
        {},
        "none",
        {"sku": "c", "n": 2},
    ]
    findings = run_lint(an_object(lines=KEYED), [{"lines": items}, {"lines": None}])

    (twice,) = findings["duplicate-item-key", "lines"].places
    assert (twice.pointer, twice.found) == ("/lines/2", '"a1", as in [0]')
    (lacking,) = findings["absent-item-key", "lines"].places
    assert (lacking.pointer, lacking.found) == ("/lines/3", "sku is absent")


def test_a_key_of_several_fields_is_one(run_lint):
    lines = {**KEYED, "x-aws-stickler-key": ["sku", "n"]}
    items = [{"sku": "a", "n": 1}, {"sku": "a", "n": 2}, {"sku": "a", "n": 1.0}]
    findings = run_lint(an_object(lines=lines), [{"lines": items}])

    assert [place.found for place in findings["duplicate-item-key", "lines"].places] == [
        '"a", 1.0, as in [0]'
    ]


def test_names_that_nothing_stands_for_are_found(run_lint):
    aliases = {"USA": ["US"], "DE": ["Germany"], "FR": []}
    country = {"type": "string", "x-aws-stickler-aliases": aliases}
    schema = an_object(
        country=country,
        tags={"type": "array", "items": country},
        pair={"type": "array", "prefixItems": [country, {"type": "string"}]},
        more={"type": "object", "additionalProperties": country},
        other={"type": "object"},
    )
    document = {
        "country": "us",
        "tags": ["germany", "fr"],
        "pair": ["DE", "x", "y"],
        "more": {"a": "USA"},
        "other": {"a": [1]},
        "none": 1,
    }
    findings = run_lint(schema, [document])

    assert {
        field: finding.places[0].found
        for (_, field), finding in findings.items()
        if finding.severity == "note"
    } == {
        "country": "DE, FR",
        "tags": "USA",
        "pair": "USA, FR",
        "more.*": "DE, FR",
    }


def test_a_text_for_nothing_is_right_where_the_schema_says_so(run_lint):
    field = {"type": "string", "x-aws-stickler-absent-values": ["N/A"]}

    assert run_lint(an_object(a=field), [{"a": "N/A"}]) == {}


def test_a_value_that_is_right_twice_is_found(run_lint):
    tags = {"type": "array", "items": {"type": "string"}}
    document = {
        "a": {"_value": 1, "_alternatives": [2, 1.0]},
        "tags": [{"_value": "x", "_alternatives": ["y"]}, {"_value": "x", "_alternatives": ["x"]}],
    }
    findings = run_lint(an_object(a={"type": "number"}, tags=tags), [document])

    assert {key: places(finding) for key, finding in findings.items()} == {
        ("equal-alternatives", "a"): [(1, "/a", "1.0")],
        ("equal-alternatives", "tags"): [(1, "/tags/1", '"x"')],
    }


@pytest.mark.parametrize(
    ("annotations_of_field", "forgives"),
    [
        ({X + "threshold": 0.5}, True),
        ({X + "comparator": "FuzzyComparator"}, True),
        ({X + "threshold": 0.9}, False),
        ({X + "comparator": "ExactComparator", X + "threshold": 0.5}, False),
        (
            {X + "comparator-config": {"same_digits": True}, X + "comparator": "FuzzyComparator"},
            False,
        ),
    ],
)
def test_a_text_whose_values_are_codes_is_not_compared_by_likeness(
    run_lint, annotations_of_field, forgives
):
    documents = [
        {
            "lot": f"L-{index * 37}B",
            "plate": f"HH-XY {index * 37}",
            "city": f"{CITIES[index % 3]} {index}",
        }
        for index in range(10)
    ]

    codes = {**TEXT, **annotations_of_field}
    result = run_lint(an_object(lot=codes, plate=codes, city=TEXT), documents)
    for name in ("lot", "plate"):
        assert (("forgiving-text", name) in result) is forgives
    assert ("forgiving-text", "city") not in result


CONCERNS = "this concerns"
EDIT = f"LevenshteinComparator at a threshold of 0.5; {CONCERNS}"
FUZZY = f"FuzzyComparator at a threshold of 0.5; {CONCERNS}"
LONG = "The tenant pays the rent of each month in advance"  # more than 40 letters
WORDS = " ".join(f"{letter}{vowel}xq" for letter in "bcdfghklmn" for vowel in "aeiou")  # 50
BY_WORDS = {
    X + "comparator": "FuzzyComparator",
    X + "comparator-config": {"same_words": True, "same_digits": True},
}
BY_LETTERS = {
    **BY_WORDS,
    X + "comparator-config": {"same_words": True, "same_digits": True, "same_letters": True},
}
ABOUT_TEXTS = ("letters-decide", "numbers-decide", "words-tolerated", "letters-tolerated")


@pytest.mark.parametrize(
    ("annotations", "texts", "expected"),
    [
        (
            {},
            [LONG, "short"],
            {"letters-decide": f"{EDIT} 1 of 2 texts (those with more than 40 letters)"},
        ),
        ({}, ["short", LONG[:40]], {}),
        ({X + "threshold": 1}, [LONG], {}),
        ({X + "comparator": "ExactComparator"}, [f"{LONG} 5"], {}),
        (
            BY_WORDS,
            [LONG, "17"],
            {"letters-tolerated": f"{FUZZY} 1 of 2 texts (those with letters)"},
        ),
        (BY_LETTERS, [LONG, WORDS], {}),
        (
            BY_WORDS,
            ["500 mg", "7", "none"],
            {
                "numbers-decide": f"FuzzyComparator; {CONCERNS} 1 of 3 texts (those with numbers)",
                "letters-tolerated": f"{FUZZY} 2 of 3 texts (those with letters)",
            },
        ),
        (
            {X + "comparator": "NumericComparator", X + "comparator-config": {"unit": "same"}},
            ["500 mg", "7"],
            {"numbers-decide": f"NumericComparator; {CONCERNS} 1 of 2 texts (those with numbers)"},
        ),
        ({X + "comparator": "NumericComparator"}, ["500", "7 mg"], {}),
        (
            BY_WORDS,
            [WORDS, f"the {WORDS[4:]}", LONG],
            {
                "words-tolerated": f"{FUZZY} 1 of 3 texts (those with 50 or more words)",
                "letters-tolerated": f"{FUZZY} 3 of 3 texts (those with letters)",
            },
        ),
        ({**BY_WORDS, X + "threshold": 1}, [WORDS], {}),
        ({"type": "number"}, [1, 2.5], {}),
    ],
)
def test_what_decides_between_texts_is_told_of_each_field(run_lint, annotations, texts, expected):
    result = run_lint(an_object(a={**TEXT, **annotations}), [{"a": text} for text in texts])
    findings_by_rule = {
        rule: finding for (rule, _), finding in result.items() if rule in ABOUT_TEXTS
    }

    assert {rule: places(finding)[0][2] for rule, finding in findings_by_rule.items()} == expected
    assert {field for _, field in result if _ in ABOUT_TEXTS} <= {"a"}
    assert all(RULES[rule].severity == "note" for rule in ABOUT_TEXTS)
