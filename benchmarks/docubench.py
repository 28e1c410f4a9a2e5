"""`python -m benchmarks.docubench CHECKOUT`: compare inference with a published ranking.

CHECKOUT is a checkout of github.com/DocuPipe/DocuBench, which has 50 kinds of documents and the
answers of six systems (labels and results CC BY 4.0; nothing of it is part of this project). Its
schemas do not say how values are compared, so all comparisons are inferred. The reference is the
score that the repository's own `scorer.py` gives each document.
"""

import json
import runpy
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from stickler_cli.api.many import evaluate_many


class System(NamedTuple):
    """The figures of a system, in [0, 1]."""

    name: str
    published: float
    """Mean score of the documents, as the repository's own program computes it."""
    f1: float
    """F1 over the values of all documents, with inferred comparisons."""
    mean_f1: float
    """Mean of the F1 of each document."""


def _read_json(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def evaluate_system(
    checkout: Path, name: str, score_document: Callable[..., dict[str, float]]
) -> System:
    """Evaluate the answers of a system with the repository's program and with this project."""
    published, f1s, counts = [], [], dict.fromkeys(("tp", "fd", "fa", "fn"), 0)
    for label in sorted((checkout / "labels").glob("*.json")):
        schema, gt = _read_json(checkout / "schemas" / label.name), _read_json(label)
        answer_file = checkout / "results" / name / label.name
        pred = _read_json(answer_file).get("data") or {} if answer_file.exists() else {}
        run: Any = evaluate_many(schema, [(gt, pred)]).to_dict()
        leaves = run["confusion_matrix"]["leaves"]
        f1s.append(leaves["derived"]["cm_f1"])
        counts = {kind: count + leaves[kind] for kind, count in counts.items()}
        # This call comes last since it changes its arguments.
        published.append(score_document(result=pred, schema=schema, label=gt)["final"])
    precision = counts["tp"] / (counts["tp"] + counts["fd"] + counts["fa"])
    recall = counts["tp"] / (counts["tp"] + counts["fn"])
    f1 = 2 * precision * recall / (precision + recall)
    return System(
        name=name, published=statistics.mean(published), f1=f1, mean_f1=statistics.mean(f1s)
    )


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """Compute Kendall's tau of two lists of scores: 1.0 for equal rankings, -1.0 for reversed."""
    pairs = [*combinations(range(len(first)), 2)]
    signs = [(first[a] - first[b]) * (second[a] - second[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def main() -> None:
    """Print the table of systems."""
    checkout = Path(sys.argv[1])
    score_document = runpy.run_path(str(checkout / "scorer.py"))["score_standardization"]
    warnings.simplefilter("ignore")  # the warnings say that comparisons are inferred: the purpose
    names = sorted(system.name for system in (checkout / "results").iterdir() if system.is_dir())
    systems = [evaluate_system(checkout, name, score_document) for name in names]
    systems.sort(key=lambda system: -system.published)
    print(
        "| system | published score | F1, all values | F1, mean of documents |\n|---|---|---|---|"
    )
    for name, *figures in systems:
        print(f"| {name} | " + " | ".join(f"{figure:.4f}" for figure in figures) + " |")
    published = [system.published for system in systems]
    for kind, f1s in (
        ("all values", [system.f1 for system in systems]),
        ("mean of documents", [system.mean_f1 for system in systems]),
    ):
        correlation = statistics.correlation(published, f1s)
        print(f"\nF1, {kind}: Kendall {kendall(published, f1s):.2f}, r {correlation:.3f}")


if __name__ == "__main__":
    main()
