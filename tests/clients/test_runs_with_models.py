"""Whole comparisons and runs that ask models: which questions, how often, with what results."""

import json

import pytest

from stickler_cli import (
    ComparableField,
    LLMComparator,
    SemanticComparator,
    StructuredModel,
    evaluate_many,
)
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit

PREFIX = "x-aws-stickler-"


def judged_schema(model="openai:judge", **config):
    return {
        "type": "string",
        f"{PREFIX}comparator": "LLMComparator",
        f"{PREFIX}comparator-config": {"model": model, **config},
    }


def embedded(model_id="openai:small", **annotations):
    return {
        "type": "string",
        f"{PREFIX}comparator": "SemanticComparator",
        f"{PREFIX}comparator-config": {"model_id": model_id},
        **annotations,
    }


def schema_of(**properties):
    return {"type": "object", "properties": properties}


def items_of(**properties):
    return {"type": "array", "items": schema_of(**properties)}


def compared(client, schema, gt, pred):
    account = compare(compile_schema(schema), [gt], [pred], Options(client=client))
    return tree_of(account, 0)


def judged_pairs(server):
    """Return the pairs of values that judges were asked about."""
    messages = [
        next(entry["content"] for entry in body["messages"] if entry["role"] == "user")
        for path, _, body in server.requests
        if path.endswith("/chat/completions")
    ]
    return sorted(tuple(json.loads(message).values()) for message in messages)


def embedded_texts(server):
    return [
        text
        for path, _, body in server.requests
        if path.endswith("/embeddings")
        for text in body["input"]
    ]


def test_a_judge_sees_chosen_pairs_only(server, asking):
    schema = schema_of(names=items_of(name=judged_schema()))
    gt = {"names": [{"name": f"street number {number}"} for number in range(10)]}
    pred = {"names": [{"name": f"STREET NUMBER {number}"} for number in reversed(range(10))]}
    with asking() as client:
        comparison = compared(client, schema, gt, pred)

    # 10 of the 100 pairs, each with its own number
    assert judged_pairs(server) == sorted(
        (f"STREET NUMBER {number}", f"street number {number}") for number in range(10)
    )
    assert comparison.similarity == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pred", "n_requests"), [("one", 1), ("TWO", 2), ("three", 3), ("four", 3), (None, 0)]
)
def test_a_judge_is_asked_about_each_alternative_until_one_is_right(
    server, asking, pred, n_requests
):
    plan = compile_schema(schema_of(a=judged_schema()))
    gt = {"a": {"_value": "ONE", "_alternatives": ["two", "THREE"]}}
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    with asking() as client:
        options = Options(client=client)
        account = compare(plan, [bare.value], [{"a": pred}], options, gold=[bare.gold])

    firsts = ["ONE", "two", "THREE"][:n_requests]
    assert judged_pairs(server) == sorted(tuple(sorted((first, pred))) for first in firsts)
    assert tree_of(account, 0).similarity == float(pred in ("one", "TWO", "three"))


def test_a_list_of_judged_values_is_paired_by_edit_distance(server, asking):
    schema = schema_of(cities={"type": "array", "items": judged_schema()})
    server.verdict = lambda first, other: (False, "nothing is alike")
    with asking() as client:
        comparison = compared(
            client,
            schema,
            {"cities": ["Berlin", "Paris"]},
            {"cities": ["paris", "Berlin-Mitte", "Xyz"]},
        )

    assert judged_pairs(server) == [("Berlin", "Berlin-Mitte"), ("Paris", "paris")]
    # two false discoveries and a false alarm: by edit distance they would be 0.5 and 1.0
    (field,) = comparison.fields
    assert field.similarity == 0.0
    assert [entry.explanation for entry in batch_of_unit(comparison).errors(0)] == [
        "below threshold (0.000 < 0.5): nothing is alike",
        "below threshold (0.000 < 0.5): nothing is alike",
        "unmatched prediction",
    ]


def test_pairs_at_or_below_the_floor_are_not_judged(server, asking):
    schema = schema_of(cities={"type": "array", "items": judged_schema()})
    with asking() as client:
        compared(client, schema, {"cities": ["IBM"]}, {"cities": ["Big Blue Corporation"]})

    assert server.requests == []


def test_with_a_floor_of_minus_one_all_of_the_shorter_side_are_judged(server, asking):
    cities = {"type": "array", "items": judged_schema(), f"{PREFIX}pairing-floor": -1}
    with asking() as client:
        compared(client, schema_of(cities=cities), {"cities": ["IBM"]}, {"cities": ["Big Blue"]})

    assert judged_pairs(server) == [("Big Blue", "IBM")]


def test_a_judge_is_asked_when_the_pairs_that_embeddings_decide_are_known(server, asking):
    server.embedding = lambda text: [float(text[0] == letter) for letter in "abc"]
    schema = schema_of(rows=items_of(key=embedded(), note=judged_schema()))
    gt = [{"key": f"{letter} one", "note": f"of {letter}"} for letter in "abc"]
    pred = [{"key": f"{letter} two", "note": f"OF {letter}"} for letter in "cab"]
    with asking() as client:
        comparison = compared(client, schema, {"rows": gt}, {"rows": pred})

    assert judged_pairs(server) == [("OF a", "of a"), ("OF b", "of b"), ("OF c", "of c")]
    assert sorted(embedded_texts(server)) == ["a one", "a two", "b one", "b two", "c one", "c two"]
    assert comparison.similarity == 1.0


def test_all_texts_of_a_field_of_many_documents_are_embedded_together_and_once(server, asking):
    schema = schema_of(kind=embedded(), other=embedded())
    pairs = [
        ({"kind": f"kind {number % 7}", "other": "car"}, {"kind": "banana", "other": "automobile"})
        for number in range(60)
    ]
    with asking() as client:
        evaluation = evaluate_many(schema, pairs, client=client)

    assert len(server.requests) == 2
    assert sorted(embedded_texts(server)) == sorted(
        ["automobile", "banana", "car", *(f"kind {number}" for number in range(7))]
    )
    assert evaluation.evaluated == 60


@pytest.mark.slow
def test_a_long_run_asks_for_some_documents_at_a_time_and_gives_the_same(server, asking):
    schema = schema_of(name=judged_schema(), text=embedded())
    pairs = [
        (
            {"name": f"Name {number}", "text": "car"},
            {"name": f"NAME {number}", "text": "automobile"},
        )
        for number in range(80)  # of which 64 are asked about together
    ]
    with asking() as client:
        first = evaluate_many(schema, pairs, client=client)
    n_requests = len(server.requests)
    with asking() as client:
        second = evaluate_many(schema, pairs, client=client)

    assert n_requests == 1 + 80  # the two texts of the first documents are all there are
    assert len(server.requests) == n_requests
    assert first == second
    assert client.usage.calls == 0
    assert first.overall_score == pytest.approx((1 + 0.8) / 2)


def test_a_question_without_an_answer_fails_its_own_documents_only(server, asking):
    def verdict(first, other):
        return (True, "fine") if "poison" not in first else ("neither", 3)

    server.verdict = verdict
    schema = schema_of(rows=items_of(name=judged_schema()))
    pairs = [
        (name, {"rows": [{"name": f"{name} street"}]}, {"rows": [{"name": f"{name} st"}]})
        for name in ("good", "poison", "better")
    ]
    with asking(attempts=1) as client:
        evaluation = evaluate_many(schema, pairs, client=client)

    assert evaluation.evaluated == 2
    (problem,) = evaluation.problems
    assert (problem.document, problem.status) == ("poison", "failed")
    assert "in field rows.name, comparator LLMComparator failed when it compared" in problem.problem
    assert "the model's answer is not a valid verdict" in problem.problem


def test_a_failed_embedding_fails_the_documents_that_hold_the_text(server, asking):
    server.embedding = lambda text: [] if text == "poison" else [1.0, 0.0]
    schema = schema_of(text=embedded("amazon.titan-embed-text-v2:0"))
    pairs = [
        ("a", {"text": "one"}, {"text": "two"}),
        ("b", {"text": "poison"}, {"text": "two"}),
        ("c", {"text": "one"}, {"text": "poison"}),
    ]
    with asking(attempts=1) as client:
        evaluation = evaluate_many(schema, pairs, client=client)

    assert [problem.document for problem in sorted(evaluation.problems)] == ["b", "c"]
    assert evaluation.evaluated == 1


@pytest.mark.slow
def test_documents_beyond_the_limit_on_judged_pairs_fail_and_others_are_told(server, asking):
    schema = schema_of(name=judged_schema())
    pairs = [({"name": f"a {number}"}, {"name": f"b {number}"}) for number in range(20)]
    with asking(max_pairs=19) as client:
        evaluation = evaluate_many(schema, pairs, client=client)

    assert evaluation.evaluated == 19
    assert len(server.requests) == 19
    (problem,) = evaluation.problems
    assert "the limit of 19 pairs (--max-pairs) has been reached" in problem.problem


def test_mixed_kinds_in_a_list_cost_no_judge_but_for_chosen_pairs(server, asking):
    arms = {"anyOf": [judged_schema(), {"type": "object", "properties": {"name": judged_schema()}}]}
    schema = schema_of(things={"type": "array", "items": arms})
    gt = {"things": ["first thing", {"name": "second thing"}, "third thing"]}
    pred = {"things": [{"name": "Second thing"}, "Third thing", "First thing"]}
    with asking() as client:
        compared(client, schema, gt, pred)

    assert judged_pairs(server) == [
        ("First thing", "first thing"),
        ("Second thing", "second thing"),
        ("Third thing", "third thing"),
    ]


def test_lists_of_lists_and_tuples_are_paired_without_a_judge(server, asking):
    rows = {"type": "array", "items": {"type": "array", "items": judged_schema()}}
    places = {
        "type": "array",
        "items": {"type": "array", "prefixItems": [judged_schema(), {"type": "number"}]},
    }
    schema = schema_of(rows=rows, places=places)
    gt = {"rows": [["ab", "cd"], ["ef"]], "places": [["gh", 1], ["ij", 2]]}
    pred = {"rows": [["EF"], ["CD", "AB"]], "places": [["IJ", 2], ["GH", 1]]}
    with asking() as client:
        comparison = compared(client, schema, gt, pred)

    assert judged_pairs(server) == [
        ("AB", "ab"),
        ("CD", "cd"),
        ("EF", "ef"),
        ("GH", "gh"),
        ("IJ", "ij"),
    ]
    assert comparison.similarity == 1.0


def test_long_lists_with_other_slow_fields_ask_about_chosen_pairs_only(server, asking):
    row = {"note": judged_schema(), "day": {"type": "string", "format": "date"}, "text": embedded()}
    schema = schema_of(rows=items_of(**row))
    gt = [
        {"note": f"note {number}", "day": f"2024-01-{number + 1:02}", "text": "car"}
        for number in range(12)
    ]
    pred = [{**entry, "note": entry["note"].upper(), "text": "auto"} for entry in reversed(gt)]
    with asking() as client:
        compared(client, schema, {"rows": gt}, {"rows": pred})

    assert len(judged_pairs(server)) == 12
    assert sorted(embedded_texts(server)) == ["auto", "car"]


def test_the_judges_reason_is_in_the_non_matches(server, asking):
    server.verdict = lambda first, other: (False, "another street")
    with asking() as client:
        comparison = compared(
            client, schema_of(street=judged_schema()), {"street": "Main St"}, {"street": "Side St"}
        )

    (entry,) = batch_of_unit(comparison).errors(0)
    assert (entry.reason, entry.judge) == ("below threshold (0.000 < 0.5)", "another street")


def test_a_model_class_asks_all_of_a_list_together(server, asking):
    places = {"type": "array", "items": embedded()}
    place = StructuredModel.from_json_schema(schema_of(a=places, b=embedded()))
    with asking():
        result = place(a=["car", "banana"], b="car").compare_with(
            place(a=["banana", "automobile"], b="car")
        )

    assert sorted(embedded_texts(server)) == ["automobile", "banana", "car"]
    assert len(server.requests) == 1
    assert result["field_scores"] == {"a": 0.9, "b": 1.0}


def test_the_comparators_of_a_class_share_a_client(server):
    place = StructuredModel.from_json_schema(
        schema_of(a=embedded(), b=embedded(), c=judged_schema())
    )
    for _ in range(2):
        place(a="car", b="banana", c="x").compare_with(place(a="banana", b="sun", c="X"))

    assert place.comparison_plan().client.usage.calls == len(server.requests) == 3
    assert embedded_texts(server) == ["car", "banana", "sun"]


def test_a_comparison_asks_by_the_client_that_it_is_given(server, asking):
    place = StructuredModel.from_json_schema(schema_of(a=embedded()))
    with asking(cache=False) as client:
        place(a="car").compare_with(place(a="banana"), options=Options(client=client))

    assert client.usage.calls == 1


def test_a_model_written_in_python_asks(server, asking):
    class Place(StructuredModel):
        a: str = ComparableField(comparator=SemanticComparator("openai:small"))
        b: str = ComparableField(comparator=LLMComparator("openai:judge"))

    with asking(cache=False):
        score = Place(a="car", b="Banana").compare(Place(a="automobile", b="banana"))

    assert score == pytest.approx(0.9)
    assert len(server.requests) == 2


def test_a_function_of_ones_own_is_called_once_for_each_text_of_a_run(asking, own_cache):
    requests = []

    def embedding(text):
        requests.append(text)
        return [1.0, len(text)]

    class Place(StructuredModel):
        a: str = ComparableField(comparator=SemanticComparator(embedding_function=embedding))
        b: str = ComparableField(comparator=SemanticComparator(embedding_function=embedding))

    pairs = [(Place(a="one", b="two"), Place(a="two", b="three")) for _ in range(5)]
    with asking() as client:
        evaluation = evaluate_many(Place, pairs, client=client)

    assert sorted(requests) == ["one", "three", "two"]
    assert evaluation.evaluated == 5
    assert not own_cache.exists()  # nothing tells whether a function still does the same


def test_functions_are_told_apart_and_counted_in_a_dry_run(asking):
    class Place(StructuredModel):
        a: str = ComparableField(comparator=SemanticComparator(embedding_function=embed_as_ones))
        b: str = ComparableField(comparator=SemanticComparator(embedding_function=lengths))

    with asking(dry_run=True) as client:
        evaluate_many(Place, [(Place(a="one", b="one"), Place(a="two", b="three"))], client=client)
        needs = [(need.model.title, need.questions) for need in client.needs]

    assert needs == [("embed_as_ones", 2), ("lengths", 2)]


def embed_as_ones(text):
    return [1.0, 1.0]


def lengths(text):
    return [1.0, len(text)]
