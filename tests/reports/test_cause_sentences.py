"""Sentences about causes of errors."""

import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.cause_sentences import MAX_FIRST_CAUSES, causes, more_causes
from stickler_cli.reports.view import RunView

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
ITEM = {"type": "object", "properties": dict.fromkeys(("sku", "unit", "name", "price"), EXACT)}
LINE = {"sku": "A-1", "unit": "kg", "name": "bolt", "price": "5"}
SCHEMA = {
    "type": "object",
    "properties": {
        "currency": EXACT,
        "count": {"type": "number"},
        "typed": {
            "type": "number",
            "x-aws-stickler-comparator": "NumericComparator",
            "x-aws-stickler-comparator-config": {"same_type": True},
        },
        "seller": {"type": "object", "properties": {"name": EXACT}},
        "lines": {"type": "array", "items": ITEM},
        "tags": {"type": "array", "items": EXACT},
    },
}


@pytest.fixture
def texts(run_of):
    def build(*pairs, quoted=str):
        documents = [DocumentPair(str(index), gt, pred) for index, (gt, pred) in enumerate(pairs)]
        named, _ = causes(RunView(run_of(SCHEMA, documents), quoted))
        return [f"{cause.values} {cause.sentence}" for cause in named]

    return build


def test_items_name_the_fields_that_differ(texts):
    gt = {"lines": [LINE, {**LINE, "sku": "B-2"}]}
    pred = {"lines": [{**LINE, "unit": "m", "name": "x"}, {**LINE, "sku": "B-2", "unit": "t"}]}

    assert texts((gt, pred), (gt, pred), (gt, {"lines": [LINE]})) == [
        "4 lines: unit and name wrong in 2 items of 2 documents",
        "4 lines: 1 item missed in 1 document",
        "2 lines.unit kg -> t 2 times",
    ]


def test_pairs_that_stand_alone_are_put_together(texts):
    pairs = [("USD", "NZD"), ("USD", "NZD"), ("USD", "EUR"), ("CHF", "EUR"), ("2024-01-05", "2042")]
    texts_found = texts(*(({"currency": gt}, {"currency": pred}) for gt, pred in pairs))

    assert texts_found == [
        "3 currency: 3 wrong, no two alike",
        "2 currency USD -> NZD 2 times",
    ]


def test_a_class_that_says_what_happened_is_told_once_whatever_the_values(texts):
    days = [("2024-01-05", "2024-05-01")] * 2 + [("2024-02-03", "2024-03-02")]
    texts_found = texts(*(({"currency": gt}, {"currency": pred}) for gt, pred in days))

    assert texts_found == ["3 currency: day and month swapped in 3 documents"]


def test_one_that_is_alone_is_told_by_its_values(texts):
    assert texts(({"currency": " USD"}, {"currency": "EUR"})) == ['1 currency " USD" -> EUR once']
    assert texts(({"count": 5}, {"count": "n/a"})) == ['1 count 5 -> "n/a" once']
    assert texts(({"typed": 5}, {"typed": "5"})) == ['1 typed 5 -> "5" once']


def test_what_one_side_lacks_says_in_how_many_documents(texts):
    gt = {"currency": "EUR", "seller": {"name": "Bo"}, "tags": ["a", "b"]}

    assert texts((gt, {"new": "x"}), (gt, {**gt, "tags": ["a"]})) == [
        "3 tags: 3 items missed in 2 documents",
        "1 currency missed in 1 document",
        "1 new invented in 1 document",
    ]


def test_names_and_values_are_quoted_as_the_report_does(texts):
    pair = {"currency": "US`D"}, {"currency": "NZD"}

    assert texts(pair, pair, quoted="<{}>".format) == ["2 <currency> <US`D> -> <NZD> 2 times"]


def test_what_is_not_named_is_counted(run_of):
    pairs = [
        DocumentPair(
            f"{index}-{twice}", {"currency": f"gt {index}"}, {"currency": f"pred {index * 37}"}
        )
        for index in range(MAX_FIRST_CAUSES + 2)
        for twice in range(2)
    ]
    named, remaining = causes(RunView(run_of(SCHEMA, pairs)))

    assert (len(named), len(remaining)) == (MAX_FIRST_CAUSES, 2)
    assert more_causes(remaining) == "and 2 other causes, 4 values"
    assert more_causes([]) == ""


def test_items_say_which_field_they_hold_instead_of_their_own(texts):
    def pair(number):
        line = {**LINE, "name": f"bolt {number}"}
        return {"lines": [line]}, {"lines": [{**line, "unit": line["name"], "name": "x"}]}

    # The fewest that are told are three, each with a value of its own.
    assert texts(*map(pair, (1001, 2002))) == [
        "4 lines: unit and name wrong in 2 items of 2 documents",
    ]
    assert texts(*map(pair, (1001, 2002, 3003))) == [
        (
            "6 lines: unit and name wrong in 3 items of 3 documents (unit has the true value of "
            "name in 3 cases)"
        ),
    ]
    assert texts(*map(pair, (1001, 1001, 1001))) == [
        "6 lines: unit and name wrong in 3 items of 3 documents",
    ]


def swapped_pairs(numbers, others_swapped=()):
    """Yield (ground truth, prediction) in which the SKU of the last line is another value.

    For `numbers`, it is the name of the same line; for `others_swapped`, the SKU of the line
    before.
    """
    for number in numbers:
        line = {**LINE, "sku": f"B-{number}", "name": f"bolt {number + 321}"}
        gt = {"lines": [LINE, line]}
        yield gt, {"lines": [LINE, {**line, "sku": line["name"]}]}
    for number in others_swapped:
        before, line = {**LINE, "sku": f"C-{number}"}, {**LINE, "sku": f"B-{number + 321}"}
        gt = {"lines": [before, line]}
        yield gt, {"lines": [before, {**line, "sku": before["sku"]}]}


def test_a_swapped_value_is_told_with_the_one_field_that_it_is_of(texts):
    assert texts(*swapped_pairs([1001])) == ["1 lines.sku B-1001 -> bolt 1322 once"]
    assert texts(*swapped_pairs([1001, 2002])) == ["2 lines.sku: wrong, 2 times"]
    assert texts(*swapped_pairs([1001, 2002, 3003], [4004, 5005])) == [
        "5 lines.sku: the value of lines.name, 5 times",
    ]
    assert texts(*swapped_pairs([], [1001, 2002, 3003])) == [
        "3 lines.sku: the value of another item, 3 times",
    ]


def test_slips_in_fewer_documents_than_there_are_say_both(texts):
    days = ("2024-01-05", "2024-02-03"), ("2024-05-01", "2024-03-02")
    gt, pred = ({"lines": [{**LINE, "price": day} for day in side]} for side in days)

    assert texts((gt, pred)) == ["2 lines.price: day and month swapped, 2 times"]


def test_what_else_is_known_of_a_cause_is_told_beside_it(run_of):
    sales = [
        {"price": price, "count": 14, "amount": 14 * price, "name": "bolt"}
        for price in (31.5, 62.5, 93.5)
    ]
    number, kinds = {"type": "number"}, ("price", "count", "amount")
    item = {"type": "object", "properties": {**dict.fromkeys(kinds, number), "name": EXACT}}
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": item}}}
    pairs = []
    for name, sale in zip("abc", sales, strict=True):
        wrong = {**sale, "price": sale["amount"], "amount": 14 * sale["amount"], "name": "x"}
        pairs.append(DocumentPair(name, {"lines": [sale]}, {"lines": [wrong]}))
    ((cause,), _) = causes(RunView(run_of(schema, pairs)))

    assert (cause.number, cause.documents) == (1, ["a", "b", "c"])
    assert cause.origins == [
        "price has the true value of amount in 3 cases",
        "predicted amount = predicted count times predicted price in 3 cases",
    ]
    # Lists that show the origins use the text, all other lists use the sentence.
    assert cause.text == "lines: price, amount and name wrong in 3 items of 3 documents"
    assert cause.sentence == f"{cause.text} (price has the true value of amount in 3 cases)"


@pytest.mark.parametrize(
    ("name", "named", "on_page"),
    [
        ("no", '"no"', "`no`"),
        ("All", '"All"', "`All`"),
        ("7", '"7"', "`7`"),
        ("amount", "amount", "`amount`"),
        ("net due", '["net due"]', '`["net due"]`'),
    ],
)
def test_a_name_that_could_be_a_word_of_the_sentence_is_quoted(run_of, name, named, on_page):
    schema = {"type": "object", "properties": {name: EXACT, "day": EXACT}}
    gt, pred = {name: "x", "day": "Monday"}, {"day": "Monday"}
    run = run_of(schema, [DocumentPair(f"{index}", gt, pred) for index in range(2)])

    for view, expected_name in ((RunView(run), named), (RunView(run, "`{}`".format), on_page)):
        assert [cause.text for cause in causes(view)[0]] == [
            f"{expected_name} missed in 2 documents"
        ]


def test_a_name_before_a_colon_or_in_a_path_is_not_quoted(run_of):
    item = {"type": "object", "properties": dict.fromkeys(("sku", "net", "no", "due"), EXACT)}
    items = {"type": "array", "items": item}
    schema = {"type": "object", "properties": {"items": items, "day": EXACT}}
    right = {"sku": "A", "net": "5", "no": "1", "due": "x"}
    wrong, missed = {**right, "no": "2", "due": "y"}, {**right, "no": None}
    day = {"day": "Monday"}
    gt = {"items": [right], **day}
    preds = [{"items": items, **day} for items in ([], [wrong], [missed])]
    pairs = [DocumentPair(f"{index}", gt, pred) for index, pred in enumerate(preds)]
    first, second = causes(RunView(run_of(schema, pairs)))

    assert [cause.text for cause in (*first, *second)] == [
        "items: 1 item missed in 1 document",
        'items: "no" and due wrong in 1 item of 1 document',
        "items.no missed in 1 document",
    ]


CUT_OFF = {
    "currency": "USD",
    "count": 5,
    "seller": {"name": "Acme"},
    "lines": [LINE, {**LINE, "sku": "B-2"}],
    "tags": ["a"],
}


def remarks(run):
    first, others_ = causes(RunView(run))
    return {cause.text: [*cause.origins] for cause in (*first, *others_)}


def test_fields_that_are_missed_in_the_same_documents_name_each_other(run_of):
    pred = {"currency": "USD", "count": 5, "seller": {"name": "Acme"}}
    pairs = [DocumentPair(name, CUT_OFF, pred) for name in "ab"]

    # A line has four values: the items of both documents are 16, their tags 2.
    ending = "18 values in all"
    assert remarks(run_of(SCHEMA, [*pairs, DocumentPair("c", CUT_OFF, CUT_OFF)])) == {
        "lines: 4 items missed in 2 documents": [f"the same 2 documents also miss tags: {ending}"],
        "tags: 2 items missed in 2 documents": [f"the same 2 documents also miss lines: {ending}"],
    }


def test_documents_that_end_early_are_one_cause_that_names_the_last_fields(run_of):
    to_currency, to_count = {"currency": "USD"}, {"currency": "USD", "count": 5}
    pairs = [DocumentPair(name, CUT_OFF, pred) for name, pred in (("a", to_count), ("b", to_count))]

    assert remarks(run_of(SCHEMA, pairs[:1])) == {
        "1 document ends early: nothing is predicted after count": []
    }
    assert remarks(run_of(SCHEMA, [*pairs, DocumentPair("c", CUT_OFF, to_currency)])) == {
        "3 documents end early: nothing is predicted after count (2), currency (1)": []
    }


def test_documents_that_end_inside_a_list_name_the_last_items(run_of):
    def pair(name, n_codes):
        truth = {"tags": ["aa", "bb", "cc", "dd", "ee"]}
        return DocumentPair(name, truth, {"tags": truth["tags"][:n_codes]})

    one, other = pair("a", 1), pair("b", 2)
    assert remarks(run_of(SCHEMA, [one])) == {
        "1 document ends early: nothing is predicted after tags[0]": []
    }
    assert remarks(run_of(SCHEMA, [other, pair("c", 2)])) == {
        "2 documents end early: nothing is predicted after tags[1]": []
    }
    to_count = DocumentPair("d", CUT_OFF, {"currency": "USD", "count": 5})
    ends = "one of tags[0] to tags[1] (2), count (1)"
    assert remarks(run_of(SCHEMA, [one, other, to_count])) == {
        f"3 documents end early: nothing is predicted after {ends}": []
    }


def test_predictions_without_values_are_a_cause_for_each_reason(run_of):
    def pair(name, pred):
        return DocumentPair(name, {"currency": "USD", "count": 5}, pred)

    invalid = Problem("c.json", "not valid JSON")
    pairs = [pair("a", {}), pair("b", None), pair("c", invalid), pair("d", {"tags": []})]
    assert remarks(run_of(SCHEMA, pairs)) == {
        "2 documents have no predicted values at all": [],
        "1 document has a prediction that cannot be read": [],
        "1 document has no prediction": [],
    }


def test_slips_of_several_kinds_are_counted_and_a_single_kind_is_the_cause(run_of):
    schema = {"type": "object", "properties": {"total": {"type": "number"}}}
    slips = [(100.5, -100.5), (100.5, -100.5), (21.5, 22.5), (300.25, 301.25), (48.75, -48.75)]
    pairs = [
        DocumentPair(str(number), {"total": gt}, {"total": pred})
        for number, (gt, pred) in enumerate(slips)
    ]

    assert remarks(run_of(schema, pairs)) == {
        "total: with a wrong digit or sign in 5 documents": [
            "the sign differs in 3 cases, off by 1 in 2 cases"
        ]
    }
    assert remarks(run_of(schema, pairs[:2])) == {"total: the sign differs in 2 documents": []}


def test_fields_that_are_not_the_last_ones_are_named_without_a_place(run_of):
    pred = {name: value for name, value in CUT_OFF.items() if name not in {"currency", "count"}}

    assert remarks(run_of(SCHEMA, [DocumentPair("a", CUT_OFF, pred)])) == {
        "currency missed in 1 document": ["the same document also misses count: 2 values in all"],
        "count missed in 1 document": ["the same document also misses currency: 2 values in all"],
    }


def test_fields_that_another_document_misses_too_are_no_pair(run_of):
    two_lost = {name: value for name, value in CUT_OFF.items() if name not in {"currency", "count"}}
    one_lost = {name: value for name, value in CUT_OFF.items() if name != "currency"}
    pairs = [DocumentPair("a", CUT_OFF, two_lost), DocumentPair("b", CUT_OFF, one_lost)]

    assert [*remarks(run_of(SCHEMA, pairs)).values()] == [[], []]
