"""`docs/engines.md` is true: its example gives the shown output, and its programs work."""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")


def test_the_example_gives_what_the_page_shows():
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no batches of Arrow")
    (example,) = re.findall(r"```python\n(>>> .*?)```", PAGE, re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "engines", "engines.md", 0)

    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(parsed, out=report.append)

    assert (results.failed, "".join(report)) == (0, "")
    assert results.attempted > 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "module"), [("Spark", "pyspark"), ("Ray Data", "ray"), ("DuckDB", "duckdb")]
)
def test_the_program_for_an_engine_writes_the_state_of_all_documents(heading, module, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no batches of Arrow")
    if find_spec(module) is None:
        pytest.skip(f"{module} IS NOT INSTALLED: no {heading}")
    if module == "pyspark" and shutil.which("java") is None:
        pytest.skip("java IS NOT INSTALLED: no Spark")
    state = write_data_set(tmp_path, documents=7000)
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (program,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    variables = {
        "HOME": str(tmp_path),  # where Ray keeps a token
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "RAY_raylet_start_wait_time_s": "600",  # at work a machine takes longer than the minute
        "RAY_DATA_DEFAULT_MIN_PARALLELISM": "2",  # or Ray starts a dozen more processes
    }
    result = subprocess.run(
        (sys.executable, "program.py"),
        cwd=tmp_path,
        env={**os.environ, **variables, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=900,  # Spark takes half a minute where nothing else is done
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "state.json").read_bytes() == state


def write_data_set(place: Path, documents: int) -> bytes:
    """Write a schema and documents, some of them wrong, missing or broken.

    Return the state that their evaluation must have, as bytes.
    """
    import pyarrow as pa
    from pyarrow import parquet

    from stickler_cli import evaluate_batch

    name = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
    schema = {"type": "object", "properties": {"name": name, "total": {"type": "number"}}}
    (place / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    numbers = range(documents)
    preds = [
        None
        if number % 50 == 0
        else "no JSON"
        if number % 77 == 0
        else json.dumps({"name": f"Zoë {number if number % 9 else 0}", "total": number % 4})
        for number in numbers
    ]
    gts = [json.dumps({"name": f"Zoë {number}", "total": number % 5}) for number in numbers]
    table = pa.table({"id": [f"d{number}" for number in numbers], "gt": gts, "pred": preds})
    parquet.write_table(table, place / "pairs.parquet", row_group_size=1000)
    return evaluate_batch(table, schema).state
