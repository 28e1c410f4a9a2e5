"""Answers of several runs: groups of equal answers, agreement, samples and estimates."""

import json

import numpy as np
import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.studies.audit.answer import (
    draw_places,
    estimate_wrong_share,
    stratify,
    weigh_places,
)
from stickler_cli.studies.audit.witnesses import (
    MAX_EXHAUSTIVE_VALUES,
    NO_DOCUMENT,
    Witnesses,
    agreement,
    count_votes,
    expected_disagreement,
    find_sharing_runs,
    rows_by_document,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "x-aws-stickler-comparator": "LevenshteinComparator",
            "x-aws-stickler-threshold": 0.8,
        },
        "total": {"type": "number"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
            },
        },
    },
}


def row(outcome, path, gt=None, pred=None, elsewhere=None, field=None, document="d"):
    field = field or "".join(step.partition("]")[2] or step for step in path.split("["))
    return {
        "document": document,
        "field": field,
        "path": path,
        "prediction_path": elsewhere,
        "outcome": outcome,
        "ground_truth_value": gt,
        "prediction_value": pred,
    }


@pytest.fixture
def witnesses(tmp_path):
    """Return a function that makes `Witnesses` from the rows of runs."""

    def make_witnesses(*runs):
        files = []
        for number, rows in enumerate(runs):
            file = tmp_path / f"{number}.jsonl"
            file.write_text("".join(json.dumps(record) + "\n" for record in rows), "utf-8")
            files.append(rows_by_document(file))
        return Witnesses(files, compile_schema(SCHEMA), Options())

    return make_witnesses


def places(witnesses):
    return {".".join(map(str, place.path)): place for place in witnesses.list_places()}


def test_answers_go_together_where_the_comparator_says_so(witnesses):
    place = places(
        witnesses(
            [row("FD", "name", "Blue Door", "Green Grocer")],
            [row("FD", "name", "Blue Door", "Green Grocers")],
            [row("FN", "name", "Blue Door")],
            [row("TP", "name", "Blue Door", "Blue Doors")],
            [],
        )
    )["name"]
    assert place.groups == [1, 1, 3, 0, NO_DOCUMENT]
    assert place.different == [("Green Grocer", [0, 1]), (None, [2])]


def test_a_value_that_only_runs_have_is_absent_elsewhere(witnesses):
    places_found = places(witnesses([row("FA", "total", pred=5)], [row("TP", "name", "x", "x")]))
    assert places_found["total"].groups == [1, 0]
    assert places_found["total"].answers == {0: (5, False), 1: (None, True)}


def test_items_stand_where_their_partners_do(witnesses):
    first_rows = [
        row("TP", "items[0].sku", "a", "a", "items[1].sku", "items.sku"),
        row("FA", "items[1].n", pred=4, field="items.n"),
    ]
    second_rows = [row("TP", "items[0].sku", "a", "a", None, "items.sku")]
    places_found = places(witnesses(first_rows, second_rows))
    assert places_found["items.0.n"].groups == [1, 0]
    assert [*places_found] == ["items.0.sku", "items.0.n"]


def test_items_that_only_runs_have_are_paired_among_them(witnesses):
    def item(position, sku, n):
        path = f"items[{position}]"
        return [
            row("FA", f"{path}.sku", pred=sku, field="items.sku"),
            row("FA", f"{path}.n", pred=n, field="items.n"),
        ]

    first_rows = [*item(0, "mouse", 1), *item(1, "lamp", 2)]
    other = [*item(0, "lamp", 2), *item(1, "chair", 9)]
    places_found = places(witnesses(first_rows, other, [row("TP", "total", 1, 1)]))
    assert places_found["items.+0.sku"].groups == [1, 0, 0]
    assert places_found["items.+1.sku"].groups == [1, 1, 0]
    assert places_found["items.+2.n"].groups == [0, 1, 0]


def test_undeclared_keys_match_where_they_are_the_same(witnesses):
    runs = witnesses([row("FA", "odd", pred=1)], [row("FA", "odd", pred=1)])
    assert places(runs)["odd"].groups == [1, 1]
    assert runs.match_values("odd", [1, 2], [1, 3]) == [True, False]
    assert runs.match_values("odd", [], []) == []
    three = witnesses([row("FA", "odd", pred=1)], [row("FA", "odd", pred=2)])
    assert places(three)["odd"].groups == [1, 2]


def groups(*rows):
    return np.array(rows, np.uint8)


def test_votes_are_of_the_same_other_answer():
    votes, against = count_votes(groups([1, 1, 0], [1, 2, 3], [0, 0, 0], [1, NO_DOCUMENT, 0]))
    assert votes.tolist() == [2, 1, 0, 1]
    assert against.tolist() == [1, 0, 3, 1]


def test_agreement_is_of_those_that_say_something():
    agreements = agreement(
        groups([0, 0, 0], [1, 1, 0], [1, 1, NO_DOCUMENT], [1, NO_DOCUMENT, NO_DOCUMENT])
    )
    assert agreements["agreement"][0].tolist() == [True, False, True, False]
    assert agreements["agreement"][1].tolist() == [True, True, True, False]
    assert [counts.tolist() for counts in agreements["pairwise"]] == [[3, 1, 1, 0], [3, 3, 1, 0]]


def equal(first_values, second_values):
    return [first == other for first, other in zip(first_values, second_values, strict=True)]


def alpha_of(answers):
    """Return Krippendorff's alpha of answers, (runs, places), by the functions of the study.

    NaN is a missing answer.
    """
    is_answered = ~np.isnan(answers)
    answer_groups = np.where(is_answered, answers + 1, NO_DOCUMENT).T.astype(np.uint8)
    several = is_answered.sum(axis=0) > 1
    above, below = (counts.sum() for counts in agreement(answer_groups)["observed"])
    values, counts = np.unique(answers[:, several][is_answered[:, several]], return_counts=True)
    chance = expected_disagreement(values.tolist(), counts.tolist(), equal, 0)
    return 1 - (1 - above / below) / chance


def test_alpha_is_that_of_another_program():
    krippendorff = pytest.importorskip("krippendorff")
    random = np.random.default_rng(3)
    for runs in (2, 3, 6):
        for kinds in (2, 5, 40):
            truth = random.integers(0, kinds, 60)
            drawn_at_random = random.integers(0, kinds, (runs, 60))
            answers = np.where(random.random((runs, 60)) < 0.6, truth, drawn_at_random)
            answers = np.where(random.random((runs, 60)) < 0.1, np.nan, answers)
            theirs = krippendorff.alpha(answers, level_of_measurement="nominal")
            assert alpha_of(answers) == pytest.approx(theirs, abs=1e-12)


def test_of_very_many_values_pairs_are_drawn():
    counts = [3] * (MAX_EXHAUSTIVE_VALUES + 100)
    by_hand = 1 - 400 * 3 * 2 / (1200 * 1199)
    disagreement = expected_disagreement([*range(400)], counts, equal, 1)
    assert disagreement == pytest.approx(by_hand)
    halves = expected_disagreement(
        [*range(400)],
        counts,
        lambda first_values, second_values: [
            first % 2 == other % 2 for first, other in zip(first_values, second_values, strict=True)
        ],
        1,
    )
    assert halves == pytest.approx(0.5, abs=0.015)
    assert expected_disagreement(["a"], [1], equal, 0) == 0
    assert expected_disagreement([None, "a"], [1, 1], equal, 0) == 1


def test_runs_that_share_other_answers_are_named():
    independent = [[1, 1, 0, 0]] * 30 + [[1, 0, 1, 0]] * 2 + [[0, 0, 1, 1]] * 3
    assert find_sharing_runs(groups(*independent)) == [[1], [0], [], []]
    assert find_sharing_runs(groups(*[[1, 1, 1, 0]] * 40)) == [[], [], [], []]
    assert find_sharing_runs(groups(*[[1, 1]] * 40)) == [[], []]


def test_half_of_what_is_left_goes_to_the_top_stratum():
    strata = np.repeat([2, 1, 0], [100, 100, 1000])
    drawn = draw_places(strata, 80, 0)
    assert len({*drawn.tolist()}) == 80
    assert np.bincount(strata[drawn]).tolist() == [20, 20, 40]
    assert np.array_equal(draw_places(strata, 80, 0), drawn)
    assert not np.array_equal(draw_places(strata, 80, 1), drawn)
    few = draw_places(np.repeat([2, 1, 0], [100, 10, 5]), 80, 0)
    assert len({*few.tolist()}) == 80
    assert len(draw_places(strata, 5000, 0)) == 1200
    assert weigh_places(strata, drawn)[strata[drawn] == 0].tolist() == [50] * 20


def test_strata_are_by_votes():
    assert stratify(np.array([0, 1, 2, 3]), 3).tolist() == [0, 1, 2, 2]
    assert stratify(np.array([0, 1, 2, 3, 6]), 6).tolist() == [0, 1, 1, 2, 2]


def test_all_looked_at_leaves_nothing_to_guess():
    strata, documents = np.array([2, 2, 0, 0]), np.arange(4)
    wrong = np.array([True, False, False, False])
    share = estimate_wrong_share(strata, np.arange(4), wrong, documents, 0.95)
    assert (share.value, share.interval) == (0.25, [0.25, 0.25])


def test_where_nothing_wrong_was_seen_it_may_be_among_the_rest():
    strata, documents = np.zeros(1000, np.intp), np.arange(1000)
    drawn = np.arange(100)
    share = estimate_wrong_share(strata, drawn, np.zeros(100, np.bool_), documents, 0.95)
    assert share.value == 0
    # 3.138 is the 0.975 quantile of a gamma distribution of 3/4, and a tenth was looked at.
    assert share.interval == [0, pytest.approx(0.03138 * 0.9**0.5, rel=0.02)]
    wrong_share = estimate_wrong_share(strata, drawn, np.ones(100, np.bool_), documents, 0.95)
    assert wrong_share.interval == [pytest.approx(1 - 0.03138 * 0.9**0.5, rel=0.01), 1]


def test_a_stratum_without_verdicts_leaves_nothing_to_say():
    strata = np.array([2, 0])
    assert (
        estimate_wrong_share(strata, np.array([0]), np.array([True]), np.arange(2), 0.95).value
        is None
    )
