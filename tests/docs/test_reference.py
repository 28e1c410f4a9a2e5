"""The generated pages of the reference agree with the code."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)


@pytest.mark.slow
@pytest.mark.parametrize("name", reference.GENERATED)
def test_a_page_is_what_the_program_writes(name):
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == "\n".join(reference.GENERATED[name]()) + "\n", "run python docs/reference.py"
