"""Rows of `tests/cases/reading/`: results of `eval` for schemas that say little.

A row has these keys:

- `name`, `why`: title and reason of the case
- `schema`: a JSON Schema, or null if `eval` infers it from the ground truth
- `gt`, `pred`: two lists of documents with the same length, compared pairwise
- `files`: texts by path, in place of `gt` and `pred`; `args` then names the paths
- `args`: further arguments of `eval`
- `init`: if true, `eval GT PRED`, and `eval s.json GT PRED` with the schema that `init GT` writes,
  must both meet the row and give equal numbers
- `expect`: counts of right, wrong, missed and invented values; a count that is left out is free
- `expect_fields`: the same counts for each field, by path without indexes
- `expect_class`: the class of every value error of a field or path; errors of items do not matter
- `expect_stderr`, `expect_no_stderr`: texts that standard error must, or must not, contain
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from stickler_cli.cli import main

pytestmark = pytest.mark.anywhere

CASES = Path(__file__).parent / "cases" / "reading"
COUNT_KEYS = {"right": "tp", "wrong": "fd", "missed": "fn", "invented": "fa"}
COUNTINGS = ("leaves", "overall", "aggregate")

# Rows that do not hold yet: whoever makes one hold removes its line.
NOT_YET: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True)
class Evaluation:
    """Output of `eval`: the run as JSON (None if there is no run), errors, and standard error."""

    run: dict | None
    errors: list[dict]
    stderr: str


def list_rows():
    """Read the rows of all files as parameters."""
    for case_file in sorted(CASES.glob("*.json")):
        for row in json.loads(case_file.read_text(encoding="utf-8")):
            fails = row["name"] in NOT_YET.get(case_file.stem, ())
            marks = [pytest.mark.xfail(reason="does not hold yet")] if fails else []
            yield pytest.param(row, id=f"{case_file.stem}: {row['name']}", marks=marks)


ROWS = list(list_rows())


def write_inputs(row):
    """Write documents, files and schema of a row; return the arguments that name the schema."""
    texts = dict(row.get("files", {}))
    for index, documents in enumerate(zip(row.get("gt", []), row.get("pred", []), strict=True)):
        for side, document in zip(("gt", "pred"), documents, strict=True):
            texts[f"{side}/{index:03}.json"] = json.dumps(document)
    if row["schema"] is not None:
        texts["schema.json"] = json.dumps(row["schema"])

    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return [] if row["schema"] is None else ["schema.json"]


def run_eval(row, schema_arguments, capsys):
    """Evaluate the documents of a row in the current directory."""
    arguments = ["eval", *schema_arguments]
    if "files" not in row:
        arguments += ["gt", "pred"]
    arguments += ["-f", "json", "--no-config", "--non-matches", "errors.jsonl"]
    if "expect_stderr" not in row and "expect_no_stderr" not in row:
        arguments.append("-q")
    main([*arguments, *row.get("args", [])])

    captured = capsys.readouterr()
    run = json.loads(captured.out) if captured.out.strip() else None
    errors_file = Path("errors.jsonl")
    lines = errors_file.read_text(encoding="utf-8").splitlines() if errors_file.exists() else []
    return Evaluation(run=run, errors=[json.loads(line) for line in lines], stderr=captured.err)


def find_field(run, path):
    """Return the confusion matrix of a field; its name may contain dots."""
    node = run["confusion_matrix"]
    for name in [path] if path in node["fields"] else path.split("."):
        node = node["fields"][name]
    return node


def count_values(node, outcomes):
    """Return the counts of some outcomes among the values of a node."""
    return {outcome: node["leaves"][COUNT_KEYS[outcome]] for outcome in outcomes}


def list_classes(errors, path):
    """Return the classes of the value errors at a field or path; errors of items have `values`."""
    return {
        error["class"]
        for error in errors
        if "values" not in error and path in (error.get("field"), error.get("path"))
    }


def check_evaluation(row, evaluation):
    """Check an evaluation against what its row expects."""
    for text in row.get("expect_stderr", []):
        assert text in evaluation.stderr
    for text in row.get("expect_no_stderr", []):
        assert text not in evaluation.stderr
    expected_fields = row.get("expect_fields", {})
    if "expect" in row or expected_fields or "expect_class" in row:
        assert evaluation.run is not None

    if "expect" in row:
        assert count_values(evaluation.run["confusion_matrix"], row["expect"]) == row["expect"]
    counts_by_field = {
        path: count_values(find_field(evaluation.run, path), expected)
        for path, expected in expected_fields.items()
    }
    assert counts_by_field == expected_fields
    for path, expected_class in row.get("expect_class", {}).items():
        assert list_classes(evaluation.errors, path) == {expected_class}


def list_numbers(run):
    """Return the overall score and the counts by path: equal in two runs of equal comparisons."""
    numbers = {"overall_score": run["overall_score"]}

    def add_counts(node, path):
        numbers[path] = {
            counting: count_values({"leaves": node[counting]}, COUNT_KEYS) for counting in COUNTINGS
        }
        for name, child in node.get("fields", {}).items():
            add_counts(child, f"{path}/{name}")

    add_counts(run["confusion_matrix"], "")
    return numbers


@pytest.mark.parametrize("row", ROWS)
def test_eval_gives_what_its_case_expects(row, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    evaluation = run_eval(row, write_inputs(row), capsys)
    check_evaluation(row, evaluation)

    if row.get("init"):
        assert main(["init", "gt", "-o", "s.json", "-q"]) == 0
        with_schema = run_eval(row, ["s.json"], capsys)
        check_evaluation(row, with_schema)
        assert list_numbers(with_schema.run) == list_numbers(evaluation.run)


def test_the_expected_failures_are_cases():
    names = {(stem, name) for stem, names in NOT_YET.items() for name in names}

    assert {f"{stem}: {name}" for stem, name in names} <= {row.id for row in ROWS}
