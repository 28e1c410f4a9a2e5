"""Documents that two runs have in common, and their counts in each run."""

import pytest

from stickler_cli.core.problems import NotComparableError, UsageError
from stickler_cli.score import blocks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.sums import RateRule
from stickler_cli.studies.diff.joined_runs import SAMPLE_UNIT
from stickler_cli.studies.diff.record import Figure
from .runs import RIGHT, WRONG, document, joined, run_of, single


def scores(runs):
    """Return the scores of all documents, for each run."""
    return [runs.of_field(run, 0).score.tolist() for run in range(len(runs.rows))]


def test_documents_are_joined_by_id_in_its_order():
    runs = joined(
        [run_of(single("b", True), single("a", True))],
        [run_of(single("a", False), single("b", True))],
    )

    assert runs.ids == ["a", "b"]
    assert scores(runs) == [[1.0, 1.0], [0.0, 1.0]]
    assert (runs.lost.tolist(), runs.only_new) == ([False, False], [])


def test_documents_of_one_run_only_are_told():
    runs = joined(
        [run_of(single("a", True), single("b", True))],
        [run_of(single("b", True), single("c", True))],
    )

    assert (runs.ids, runs.lost.tolist(), runs.only_new) == (["a", "b"], [True, False], ["c"])
    assert (runs.status_before(0), runs.status_after(0)) == ("evaluated", "")
    assert scores(runs) == [[1.0, 1.0], [0.0, 1.0]]


def test_a_document_that_was_not_evaluated_is_lost_or_no_document():
    failed = document("a", None, "failed")
    base, other = run_of(single("a", True), single("b", True)), run_of(failed, single("b", True))
    runs = joined([base], [other])

    assert runs.lost.tolist() == [True, False]
    assert runs.status_after(0) == "failed"
    runs = joined([other], [base])
    assert (runs.ids, runs.only_new) == (["b"], ["a"])


def test_what_the_first_run_did_not_compare_is_missed_as_another_of_its_side_knows_it():
    first, second = run_of(single("b", True)), run_of(single("a", True), single("b", True))
    runs = joined([first, second], [second])

    assert runs.ids == ["a", "b"]
    assert runs.status_before(0) == "evaluated"
    assert scores(runs) == [[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    counts = runs.of_runs(("total",), "overall")
    assert counts[:, 0].tolist() == [[0, 1], [1, 1], [1, 1]]  # tp
    assert counts[:, 3].tolist() == [[1, 0], [0, 0], [0, 0]]  # fn


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        (
            run_of(single("a", True)),
            run_of(single("b", True)),
            "the runs have no document in common",
        ),
        (
            run_of(),
            run_of(),
            (r"the runs have no document in common \(0 documents in BASE, 0 documents in NEW\)"),
        ),
        (
            run_of(single("a", True), single("a", False)),
            run_of(single("a", True)),
            "BASE: two documents of the run have the id 'a'",
        ),
        (
            run_of(single("a", True)),
            run_of(evaluation=Evaluation()),
            "NEW: the run has no row for .* evaluate again with -o run.json",
        ),
    ],
)
def test_runs_without_documents_to_pair_are_refused(base, new, message):
    error = NotComparableError if "in common" in message else UsageError
    with pytest.raises(error, match=message):
        joined([base], [new])


def test_documents_in_a_file_are_joined_like_those_in_memory(monkeypatch):
    names = [f"{number:03}" for number in range(400)]

    left = document("050", None, "failed")

    def join_runs():
        base = run_of(*(single(name, True) for name in names[:300]))
        new = run_of(*(single(name, False) for name in reversed(names[100:])), left)
        return joined([base], [new])

    in_memory = join_runs()
    monkeypatch.setattr(blocks, "MAX_MEMORY_BYTES", 1)
    in_file = join_runs()

    assert scores(in_file) == scores(in_memory)
    assert scores(in_memory)[1] == [0.0] * 300
    assert in_file.ids == in_memory.ids == names[:300]
    assert in_file.lost.tolist() == in_memory.lost.tolist() == [True] * 100 + [False] * 200
    assert in_file.only_new == in_memory.only_new == names[300:]


PLAIN = RateRule()


def table(*pairs, paths=("total",), rule=PLAIN):
    other_documents = () if all(after for _, after in pairs) else (document("other"),)
    base = run_of(*(before for before, _ in pairs), *other_documents, paths=paths)
    new = run_of(*(after for _, after in pairs if after), *other_documents)
    return joined([base], [new], rule)


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
    table_made = table((document("a", 0.5, whole=readings), document("a", 1.0, whole=readings)))

    for reading, count in (("overall", 1), ("aggregate", 2), ("leaves", 3)):
        assert table_made.counts((), reading)[0, 0].tolist() == [count]
    score = table_made.sample(Figure((), "", "score"))
    assert score.before.tolist() == [[SAMPLE_UNIT / 2], [SAMPLE_UNIT]]
    assert table_made.counted == []


def test_fields_have_all_readings_and_a_score():
    counts = {"overall": {"tp": 1}, "leaves": {"tp": 2}, "score": 0.25}
    pair = document("a", total=counts), document("a", total=counts)

    table_made = table(pair)
    assert table_made.counts(("total",), "leaves")[:, 0].tolist() == [[2], [2]]
    sample = table_made.sample(Figure(("total",), "overall", "score"))
    assert sample.after.tolist() == [[SAMPLE_UNIT / 4], [SAMPLE_UNIT]]


def test_the_keys_of_a_map_are_one_field_and_can_be_asked_for():
    counts = document("a", rates__x=RIGHT, rates__y=WRONG)
    table_made = table((counts, counts), paths=("rates", "rates.*"))

    assert table_made.counted == [("rates", "*")]
    assert table_made.counts(("rates", "*"), "overall")[0].tolist() == [[1], [1], [0], [0], [0]]
    assert table_made.counts(("rates", "y"), "overall")[0].tolist() == [[0], [1], [0], [0], [0]]


def test_a_lost_document_counts_as_missed():
    before = document(
        "a",
        0.75,
        whole={"tp": 2, "fd": 1, "fa": 1, "tn": 1},
        total={"score": 0.5, "fd": 1},
        seller=RIGHT,
        seller__name=RIGHT,
    )
    table_made = table(
        (before, None),
        paths=("total", "seller", "seller.name"),
    )

    assert table_made.counts((), "overall")[1][:, 0].tolist() == [0, 0, 0, 3, 1]
    assert table_made.counts(("seller",), "overall")[1][:, 0].tolist() == [0, 0, 0, 1, 0]
    assert table_made.counts(("seller", "name"), "overall").tolist()[1] == [[0, 0]] * 5
    assert table_made.counts(("seller", "name"), "leaves")[1][:, 0].tolist() == [0, 0, 0, 1, 0]
    assert table_made.sample(Figure((), "", "score")).after[:, 0].tolist() == [0, SAMPLE_UNIT]
    assert table_made.sample(Figure(("total",), "", "score")).after[:, 0].tolist() == [
        0,
        SAMPLE_UNIT,
    ]


def test_cells_of_many_blocks_are_told_apart():
    documents = [document(f"{number:03}", tags={"tp": number + 1}) for number in range(300)]
    runs = joined(
        [run_of(*documents, paths=("tags",))], [run_of(*documents[::-1], paths=("tags",))]
    )

    counts = runs.of_runs(("tags",), "leaves")
    assert counts[:, 0].tolist() == [[*range(1, 301)]] * 2  # tp
