"""Which documents two runs have in common, and what was counted in each."""

from dataclasses import replace

import numpy as np
import pytest

from stickler_cli.core.problems import NotComparableError, UsageError
from stickler_cli.diff.changes import Figure
from stickler_cli.diff.counted_runs import SAMPLE_UNIT, counted
from stickler_cli.diff.paired_runs import missed, paired
from stickler_cli.runs.sorted_lines import SortedLines
from stickler_cli.score.accounts import Accounts
from stickler_cli.score.counts import RateRule
from stickler_cli.score.evaluation import Evaluation
from .runs import MISSED, RIGHT, WRONG, document, run_of, single


def test_documents_are_paired_by_id_in_its_order():
    pairs = paired(
        [run_of(single("b", True), single("a", True))],
        [run_of(single("a", False), single("b", True))],
    )

    scores = {
        pair.id: [account["score"] for side in pair.accounts for account in side]
        for pair in pairs.pairs
    }
    assert list(scores.items()) == [("a", [1.0, 0.0]), ("b", [1.0, 1.0])]
    assert (pairs.lost, pairs.only_new) == ([], [])


def test_documents_of_one_run_only_are_told():
    pairs = paired(
        [run_of(single("a", True), single("b", True))],
        [run_of(single("b", True), single("c", True))],
    )

    assert [pair.id for pair in pairs.pairs] == ["a", "b"]
    assert (pairs.lost, pairs.only_new) == (["a"], ["c"])
    first, _ = pairs.pairs
    assert (first.lines[1], first.status_after) == ([None], "")


def test_a_document_that_was_not_evaluated_is_lost_or_no_document():
    failed = document("a", None, "failed")
    some, other = run_of(single("a", True), single("b", True)), run_of(failed, single("b", True))
    pairs = paired([some], [other])

    assert pairs.lost == ["a"]
    first, _ = pairs.pairs
    assert first.status_after == "failed"
    pairs = paired([other], [some])
    assert [pair.id for pair in pairs.pairs] == ["b"]
    assert pairs.only_new == ["a"]


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        (run_of(single("a", True)), run_of(single("b", True)), "no document is in both runs"),
        (run_of(), run_of(), r"no document is in both runs \(0 in BASE, 0 in NEW\)"),
        (
            run_of(single("a", True), single("a", False)),
            run_of(single("a", True)),
            "BASE: the run has two documents with the id a",
        ),
        (
            run_of(single("a", True)),
            run_of(evaluation=Evaluation()),
            "NEW: the run has no accounts .* evaluate again with -o run.json",
        ),
    ],
)
def test_runs_without_documents_to_pair_are_refused(base, new, message):
    error = NotComparableError if message.startswith("no document") else UsageError
    with pytest.raises(error, match=message):
        paired([base], [new])


def test_accounts_in_a_file_are_joined_like_those_in_memory():
    names = [f"{number:02}" for number in range(40)]
    base = run_of(*(single(name, True) for name in names[:30]))
    new = run_of(*(single(name, False) for name in reversed(names[10:])), document("05", None))
    on_disk = [
        replace(
            run,
            evaluation=Evaluation(
                accounts=Accounts(SortedLines(run.evaluation.accounts.lines, most_bytes=1))
            ),
        )
        for run in (base, new)
    ]
    (here, there) = paired([base], [new]), paired([on_disk[0]], [on_disk[1]])

    assert [*there.pairs] == [*there.pairs] == [*here.pairs]
    assert len(there.pairs) == 30
    assert (there.lost, there.only_new) == (here.lost, here.only_new) == (names[:10], names[30:])


PLAIN = RateRule()


def table(*pairs, paths=("total",), more=(), rule=PLAIN):
    base = run_of(*(before for before, _ in pairs), paths=paths)
    new = run_of(*(after for _, after in pairs if after), single("other", True))
    both = paired([run_of(*(b for b, _ in pairs), single("other", True))], [new])
    return counted([*both.pairs][:-1], base.fields, rule, more)


def test_f1_divides_twice_tp_by_what_was_predicted_and_what_was_there():
    counts = {"tp": 3, "fd": 1, "fa": 1, "fn": 2}
    sample = table((document("a", total=counts), document("a", total=RIGHT))).sample(
        Figure(("total",), "overall", "f1")
    )

    assert sample.before.tolist() == [[6], [10]]
    assert sample.after.tolist() == [[2], [2]]


def test_recall_may_count_false_discoveries():
    pair = document("a", total={"tp": 1, "fd": 1}), document("a", total=RIGHT)

    assert table(pair).sample(Figure(("total",), "overall", "recall")).before.tolist() == [[1], [1]]
    with_fd = table(pair, rule=RateRule(recall_with_fd=True))
    assert with_fd.sample(Figure(("total",), "overall", "recall")).before.tolist() == [[1], [2]]


def test_the_whole_has_all_readings_and_a_score():
    readings = {"overall": {"tp": 1}, "aggregate": {"tp": 2}, "leaves": {"tp": 3}}
    found = table((document("a", 0.5, whole=readings), document("a", 1.0, whole=readings)))

    for reading, count in (("overall", 1), ("aggregate", 2), ("leaves", 3)):
        assert found.counts((), reading)[0, 0].tolist() == [count]
    score = found.sample(Figure((), "", "score"))
    assert score.before.tolist() == [[SAMPLE_UNIT / 2], [SAMPLE_UNIT]]
    assert found.paths == []


def test_fields_have_overall_and_what_was_asked_for():
    counts = {"overall": {"tp": 1}, "leaves": {"tp": 2}, "score": 0.25}
    pair = document("a", total=counts), document("a", total=counts)

    assert table(pair).counts(("total",), "leaves").tolist() == np.zeros((2, 5, 1)).tolist()
    found = table(pair, more={(("total",), "leaves"), (("total",), "score")})
    assert found.counts(("total",), "leaves")[:, 0].tolist() == [[2], [2]]
    sample = found.sample(Figure(("total",), "overall", "score"))
    assert sample.after.tolist() == [[SAMPLE_UNIT / 4], [SAMPLE_UNIT]]


def test_the_keys_of_a_map_are_one_field_and_can_be_asked_for():
    counts = document("a", rates__x=RIGHT, rates__y=WRONG)
    found = table((counts, counts), paths=("rates", "rates.*"), more={(("rates", "y"), "overall")})

    assert found.paths == [("rates", "*")]
    assert found.counts(("rates", "*"), "overall")[0].tolist() == [[1], [1], [0], [0], [0]]
    assert found.counts(("rates", "y"), "overall")[0].tolist() == [[0], [1], [0], [0], [0]]


def test_a_lost_document_counts_as_missed():
    before = document(
        "a",
        0.75,
        whole={"tp": 2, "fd": 1, "fa": 1, "tn": 1},
        total={"score": 0.5, "fd": 1},
        seller=RIGHT,
        seller__name=RIGHT,
    )
    found = table(
        (before, None),
        paths=("total", "seller", "seller.name"),
        more={(("total",), "score"), (("seller", "name"), "leaves")},
    )

    assert found.counts((), "overall")[1].ravel().tolist() == [0, 0, 0, 3, 1]
    assert found.counts(("seller",), "overall")[1].ravel().tolist() == [0, 0, 0, 1, 0]
    assert found.counts(("seller", "name"), "overall")[1].any() is np.False_
    assert found.counts(("seller", "name"), "leaves")[1].ravel().tolist() == [0, 0, 0, 1, 0]
    assert found.sample(Figure((), "", "score")).after.tolist() == [[0], [SAMPLE_UNIT]]
    assert found.sample(Figure(("total",), "", "score")).after.tolist() == [[0], [SAMPLE_UNIT]]


def test_what_is_below_a_missed_object_counts_in_leaves_only():
    before = document("a", seller__name=RIGHT, seller__tax=MISSED)
    fields = missed(before)["fields"]

    assert fields["seller.name"] == {
        "overall": {},
        "aggregate": {},
        "leaves": {"fn": 1, "tn": 0},
    }
    assert fields["seller.tax"]["leaves"] == {"fn": 1, "tn": 0}


def test_a_missed_field_of_a_document_counts_all_that_there_was():
    before = document("a", 0.5, total={"tp": 2, "fd": 1, "fa": 1, "tn": 1, "score": 0.5})
    account = missed(before)

    assert account["score"] == 0.0
    every = {"fn": 3, "tn": 1}
    assert account["fields"]["total"] == {
        "score": 0.0,
        "overall": every,
        "aggregate": every,
        "leaves": every,
    }
