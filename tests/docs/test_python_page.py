"""`docs/python.md` is true: examples give the shown output, and tables agree with the code."""

import doctest
import inspect
import re
from pathlib import Path

import stickler_cli
from stickler_cli import ComparableField
from stickler_cli.api.configuration import FIELD_KEYS, MODEL_KEYS, NESTED, TYPES

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


def test_every_example_gives_what_the_page_shows():
    examples = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names = {"__name__": __name__}  # where pydantic looks for the modules of classes
    test = doctest.DocTestParser().get_doctest(examples, names, "python.md", "python.md", 0)

    report = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)

    assert results.attempted > 50
    assert results.failed == 0, "".join(report)


def test_every_block_of_python_is_an_example():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    assert all(block.startswith(">>> ") for block in blocks)


def test_the_page_lists_the_keywords_of_a_field():
    named = [
        name
        for name, parameter in inspect.signature(ComparableField).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]

    assert all(f"`{name}`" in PAGE for name in named)


def test_the_page_lists_the_keys_and_types_of_a_configuration():
    assert all(f"`{name}`" in PAGE for name in {**FIELD_KEYS, **MODEL_KEYS, **TYPES, **NESTED})


def test_the_page_names_everything_that_is_no_comparator():
    offered = [
        name
        for name in stickler_cli.__all__
        if not name.endswith(("Comparator", "ExactC", "EvalResult")) and name != "__version__"
    ]

    assert all(name in PAGE for name in offered)
