from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports import run_sentences
from stickler_cli.reports.view import RunView, field_rows, named_rows
from stickler_cli.score.sums import Tally

NUMBER = {"type": "number"}


def paths(rows):
    return [row.path for row in rows]


def worst(run):
    return {row.path for row in field_rows(run) if row.worst}


def test_fields_stand_as_in_the_schema_and_a_map_is_one_row(orders):
    assert paths(field_rows(orders)) == [
        ("id",),
        ("total",),
        ("customer",),
        ("customer", "name"),
        ("customer", "city"),
        ("lines",),
        ("lines", "sku"),
        ("lines", "qty"),
        ("rates",),
        ("rates", "*"),
    ]


def test_by_name_the_keys_of_a_map_are_rows_of_their_own(orders):
    last = named_rows(orders.evaluation.sums, orders.fields, orders.rule)[-1]

    assert last.path == ("rates", "standard")
    assert (last.kind, last.comparator) == ("leaf", "NumericComparator")


def test_the_keys_of_a_map_are_added_up(run_of):
    schema = {"type": "object", "properties": {"m": {"additionalProperties": NUMBER}}}
    schema["properties"]["m"]["type"] = "object"
    pair = DocumentPair("a", {"m": {"x": 1, "y": 2}}, {"m": {"x": 1, "y": 3, "z": 4}})

    counts = field_rows(run_of(schema, [pair]))[-1].tally.counts("overall")

    assert (counts.tp, counts.fd, counts.fa) == (1, 1, 1)


def test_the_counts_of_fields_inside_one_another_are_added_once_a_level(run_of, monkeypatch):
    document = {"v": 1}
    for _ in range(30):
        document = {"o": document}
    run = run_of(
        {"type": "object", "properties": {"o": {}}}, [DocumentPair("a", document, document)]
    )
    added, merge = [], Tally.merge
    monkeypatch.setattr(Tally, "merge", lambda *tallies: (added.append(1), merge(*tallies)))

    rows = field_rows(run)

    assert len(rows) == 31
    assert rows[-1].tally.counts("leaves").tp == 1
    assert len(added) <= 3 * len(rows)


def test_a_field_that_no_document_reached_has_a_row_of_zeros(run_of):
    row = field_rows(run_of(pairs=[]))[6]

    assert row.path == ("lines", "sku")
    assert row.tally.counts("leaves").total == 0
    assert row.weight == 1.0


def test_fields_that_only_documents_name_follow_by_name_with_the_weight_they_had(run_of):
    schema = {"type": "object", "properties": {"b": NUMBER, "o": {"type": "object"}}}
    values = {"b": 1, "o": {"z": 1, "a": "x"}}

    rows = field_rows(run_of(schema, [DocumentPair("1", values, values)]))

    assert paths(rows) == [("b",), ("o",), ("o", "a"), ("o", "z")]
    assert (rows[2].kind, rows[2].compared_by, rows[2].weight) == ("any", "any", 1.0)


def test_where_the_schema_repeats_itself_the_weights_are_known_all_the_same(run_of):
    schema = {
        "type": "object",
        "properties": {"size": NUMBER, "part": {"$ref": "#", "x-aws-stickler-weight": 3}},
    }
    values = {"size": 1, "part": {"size": 2, "part": {"size": 3}}}

    rows = {
        row.path: row for row in field_rows(run_of(schema, [DocumentPair("1", values, values)]))
    }

    assert rows["part", "part"].weight == 3.0
    last = rows["part", "part", "size"]
    assert (last.kind, last.compared_by, last.weight) == ("", "", 1.0)


def test_an_object_without_a_schema_and_with_many_names_is_one_row(run_of):
    schema = {"type": "object", "properties": {"o": {"type": "object"}}}
    few, many_keys = ({"o": {f"k{n:02}": n for n in range(count)}} for count in (50, 51))

    assert len(field_rows(run_of(schema, pairs_of(few, [few])))) == 51
    assert paths(field_rows(run_of(schema, pairs_of(many_keys, [many_keys])))) == [
        ("o",),
        ("o", "*"),
    ]


def test_comparators_are_named_without_the_word_and_objects_by_their_kind(orders):
    names = {row.path: row.compared_by for row in field_rows(orders)}

    assert (names["id",], names["customer",], names["lines",]) == ("Exact", "object", "list")


def test_several_comparators_of_one_field_are_all_named(run_of):
    schema = {"type": "object", "properties": {"v": {"anyOf": [NUMBER, {"type": "string"}]}}}

    assert field_rows(run_of(schema, []))[0].compared_by == "Numeric | Levenshtein"


def pairs_of(gt, preds):
    return [DocumentPair(str(index), gt, pred) for index, pred in enumerate(preds)]


def schema_of(*names):
    return {"type": "object", "properties": dict.fromkeys(names, NUMBER)}


def test_one_error_in_a_rare_field_does_not_outrank_many_in_a_common_one(run_of):
    # a, b and c lost 8 values each, rare lost 1
    gt = {"a": 1, "b": 1, "c": 1}
    wrong = dict.fromkeys("abc", 2)
    run = run_of(
        schema_of("rare", "a", "b", "c"),
        pairs_of(gt, [gt] * 12 + [wrong] * 7 + [{**wrong, "rare": 1}]),
    )

    assert worst(run) == {("a",), ("b",), ("c",)}


def test_three_fields_are_pointed_out_at_most_and_none_without_errors(run_of):
    gt = dict.fromkeys("abcde", 1)
    pred = {**dict.fromkeys("abcd", 2), "e": 1}
    schema = schema_of(*"abcde")

    assert worst(run_of(schema, pairs_of(gt, [pred]))) == {("a",), ("b",), ("c",)}
    assert worst(run_of(schema, pairs_of(gt, [gt]))) == set()


def test_fields_that_lost_most_values_are_pointed_out_and_not_what_they_are_in(orders):
    # lost: total 3, the city 2, id 1 of 4, the rest 1 of 5 and fewer
    assert worst(orders) == {("total",), ("customer", "city"), ("id",)}


def test_a_missed_object_is_pointed_out_by_the_values_in_it(run_of):
    schema = {"type": "object", "properties": {"o": schema_of("a")}}

    assert worst(run_of(schema, pairs_of({"o": {"a": 1}}, [{}]))) == {("o", "a")}


def test_values_of_missed_items_are_lost_too(run_of):
    items = {**schema_of("a", "b", "c"), "x-aws-stickler-match-threshold": 0.5}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": items}}}
    gt = {"l": [{"a": 1, "b": 1, "c": 1}, {"a": 5, "b": 5, "c": 5}]}

    # the first item passes with a wrong c, the second is missed
    run = run_of(schema, pairs_of(gt, [{"l": [{"a": 1, "b": 1, "c": 2}]}]))
    assert {row.path: row.lost for row in field_rows(run)} == {
        ("l",): 4,
        ("l", "a"): 1,
        ("l", "b"): 1,
        ("l", "c"): 2,
    }
    assert worst(run) == {("l", "a"), ("l", "b"), ("l", "c")}
    assert run_sentences.worst_field_texts(RunView(run))[0] == "l.c F1 0.0000 (1 wrong, 1 missed)"
