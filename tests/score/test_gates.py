"""Gates: how they are parsed, which figures they check, and when they fail."""

import pytest

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.metrics import Measure
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Conditions, Evaluation
from stickler_cli.score.folds import Validity
from stickler_cli.score.gate_verdicts import judge_fields, judge_gate, judge_value
from stickler_cli.score.gates import (
    check_metrics,
    check_no_bounds,
    check_no_resampled_bounds,
    check_paths,
    fields_of_gate,
    omit_added_limit,
    parse_gate,
    parse_gates,
)
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run, SchemaSignature, with_counting
from stickler_cli.score.sums import SCORE_SCALE, RateRule, Tally
from stickler_cli.settings.deciding import RunOptions
from .batches import TEXT, add_confidences, an_object, batch

PLAN = compile_schema(an_object(id=TEXT, total=TEXT))


def evaluation(**fields: list[int]) -> Evaluation:
    """Return an evaluation with the given counts of fields, the same in every counting mode.

    The whole document has the sum of these counts.
    """
    result = Evaluation()
    result.statuses[Status.EVALUATED] = 2
    for name, counts in fields.items():
        cell, scores = [*counts * 3, 0, 0, 0], (2, SCORE_SCALE, SCORE_SCALE)
        result.sums.add_tally((name,), Tally(cell, Tally().moments, *scores))
        result.sums.add_tally((), Tally(cell))
    result.tally.n_scored, result.tally.score_sum = 2, SCORE_SCALE
    return result


def set_overall(tally: Tally, counts: list[int]) -> None:
    """Replace the `overall` counts of a tally; other modes keep theirs."""
    tally.cell[: len(counts)] = counts


def hint_of(function, *arguments, **options):
    """Return the hint with which a call refuses a gate for a single problem."""
    with pytest.raises(UsageError) as caught:
        function(*arguments, **options)
    (problem,) = caught.value.problems
    return problem.hint


@pytest.mark.parametrize(
    ("text", "mode", "path", "metric", "operator", "limit"),
    [
        ("f1>=0.9", "", (), "f1", ">=", 0.9),
        ("leaves:f1 >= 0.9", "leaves", (), "f1", ">=", 0.9),
        ("aggregate:recall>0.5", "aggregate", (), "recall", ">", 0.5),
        ("line_items.unit_price.f1>=0.95", "", ("line_items", "unit_price"), "f1", ">=", 0.95),
        ('["unit price"].f1<=1', "", ("unit price",), "f1", "<=", 1.0),
        ("documents.invalid<=0", "", ("documents",), "invalid", "<=", 0.0),
        ("documents.f1>=0.5", "", ("documents",), "f1", ">=", 0.5),
        ("overall:lines.f1>=0.5", "overall", ("lines",), "f1", ">=", 0.5),
        ("**.price.f1>=0.5", "", ("**", "price"), "f1", ">=", 0.5),
        ("score>=.9", "", (), "score", ">=", 0.9),
        ("fd<20", "", (), "fd", "<", 20.0),
        ("fn==0", "", (), "fn", "==", 0.0),
        ("tp!=0", "", (), "tp", "!=", 0.0),
        ("confidence.brier<=0.2", "", (), "confidence.brier", "<=", 0.2),
        ("confidence.total.mce<1", "", ("total",), "confidence.mce", "<", 1.0),
        ("confidence.log_loss<=3", "", (), "confidence.log_loss", "<=", 3.0),
        ("confidence.f1>=0.5", "", ("confidence",), "f1", ">=", 0.5),
        ('["a:b"].f1>=0.5', "", ("a:b",), "f1", ">=", 0.5),
    ],
)
def test_a_gate_is_read_into_its_parts(text, mode, path, metric, operator, limit):
    gate = parse_gate(text)
    assert (gate.mode, gate.path, gate.metric) == (mode, path, metric)
    assert (gate.operator, gate.limit) == (operator, limit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f1", "is not a gate"),
        ("f1>=", "the limit is ''"),
        ("tp<=inf", "the limit is 'inf'"),
        ("f1>=high", "the limit is 'high'"),
        ("f_1>=0.9", "did you mean f1>=0.9?"),
        ("f1_score>=0.9", "did you mean f1>=0.9?"),
        ("f_score>=0.9", "did you mean f1>=0.9?"),
        ("f-measure>=0.9", "did you mean f1>=0.9?"),
        ("fone>=0.9", "did you mean f1>=0.9?"),
        ("name>=0.9", "if name is a field, write name.f1>=0.9"),
        ("lines.price >= 0.9", "if lines.price is a field, write lines.price.f1>=0.9"),
        ("wholly_right>=0.5", "did you mean documents.right>=0.5?"),
        (
            "wholly_right.lower>=0.5",
            (
                "in 'wholly_right.lower>=0.5', wholly_right has no lower bound, expected the lower "
                "bound of one of precision, recall, f1, accuracy, score, documents.right; did you "
                "mean documents.right.lower>=0.5?"
            ),
        ),
        (
            "right.upper<=0.5",
            (
                "in 'right.upper<=0.5', right has no upper bound, expected the upper bound of one "
                "of precision, recall, f1, accuracy, score, documents.right; did you mean "
                "documents.right.upper<=0.5?"
            ),
        ),
        ("lower>=0.5", "names the metric lower, which does not exist, expected one of precision"),
        (
            "confidence.total.coverage.lower>=0.5",
            (
                "in 'confidence.total.coverage.lower>=0.5', coverage has no lower bound, expected "
                "the lower bound of one of auroc,"
            ),
        ),
        ("mean_score>=0.9", "did you mean score>=0.9?"),
        ("precision@1>=0.2", "if precision@1 is a field, write precision@1.f1>=0.2"),
        ("f1>0.9>0.8", "more than one comparison"),
        ("f1>0.9>0.8", "; give each its own --gate"),
        ("f1<>0.9", "did you mean f1!=0.9?"),
        ("tpp>=0.25", "if tpp is a field, write tpp.f1>=0.25"),
        ("missed<=0.05", "expected a whole number: missed is a count"),
        ("a.fn<=0.5", "expected a whole number: fn is a count"),
        ("name.precison>0.5", "did you mean name.precision>0.5?"),
        ("precison.precison>0.5", "did you mean precison.precision>0.5?"),
        ("tpp>=90", "did you mean tp>=90?"),
        ("leavs:a:b.f1>=0.9", "did you mean leaves:a:b.f1>=0.9?"),
        ("brier<=0.2", "did you mean confidence.brier<=0.2?"),
        ("confidence.brierr<=0.2", "did you mean confidence.brier<=0.2?"),
        ("f1.lowr>=0.5", "did you mean f1.lower>=0.5?"),
        ("name.f1.price>=0.5", "expected one of precision, recall, f1, accuracy, score, tp, fd"),
        ("f1=0.9 and recall=0.9", "is not a gate"),
        ("leavs:name.f1>=0.9", "did you mean leaves:name.f1>=0.9?"),
        ("f1=>0.9", "did you mean f1>=0.9?"),
        ("name.f1 =< 0.9", "did you mean name.f1 <= 0.9?"),
        ("f1=0.9", "did you mean f1==0.9?"),
        ("f1≥0.9", "did you mean f1>=0.9?"),
        ("lines[0].f1>=0.9", "names one list element"),
        ("lines[0].price.f1>=0.9", "did you mean lines.price.f1>=0.9?"),
        ("a..f1>=0.9", "is not a field path"),
        (">=0.9", "has no metric"),
        ("f1>=90", "did you mean f1>=0.9?"),
        ("leaves:a.recall<=99", "did you mean leaves:a.recall<=0.99?"),
        ("f1>=100", "did you mean f1>=1?"),
        ("f1>=95", "did you mean f1>=0.95?"),
        ("f1>=1.5", "between 0 and 1"),
        ("recall>=-1", "between 0 and 1"),
    ],
)
def test_what_is_no_gate_is_refused_with_what_it_could_be(text, message):
    with pytest.raises(UsageError) as caught:
        parse_gate(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a.wrog<=0.5", "did you mean a.wrong<=0.5?"),
        ("a.f1<=0.5", ""),
        ("a<=0.5", ""),
        ("a.f_score<=0.5", ""),
    ],
)
def test_metrics_of_a_study_are_what_may_be_meant(text, hint):
    assert hint_of(parse_gate, text, metrics=("wrong", "alpha")) == hint


@pytest.mark.parametrize(
    ("text", "value"),
    [("right>=9", 9), ("a.wrong<=1", 1), ("invented<=3", 3), ("a.missed<=2", 2), ("absent==4", 4)],
)
def test_a_gate_may_name_counts_as_the_table_does(text, value):
    result = judge_gate(parse_gate(text), evaluation(a=[9, 1, 3, 2, 4]))

    assert (result.value, result.passed) == (value, True)
    assert result.reason.startswith(text.rstrip("0123456789").rstrip("<>="))


NAMED_AS_COUNTS = [("right",), ("lines",), ("lines", "missed"), ("documents",)]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("right>=5", "for the number, write tp>=5; for the field, name a metric, such as right.f1"),
        (
            "lines.missed <= 5",
            (
                "for the number, write lines.fn <= 5; for the field, name a metric, such as "
                "lines.missed.f1"
            ),
        ),
    ],
)
def test_a_gate_that_could_mean_a_field_or_a_count_is_refused(text, hint):
    assert hint_of(check_paths, [parse_gate(text)], NAMED_AS_COUNTS) == hint


@pytest.mark.parametrize(
    "text",
    ["tp>=5", "right.f1>=0.5", "right.right>=5", "lines.fn<=5", "lines.missed.missed<=5",
     "missed<=5", "lines.wrong<=5", "documents.right>=0.5", "leaves:documents.right>=5",
     "documents.tp>=5"],
)  # fmt: skip
def test_a_field_may_be_called_as_a_count_is(text):
    check_paths([parse_gate(text)], NAMED_AS_COUNTS)


def test_a_set_before_documents_asks_for_a_field_of_that_name():
    run_evaluation = evaluation(documents=[3, 0, 0, 0, 0])

    assert judge_gate(parse_gate("leaves:documents.right>=3"), run_evaluation).value == 3
    assert judge_gate(parse_gate("documents.right>=0.5"), run_evaluation).value is None


@pytest.mark.parametrize(
    "text",
    ["good", "f1>=101", "f1>=1.5", "f1>=2", "f1>=15", "recall>=-1", "recall>=-50",
     # Neither the name nor its correction would be a gate with this limit.
     "price>=3", "recal>=90", "tp.lower>=3", "f1.min>=0.5", ">=0.5"],
)  # fmt: skip
def test_a_hint_is_given_only_if_it_would_be_taken(text):
    assert hint_of(parse_gate, text) == ""


@pytest.mark.parametrize(
    ("text", "passed", "reason"),
    [
        # 9 TP, 1 FD, 1 FN: precision 9/10, recall 9/10, F1 18/20.
        ("f1>=0.9", True, "f1 0.9 >= 0.9"),
        ("f1>0.9", False, "f1 0.9 <= 0.9"),
        ("precision>=0.91", False, "precision 0.9 < 0.91"),
        ("a.recall>=0.9", True, "a.recall 0.9 >= 0.9"),
        ("accuracy<=0.5", False, "accuracy 0.818 > 0.5"),
        ("fd<=1", True, "fd 1 <= 1"),
        ("fp==0", False, "fp 1 != 0"),
        ("fn!=1", False, "fn 1 == 1"),
        ("score>=0.5", True, "score 0.5 >= 0.5"),
        ("a.score<0.5", False, "a.score 0.5 >= 0.5"),
        ("documents.evaluated>=2", True, "documents.evaluated 2 >= 2"),
    ],
)
def test_a_gate_compares_the_exact_value_and_says_how(text, passed, reason):
    result = judge_gate(parse_gate(text), evaluation(a=[9, 1, 0, 1, 0]))
    assert (result.passed, result.reason) == (passed, reason)


def test_a_result_names_its_field_and_a_key_may_have_an_operator_in_it():
    run_evaluation = evaluation(a=[9, 1, 0, 1, 0], **{"b>=c": [1, 0, 0, 0, 0]})
    judgement = judge_gate(parse_gate('["b>=c"].f1>=0.5'), run_evaluation)
    assert (judgement.reason, judgement.field) == ('["b>=c"].f1 1.0 >= 0.5', "b>=c")
    assert judge_gate(parse_gate("a.f1>=0.5"), run_evaluation).field == "a"
    assert judge_gate(parse_gate("d.f1>=0.5"), run_evaluation).field == "d"
    assert judge_gate(parse_gate("f1>=0.5"), run_evaluation).field == ""
    assert judge_gate(parse_gate("documents.failed<=0"), run_evaluation).field == ""


def test_a_least_f1_is_a_gate_before_the_others():
    assert parse_gates(None, []) == []
    first, second = parse_gates(0.5, ["recall>0"])
    assert (first.text, second.text) == ("f1>=0.5", "recall>0")
    with pytest.raises(UsageError, match="--fail-under"):
        parse_gates(50, [])


def test_a_gate_may_ask_for_valid_documents():
    run_evaluation = evaluation(a=[9, 1, 0, 1, 0])
    run_evaluation.validity["pred"] = Validity(checked=8, valid=5, unreadable=1)
    assert judge_gate(parse_gate("documents.schema_invalid<=2"), run_evaluation).value == 2
    assert (
        judge_gate(parse_gate("documents.schema_valid_share>=0.6"), run_evaluation).value == 0.625
    )


def test_recall_with_fd_changes_what_a_gate_compares():
    gate = parse_gate("recall>=0.9")
    assert judge_gate(gate, evaluation(a=[9, 1, 0, 1, 0])).passed
    assert not judge_gate(gate, evaluation(a=[9, 1, 0, 1, 0]), RateRule(recall_with_fd=True)).passed


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("f1>=0", [0, 0, 0, 0, 3]),
        ("precision>=0", [0, 0, 0, 2, 0]),
        ("recall>=0", [0, 0, 2, 0, 0]),
        ("recall>=0", [0, 2, 0, 0, 0]),
        ("accuracy>=0", [0, 0, 0, 0, 0]),
        ("b.f1<=1", [1, 0, 0, 0, 0]),
        ("*.f1>=0", [0, 0, 0, 0, 1]),
    ],
)
def test_an_empty_denominator_never_passes_and_says_so(text, counts):
    gate = parse_gate(text)
    result = judge_gate(gate, evaluation(a=counts))
    assert (result.gate, result.limit, result.passed) == (gate, gate.limit, False)
    assert result.value is None
    asked = text.partition(gate.operator)[0]
    assert result.reason == f"{asked} is undefined: nothing was counted"


def test_a_gate_on_a_score_takes_that_of_its_field_or_of_the_documents():
    run_evaluation = evaluation(a=[1, 0, 0, 0, 0])
    run_evaluation.sums["a",].score_sum = SCORE_SCALE // 2

    assert judge_gate(parse_gate("score>=0.5"), run_evaluation).value == 0.5
    assert judge_gate(parse_gate("a.score>=0.5"), run_evaluation).value == 0.25


def test_a_field_may_be_called_documents():
    assert (
        judge_gate(parse_gate("documents.f1>=0.5"), evaluation(documents=[1, 0, 0, 0, 0])).value
        == 1
    )
    with pytest.raises(UsageError, match="the field documents, which does not exist"):
        check_paths([parse_gate("documents.f1>=0.5")], KNOWN)


def test_a_count_of_documents_that_there_is_not_lists_those_that_there_are():
    with pytest.raises(UsageError, match="evaluated, missing, invalid"):
        judge_gate(parse_gate("documents.lost<=0"), Evaluation())


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("documents.missed<=3", "did you mean documents.missing<=3?"),
        ("documents.wholly_right>=0.5", "did you mean documents.right>=0.5?"),
        ("documents.d>=1", "did you mean documents.duplicate_keys>=1?"),
        ("documents.xyz<=0", ""),
    ],
)
def test_a_kind_of_documents_is_corrected_in_its_place(text, hint):
    assert hint_of(judge_gate, parse_gate(text), Evaluation()) == hint


KNOWN = [("a",), ("lines",), ("lines", "price"), ("map",), ("map", "*"), ("map", "*", "x")]
OF_A_MAP = [("m", "*", "a")]
WITHOUT_MAPS = [("a",), ("lines", "price")]


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        *((KNOWN, f"{path}.f1>=0.5") for path in ("a", "lines.price", "map.any", "map.any.x")),
        (KNOWN, "map.any.x.y.f1>=0.5"),
        (KNOWN, "f1>=0.5"),
        (KNOWN, "documents.failed<=0"),
        *((KNOWN, f"{pattern}.f1>=0.5") for pattern in ("*", "**", "**.price", "*.price")),
        *((KNOWN, f"{pattern}.f1>=0.5") for pattern in ("lines.*", "lines.**")),
        *((KNOWN, f"{pattern}.f1>=0.5") for pattern in ("map.*", "map.**.y")),
        *((OF_A_MAP, f"{path}.f1>=0.5") for path in ("m.k.a", "*.*.a")),
        *((WITHOUT_MAPS, f"{pattern}.f1>=0.5") for pattern in ("**.price", "**.a")),
    ],
)
def test_a_path_of_the_schema_is_known(paths, text):
    check_paths([parse_gate(text)], paths)


@pytest.mark.parametrize(
    ("paths", "text"),
    [(KNOWN, "lines.*.x"), (KNOWN, "a.*"), (OF_A_MAP, "m.k.b"), (WITHOUT_MAPS, "**.x")],
)
def test_a_path_or_pattern_that_no_field_matches_is_refused(paths, text):
    with pytest.raises(UsageError, match="does not exist"):
        check_paths([parse_gate(f"{text}.f1>=0.5")], paths)


@pytest.mark.parametrize(
    ("text", "passed", "reason"),
    [
        # F1 of a is 18/20, of b 1/2, of c 2/3; d has nothing to count.
        ("*.f1>=0.5", True, "*.f1 0.5 >= 0.5 in b, the worst of 3 matching fields"),
        ("**.f1>=0.8", False, "**.f1 0.5 < 0.8 in b, the worst of 2 failed fields"),
        ("**.f1>0.5", False, "**.f1 0.5 <= 0.5 in b, the worst of 3 matching fields"),
        ("*.fn<=1", False, "*.fn 2 > 1 in b, the worst of 4 matching fields"),
        ("*.fd==0", False, "*.fd 1 != 0 in a, the worst of 4 matching fields"),
        ("*.tn!=0", False, "*.tn 0 == 0 in a, the worst of 3 failed fields"),
        ("*.fn>=1", False, "*.fn 0 < 1 in c, the worst of 2 failed fields"),
        ("*.tp!=9", False, "*.tp 9 == 9 in a, the worst of 4 matching fields"),
        ("*.fn<2", False, "*.fn 2 >= 2 in b, the worst of 4 matching fields"),
        ("x*.f1>=0", False, "x*.f1 is undefined: nothing was counted"),
    ],
)
def test_a_pattern_is_judged_by_the_worst_of_its_fields(text, passed, reason):
    fields = {
        "a": [9, 1, 0, 1, 0],
        "b": [1, 0, 0, 2, 0],
        "c": [1, 0, 1, 0, 0],
        "d": [0, 0, 0, 0, 3],
    }

    result = judge_gate(parse_gate(text), evaluation(**fields))

    assert (result.passed, result.reason) == (passed, reason)
    assert result.field == (reason.partition(" in ")[2][:1] or text.partition(".")[0])


def test_a_gate_reads_all_values_if_nobody_says_otherwise():
    run_evaluation = evaluation(a=[9, 1, 0, 1, 0])
    set_overall(run_evaluation.sums["a",], [1, 0, 0, 0, 0])
    set_overall(run_evaluation.tally, [1, 0, 0, 0, 0])

    assert judge_gate(parse_gate("a.f1>=0"), run_evaluation).value == 0.9
    assert judge_gate(parse_gate("overall:a.f1>=0"), run_evaluation).value == 1
    assert judge_gate(parse_gate("f1>=0"), run_evaluation).value == 0.9
    assert judge_gate(parse_gate("overall:f1>=0"), run_evaluation).value == 1
    units = RateRule(counting="overall")
    assert [
        judge_gate(parse_gate(f"{prefix}f1>=0"), run_evaluation, units).value
        for prefix in ("", "a.")
    ] == [1, 1]
    assert judge_gate(parse_gate("leaves:f1>=0"), run_evaluation, units).value == 0.9


def test_every_unknown_path_is_told_with_near_ones():
    texts = ("f1>=0.5", "lines.prise.f1>=0.5", "documents.failed<=0", "b.f1>=0.5")
    gates = [parse_gate(text) for text in texts]
    with pytest.raises(UsageError) as caught:
        check_paths(gates, KNOWN)
    first, second = caught.value.problems
    assert first.hint == "did you mean lines.price.f1>=0.5?"
    assert hint_of(check_paths, [parse_gate("nowhere.at.all.f1>=0.5")], KNOWN) == ""
    assert "the field b, which does not exist" in second.found
    # The last name of a path may be all that the user knows; sets and ends of intervals stay.
    meant = {
        "leaves:price.recall.lower>0.5": "leaves:lines.price.recall.lower>0.5",
        "confidence.price.ece<=0.1": "confidence.lines.price.ece<=0.1",
        "lins.tp>=3": "lines.tp>=3",
    }
    for text, corrected in meant.items():
        hint = hint_of(check_paths, [parse_gate(text)], KNOWN)
        assert hint == f"did you mean {corrected}?"


# --- ends of confidence intervals


def with_intervals(documents: int) -> Evaluation:
    """Return an evaluation with intervals, of documents with a right `id` and a missed `total`."""
    result = Evaluation(interval_settings=IntervalSettings())
    for number in range(documents):
        result.add(batch(PLAN, {f"{number}": ({"id": "x", "total": "1"}, {"id": "x"})}))
    return result


@pytest.mark.parametrize(
    ("text", "path", "metric", "bound"),
    [
        ("f1.lower>=0.9", (), "f1", "lower"),
        ("leaves:a.b.recall.upper<1", ("a", "b"), "recall", "upper"),
        ("score.lower>0.5", (), "score", "lower"),
        ("lower.f1>0.5", ("lower",), "f1", ""),
    ],
)
def test_a_gate_may_ask_for_an_end_of_an_interval(text, path, metric, bound):
    gate = parse_gate(text)

    assert (gate.path, gate.metric, gate.bound) == (path, metric, bound)


@pytest.mark.parametrize(
    ("text", "passed", "reason"),
    [
        ("id.recall.upper>=1", True, "id.recall.upper 1.0 >= 1"),
        ("precision.upper>=1", True, "precision.upper 1.0 >= 1"),
        ("leaves:total.recall.lower>0", False, "leaves:total.recall.lower 0.0 <= 0"),
        ("id.score.upper>=1", True, "id.score.upper 1.0 >= 1"),
        ("total.score.lower<=0", True, "total.score.lower 0.0 <= 0"),
    ],
)
def test_an_end_of_an_interval_is_compared(text, passed, reason):
    result = judge_gate(parse_gate(text), with_intervals(20))

    assert (result.passed, result.reason) == (passed, reason)


@pytest.mark.parametrize(
    ("text", "run_evaluation", "reason"),
    [
        ("f1.lower>=0", Evaluation(), "the run has no confidence intervals"),
        ("f1.lower>=0", with_intervals(0), "no document has a value for this figure"),
        ("other.f1.lower>=0", with_intervals(20), "no document has a value for this figure"),
    ],
)
def test_a_gate_on_an_interval_that_is_not_there_fails(text, run_evaluation, reason):
    result = judge_gate(parse_gate(text), run_evaluation)

    assert not result.passed
    assert reason in result.reason


def test_an_end_is_that_of_the_metric():
    run_evaluation = with_intervals(20)
    run_evaluation.interval_settings = IntervalSettings(level=0.5)
    intervals = run_evaluation.intervals(RateRule(recall_with_fd=False))
    for name in ("precision", "recall", "f1"):
        for index, end in enumerate(("lower", "upper")):
            value = judge_gate(parse_gate(f"{name}.{end}>=0"), run_evaluation).value
            assert value == intervals.rates["overall"][name][index]
    # Of two fields one is right in each document: recall is 0.5, and F1 2 / 3.
    assert judge_gate(parse_gate("recall.upper>=0"), run_evaluation).value < 2 / 3
    assert judge_gate(parse_gate("score.upper>=0"), run_evaluation).value == intervals.score.upper


def test_gates_on_intervals_are_refused_where_none_are_made():
    check_no_bounds([parse_gate("f1>=0.9")])
    with pytest.raises(UsageError, match=r"'f1\.lower>=0\.9' needs a confidence interval"):
        check_no_bounds([parse_gate("f1.lower>=0.9"), parse_gate("f1>=0.9")])


def test_gates_on_intervals_of_confidences_take_rows():
    check_no_resampled_bounds([parse_gate("f1.lower>=0.9"), parse_gate("confidence.ece<=0.1")])
    gate = parse_gate("confidence.ece.upper<=0.1")
    with pytest.raises(UsageError, match=r"upper<=0\.1' needs .* expected a run with rows"):
        check_no_resampled_bounds([gate])
    run_evaluation = with_confidences(10)
    assert judge_gate(gate, run_evaluation).value is not None
    run_evaluation.confidences.drop_rows()
    with pytest.raises(UsageError, match="expected a run with rows"):
        judge_gate(gate, run_evaluation)


# --- gates on confidences and on metrics


def with_confidences(documents: int, *, intervals: bool = True) -> Evaluation:
    """Return an evaluation of field `a`.

    Each document has a right value of confidence 0.9, and every other one a wrong value of
    confidence 0.5.
    """
    result = Evaluation(interval_settings=IntervalSettings() if intervals else None)
    for number in range(documents):
        confidences = {"right": {"a": [0.9]}, **({"wrong": {"a": [0.5]}} if number % 2 else {})}
        add_confidences(result.confidences, f"{number}", confidences)
    return result


def test_a_gate_may_ask_for_what_confidences_are_worth():
    run_evaluation = with_confidences(10)

    # Ten at 0.9 that are right, five at 0.5 that are wrong.
    brier = pytest.approx((10 * 0.01 + 5 * 0.25) / 15)
    assert judge_gate(parse_gate("confidence.brier<=0.1"), run_evaluation).value == brier
    assert judge_gate(parse_gate("confidence.a.brier<=0.1"), run_evaluation).value == brier
    assert judge_gate(parse_gate("confidence.auroc>=1"), run_evaluation).passed
    ends = [
        judge_gate(parse_gate(f"confidence.a.brier.{end}>=0"), run_evaluation).value
        for end in ("lower", "upper")
    ]
    assert ends == run_evaluation.confidence("a")["intervals"]["brier"]
    assert 0.01 < ends[0] < 0.09 < ends[1] < 0.25


@pytest.mark.parametrize(
    ("text", "run_evaluation", "reason"),
    [
        ("confidence.brier<=1", Evaluation(), "no predicted value has a confidence"),
        ("confidence.b.brier<=1", with_confidences(9), "no predicted value has a confidence"),
        ("confidence.auroc<=1", with_confidences(1), "there must be both right and wrong values"),
        (
            "confidence.brier.lower>=0",
            with_confidences(4),
            "there are too few documents for an interval",
        ),
        (
            "confidence.brier.lower>=0",
            with_confidences(9, intervals=False),
            "there are too few documents for an interval",
        ),
    ],
)
def test_a_gate_on_confidences_that_are_not_there_fails(text, run_evaluation, reason):
    result = judge_gate(parse_gate(text), run_evaluation)

    assert (result.value, result.passed) == (None, False)
    assert result.reason == f"{text.partition('<')[0].partition('>')[0]} is undefined: {reason}"


def test_a_gate_may_ask_for_a_metric_or_a_part_of_it():
    gate = parse_gate(" metric:pages.missed <= 2 ")
    assert (gate.mode, gate.path, gate.metric) == ("metric:", (), "pages.missed")
    assert (gate.text, gate.operator, gate.limit) == ("metric:pages.missed <= 2", "<=", 2)
    figures = {"anls_star": 0.75, "pages.missed": None}
    run_evaluation = Evaluation(metrics={"any": Measure("any", recorded_figures=figures)})
    result = judge_gate(parse_gate("metric:anls_star>=0.7"), run_evaluation)
    assert (result.value, result.passed) == (0.75, True)
    assert result.reason == "metric:anls_star 0.75 >= 0.7"
    assert (
        judge_gate(gate, run_evaluation).reason
        == "metric:pages.missed is undefined: the divisor of this figure is 0"
    )
    broken = Measure("pages", recorded_figures={"pages.missed": None}, problem="add: it is full")
    other = Measure("letters", problem="add: it is empty")
    measures = {"any": run_evaluation.metrics["any"], "letters": other, "pages": broken}
    failed = judge_gate(gate, Evaluation(metrics=measures))
    assert failed.reason == "metric:pages.missed is undefined: add: it is full"
    with pytest.raises(UsageError, match=r"one of anls_star, pages\.missed"):
        judge_gate(parse_gate("metric:anls>=0.7"), run_evaluation)
    with pytest.raises(UsageError, match="the name of a metric added with --metric"):
        judge_gate(gate, Evaluation())


@pytest.mark.parametrize("text", ["metric:", "metric:>=0.5", "metric:f1", "metric:f1>=high"])
def test_what_is_no_gate_on_a_metric_is_refused(text):
    with pytest.raises(UsageError, match=r"a gate such as metric:NAME>=0.5|the limit is 'high'"):
        parse_gate(text)


def test_every_metric_that_the_run_has_not_is_told_with_what_to_do():
    texts = ("metric:pages>=1", "metric:pages.missed<=1", "metric:page>=1", "f1>=0", "metric:x<1")
    gates = [parse_gate(text) for text in texts]
    with pytest.raises(UsageError) as caught:
        check_metrics(gates, ["pages", "anls_star"])

    assert [problem.hint for problem in caught.value.problems] == [
        "add --metric page",
        "add --metric x",
    ]
    check_metrics(gates[:2], ["pages"])
    check_metrics([], [])


def test_what_is_refused_of_a_gate_on_a_metric_names_the_option_and_the_gate():
    with pytest.raises(UsageError) as caught:
        parse_gate("metric:f1>=high", "--fail-if")
    (limit,) = caught.value.problems
    assert (limit.source, limit.found) == ("--fail-if", "in 'metric:f1>=high', the limit is 'high'")

    with pytest.raises(UsageError) as caught:
        check_metrics([parse_gate("metric:x<1")], [])
    (unknown,) = caught.value.problems
    assert unknown.source == "--gate"
    assert unknown.found == "the run does not have the metric that 'metric:x<1' needs"

    with pytest.raises(UsageError) as caught:
        judge_gate(parse_gate("metric:x<1"), Evaluation())
    assert [problem.source for problem in caught.value.problems] == ["--gate"]


def test_a_pattern_says_what_its_values_are_of():
    gate = parse_gate("**.f1>=0.5")
    for values in ({}, {("a",): (0.75, "")}):
        reason = judge_fields(gate, values, values.__getitem__, "the change of ").reason
        assert reason.startswith("the change of **.f1 ")


def run_with(*gates, conditions=None, values=(9, 1, 0, 1, 0), units=(1, 0, 0, 0, 0)):
    """Return a run of one field with its gates judged.

    `values` are the counts of the field, and `units` the `overall` counts of the document.
    """
    run_evaluation = evaluation(a=[*values])
    set_overall(run_evaluation.tally, units)
    run_evaluation.conditions = conditions
    judged = [judge_gate(parse_gate(text), run_evaluation) for text in gates]
    signature = SchemaSignature("a.json", f"sha256:{'0' * 64}", "A", None)
    return Run(run_evaluation, signature, RunOptions(), (), judged)


@pytest.mark.parametrize("conditions", [None, Conditions(RunOptions(), ())])
def test_a_finished_run_is_read_in_another_counting_mode_with_its_gates(conditions):
    run = run_with("f1>=0.95", "leaves:f1>=0.95", "documents.total>=2", conditions=conditions)
    read = with_counting(run, "overall")

    assert [gate.value for gate in run.gates] == [0.9, 0.9, 2]
    assert [gate.value for gate in read.gates] == [1.0, 0.9, 2]
    assert (run.rule.counting, read.rule.counting) == ("leaves", "overall")
    assert read.evaluation.rule.counting == ("overall" if conditions else "leaves")
    assert run.evaluation.rule.counting == "leaves"
    assert with_counting(run, "leaves") is with_counting(run, None) is run


def test_the_reason_for_a_change_repeats_what_the_gate_requires():
    judgement = judge_value(parse_gate("f1>=-0.1", lowest=-1.0), -0.63, "", "change of ")

    assert judgement.reason == "change of f1 is -0.63 (the gate requires >= -0.1)"


def test_a_gate_asks_for_its_field_or_for_those_that_match():
    fields = [(), ("a",), ("b",), ("b", "c")]

    assert fields_of_gate(parse_gate("a.f1>=0"), fields) == [("a",)]
    assert fields_of_gate(parse_gate("*.f1>=0"), fields) == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("found", "hint", "message"),
    [
        (
            "'totl.f1>=0' names the field totl, which does not exist",
            "did you mean total.f1>=0?",
            "'totl.f1' names the field totl, which does not exist; did you mean total.f1?",
        ),
        ("'f1>=0.5>=0' is not a gate", "", "'f1>=0.5' is not a gate"),
        ("'f1>=0>=0' is not a gate", "", "'f1>=0' is not a gate"),
    ],
)
def test_messages_omit_the_limit_that_the_user_did_not_write(found, hint, message):
    error = omit_added_limit(UsageError([Problem("--of", found, hint=hint)]))

    assert str(error) == f"--of: {message}"
