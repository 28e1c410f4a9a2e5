"""Documents that got better or worse, and their fields that broke or were fixed."""

from stickler_cli.studies.diff.measures import document_changes
from .runs import MISSED, RIGHT, WRONG, document, joined, run_of, single


def changes(base, new):
    return document_changes(joined([run_of(*base)], [run_of(*new)]))


def test_documents_in_which_nothing_changed_are_left_out():
    assert changes([single("a", True)], [single("a", True)]) == []


def test_a_document_with_the_same_errors_in_both_runs_is_listed_as_unchanged():
    before = document("a", 0.0, "missing", whole=MISSED)
    (invalid_change,) = changes([before], [{**before, "status": "invalid"}])

    assert (invalid_change.errors_before, invalid_change.errors_after, invalid_change.change) == (
        1,
        1,
        0,
    )
    assert [invalid_change.differs, invalid_change.is_better, invalid_change.is_worse] == [
        False,
        False,
        False,
    ]


def test_the_greatest_loss_comes_first_then_new_errors_then_the_id():
    base = [document(name, 0.9, whole=RIGHT, total=RIGHT) for name in "abcde"]
    new = [
        document("a", 0.95, whole=RIGHT, total=RIGHT),
        document("b", 0.9, whole={"fd": 2}, total=WRONG),
        document("c", 0.1, whole=WRONG, total=WRONG),
        document("d", 0.9, whole=WRONG, total=WRONG),
        document("e", 0.9, whole=WRONG, total=WRONG),
    ]
    found = changes(base, new)

    assert [change.id for change in found] == ["c", "b", "d", "e", "a"]
    assert [change.is_worse for change in found] == [True, True, True, True, False]
    assert [change.is_better for change in found] == [False, False, False, False, True]
    assert [change.hard for change in found] == [True, False, False, False, False]


def test_a_field_breaks_where_it_was_right_and_is_wrong():
    before = document("a", whole={"tp": 1, "fd": 1}, total=RIGHT, tax=WRONG, tip={"tn": 1})
    after = document(
        "a", 0.5, whole={"fd": 1, "tp": 1, "fa": 1}, total=WRONG, tax=RIGHT, tip={"fa": 1}
    )
    (change,) = changes([before], [after])

    assert (change.broken, change.fixed) == (["tip", "total"], ["tax"])
    assert (change.errors_before, change.errors_after) == (1, 2)
    assert (change.score_before, change.score_after, change.change) == (1.0, 0.5, -0.5)
    assert change.hard


def test_a_field_of_which_nothing_was_counted_neither_breaks_nor_is_fixed():
    before = document("a", whole=MISSED, seller=MISSED)
    after = document("a", whole=WRONG, seller=WRONG, seller__name=WRONG, tax={"score": 1.0})
    (change,) = changes([before], [after])

    assert (change.broken, change.fixed) == ([], [])


def test_a_lost_document_broke_in_all_that_was_right():
    base = document("a", 0.2, whole={"tp": 1, "fd": 1}, total=RIGHT, tax=WRONG, seller__name=RIGHT)
    found = changes([base, single("b", True)], [single("b", True)])

    assert [change.id for change in found] == ["a"]
    assert (found[0].errors_before, found[0].errors_after) == (1, 2)
    assert found[0].broken == ["seller.name", "total"]
    assert found[0].lost
    assert found[0].hard
    assert (found[0].status_after, found[0].score_after) == ("", 0.0)
