"""How often the reward falls when one error of a prediction is corrected.

`python -m benchmarks.corrections SCHEMA GT PRED`, of directories of documents. Without lists it
never does; in a list, what is corrected may be paired with another item.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from stickler_cli import Scorer
from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import Path as Place
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.located_units import LocatedUnit, locate


def corrections(batch: Batch, document: int, pred: Any) -> Iterator[tuple[LocatedUnit, Any]]:
    """Yield each error of a document, and the prediction without it."""
    for error in batch.classified_errors(document):
        path = place_in_prediction(error.unit)
        if path is not None:
            whole = {"": deepcopy(pred)}
            if put(whole, ("", *path), error.unit):
                yield error.unit, whole[""]


def place_in_prediction(unit: LocatedUnit) -> Place | None:
    """Return where an error is, or would be: a missed item at the end of its list."""
    if unit.pred_path is not None:
        return unit.pred_path
    batch, position = unit.batch, unit.position
    path: list[str | int] = []
    while batch.container is not None:
        (place,) = locate(unit.table, batch, np.array([position]))
        if place.pred_path is not None:
            return (*place.pred_path, *reversed(path))
        step = (place.gt_path or (-1,))[-1]
        path.append(-1 if isinstance(step, int) else step)
        position = int(batch.positions[position])
        batch = batch.container
    return (*reversed(path),)


def put(whole: Any, path: Place, unit: LocatedUnit) -> bool:
    """Put the truth at a place, in a prediction; return whether it has such a place."""
    *around, last = path
    for step in around:
        try:
            whole = whole[step]
        except (KeyError, IndexError, TypeError):
            return False
    if isinstance(whole, list) and isinstance(last, int):
        if unit.outcome is Outcome.FA:
            del whole[last]
        elif unit.outcome is Outcome.FN:
            whole.append(unit.gt)
        else:
            whole[last] = unit.gt
    elif isinstance(whole, dict) and isinstance(last, str):
        if unit.outcome is Outcome.FA:
            del whole[last]
        else:
            whole[last] = unit.gt
    else:
        return False
    return True


def main(arguments: Sequence[str]) -> None:
    """Print how many corrections there are, and how many of them lower the reward."""
    schema, gts, preds = arguments
    for of in ("f1", "overall_score"):
        scorer = Scorer(schema, of=of)
        tried = lowered = 0
        most = 0.0
        for file in sorted(Path(gts).glob("*.json")):
            other = Path(preds, file.name)
            if not other.exists():
                continue
            gt, pred = (json.loads(each.read_text(encoding="utf-8")) for each in (file, other))
            batch = scorer.evaluate(gt, pred)._batch  # noqa: SLF001 - where its errors are
            before = scorer.score(gt, pred).score
            better = [it for _, it in corrections(batch, 0, pred)]
            for after in scorer.score_batch([gt] * len(better), better):
                tried += 1
                lowered += after.score < before - 1e-12
                most = max(most, before - after.score)
        print(f"{of}: {lowered:,} of {tried:,} corrections lower it, by {most:.4f} at most")


if __name__ == "__main__":
    main(sys.argv[1:])
