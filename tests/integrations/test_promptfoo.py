"""The file for promptfoo; and no framework is loaded before it is needed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FRAMEWORKS = {"dspy", "gepa", "inspect_ai", "mlflow", "pydantic_evals", "strands_evals", "trl"}


def test_the_file_in_the_docs_gives_promptfoo_its_function():
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text("utf-8")
    (file,) = re.findall(r"`assert\.py`:\n\n```python\n(.*?)```", page, re.DOTALL)

    names = {}
    exec(file, names)  # noqa: S102 - the project's own
    assert names["get_assert"].__module__ == "stickler_cli.integrations.promptfoo"


@pytest.mark.slow
def test_a_scorer_loads_no_framework_and_no_adapter():
    code = (
        "import sys, stickler_cli;"
        "stickler_cli.Scorer({'properties': {'a': {}}}).score({'a': 1}, '{}').feedback;"
        "print(*sys.modules)"
    )
    result = subprocess.run((sys.executable, "-c", code), capture_output=True, check=True)

    loaded = set(result.stdout.decode().split())
    assert not FRAMEWORKS & loaded
    assert not [name for name in loaded if name.startswith("stickler_cli.integrations")]
