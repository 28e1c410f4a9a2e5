"""Time calls for a single document: `one_document_timed.py LIBRARY FILE ROUNDS`.

It prints the milliseconds for each document as JSON. Run it as a script with a Python that has the
library, which is `stickler_cli` or `stickler`; the script imports nothing else from this checkout.
It measures processor time, and prints the shortest time of all rounds, because other load on the
machine can only add to it.
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
    """Print the milliseconds of `compare_with`, and of this project's `evaluate`, as JSON.

    The JSON has a dict from the name of each document to its milliseconds, for each call.
    """
    timings: dict[str, dict[str, float]] = {"compare_with": {}, "evaluate": {}}
    for name, (schema, gt, pred) in documents.items():
        model_class = library.StructuredModel.from_json_schema(schema)
        gt_model, pred_model = model_class(**gt), model_class(**pred)
        options = {"include_confusion_matrix": True, "document_non_matches": True}
        timings["compare_with"][name] = _measure_least(
            partial(gt_model.compare_with, pred_model, **options), rounds
        )
        if library.__name__ == "stickler_cli":
            plain_class = _plain_model(schema, "Plain")
            call = partial(_evaluated, library, plain_class(**gt), plain_class(**pred))
            timings["evaluate"][name] = _measure_least(call, rounds)
    print(json.dumps(timings))


def _evaluated(library: Any, gt: Any, pred: Any) -> object:
    return library.evaluate(gt, pred).to_dict()


def _measure_least(call: Callable[[], object], rounds: int) -> float:
    call()  # the first call makes plans
    times = 1
    least = _seconds(call, times)
    while least * times < ROUND and times < 1000:
        times *= 2
        least = min(least, _seconds(call, times))
    return 1000 * min(least, *(_seconds(call, times) for _ in range(rounds)))


def _seconds(call: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def _plain_model(schema: dict[str, Any], name: str) -> Any:
    """Return a pydantic model with the fields of an object schema, all of them optional."""
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
