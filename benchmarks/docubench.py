"""`python -m benchmarks.docubench CHECKOUT`: hold inference against a published ranking.

CHECKOUT is one of github.com/DocuPipe/DocuBench: 50 kinds of documents, six systems (labels and
results CC BY 4.0; none of it is part of this project). Its raw schemas say nothing of comparing,
so all is inferred; what is compared with is the score that its own `scorer.py` gives each document.
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
    """Mean of the score that the repository's program gives each document."""
    f1: float
    """F1 of the values of all documents, as inferred."""
    mean_f1: float
    """Mean of the F1 of each document."""


def _read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def system_of(checkout: Path, name: str, scored: Callable[..., dict[str, float]]) -> System:
    """Compare the answers of a system by both programs."""
    published, f1s, counts = [], [], dict.fromkeys(("tp", "fd", "fa", "fn"), 0)
    for label in sorted((checkout / "labels").glob("*.json")):
        schema, gt = _read(checkout / "schemas" / label.name), _read(label)
        answer = checkout / "results" / name / label.name
        pred = _read(answer).get("data") or {} if answer.exists() else {}
        run: Any = evaluate_many(schema, [(gt, pred)]).to_dict()
        found = run["confusion_matrix"]["leaves"]
        f1s.append(found["derived"]["cm_f1"])
        counts = {kind: count + found[kind] for kind, count in counts.items()}
        # Last: it changes what it is given.
        published.append(scored(result=pred, schema=schema, label=gt)["final"])
    precision = counts["tp"] / (counts["tp"] + counts["fd"] + counts["fa"])
    recall = counts["tp"] / (counts["tp"] + counts["fn"])
    whole = 2 * precision * recall / (precision + recall)
    return System(name, statistics.mean(published), whole, statistics.mean(f1s))


def kendall(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how far two rankings agree: 1.0 where they are the same, -1.0 where reversed."""
    pairs = [*combinations(range(len(one)), 2)]
    signs = [(one[a] - one[b]) * (other[a] - other[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def main() -> None:
    """Print the table of systems."""
    checkout = Path(sys.argv[1])
    scored = runpy.run_path(str(checkout / "scorer.py"))["score_standardization"]
    warnings.simplefilter("ignore")  # that all is inferred is what is asked for
    names = sorted(each.name for each in (checkout / "results").iterdir() if each.is_dir())
    systems = [system_of(checkout, name, scored) for name in names]
    systems.sort(key=lambda each: -each.published)
    print(
        "| system | published score | F1, all values | F1, mean of documents |\n|---|---|---|---|"
    )
    for name, *figures in systems:
        print(f"| {name} | " + " | ".join(f"{figure:.4f}" for figure in figures) + " |")
    published = [each.published for each in systems]
    for what, theirs in (
        ("all values", [each.f1 for each in systems]),
        ("mean of documents", [each.mean_f1 for each in systems]),
    ):
        r = statistics.correlation(published, theirs)
        print(f"\nF1, {what}: Kendall {kendall(published, theirs):.2f}, r {r:.3f}")


if __name__ == "__main__":
    main()
