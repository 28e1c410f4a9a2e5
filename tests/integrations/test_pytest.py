"""The pytest plugin: failures that say what is wrong, and run files of test sessions."""

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from stickler_cli import Scorer
from stickler_cli.cli import main
from stickler_cli.integrations.pytest import Extractions

SCHEMA = {
    "type": "object",
    "title": "Order",
    "properties": {"id": {"type": "string"}, "total": {"type": "number"}},
}
GT = {"id": "A-17", "total": 9.5}
WRONG = {"id": "A-17", "total": 8.5}


def failure(pred, schema=SCHEMA, **asked):
    with pytest.raises(pytest.fail.Exception) as caught:
        Extractions("test", {}).assert_extraction(GT, pred, schema, **asked)
    return str(caught.value)


def test_without_a_least_score_any_error_fails():
    Extractions("test", {}).assert_extraction(GT, GT, SCHEMA)

    first, *details = failure(WRONG).splitlines()
    assert first == "score 0.6667"
    text = "\n".join(details)
    assert text == Scorer(SCHEMA).evaluate(GT, WRONG).comparison.explain("errors", 100)


def test_a_least_score_and_gates_decide_instead():
    asserts = Extractions("test", {})
    asserts.assert_extraction(GT, WRONG, Scorer(SCHEMA), min_score=0.6)
    asserts.assert_extraction(GT, WRONG, SCHEMA, gates=["id.f1>=1"])

    assert failure(WRONG, min_score=0.9).startswith("score 0.6667, below 0.9\n")
    failure_text = failure(WRONG, min_score=0.6, gates=["id.f1>=1", "total.f1>=1"])
    assert failure_text.startswith("score 0.6667, total.f1>=1 is 0\n")
    assert failure("no", gates=["id.f1>=1"]).startswith("score 0.0000, id.f1>=1 is 0\nNothing to")


def test_the_module_loads_nothing_by_itself():
    code = "import sys, stickler_cli.integrations.pytest; print(*sys.modules)"
    result = subprocess.run((sys.executable, "-c", code), capture_output=True, check=True)

    loaded = set(result.stdout.decode().split())
    ours = {name for name in loaded if name.startswith("stickler_cli")}
    assert ours == {
        "stickler_cli",
        "stickler_cli.integrations",
        "stickler_cli.integrations.pytest",
    }
    assert not loaded & {"numpy", "pydantic", "scipy", "orjson"}


@pytest.mark.slow
def test_a_session_writes_run_files_that_can_be_compared(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(
        """
import pytest

GT = {"id": "A-17", "total": 9.5}


def test_one(stickler):
    stickler.assert_extraction(GT, '```{"id": "A-17", "total": 9.5}```', "schema.json")


@pytest.mark.parametrize("pred", ["no", {"id": "A-17"}])
def test_two(stickler, pred):
    stickler.assert_extraction(GT, GT, "schema.json", min_score=0.5)
    stickler.assert_extraction(GT, pred, "schema.json", min_score=0.5)
""",
        encoding="utf-8",
    )
    plugin_names = entry_points(group="pytest11").names
    plugin = () if "stickler" in plugin_names else ("-p", "stickler_cli.integrations.pytest")
    options = ("--stickler-runs", "runs", "-q")
    command = (sys.executable, "-m", "pytest", *plugin, *options)

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)

    assert result.returncode == 1, result.stderr
    assert "1 failed, 2 passed" in result.stdout
    problem = "the answer of the model, line 1, column 1: not valid JSON"
    assert f"Nothing to compare: {problem}" in result.stdout
    (file,) = (tmp_path / "runs").iterdir()
    run = json.loads(file.read_text(encoding="utf-8"))
    assert run["documents"]["evaluated"] == 4
    assert [document["id"] for document in run["per_document"]][
        -1
    ] == "test_it.py::test_two[pred1] 2"
    assert main(["diff", str(file), str(file)]) == 0
