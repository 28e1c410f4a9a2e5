"""Count how often the reward falls when one error of a prediction is corrected.

Usage: `python -m benchmarks.corrections SCHEMA GT PRED` with directories of documents. Without
lists the reward never falls; in a list, a corrected item may be paired with another item.
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
    """Yield (error, corrected prediction) for each error of a document.

    The corrected prediction is a copy of `pred` in which only this error is corrected. An error
    whose place cannot be found in the prediction is skipped.
    """
    for error in batch.classified_errors(document):
        path = place_in_prediction(error.unit)
        if path is not None:
            holder = {"": deepcopy(pred)}
            if put(holder, ("", *path), error.unit):
                yield error.unit, holder[""]


def place_in_prediction(unit: LocatedUnit) -> Place | None:
    """Return the path at which an error must be corrected in the prediction.

    The last step for a missed list item is -1, the end of its list.
    """
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


def put(container: Any, path: Place, unit: LocatedUnit) -> bool:
    """Correct an error: set, add or delete the value at a path of a prediction.

    Return whether the path exists; if it does not, nothing changes.
    """
    *parent_steps, last_step = path
    for step in parent_steps:
        try:
            container = container[step]
        except (KeyError, IndexError, TypeError):
            return False
    if isinstance(container, list) and isinstance(last_step, int):
        if unit.outcome is Outcome.FA:
            del container[last_step]
        elif unit.outcome is Outcome.FN:
            _add_item(container, unit)
        else:
            container[last_step] = unit.gt
    elif isinstance(container, dict) and isinstance(last_step, str):
        if unit.outcome is Outcome.FA:
            del container[last_step]
        else:
            container[last_step] = unit.gt
    else:
        return False
    return True


def _add_item(items: list[Any], unit: LocatedUnit) -> None:
    """Add a missed item to a list.

    If the list has an absent value at the item's position, the item replaces it; otherwise, the
    item is added at the end.
    """
    position = (unit.gt_path or (len(items),))[-1]
    if isinstance(position, int) and position < len(items) and items[position] in (None, ""):
        items[position] = unit.gt
    else:
        items.append(unit.gt)


def main(arguments: Sequence[str]) -> None:
    """Print how many corrections were tried, and how many of them lower the reward."""
    schema, gts, preds = arguments
    for figure in ("f1", "overall_score"):
        scorer = Scorer(schema, of=figure)
        n_tried = n_lowered = 0
        largest_fall = 0.0
        for gt_file in sorted(Path(gts).glob("*.json")):
            pred_file = Path(preds, gt_file.name)
            if not pred_file.exists():
                continue
            gt, pred = (
                json.loads(path.read_text(encoding="utf-8")) for path in (gt_file, pred_file)
            )
            batch = scorer.evaluate(gt, pred)._batch  # noqa: SLF001 - where its errors are
            reward = scorer.score(gt, pred).score
            corrected_preds = [corrected for _, corrected in corrections(batch, 0, pred)]
            for new_reward in scorer.score_batch([gt] * len(corrected_preds), corrected_preds):
                n_tried += 1
                n_lowered += new_reward.score < reward - 1e-12
                largest_fall = max(largest_fall, reward - new_reward.score)
        print(
            f"{figure}: {n_lowered:,} of {n_tried:,} corrections lower it,"
            f" by {largest_fall:.4f} at most"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
