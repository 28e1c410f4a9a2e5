"""Time single calls: `one_document_timed.py LIBRARY FILE ROUNDS` prints milliseconds by document.

Run as a script, with the Python that the library, `stickler_cli` or `stickler`, is installed for;
it imports nothing else of this checkout. Processor time, the least of all rounds: what else the
machine does only adds to it.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROUND = 0.02  # seconds


def main(library: Any, documents: dict[str, Any], rounds: int) -> None:
    """Print what `compare_with` takes for each document, and of this project also `evaluate`."""
    took: dict[str, dict[str, float]] = {"compare_with": {}, "evaluate": {}}
    for name, (schema, gt, pred) in documents.items():
        compared = library.StructuredModel.from_json_schema(schema)
        one, other = compared(**gt), compared(**pred)
        asked = {"include_confusion_matrix": True, "document_non_matches": True}
        took["compare_with"][name] = _best(partial(one.compare_with, other, **asked), rounds)
        if library.__name__ == "stickler_cli":
            plain = _plain_model(schema, "Plain")
            both = plain(**gt), plain(**pred)
            call = partial(_evaluated, library, *both)
            took["evaluate"][name] = _best(call, rounds)
    print(json.dumps(took))


def _evaluated(library: Any, gt: Any, pred: Any) -> object:
    return library.evaluate(gt, pred).to_dict()


def _best(call: Callable[[], object], rounds: int) -> float:
    call()  # which makes plans
    times = 1
    found = _seconds(call, times)
    while found * times < ROUND and times < 1000:
        times *= 2
        found = min(found, _seconds(call, times))
    return 1000 * min(found, *(_seconds(call, times) for _ in range(rounds)))


def _seconds(call: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def _plain_model(schema: dict[str, Any], name: str) -> Any:
    """Make a pydantic model with the fields of an object schema, each of which may be missing."""
    from pydantic import create_model

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
    main(
        importlib.import_module(sys.argv[1]),
        json.loads(Path(sys.argv[2]).read_bytes()),
        int(sys.argv[3]),
    )
