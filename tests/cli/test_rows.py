"""Runs without rows of documents: fixed size, exact merging, and notes on what they lack."""

import json
import shutil
from pathlib import Path

import pytest

from stickler_cli.score import evaluation
from .conftest import BAD, GOOD, write
from .test_merge import without_provenance

PROJECT = Path(__file__).parents[2]
EVAL = ("--by", "@directory", "--gate", "f1.lower>=0.1", "--wrapped", "value:confidence")


def prediction(number: int) -> dict:
    """Return a prediction with confidences; every fourth prediction has errors."""
    values = dict(BAD if number % 4 == 3 else GOOD)
    values["total"] = {"value": values["total"], "confidence": 0.51234 + number / 100}
    return values


@pytest.fixture
def shards(data: Path) -> Path:
    """Thirty documents in two directories, evaluated together and as three shards."""
    for number in range(30):
        name = f"{'ab'[number % 2]}/{number:02}.json"
        for place in ("all", str(number % 3)):
            write(data / place / "gt" / name, GOOD)
            if number not in (7, 9):
                write(data / place / "pred" / name, prediction(number))
    return data


def evaluated(stickler, place: str, *options: str, schema: str = "schema.json") -> dict:
    stickler("eval", schema, f"{place}/gt", f"{place}/pred", *EVAL, *options, "-o", f"{place}.json")
    return json.loads(Path(f"{place}.json").read_text())


def test_states_of_shards_come_to_the_state_of_the_whole_to_the_byte(shards, stickler):
    total = evaluated(stickler, "all", "--rows", "none", "-j", "1")
    for place in "012":
        evaluated(stickler, place, "--rows", "none", "-j", "2")
    merged = stickler("merge", "2.json", "0.json", "1.json", "-f", "json")

    assert without_provenance(merged.out) == without_provenance((shards / "all.json").read_text())
    assert "per_document" not in total
    assert total["intervals"]["method"].startswith("delta method")
    assert total["by"]["@directory"]["a"]["intervals"]["method"].startswith("delta method")
    assert total["confusion_matrix"]["fields"]["total"]["intervals"]["overall"]["cm_f1"]


def test_a_state_is_read_back_exactly_and_reported_alike(shards, stickler):
    evaluated(stickler, "all", "--rows", "none")
    stickler("report", "all.json", "-o", "again.json", "-o", "again.md")

    assert (shards / "again.json").read_text() == (shards / "all.json").read_text()
    arguments = ("eval", "schema.json", "all/gt", "all/pred", *EVAL, "--rows", "none")
    out = stickler(*arguments, "-f", "markdown").out.partition("\n\nnext: ")[0]
    assert (shards / "again.md").read_text() == f"{out}\n"


@pytest.mark.slow
def test_rows_are_dropped_where_documents_are_too_many_however_they_come(
    shards, stickler, monkeypatch
):
    monkeypatch.setattr(evaluation, "MAX_ROWS", 20)
    total = evaluated(stickler, "all")
    shards_evaluated = [evaluated(stickler, place) for place in "012"]
    merged = stickler("merge", "2.json", "0.json", "1.json", "-f", "json")

    assert "per_document" not in total
    assert all(len(shard["per_document"]) == 10 for shard in shards_evaluated)
    assert without_provenance(merged.out) == without_provenance((shards / "all.json").read_text())
    inline = evaluated(stickler, "all", "--rows", "inline")
    assert len(inline["per_document"]) == 30
    assert inline["intervals"] == total["intervals"]


def test_the_same_counts_and_figures_stand_with_rows_and_without(shards, stickler):
    kept = evaluated(stickler, "all")
    bare = evaluated(stickler, "all", "--rows", "none")

    for cause in kept["causes"]:
        assert len(cause.pop("document_ids")) == cause["documents"]
    same = ("documents", "overall_score", "error_classes", "causes", "problems", "intervals")
    for key in (*same, "confusion_matrix"):
        assert bare[key] == kept[key]


def test_a_gate_on_an_end_of_an_interval_has_one_verdict_whatever_is_kept(stickler):
    paths = [str(PROJECT / "fixtures" / "receipt" / side) for side in ("gt", "pred")]
    schema = str(PROJECT / "schemas" / "receipt.json")
    verdicts = []
    for options in (
        ["--rows", "inline"],
        ["--rows", "none"],
        ["--run-dir", "kept"],
        ["--jobs", "2", "--rows", "none"],
    ):
        result = stickler("eval", schema, *paths, "--gate", "f1.lower>=0.8", "--quiet", *options)
        verdicts.append((result.code, [line for line in result.err.splitlines() if "gate" in line]))
    assert verdicts == [verdicts[0]] * 4
    assert "gate failed: f1.lower 0." in verdicts[0][1][0]


def test_a_gate_on_an_interval_of_confidences_takes_rows(shards, stickler):
    options = ("--rows", "none", "--gate", "confidence.ece.upper<=0.1")
    result = stickler("eval", "schema.json", "all/gt", "all/pred", *options)
    assert result.code == 2
    assert (
        "upper<=0.1' needs the rows of all documents, but the run has no rows, expected a run"
    ) in result.err


def test_confidences_are_counted_in_three_digits(shards, stickler):
    kept = evaluated(stickler, "all")["confidence"]
    record = evaluated(stickler, "all", "--rows", "none")
    bare = record["confidence"]

    assert (bare["units"], bare["right"], bare["documents"]) == (28, 22, 28)
    assert {key: kept[key] for key in ("units", "right", "coverage", "auroc")} == {
        key: bare[key] for key in ("units", "right", "coverage", "auroc")
    }
    assert bare["brier"] == pytest.approx(kept["brier"], abs=1e-3)
    assert record["confidence_counts"]["total"]["right"]["0.512"] == 1
    assert "intervals" in kept
    assert "intervals" not in bare


@pytest.mark.slow
def test_a_state_does_not_grow_with_documents(data, stickler):
    for number in range(600):
        write(data / "some" / "gt" / f"{number}.json", GOOD)
        write(data / "some" / "pred" / f"{number}.json", BAD if number % 3 else GOOD)
    sizes = []
    for limit in ("300", "600"):
        evaluated(stickler, "some", "--rows", "none", "--limit", limit)
        sizes.append((data / "some.json").stat().st_size)

    assert sizes[1] - sizes[0] < 100  # digits of counts


def test_problems_are_named_up_to_a_limit_and_counted_beyond(shards, stickler, monkeypatch):
    monkeypatch.setattr(evaluation, "MAX_NAMED_PROBLEMS", 1)
    total = evaluated(stickler, "all", "--rows", "none")
    for place in "012":
        evaluated(stickler, place, "--rows", "none")
    merged = stickler("merge", "2.json", "0.json", "1.json", "-f", "json")

    assert [problem["status"] for problem in total["problems"]] == ["missing"]
    assert total["problems_unnamed"] == {"missing": 1}
    assert without_provenance(merged.out) == without_provenance((shards / "all.json").read_text())
    stickler("report", "all.json", "-o", "all.txt")
    assert "2 missing" in (shards / "all.txt").read_text()


def test_documents_in_two_runs_without_rows_are_noticed(shards, stickler):
    evaluated(stickler, "0", "--rows", "none")
    evaluated(stickler, "all", "--rows", "none")
    result = stickler("merge", "0.json", "all.json")

    assert result.code == 3
    assert "all.json: the run shares some documents with 0.json" in result.err


@pytest.mark.parametrize("option", ["--policy", "--repeat"])
def test_what_goes_through_documents_is_refused_without_rows(shards, stickler, option):
    arguments = ("eval", "schema.json", "all/gt", "all/pred", "--rows", "none")
    result = stickler(*arguments, option, "schema.json")

    assert result.code == 2
    assert f"{option}: this option needs the rows of all documents" in result.err
    assert "--rows inline" in result.err


def test_a_difference_of_runs_without_rows_is_refused_with_what_helps(shards, stickler):
    evaluated(stickler, "all", "--rows", "none")
    result = stickler("diff", "all.json", "all.json")

    assert result.code == 2
    assert "--rows inline" in result.err


def test_a_run_directory_without_rows_is_continued(shards, stickler):
    arguments = ("eval", "schema.json", "all/gt", "all/pred", *EVAL, "--rows", "none")
    first = stickler(*arguments, "--run-dir", "run")
    record = (shards / "run" / "run.json").read_bytes()
    journal = (shards / "run" / "journal").read_bytes()
    again = stickler(*arguments, "--run-dir", "run")

    assert (first.code, again.code) == (0, 0)
    assert (shards / "run" / "run.json").read_bytes() == record
    assert b'"known_ids"' in journal
    assert b"per_document" not in record
    evaluated(stickler, "all", "--rows", "none")
    plain = (shards / "all.json").read_text()
    assert without_provenance(record.decode()) == without_provenance(plain)


# --- files of documents that are runs


def rows_of_documents(stickler, *names: str) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no Parquet")
    for name in names:
        shutil.copytree("all/gt", f"{name}/gt")
        shutil.copytree("all/pred", f"{name}/pred")
        if name == "new":
            write(Path("new/pred/a/00.json"), BAD)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["auto", "none"])
def test_a_parquet_file_of_documents_is_the_run(shards, stickler, rows):
    rows_of_documents(stickler)
    evaluated(stickler, "all", "--documents", "rows.parquet", "--rows", rows)
    stickler("report", "rows.parquet", "-o", "again.json")

    assert (shards / "again.json").read_text() == (shards / "all.json").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["auto", "none"])
def test_a_difference_of_files_of_documents_is_that_of_runs(shards, stickler, rows):
    rows_of_documents(stickler, "base", "new")
    for name in ("base", "new"):
        evaluated(stickler, name)
        evaluated(stickler, name, "--documents", f"{name}.parquet", "--rows", rows)
        evaluated(stickler, name, "--rows", "inline")
    runs = stickler("diff", "base.json", "new.json", "-f", "json").json
    files = stickler("diff", "base.parquet", "new.parquet", "-f", "json").json

    assert files["documents"] == runs["documents"] == {**runs["documents"], "worse": 1}
    for key in ("whole", "fields", "changed_documents"):
        assert files[key] == runs[key]


def test_a_parquet_file_that_is_no_run_is_refused(shards, stickler):
    rows_of_documents(stickler)
    evaluated(stickler, "all", "--values", "values.parquet")
    write(shards / "text.parquet", "no table")

    result = stickler("report", "values.parquet", "-o", "a.json")
    assert (result.code, "does not say which run its rows come from" in result.err) == (2, True)
    result = stickler("report", "text.parquet", "-o", "a.json")
    assert (result.code, "text.parquet: the file cannot be read" in result.err) == (2, True)
