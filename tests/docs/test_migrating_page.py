"""`docs/migrating.md` is true: its examples run, and the names on it can be imported."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest

import stickler_cli

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")


@pytest.fixture
def without_stickler(monkeypatch):
    """Remove stickler-eval, and the modules that replace it, from the imported modules.

    This is done before and after the test.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "stickler"]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "stickler"]:
        del sys.modules[name]


@pytest.mark.usefixtures("without_stickler")
def test_every_example_gives_what_the_page_shows():
    examples = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names = {"__name__": __name__}
    test = doctest.DocTestParser().get_doctest(examples, names, "migrating.md", "migrating.md", 0)

    report = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)

    assert results.attempted == 5
    assert results.failed == 0, "".join(report)


def test_every_name_that_an_import_was_changed_to_is_there():
    (table,) = re.findall(r"## Imports\n\n(.*?)\n\n", PAGE, re.DOTALL)
    ours = [row.split("|")[2] for row in table.splitlines()[2:]]

    for name in re.findall(r"`stickler_cli\.([A-Z]\w*|evaluate\w*)`", "".join(ours)):
        assert name in stickler_cli.__all__
    for module in re.findall(r"`(stickler_cli\.comparators[\w.]*)`", "".join(ours)):
        importlib.import_module(module)
