"""`stickler show`: how each field is compared, and where its settings come from."""

from .conftest import write

X = "x-aws-stickler-"
PLAIN = {
    "type": "object",
    "properties": {
        "iban": {"type": "string"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"note": {"type": "string"}}},
        },
    },
}


def test_a_row_of_a_field_has_its_comparator_threshold_weight_and_who_said_what(stickler, data):
    leaf = {"type": "number", X + "comparator-config": {"tolerance": 0.01}, X + "weight": 3}
    text_schema = {"type": "string", X + "comparator": "FuzzyComparator", X + "threshold": 0.9}
    item = {"type": "object", "properties": {"sku": {"type": "string"}}, X + "match-threshold": 0.8}
    schema = {
        "type": "object",
        "properties": {"sum": leaf, "name": text_schema, "lines": {"type": "array", "items": item}},
    }
    write(data / "mixed.json", schema)
    assert stickler("show", "mixed.json").out == (
        "mixed.json: 4 fields\n"
        "\n"
        "field      comparator                         threshold  weight  kind            set by\n"
        "sum        NumericComparator(tolerance=0.01)        0.5       3  number          "
        "comparator-config, weight from an annotation; comparator, threshold by default\n"
        "name       FuzzyComparator                          0.9       1  string          "
        "annotation\n"
        "lines                                               0.8       1  list of object  "
        "annotation\n"
        "lines.sku  LevenshteinComparator                    0.5       1  string          default\n"
        "\n"
        "note: a long text may count as right although a word or number differs, because texts "
        "are compared by edit distance; fields with this rule: name, lines.sku\n"
    )


def test_what_was_inferred_is_told_with_the_rule(stickler, data):
    write(data / "plain.json", PLAIN)
    result = stickler("show", "plain.json")
    assert (
        "plain.json names no comparators, so stickler inferred how to compare 2 fields"
        in result.err
    )
    assert (
        'inferred: the name "iban" suggests an identifier: one wrong character makes a different '
        "identifier" in result.out
    )


def test_arrays_show_how_their_elements_are_paired(stickler, data):
    numbers = {"type": "array", "items": {"type": "number"}}
    write(
        data / "plain.json",
        {"type": "object", "properties": {"monthly_totals": numbers, "matrix": numbers}},
    )
    rows = stickler("show", "plain.json").out.splitlines()
    assert [row.split()[-1] for row in rows if "monthly_totals " in row] == ["ordered"]


def test_nothing_is_inferred_where_nobody_wants_it(stickler, data):
    write(data / "plain.json", PLAIN)
    out = stickler("show", "plain.json", "--infer", "never").out
    assert "inferred" not in out
    assert "iban        LevenshteinComparator        0.5       1  string          default" in out


def test_where_only_some_fields_are_annotated_the_others_can_be_inferred(stickler, data):
    properties = {**PLAIN["properties"], "name": {"type": "string", X + "threshold": 0.9}}
    write(data / "some.json", {**PLAIN, "properties": properties})
    assert "inferred" not in stickler("show", "some.json").out
    err = stickler("show", "some.json", "--infer", "always").err
    assert (
        "some.json does not annotate every field, so stickler inferred how to compare 2 fields"
        in err
    )


def test_a_schema_without_declared_fields_says_so(stickler, data):
    write(data / "open.json", {"type": "object"})
    assert stickler("show", "open.json", "--infer", "never").out == (
        "open.json: 0 fields\nthe schema declares no fields, so each value is compared by its "
        "type\n"
    )


def test_a_terminal_gets_a_tree(stickler, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    assert stickler("show", "schema.json").out == (
        "Order (schema.json): 5 fields\n"
        "\n"
        "field  comparator   threshold  weight  kind\n"
        "id     Exact              0.5       1  string\n"
        "  comparator from an annotation; threshold by default\n"
        "total  Numeric            0.5       2  number\n"
        "  weight from an annotation; comparator, threshold by\n"
        "  default\n"
        "lines                     0.7       1  list of object\n"
        "  default\n"
        "  sku  Levenshtein        0.5       1  string\n"
        "    threshold from an annotation; comparator by default\n"
        "  qty  Numeric            0.5       1  integer\n"
        "    default\n"
        "\n"
        "if there is no line below a field, all its settings come\n"
        "  from annotations\n"
        "\n"
        "note: a long text may count as right although a word or\n"
        "  number differs, because texts are compared by edit\n"
        "  distance; fields with this rule: lines.sku\n"
        "note: upper and lower case count as equal (to prevent this,\n"
        "  set case_sensitive in the comparator-config); fields with\n"
        "  this rule: id\n"
    )


def test_what_the_schema_knows_of_the_ground_truth_is_a_column_of_its_own(stickler, data):
    note = {"type": "string", X + "ignore": True}
    item = {"type": "object", "properties": {"sku": {"type": "string"}, "note": note}}
    lines = {"type": "array", "items": item, X + "key": ["sku"], X + "exhaustive": False}
    country = {"type": "string", X + "aliases": {"USA": ["US"]}, X + "absent-values": ["-"]}
    steps = {
        "type": "array",
        "items": {"type": "string"},
        X + "ordered": True,
        X + "distinct": True,
    }
    fields = {"lines": lines, "country": country, "steps": steps}
    write(data / "gold.json", {"type": "object", "properties": fields})

    table, _, told_of_texts = stickler("show", "gold.json").out.partition("\n\nnote: ")
    head, *rows = table.splitlines()[2:]

    rule_cells = [row[head.index("rules") :] for row in rows]
    assert rule_cells == [
        "not exhaustive; key sku",
        "",
        "ignored",
        'aliases of USA; absent ["-"]',
        "ordered; distinct",
    ]
    # A field that is ignored is not named below the table.
    assert "the unit of a number; fields with this rule: country, steps\n" in told_of_texts
    assert "lines.note" not in told_of_texts


def test_a_run_names_what_it_ignores_once(stickler, data):
    note = {"type": "string", X + "ignore": True}
    write(
        data / "gold.json", {"type": "object", "properties": {"a": {"type": "string"}, "b": note}}
    )
    write(data / "gt.json", {"a": "x", "b": "y"})

    out = stickler("eval", "gold.json", "gt.json", "gt.json").out

    assert out.count("fields that the schema ignores: b") == 1


def test_what_decides_between_texts_is_told_below_the_table(stickler, data):
    by_words = {"same_digits": True, "same_words": True}
    text = {"type": "string", X + "comparator": "FuzzyComparator"}
    strict = {**text, X + "comparator-config": by_words}
    item = {"type": "object", "properties": {"note": text, "no": {"type": "integer"}}}
    fields = {
        "title": text,
        "tags": {"type": "array", "items": strict},
        "lines": {"type": "array", "items": item},
        "code": {"type": "string", X + "comparator": "ExactComparator"},
    }
    write(data / "texts.json", {"type": "object", "properties": fields})

    assert stickler("show", "texts.json").out.partition("\n\nnote: ")[2] == (
        "a long text may count as right although a word or number differs, because texts are "
        "compared by edit distance; fields with this rule: title, lines.note\n"
        "note: a text counts as wrong if it differs in a number or in the unit of a number; "
        "fields with this rule: tags\n"
        "note: a long text (at least 50 words, not counting words such as 'the') counts as right "
        "although one or two words differ; fields with this rule: tags\n"
        "note: a text counts as right although a word differs by one letter (to prevent this, "
        "set same_letters in the comparator-config); fields with this rule: tags\n"
        "note: a text counts as right although a word is missing or added (to prevent this, use "
        "ExactComparator); fields with this rule: tags\n"
        "note: upper and lower case count as equal (to prevent this, set case_sensitive in the "
        "comparator-config); fields with this rule: code\n"
    )
    assert "note:" not in stickler("show", "texts.json", "-q").err
