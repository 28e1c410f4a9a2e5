"""The examples of `docs/integrations.md`, with the frameworks that are installed.

The examples of other frameworks are skipped. The gate installs all frameworks in a separate
environment.
"""

import doctest
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
FRAMEWORKS = {
    "DSPy": "dspy",
    "gepa": "",
    "TRL": "",
    "verl": "",
    "Inspect": "inspect_ai",
    "promptfoo": "",
    "MLflow": "mlflow",
    "pydantic-evals": "pydantic_evals",
    "Strands": "strands_evals",
}
"""Maps the heading of an adapter to the module without which its example cannot run."""


def examples(text):
    return "\n".join(re.findall(r"```python\n(>>> .*?)```", text, re.DOTALL))


FIRST, *REST = re.split(r"\n### ", PAGE)
SECTIONS = {heading: text for heading, _, text in (section.partition("\n") for section in REST)}


def run(text, names, name):
    test = doctest.DocTestParser().get_doctest(text, names, name, "integrations.md", 0)
    report = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
    assert results.failed == 0, "".join(report)
    return test.globs


@pytest.mark.parametrize(("heading", "module"), FRAMEWORKS.items())
@pytest.mark.filterwarnings("default")  # what frameworks warn of is not ours
def test_the_example_of_a_framework_gives_what_the_page_shows(
    heading, module, tmp_path, monkeypatch
):
    if module and find_spec(module) is None:
        pytest.skip(f"{module} IS NOT INSTALLED: {heading} is not tried")
    monkeypatch.chdir(tmp_path)
    names = run(examples(FIRST), {"__name__": "page"}, "first")
    (tmp_path / "schema.json").write_text(json.dumps(names["schema"]), encoding="utf-8")

    text = examples(SECTIONS[heading])

    assert text
    run(text, names, heading)


def test_there_is_an_example_of_each_adapter():
    names = set(re.findall(r"stickler_cli\.integrations\.(\w+)", PAGE))
    room = Path(__file__).parents[2] / "stickler_cli" / "integrations"

    assert names | {"pytest"} == {path.stem for path in room.glob("*.py")} - {"__init__"}


def test_the_lines_for_others_are_what_their_protocols_ask_for():
    (program,) = re.findall(r"```python\n(def weave.*?)```", PAGE, re.DOTALL)
    names = run(examples(FIRST), {"__name__": "page"}, "first")
    gt, pred = names["gt"], {**names["gt"], "total": 12.0}
    names |= {"Evaluation": dict, "ScoreResult": dict, "BaseMetric": object}
    exec(program, names)  # noqa: S102 - the page's own

    assert names["weave_score"](output=pred, ground_truth=gt)["total"] == 0.0
    langfuse = names["langfuse_evaluator"](
        input="", output=pred, expected_output=gt, metadata=None, run=1
    )
    assert (langfuse["name"], langfuse["value"]) == ("stickler", 8 / 9)
    opik = names["OpikMetric"]().score(output=pred, expected_output=gt, input="")
    assert (opik["value"], opik["reason"].splitlines()[0]) == (8 / 9, "4 of 5 values right.")
    assert names["langsmith_evaluator"](pred, gt)["score"] == 8 / 9
