"""Time single calls in a process of their own: `FILE REPEAT LEAST` prints seconds."""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import create_model

from benchmarks.one_document import CALLS
from stickler_cli import StructuredModel, evaluate


def main(file: Path, repeat: int, least: int) -> None:
    """Print the median seconds of a call, by its name."""
    given = json.loads(file.read_bytes())
    compared = StructuredModel.from_json_schema(given["schema"])
    plain = _plain_model(given["schema"], "Plain")

    def compare_with(gt: dict[str, Any], pred: dict[str, Any]) -> None:
        compared(**gt).compare_with(
            compared(**pred), include_confusion_matrix=True, document_non_matches=True
        )

    def evaluate_plain(gt: dict[str, Any], pred: dict[str, Any]) -> None:
        evaluate(plain(**gt), plain(**pred)).to_dict()

    calls = dict(zip(CALLS, (compare_with, evaluate_plain), strict=True))
    took: dict[str, list[float]] = {name: [] for name in CALLS}
    for turn in range(max(repeat, least // len(given["pairs"])) + 1):
        for gt, pred in given["pairs"]:
            for name, call in calls.items():
                start = time.perf_counter()
                call(gt, pred)
                if turn:  # the first makes plans
                    took[name].append(time.perf_counter() - start)
    print(json.dumps({name: statistics.median(times) for name, times in took.items()}))


def _plain_model(schema: dict[str, Any], name: str) -> Any:
    """Make a pydantic model with the fields of an object schema, each of which may be missing."""
    fields: dict[str, Any] = {
        field: (_type_of(node, field) | None, None) for field, node in schema["properties"].items()
    }
    return create_model(name, **fields)


def _type_of(node: dict[str, Any], name: str) -> Any:
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    match next(kind for kind in kinds if kind != "null"):
        case "array":
            return list[_type_of(node["items"], name)]  # type: ignore[misc]
        case "object":
            return _plain_model(node, name.title())
        case "number":
            return float
        case _:
            return str


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
