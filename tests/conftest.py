"""How Hypothesis searches: the same examples everywhere, few of them by default.

The gate takes more of them (`--hypothesis-profile=ci`); `--hypothesis-profile=search` looks for new
counterexamples.
"""

import gc
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# Or each process that a test starts would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# All runs begin at the same time, so that equal ones are equal to the byte.
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# How long an example takes says something about the machine, not about the law.
settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", settings.get_profile("ci"), derandomize=False, max_examples=2000
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=5)
settings.load_profile("quick")


# The tests of the rooms whose lines are counted.
TESTS = Path(__file__).parent
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["coverage"]["run"]["source_pkgs"]
COUNTED = {package.partition(".")[2].replace(".", "/") for package in PACKAGES}


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Import the package as users do: pytest rewrites the assertions of plugins, and it has none.

    To look for them takes seconds in each worker where nothing is compiled yet. No option is added:
    this hook is called before any other conftest.py imports the package.
    """
    rewritten = getattr(pluginmanager.rewrite_hook, "_must_rewrite", set())
    rewritten.discard("stickler_cli")


def pytest_collectstart() -> None:
    """Collect no garbage yet: imported modules and collected tests stay, and are large."""
    gc.disable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that lines are counted of: no laws, which run the same for many inputs."""
    is_law = isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
    is_law |= item.path.stem == "test_laws"
    path = item.path.relative_to(TESTS)
    if not is_law and not COUNTED.isdisjoint(map(str, (path, *path.parents))):
        item.add_marker(pytest.mark.counted)


def pytest_collection_finish() -> None:
    """Collect garbage only among objects that tests make."""
    gc.freeze()
    gc.enable()
