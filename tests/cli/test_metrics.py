"""Metrics of users: their input, how they are merged, and what happens if they fail."""

import json
import os
import sys

import pytest

from stickler_cli import evaluate_many
from stickler_cli.comparators.anls import anls_score
from stickler_cli.core.problems import UsageError
from stickler_cli.metrics import Measure, MeasuredDocument, Metric, load_metrics, measures_of

GT = [
    {"id": str(number), "name": "Anna Example", "items": ["a", "b"], "total": number}
    for number in range(9)
]
PRED = [
    {**document, "name": "Anna Exampel", "total": document["total"] + (number % 2)}
    for number, document in enumerate(GT)
]
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "x-aws-stickler-weight": 1},
        "name": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}},
        "total": {"type": "number"},
    },
}
OWN = """
from stickler_cli.metrics import Metric

class Totals(Metric):
    def __init__(self):
        self.seen, self.sum, self.without = [], 0, 0

    def add(self, document):
        self.seen = sorted([*self.seen, document.id])
        if document.pred is None:
            self.without += 1
        else:
            self.sum += abs(document.gt["total"] - document.pred["total"])

    def merge(self, other):
        self.seen = sorted(self.seen + other.seen)
        self.sum += other.sum
        self.without += other.without

    def result(self):
        return {"apart": self.sum, "without": self.without, "none": None}

class Failing(Totals):
    def add(self, document):
        raise ValueError("no such thing")

class Keeping(Totals):
    def add(self, document):
        self.seen = {document.id}

    def merge(self, other):
        self.seen = other.seen

class Merging(Totals):
    def merge(self, other):
        raise KeyError("apart")

class Wrong(Totals):
    def result(self):
        return float("nan")
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    sys.modules.pop("own_metrics", None)
    (tmp_path / "own_metrics.py").write_text(OWN)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    for name, documents in (("gt", GT), ("pred", PRED[:-1])):
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    return tmp_path


@pytest.fixture
def evaluated(stickler, files):
    def run(*more, code=0):
        result = stickler(
            *("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id"),
            *("--allow-plugins", "-f", "json", *more),
        )
        assert result.code == code, result.err
        return json.loads(result.out) if result.out else result.err

    return run


def test_anls_is_the_mean_over_documents_and_missing_ones_score_nothing(evaluated):
    scores = [anls_score(gt, pred) for gt, pred in zip(GT, PRED[:-1], strict=False)]
    (metric,) = evaluated("--metric", "anls_star")["metrics"]
    assert metric["figures"] == {"anls_star": pytest.approx(sum(scores) / len(GT))}


def test_a_class_of_ones_own_gets_each_document_once(evaluated):
    (metric,) = evaluated("--metric", "own_metrics:Totals")["metrics"]
    name = "own_metrics:Totals"
    assert metric["figures"] == {f"{name}.apart": 4, f"{name}.without": 1, f"{name}.none": None}
    assert metric["state"]["seen"] == [document["id"] for document in GT]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--jobs", "2"), ("--run-dir", "kept")])
def test_processes_and_journals_give_the_same(evaluated, options):
    metric_options = ("--metric", "own_metrics:Totals", "--metric", "anls_star")
    assert evaluated(*metric_options, *options)["metrics"] == evaluated(*metric_options)["metrics"]
    if options[0] == "--run-dir":  # all of it comes from the journal
        assert (
            evaluated(*metric_options, *options)["metrics"] == evaluated(*metric_options)["metrics"]
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "may"),
    [(("--metric", "anls_star"), ()), (("--metric", "own_metrics:Totals"), ("--allow-plugins",))],
)
def test_shards_merge_to_the_run_of_all(stickler, files, evaluated, options, may):
    record = evaluated(*options)
    for shard, positions in enumerate((slice(0, 4), slice(4, 9))):
        for name, documents in (("gt", GT), ("pred", PRED[:-1])):
            lines = [json.dumps(document) + "\n" for document in documents[positions]]
            (files / f"{name}.jsonl").write_text("".join(lines))
        evaluated(*options, "-o", f"shard-{shard}.json")
    merged = stickler("merge", "shard-0.json", "shard-1.json", "-f", "json", *may)
    assert json.loads(merged.out)["metrics"] == record["metrics"]
    if may:
        refused = stickler("merge", "shard-0.json", "shard-1.json")
        assert refused.code == 2
        assert "to use classes of your own code, add --allow-plugins" in refused.err


@pytest.mark.slow
def test_figures_are_shown_gated_and_compared(stickler, files, evaluated):
    metric_options = ("--metric", "own_metrics:Totals")
    evaluated(
        "--metric",
        "anls_star",
        *metric_options,
        "-o",
        "base.json",
        "--gate",
        "metric:anls_star>=0.5",
    )
    (files / "pred.jsonl").write_text("".join(json.dumps(document) + "\n" for document in GT))
    evaluated("--metric", "anls_star", *metric_options, "-o", "new.json")
    output = stickler("report", "base.json").out
    assert "own_metrics:Totals.apart" in output
    assert "anls_star" in output
    assert "anls_star" in stickler("report", "base.json", "-f", "markdown").out
    assert (
        'stickler_metric{metric="anls_star"}'
        in stickler("report", "base.json", "-f", "openmetrics").out
    )
    assert "<code>anls_star</code>" in stickler("report", "base.json", "-f", "html").out
    failed = evaluated("--metric", "anls_star", "--gate", "metric:anls_star<0.5", code=1)
    assert not failed["gates"][0]["passed"]
    changed = json.loads(stickler("diff", "base.json", "new.json", "-f", "json").out)
    by_name = {metric["name"]: metric for metric in changed["metrics"]}
    assert by_name["anls_star"]["after"] == 1
    assert by_name["own_metrics:Totals.apart"]["change"] == -4
    gated = stickler("diff", "base.json", "new.json", "--gate", "metric:anls_star>=0.5")
    assert gated.code == 1
    assert "metric" in gated.out
    assert "anls_star" in stickler("diff", "base.json", "new.json", "-f", "html").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Failing", "document 0: the metric failed with ValueError: no such thing"),
        ("Keeping", "the attribute seen of the metric is set, expected JSON values"),
        ("Wrong", "the metric returned nan for own_metrics:Wrong, expected a finite number"),
        ("Merging", "merge: the metric failed with KeyError: 'apart'"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--jobs", "2"), ("--run-dir", "kept")])
def test_a_metric_that_fails_has_no_figures_and_ends_no_run(
    stickler, evaluated, name, message, options
):
    name = f"own_metrics:{name}"
    gate = ("--gate", f"metric:{name}.apart>=0")
    with_it = evaluated(
        "--metric", name, "--metric", "anls_star", *gate, *options, "-o", "run.json", code=3
    )
    usual = evaluated("--metric", "anls_star")
    metric = next(candidate for candidate in with_it["metrics"] if candidate["name"] == name)
    assert (metric["figures"], metric["problem"]) == ({name: None}, message)
    assert [other_metric for other_metric in with_it["metrics"] if other_metric != metric] == usual[
        "metrics"
    ]
    assert with_it["confusion_matrix"] == usual["confusion_matrix"]
    assert message in with_it["gates"][0]["reason"]
    if options[:1] == ("--run-dir",):  # from the journal
        assert (
            evaluated("--metric", name, "--metric", "anls_star", *gate, *options, code=3) == with_it
        )
    report = stickler("report", "run.json", "-f", "markdown")
    assert message in report.out
    assert "PASS" not in stickler("report", "run.json", "-f", "github").out


def test_what_a_metric_failed_with_is_told_with_what_to_do(stickler, files):
    result = stickler(
        *("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id"),
        *("--allow-plugins", "--metric", "own_metrics:Failing", "-q"),
    )
    message = (
        "document 0: the metric failed with ValueError: no such thing; correct the metric and "
        "evaluate again"
    )
    again = "with a --run-dir, also give --restart"
    assert (
        f"error: metric own_metrics:Failing could not be computed: {message}; {again}" in result.err
    )


def test_a_mended_metric_takes_a_run_directory_that_begins_again(evaluated, files):
    run = ("--metric", "own_metrics:Failing", "--run-dir", "kept")
    assert evaluated(*run, code=3)["metrics"][0]["problem"]
    mended = OWN.replace('raise ValueError("no such thing")', "super().add(document)")
    (files / "own_metrics.py").write_text(mended)
    del sys.modules["own_metrics"]
    assert evaluated(*run, code=3)["metrics"][0]["problem"]
    assert "problem" not in evaluated(*run, "--restart")["metrics"][0]


def test_a_metric_that_is_not_there_is_refused(evaluated):
    output = evaluated("--metric", "own_metrics:None_", code=2)
    assert "--metric: unknown metric own_metrics:None_" in output


def test_what_is_misspelt_is_told(stickler, evaluated):
    assert "did you mean anls_star?" in evaluated("--metric", "anls_sta", code=2)
    assert "add --metric own" in evaluated("--gate", "metric:own>=1", code=2)
    assert (
        "names the metric own_metrics:Totals.x, which does not exist, expected one of "
        "own_metrics:Totals.apart"
        in evaluated(
            "--metric", "own_metrics:Totals", "--gate", "metric:own_metrics:Totals.x>=1", code=2
        )
    )
    assert "a gate such as metric:NAME>=0.5" in evaluated("--gate", "metric:>=1", code=2)


def test_code_runs_only_where_it_is_allowed(stickler, files):
    result = stickler(
        *("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--metric", "own_metrics:Totals")
    )
    assert result.code == 2
    assert "to use classes of your own code, add --allow-plugins" in result.err


def test_what_a_file_tells_runs_no_code():
    read = Measure("no_such:Metric", None, {"sum": 1}, {"no_such:Metric": 2.0})
    assert (read.figures, read.state) == ({"no_such:Metric": 2.0}, {"sum": 1})
    assert read.copied().figures == read.figures
    with pytest.raises(UsageError, match="unknown metric no_such:Metric"):
        read.copied().merge(read)


def test_a_result_that_failed_in_parts_is_asked_for_again_in_the_whole(files):
    name = "own_metrics:Totals"
    kept = {"seen": ["a"], "sum": 2, "without": 0}
    measures = [Measure(name, None, kept, {name: None}, "result: it fails") for _ in range(2)]
    assert measures[0].outcome() == ({name: None}, "result: it fails")
    load_metrics(measures, allow_plugins=True)
    assert [measure.figures[f"{name}.apart"] for measure in measures] == [2, 2]
    measures[0].merge(measures[1])
    assert measures[0].figures[f"{name}.apart"] == 4
    lost = Measure(name, None, {}, {name: None}, "document a: it fails")
    load_metrics([lost], allow_plugins=True)
    for first, other in ((measures[0].copied(), lost), (lost.copied(), measures[0])):
        first.merge(other)
        assert first.outcome() == ({name: None}, "document a: it fails")


def test_a_document_is_added_to_a_metric_that_was_read_from_a_file(files):
    name = "own_metrics:Totals"
    read = Measure(name, None, {"seen": ["a"], "sum": 2, "without": 0}, {}, "result: it fails")
    load_metrics([read], allow_plugins=True)
    read.add(MeasuredDocument("b", {"total": 1}, {"total": 4}, 0.0))
    assert read.outcome() == (
        {f"{name}.apart": 5, f"{name}.without": 0, f"{name}.none": None},
        "",
    )


def test_a_document_that_fails_after_reading_leaves_no_figures_in_copies_either(files):
    name = "own_metrics:Totals"
    read = Measure(name, None, {"seen": ["a"], "sum": 2, "without": 0})
    load_metrics([read], allow_plugins=True)
    read.add(MeasuredDocument("b", {}, {"total": 4}, 0.0))
    problem = "document b: the metric failed with KeyError: 'total'"
    for measure in (read, read.copied()):
        assert measure.outcome() == ({name: None}, problem)


def test_a_metric_is_complete_or_none():
    class Half(Metric):
        def add(self, document):
            pass

    with pytest.raises(TypeError):
        Half()
    assert measures_of(["anls_star", "anls_star"])["anls_star"].figures == {"anls_star": None}


def test_classes_are_taken_as_they_are_in_python(files):
    metric_class = __import__("own_metrics").Totals
    pairs = zip(GT, PRED, strict=True)
    evaluation = evaluate_many(SCHEMA, pairs, infer="never", metrics=[metric_class, "anls_star"])
    assert evaluation.metric_figures["Totals.apart"] == 4
    assert 0 < evaluation.metric_figures["anls_star"] < 1
