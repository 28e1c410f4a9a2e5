"""`docs/integrations.md` is true: its examples give the output that it shows."""

import doctest
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
FIRST = PAGE.partition("\n### ")[0]  # tests/integrations tries those of frameworks


def test_every_example_gives_what_the_page_shows():
    examples = "\n".join(re.findall(r"```python\n(>>> .*?)```", FIRST, re.DOTALL))
    names = {"__name__": __name__}
    test = doctest.DocTestParser().get_doctest(examples, names, "page", "integrations.md", 0)

    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)

    assert results.failed == 0, "".join(report)
    assert results.attempted > 5
