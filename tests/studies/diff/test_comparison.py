"""Whole differences: trends, what decided them, and gates on changes."""

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.metrics import Measure
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import Interval, IntervalSettings
from stickler_cli.studies.diff.answer import LOWEST, compare_runs
from stickler_cli.studies.diff.measures import corrected_p, trend_by
from stickler_cli.studies.diff.record import Decision, MetricChange, Trend, TrendSettings
from .runs import MISSED, RIGHT, WRONG, compared, document, joined, run_of, single


def runs(before, after, **changes):
    """Return two runs of documents with one field.

    `before` and `after` have a character for each document: 1 if it is right.
    """
    return tuple(
        run_of(*(single(f"d{n:03}", flag == "1") for n, flag in enumerate(flags)), **changes)
        for flags in (before, after)
    )


def field(before, after, **settings):
    (only_field,) = compared(*runs(before, after), settings=TrendSettings(**settings)).fields
    return only_field


def test_six_of_six_that_get_worse_are_a_regression_by_the_exact_test():
    change = field("111111", "000000")

    assert (change.trend, change.decided_by) == (Trend.REGRESSED, Decision.EXACT)
    assert (change.before, change.after, change.change) == (1.0, 0.0, -1.0)
    assert (change.p, change.corrected_p) == (2 / 64, 2 / 64)
    assert (change.documents, change.differing, change.broken, change.fixed) == (6, 6, 6, 0)
    assert change.change < 0


def test_many_that_get_better_are_an_improvement_by_the_sampled_test():
    change = field("0" * 20, "1" * 20)

    assert (change.trend, change.decided_by) == (Trend.IMPROVED, Decision.SAMPLED)
    assert (change.p, change.fixed) == (1 / 10_000, 20)
    assert change.change > 0


def test_five_documents_are_not_enough_whatever_happens():
    change = field("11111", "00000")

    assert (change.trend, change.decided_by) == (Trend.INCONCLUSIVE, Decision.DOCUMENTS)
    assert change.p == 2 / 32


def test_four_hundred_documents_alike_but_one_are_unchanged():
    change = field("1" * 400, "0" + "1" * 399)

    assert (change.trend, change.decided_by) == (Trend.UNCHANGED, Decision.INTERVAL)
    # F1 is 798 / 799: a false discovery is in precision only
    assert change.change == -1 / 799


@pytest.mark.parametrize("documents", [1, 6, 155])
def test_where_no_document_differs_all_is_identical_however_many_there_are(documents):
    difference = compared(*runs("1" * documents, "1" * documents))

    assert {change.trend for change in (*difference.whole, *difference.fields)} == {Trend.IDENTICAL}
    assert {field_change.decided_by for field_change in difference.fields} == {Decision.EQUAL}
    assert {change.interval for change in (*difference.whole, *difference.fields)} == {None}


def test_a_change_that_only_the_test_sees_is_not_enough_data():
    interval, conditions = Interval(-0.1, 0.01), {"better": False, "enough": True}
    trend = trend_by(0.004, interval, TrendSettings(), Decision.EXACT, **conditions)

    assert trend == (Trend.INCONCLUSIVE, Decision.TEST_ALONE)
    # Nine documents of 400 broke: p is 2 / 2**9, and of the weight of one more above theirs half.
    assert field("1" * 400, "0" * 9 + "1" * 391).trend is Trend.REGRESSED
    assert field("1" * 400, "0" * 40 + "1" * 360).trend is Trend.REGRESSED


def test_a_change_that_only_the_interval_sees_is_not_enough_data():
    # Seven of eight documents broke in thirty fields: significant alone, not among thirty.
    fields = [f"f{n:02}" for n in range(30)]

    def run(entry):
        return run_of(
            *(
                document(f"d{n}", **dict.fromkeys(fields, entry if n < 7 else RIGHT))
                for n in range(8)
            ),
            paths=fields,
        )

    field_changes = compared(run(RIGHT), run(WRONG)).fields

    assert {change.corrected_p for change in field_changes} == {30 * 2 / 2**7}
    assert all(change.interval.upper < 0 for change in field_changes)
    assert {(change.trend, change.decided_by) for change in field_changes} == {
        (Trend.INCONCLUSIVE, Decision.INTERVAL_ALONE)
    }


def test_a_change_that_is_surely_smaller_than_the_margin_counts_as_none():
    before, after = "1" * 400, "0" * 9 + "1" * 391

    change = field(before, after, margin=0.1)
    assert (change.trend, change.decided_by) == (Trend.UNCHANGED, Decision.INTERVAL)
    assert change.p < 0.05


def test_what_may_be_more_than_the_margin_is_not_called_unchanged():
    change = field("1" * 20, "00" + "1" * 18)

    assert (change.trend, change.decided_by) == (Trend.INCONCLUSIVE, Decision.WIDE_INTERVAL)
    assert field("1" * 20, "00" + "1" * 18, margin=0.9).trend is Trend.UNCHANGED


def test_the_level_decides_what_is_significant():
    strict = IntervalSettings(level=0.99)

    assert field("111111", "000000", intervals=strict).trend is Trend.INCONCLUSIVE


def test_a_p_that_is_just_the_level_is_significant():
    assert TrendSettings(IntervalSettings(level=0.9)).alpha == 0.1
    assert TrendSettings().alpha == 0.05


def test_values_invented_in_a_field_that_was_always_empty_are_a_regression():
    names = [f"d{n}" for n in range(6)]
    difference = compared(
        run_of(*(document(name, total={"tn": 1}) for name in names)),
        run_of(*(document(name, total={"fa": 1}) for name in names)),
    )
    (only_field,) = difference.fields

    assert (only_field.before, only_field.after, only_field.change, only_field.interval) == (
        None,
        0.0,
        None,
        None,
    )
    assert only_field.trend is Trend.REGRESSED


def test_a_field_that_no_document_has_has_no_p():
    (only_field,) = compared(*runs("11", "11"), settings=None).fields[:1]
    assert only_field.p == 1.0
    base, new = (run_of(document("a"), paths=("none",)) for _ in range(2))
    (only_field,) = compared(base, new).fields

    assert (only_field.p, only_field.corrected_p, only_field.documents) == (None, None, 0)
    assert only_field.trend is Trend.IDENTICAL


def test_a_field_that_cannot_be_significant_is_not_one_of_many():
    names = [f"d{n}" for n in range(6)]

    def run(total, tax):
        return run_of(
            *(document(name, total=total, tax=tax if n else RIGHT) for n, name in enumerate(names)),
            paths=("total", "tax"),
        )

    total, tax = compared(run(RIGHT, RIGHT), run(WRONG, WRONG)).fields

    assert (total.differing, tax.differing) == (6, 5)
    assert (total.p, total.corrected_p) == (2 / 64, 2 / 64)
    assert (tax.p, tax.corrected_p) == (2 / 32, 4 / 32)
    assert corrected_p([], [], TrendSettings()) == []


def test_two_fields_that_broke_are_corrected_for_each_other():
    names = [f"d{n}" for n in range(7)]

    def run(counts):
        return run_of(
            *(document(name, total=counts, tax=counts) for name in names), paths=("total", "tax")
        )

    changed_fields = compared(run(RIGHT), run(MISSED)).fields

    # 2/128 x 2, then 2/128 x 1, no less than the first
    assert [change.corrected_p for change in changed_fields] == [4 / 128, 4 / 128]


def test_the_whole_has_three_readings_and_the_mean_score():
    difference = compared(*runs("1111111", "0111111"))

    assert [(change.mode, change.metric) for change in difference.whole] == [
        ("leaves", "f1"),
        ("overall", "f1"),
        ("aggregate", "f1"),
        ("", "score"),
        ("", "documents.right"),
    ]
    assert [change.change for change in difference.whole] == [*[-1 / 13] * 3, -1 / 7, -1 / 7]
    # One document was wholly right, and is no longer.
    assert {(change.broken, change.fixed) for change in difference.whole} == {(1, 0)}
    assert (difference.headline.broken, difference.headline.fixed) == (1, 0)


def test_the_share_that_is_wholly_right_is_tested_exactly():
    # Of 40 documents 16 broke and 4 were fixed: twice the chance of 16 or more heads in 20 throws.
    before, after = "1" * 16 + "0" * 4 + "1" * 20, "0" * 16 + "1" * 4 + "1" * 20
    gates = [parse_gate(text, lowest=LOWEST) for text in ("documents.right>=-0.29", "f1<=1")]
    difference = compared(*runs(before, after), gates=gates)
    share_change = difference.whole[4]

    assert (share_change.before, share_change.after, share_change.change) == (
        36 / 40,
        24 / 40,
        -0.3,
    )
    n_swaps = 4845 + 1140 + 190 + 20 + 1
    assert (share_change.p, share_change.decided_by) == (2 * n_swaps / 2**20, Decision.EXACT)
    assert (share_change.documents, share_change.differing, share_change.trend) == (
        40,
        20,
        Trend.REGRESSED,
    )
    assert [gate.passed for gate in difference.gates] == [False, True]
    assert (
        difference.gates[0].reason
        == "change of documents.right is -0.3 (the gate requires >= -0.29)"
    )


def test_of_several_runs_the_share_wholly_right_is_that_of_all():
    (right, wrong), _ = runs("10", "00"), None
    share_change = compare_runs({"a": right, "b": wrong}, {"c": wrong, "d": wrong}).whole[4]

    assert (share_change.before, share_change.after) == (1 / 4, 0)


def test_mean_scores_have_all_digits():
    scores = [0.1, 0.7, 1 / 3]
    base = run_of(*(document(name, score) for name, score in zip("abc", scores, strict=True)))
    new = run_of(*(document(name, 0.5) for name in "abc"))
    score = compared(base, new).whole[3]

    assert score.before == pytest.approx(sum(scores) / 3, abs=1e-16)
    assert score.after == 0.5


def test_documents_are_counted_by_what_became_of_them():
    base = run_of(*(single(name, name != "d") for name in "abcde"))
    new = run_of(*(single(name, name != "b") for name in "bcdf"))
    difference = compared(base, new, ("old.json", "new.json"))

    assert difference.documents == {
        "compared": 5,
        "better": 1,
        "worse": 3,
        "same": 1,
        "fewer_errors": 1,
        "more_errors": 3,
        "same_errors": 1,
        # Of the four that are right before, only c still is; d is right in the second run.
        "right_before": 4,
        "right_after": 2,
        "no_longer_right": 3,
        "newly_right": 1,
        "lost": 2,
        "only_new": 1,
    }
    assert (difference.lost, difference.only_new) == (["a", "e"], ["f"])
    assert [document_change.id for document_change in difference.worse] == ["a", "b", "e"]
    assert [document_change.id for document_change in difference.better] == ["d"]
    assert (difference.base.source, difference.new.source) == ("old.json", "new.json")


def test_documents_are_counted_by_values_lost_whatever_became_of_their_scores():
    two_wrong = {"tp": 1, "fd": 2}
    base = run_of(document("a", 0.5, whole=WRONG), document("b", 0.5, whole=WRONG))
    new = run_of(document("a", 0.9, whole=two_wrong), document("b", 0.4, whole=WRONG))
    counts = compared(base, new).documents

    assert (counts["better"], counts["worse"]) == (1, 1)
    assert (counts["fewer_errors"], counts["more_errors"], counts["same_errors"]) == (0, 1, 1)


def test_the_headline_is_the_most_significant_loss_else_f1_or_a_gain():
    def headline(base, new):
        change = compared(run_of(*base), run_of(*new)).headline
        return change.metric, change.field, change.trend

    names = [f"d{n}" for n in range(6)]
    right, wrong = (
        [document(document_name, 1.0, whole=counts) for document_name in names]
        for counts in (RIGHT, WRONG)
    )
    # Most of F1 is outside of the field that regressed.
    large = {"tp": 99, "fd": 1}
    field_right = [
        document(document_name, 0.9, whole=large, total=RIGHT) for document_name in names
    ]
    field_wrong = [
        document(document_name, 0.9, whole=large, total=WRONG) for document_name in names
    ]

    assert headline(right, right) == ("f1", (), Trend.IDENTICAL)
    # All rows have the least p of six documents, and F1 comes first.
    assert headline(right, wrong) == ("f1", (), Trend.REGRESSED)
    assert headline(wrong, right) == ("f1", (), Trend.IMPROVED)
    assert headline(field_right, field_wrong) == ("f1", ("total",), Trend.REGRESSED)
    assert headline(field_wrong, field_right) == ("f1", ("total",), Trend.IMPROVED)


def test_the_difference_does_not_depend_on_the_order_of_documents():
    names = [f"d{n}" for n in range(30)]
    base = [single(name, n % 3 > 0) for n, name in enumerate(names)]
    new = [single(name, n % 2 > 0) for n, name in enumerate(names)]

    assert compared(run_of(*base), run_of(*new)) == compared(
        run_of(*reversed(base)), run_of(*reversed(new))
    )


def test_fields_stand_as_in_the_schemas_then_those_that_only_documents_have():
    base = run_of(document("a", zeta=RIGHT, alpha=RIGHT), paths=("total",))
    new = run_of(document("a", total=RIGHT), paths=("tax", "total"))

    assert [change.field for change in compared(base, new).fields] == [
        ("total",),
        ("tax",),
        ("alpha",),
        ("zeta",),
    ]


def test_the_fields_of_a_trend_are_told_by_the_size_of_their_change():
    difference = compared(
        run_of(document("a", b=RIGHT, c={"tp": 3, "fd": 1}, d={"tn": 1})),
        run_of(document("a", b={"tp": 1, "fn": 2}, c=WRONG, d={"fa": 1})),
    )

    assert [change.field for change in difference.with_trend(Trend.INCONCLUSIVE)] == [
        ("c",),
        ("b",),
        ("d",),
    ]
    assert [change.field for change in difference.with_trend(Trend.IDENTICAL)] == [("total",)]


def judge_gate_of_change(*gates, before="1" * 100, after="0" + "1" * 99, **changes):
    parsed = [parse_gate(gate, lowest=LOWEST) for gate in gates]
    return compared(*runs(before, after, **changes), gates=parsed).gates


@pytest.mark.parametrize(
    ("gate", "passed", "reason"),
    [
        ("precision>=-0.01", True, "change of precision is -0.01 (the gate requires >= -0.01)"),
        ("total.recall >= 0", True, "change of total.recall is 0.0 (the gate requires >= 0)"),
        ("total.recall>0", False, "change of total.recall is 0.0 (the gate requires > 0)"),
        ("score>=-0.005", False, "change of score is -0.01 (the gate requires >= -0.005)"),
        ("leaves:total.fd<=0", False, "change of leaves:total.fd is 1 (the gate requires <= 0)"),
        ("fp<=1", True, "change of fp is 1 (the gate requires <= 1)"),
        ("documents.worse<=0", False, "documents.worse 1 > 0"),
        ("documents.lost==0", True, "documents.lost 0 == 0"),
        (
            "total.score>=-1",
            False,
            (
                "change of total.score is undefined: one of the runs counted no "
                "values for this figure"
            ),
        ),
    ],
)
def test_a_gate_is_about_the_change(gate, passed, reason):
    (judgement,) = judge_gate_of_change(gate)

    assert (judgement.passed, judgement.reason) == (passed, reason)


def test_a_gate_on_an_interval_asks_for_enough_documents():
    (few,) = judge_gate_of_change("f1.lower>=-0.05", before="1111", after="1111")
    (judgement,) = judge_gate_of_change("f1.lower>=-0.05", before="1" * 200, after="1" * 200)

    assert not few.passed
    assert few.value < -0.5
    assert judgement.passed


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("totl.f1>=0", "names the field totl, which does not exist.*did you mean total.f1>=0"),
        (
            "documents.wrse>=0",
            (
                "metric wrse, which does not exist, expected one of compared, better"
                ".*did you mean documents.worse>=0"
            ),
        ),
        ("f1>=-25", "-25, expected a number between -1 and 1; did you mean f1>=-0.25"),
        ("f1>=20", "did you mean f1>=0.2"),
        # Neither a share nor, as anybody would say it, a percentage.
        ("f1>=-1.5", "-1.5, expected a number between -1 and 1$"),
        ("f1>=-15", "-15, expected a number between -1 and 1$"),
        ("f1>=2", "expected a number between -1 and 1$"),
        ("f1>=-200", "expected a number between -1 and 1$"),
    ],
)
def test_a_gate_that_asks_for_nothing_is_refused(gate, message):
    with pytest.raises(UsageError, match=message):
        judge_gate_of_change(gate)


@pytest.mark.parametrize(
    ("gate", "passed", "reason"),
    [
        # Of four right values one is wrong in total, two in tax.
        (
            "*.precision>=-0.3",
            False,
            (
                "*.precision is -0.5 (the gate requires >= -0.3) in tax, the worst of 2 matching "
                "fields"
            ),
        ),
        (
            "*.precision>=-0.1",
            False,
            "*.precision is -0.5 (the gate requires >= -0.1) in tax, the worst of 2 failed fields",
        ),
        (
            "**.precision<-0.2",
            True,
            (
                "**.precision is -0.25 (the gate requires < -0.2) in total, the worst of 2 "
                "matching fields"
            ),
        ),
        (
            "*.fd<=2",
            True,
            "*.fd is 2 (the gate requires <= 2) in tax, the worst of 2 matching fields",
        ),
        (
            "*.score>=0",
            False,
            "*.score is undefined: one of the runs counted no values for this figure",
        ),
    ],
)
def test_a_gate_on_several_fields_is_judged_by_the_one_whose_change_misses_most(
    gate, passed, reason
):
    def run(totals, taxes):
        counts = {"1": RIGHT, "0": WRONG}
        return run_of(
            *(
                document(name, total=counts[total], tax=counts[tax])
                for name, total, tax in zip("abcd", totals, taxes, strict=True)
            ),
            paths=("total", "tax"),
        )

    gates = [parse_gate(gate, lowest=LOWEST)]
    (judgement,) = compared(run("1111", "1111"), run("0111", "1001"), gates=gates).gates

    assert (judgement.passed, judgement.reason) == (passed, f"change of {reason}")


def measured(**figures):
    """Return a run with these figures of metrics."""
    run = run_of(single("a", right=True))
    measures = {
        name: Measure(name, recorded_figures={name: figure}) for name, figure in figures.items()
    }
    run.evaluation.metrics.update(measures)
    return run


def test_the_metrics_of_both_runs_are_compared():
    base = measured(anls=0.5, apart=4, first=1, gone=1, came=None)
    new = measured(second=1, came=1, gone=None, apart=1, anls=0.75)

    assert compared(base, new).metrics == [
        MetricChange("anls", 0.5, 0.75, 0.25),
        MetricChange("apart", 4, 1, -3),
        MetricChange("gone", 1, None, None),
        MetricChange("came", None, 1, None),
    ]


def test_of_several_runs_a_metric_is_the_mean_of_the_figures_that_there_are():
    base = {
        "a": measured(anls=0.5, rare=1),
        "b": measured(anls=None, rare=1),
        "c": measured(anls=1, rare=1),
    }
    new = {"d": measured(anls=0.25, rare=1), "e": measured(anls=0.75)}

    assert compare_runs(base, new).metrics == [MetricChange("anls", 0.75, 0.5, -0.25)]


@pytest.mark.parametrize(
    ("gate", "passed", "reason"),
    [
        ("metric:anls>=0.25", True, "metric:anls is 0.25 (the gate requires >= 0.25)"),
        ("metric:anls>0.25", False, "metric:anls is 0.25 (the gate requires > 0.25)"),
        ("metric:gone>=-9", False, "metric:gone is undefined: the divisor of this figure is 0"),
    ],
)
def test_a_gate_on_a_metric_is_about_its_change(gate, passed, reason):
    base, new = measured(anls=0.5, gone=1), measured(anls=0.75, gone=None)
    (judgement,) = compared(base, new, gates=[parse_gate(gate)]).gates

    assert (judgement.passed, judgement.reason) == (passed, f"change of {reason}")


@pytest.mark.parametrize(
    ("figures", "expected"),
    [({"anls": 1}, "one of anls"), ({}, "the name of a metric added with --metric")],
)
def test_a_gate_on_a_metric_that_one_of_the_runs_has_not_is_refused(figures, expected):
    base, new = measured(**figures, apart=1), measured(**figures)

    with pytest.raises(
        UsageError, match=f"names the metric apart, which does not exist, expected {expected}"
    ):
        compared(base, new, gates=[parse_gate("metric:apart>=0")])


def test_a_gate_on_a_key_of_a_map_adds_no_field():
    base = run_of(document("a", rates__x=RIGHT, rates__y=RIGHT), paths=("rates", "rates.*"))
    new = run_of(document("a", rates__x=WRONG, rates__y=RIGHT), paths=("rates", "rates.*"))
    difference = compared(base, new, gates=[parse_gate("rates.x.f1>=-0.5", lowest=LOWEST)])

    assert [change.field for change in difference.fields] == [("rates",), ("rates", "*")]
    assert difference.gates[0].value == -1.0


def test_the_counts_of_pairs_are_those_of_the_runs():
    base, new = runs("110", "101")
    joined_runs = joined([base], [new])

    assert joined_runs.counts(("total",), "leaves")[:, 0].tolist() == [[1, 1, 0], [1, 0, 1]]


def test_exact_items_are_compared_and_asked_for_by_gates():
    # In each of six documents two of three items are right as a whole, then all three of four
    # predicted: F1 goes from 4 / 6 to 6 / 7, recall from 2 / 3 to 1.
    before = {"tp": 5, "fd": 1, "whole": 2, "items": 3}
    after = {"tp": 6, "fa": 2, "whole": 3, "items": 4, "invented_items": 1}
    names = [f"d{n}" for n in range(6)]
    base, new = (
        run_of(*(document(name, lines=counts) for name in names), paths=("lines", "lines.sku"))
        for counts in (before, after)
    )
    texts = [
        f"lines.{gate_text}"
        for gate_text in ("exact_f1>=0.2", "exact_recall>=0.3", "sku.exact_f1>=0", "fa<=11")
    ]
    difference = compared(base, new, gates=[parse_gate(text, lowest=LOWEST) for text in texts])

    (lines,) = difference.exact_items
    assert (lines.field, lines.mode, lines.metric) == (("lines",), "", "exact_f1")
    assert (lines.before, lines.after, lines.change) == (4 / 6, 6 / 7, 6 / 7 - 4 / 6)
    assert (lines.p, lines.corrected_p, lines.trend) == (2 / 64, 2 / 64, Trend.IMPROVED)
    assert (lines.broken, lines.fixed) == (0, 0)
    assert [gate.passed for gate in difference.gates] == [False, True, False, False]
    assert difference.gates[1].value == 1 / 3
    assert "undefined: one of the runs counted no values" in difference.gates[2].reason
    assert compared(*runs("111", "110")).exact_items == []


def test_items_of_a_lost_document_are_missed():
    # Three items in the ground truth of each, one more invented: 2 of 4 and of 3, F1 4 / 7.
    counts = {"tp": 2, "fd": 1, "fa": 1, "whole": 2, "items": 4, "invented_items": 1}
    base = run_of(*(document(f"d{n}", lines=counts) for n in range(2)), paths=("lines",))
    new = run_of(document("d0", lines=counts), paths=("lines",))
    (lines,) = compared(base, new).exact_items

    # Of six items in the ground truth and four predicted two are exact.
    assert (lines.before, lines.after) == (4 / 7, 4 / 10)
