"""Fixtures: a small data set on disk, and commands that run in this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from stickler_cli.cli import main

# Its default, stated: else each run would have a note.
TEXT = {"type": "string", "x-aws-stickler-threshold": 0.5}
SCHEMA = {
    "type": "object",
    "x-aws-stickler-model-name": "Order",
    "properties": {
        "id": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
        "total": {"type": "number", "x-aws-stickler-weight": 2},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": TEXT, "qty": {"type": "integer"}},
            },
        },
    },
}
GOOD = {"id": "A-1", "total": 10.5, "lines": [{"sku": "mouse", "qty": 1}]}
BAD = {"id": "A-1", "total": 11, "lines": [{"sku": "mouse", "qty": 1}, {"sku": "lamp", "qty": 9}]}


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with schema.json, gt/ and pred/; one document is right, the other wrong."""
    monkeypatch.chdir(tmp_path)
    write_data(tmp_path)
    return tmp_path


def write_data(folder: Path) -> None:
    write(folder / "schema.json", SCHEMA)
    for name, pred in (("one", GOOD), ("two", BAD)):
        write(folder / "gt" / f"{name}.json", GOOD)
        write(folder / "pred" / f"{name}.json", pred)


@pytest.fixture
def stickler(data: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command in the data directory, and return its exit code and output."""

    def run(*arguments: str) -> Result:
        code = main(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path
