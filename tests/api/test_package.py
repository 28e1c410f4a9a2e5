"""The names that `stickler_cli` offers, and the modules that importing it loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stickler_cli
from stickler_cli import comparators

HEAVY = ("numpy", "scipy", "pydantic", "rapidfuzz", "jsonschema", "dateutil", "orjson", "rich")
STUB = Path(stickler_cli.__file__).with_suffix(".pyi")


def modules_loaded_by(*arguments):
    result = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}


def test_importing_and_listing_the_package_loads_no_heavy_library():
    loaded = modules_loaded_by("-c", "import stickler_cli; dir(stickler_cli)")

    assert "stickler_cli" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_everything_offered_is_there_and_in_order():
    assert stickler_cli.__all__ == sorted(stickler_cli.__all__)
    assert all(getattr(stickler_cli, name) is not None for name in stickler_cli.__all__)
    assert set(stickler_cli.__all__) <= set(dir(stickler_cli))


def test_every_comparator_is_offered_at_the_top_too():
    assert set(comparators.__all__) <= set(stickler_cli.__all__)
    assert stickler_cli.ExactComparator is comparators.ExactComparator


def test_the_stub_names_what_the_package_offers():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imported = {
        name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    (listed,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))

    assert listed == stickler_cli.__all__
    assert imported == set(listed) - {"__version__"}


def test_a_name_that_is_not_offered_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Invoice'"):
        stickler_cli.Invoice  # noqa: B018 - the access is what is tested
