"""`docs/engines.md` is true: its example gives what it shows."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")


def test_the_example_gives_what_the_page_shows():
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no batches of Arrow")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "engines", "engines.md", 0)

    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(parsed, out=report.append)

    assert (results.failed, "".join(report)) == (0, "")
    assert results.attempted > 8
