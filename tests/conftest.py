"""Settings of Hypothesis and of test collection.

Hypothesis tries the same examples on every machine, and only few by default.
`--hypothesis-profile=ci` tries more; `--hypothesis-profile=search` looks for new counterexamples.
"""

import gc
import os
import tomllib
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# Or each process that a test starts would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# As in the command: more threads cost three times the work where tests already use all processors.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# All runs begin at the same time, so that equal ones are equal to the byte.
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# How long an example takes says something about the machine, not about the law.
settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=12,
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
    """Prevent pytest from rewriting the assertions of the package, which is a plugin of pytest.

    The package has no assertions, and looking for them takes seconds in each worker if nothing is
    compiled yet. This hook is used because it runs before any other conftest.py imports the
    package; it adds no option.
    """
    rewritten = getattr(pluginmanager.rewrite_hook, "_must_rewrite", set())
    rewritten.discard("stickler_cli")


def pytest_collectstart() -> None:
    """Turn off garbage collection while tests are collected, because their many objects stay."""
    gc.disable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that count for coverage; laws do not, since they run many similar inputs."""
    is_law = isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
    if not is_law and is_in_counted_room(item.path):
        item.add_marker(pytest.mark.counted)


@cache
def is_in_counted_room(file: Path) -> bool:
    """Return whether a file of tests belongs to a room whose lines are counted."""
    path = file.relative_to(TESTS)
    return path.stem != "test_laws" and not COUNTED.isdisjoint(map(str, (path, *path.parents)))


def pytest_collection_finish() -> None:
    """Turn on garbage collection, but only for objects that are made from now on."""
    gc.freeze()
    gc.enable()
