import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.problems import UsageError, Violation
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.score.batch import Batch
from stickler_cli.score.folds import SHOWN, Validity, Verdict, verdict_view
from .batches import evaluate, not_compared


def violation(keyword: str = "type", field: str = "a", pointer: str = "/a") -> Violation:
    return Violation(keyword, field, pointer, f"{keyword} {pointer}")


def result(document: str, pred: Verdict = (), gt: Verdict = ()) -> Batch:
    return not_compared(document, verdicts={"pred": pred, "gt": gt})


def test_verdicts_are_counted_by_document_keyword_and_field():
    item = [violation("required", "b[].c", f"/b/{index}") for index in (2, 10)]
    evaluation = evaluate(
        [
            result("c", [*item, violation()]),
            result("b", [violation("required", "b[].c", "/b/0")]),
            result("a"),
            result("d", None),
        ]
    )

    assert evaluation.to_dict()["validity"] == {
        "pred": {
            "checked": 4,
            "valid": 1,
            "invalid": 2,
            "unreadable": 1,
            "share": 0.25,
            "keywords": {"required": 3, "type": 1},
            "violations": [
                {
                    "keyword": "required",
                    "field": "b[].c",
                    "count": 3,
                    "documents": 2,
                    "example": {"document": "b", "pointer": "/b/0", "message": "required /b/0"},
                },
                {
                    "keyword": "type",
                    "field": "a",
                    "count": 1,
                    "documents": 1,
                    "example": {"document": "c", "pointer": "/a", "message": "type /a"},
                },
            ],
        },
        "gt": {
            "checked": 4,
            "valid": 4,
            "invalid": 0,
            "unreadable": 0,
            "share": 1.0,
            "keywords": {},
            "violations": [],
        },
    }
    assert evaluation.to_dict()["documents"]["schema_invalid"] == {"pred": 2, "gt": 0}


def test_where_nothing_was_checked_nothing_is_said():
    record = evaluate([not_compared("a")]).to_dict()

    assert "validity" not in record
    assert "schema_invalid" not in record["documents"]
    assert Validity().share is None


def test_of_equally_frequent_violations_the_order_is_that_of_the_fields():
    validity = Validity()
    validity.update("a", [violation("type", "b"), violation("type", "a"), violation("enum", "a")])

    assert [(entry.keyword, entry.field) for entry in validity.most_frequent()] == [
        ("enum", "a"),
        ("type", "a"),
        ("type", "b"),
    ]


def test_verdicts_of_two_parts_of_a_run_add_up():
    first, second = Validity(), Validity()
    first.update("a", ())
    first.update("b", [violation("type", "a"), violation("enum", "a")])
    second.update("c", ())
    second.update("d", [violation("type", "b"), violation("type"), violation("const", "z")])
    second.update("e", None)

    first.merge(second)

    assert (first.checked, first.valid, first.invalid, first.unreadable) == (5, 2, 2, 1)
    view = first.view()
    assert list(view["keywords"].items()) == [("type", 3), ("const", 1), ("enum", 1)]
    most = [(it.field, it.keyword, it.count) for it in first.most_frequent()]
    assert most == [("a", "type", 2), ("a", "enum", 1), ("b", "type", 1), ("z", "const", 1)]


def test_a_verdict_shows_its_first_violations_and_counts_all():
    view = verdict_view([violation(pointer=f"/{n}") for n in range(SHOWN + 5)])

    assert (view["valid"], view["count"]) == (False, SHOWN + 5)
    assert isinstance(view["violations"], list)
    assert len(view["violations"]) == SHOWN
    assert view["violations"][0] == {
        "keyword": "type",
        "field": "a",
        "pointer": "/0",
        "message": "type /0",
    }
    assert verdict_view(()) == {"valid": True, "count": 0, "violations": []}
    assert verdict_view(None) == {"valid": False, "count": 0, "violations": []}


VIOLATIONS = st.builds(
    violation,
    st.sampled_from(["type", "required"]),
    st.sampled_from(["a", "b[]"]),
    st.sampled_from(["", "/a"]),
)
VERDICTS = st.none() | st.lists(VIOLATIONS, max_size=4)
RESULTS = st.lists(st.builds(result, st.sampled_from("abc"), VERDICTS, VERDICTS), max_size=6)


@given(RESULTS, st.randoms(use_true_random=False), st.integers(0, 6))
def test_verdicts_add_in_any_order_to_the_same_bytes(results, random, cut):
    shuffled = random.sample(results, len(results))
    left, right = evaluate(shuffled[cut:]), evaluate(shuffled[:cut])
    left.merge(read_evaluation(json.loads(json.dumps(right.to_dict()))))

    assert json.dumps(left.to_dict()) == json.dumps(evaluate(results).to_dict())


def test_counts_that_contradict_each_other_are_refused():
    record = evaluate([result("a")]).to_dict()
    validity = json.loads(json.dumps(record["validity"]))
    validity["pred"]["valid"] = 2

    with pytest.raises(UsageError, match="/validity/pred/checked"):
        read_evaluation({**record, "validity": validity})
