"""The compiled floor, which takes seconds to compile."""

from pathlib import Path

import pytest

from benchmarks import native


@pytest.fixture(scope="session")
def native_floor(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Compile the native floor once for all tests; None if there is no compiler."""
    return native.build(tmp_path_factory.mktemp("native"))
