"""The pairs of values of `data/inference_*.jsonl`, judged by what is inferred.

Each was given its verdict by what someone who knows such documents would say, before the rules
were written. `python -m tests.schema.inference_pairs [-v]` prints the shares that are judged
otherwise.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stickler_cli.api.eval_result import EvalResult, compared
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.loading import load_observed, loaded

DATA = Path(__file__).parent / "data"
WAYS = ("names alone", "its own value", "a column", "no schema")
"""What is known: the schema, also the value of the ground truth, also others of its field; or the
values without a schema."""


class Pair(NamedTuple):
    """Two values of a field, and whether the prediction is right."""

    kind: str
    field: str
    schema: dict[str, Any]
    column: list[Any]
    gt: Any
    pred: Any
    right: bool
    why: str


def pairs_of(name: str = "inference_pairs.jsonl") -> Iterator[Pair]:
    """Read a table of pairs."""
    for line in (DATA / name).read_text("utf-8").splitlines():
        row = json.loads(line)
        for pair in row["pairs"]:
            yield Pair(row["kind"], row["field"], row["schema"], row.get("column", []), *pair)


def is_right(pair: Pair, knowledge: str) -> bool:
    """Whether a prediction is judged right with the given knowledge."""
    is_list = pair.schema.get("type") == "array"

    def document(value: Any) -> dict[str, Any]:
        return {pair.field: [value] if is_list else value}

    schema = {"type": "object", "properties": {pair.field: pair.schema}}
    other_values = [] if knowledge == "its own value" else pair.column
    seen = Observed()
    for value in (pair.gt, *other_values):
        seen.add(document(value))
    if knowledge == "no schema":
        observed = load_observed(seen, "gt")
    else:
        options = {} if knowledge == "names alone" else {"look": lambda: seen}
        observed = loaded(schema, "plain", when="auto", **options)
    batch = compared(observed.plan, [document(pair.gt)], [document(pair.pred)])
    return EvalResult(batch, 0, observed.plan, observed.fields).all_fields_matched


class Judged(NamedTuple):
    """Judgements of a table by one kind of inference."""

    lenient: list[Pair]
    """Wrong ones that pass."""
    strict: list[Pair]
    """Right ones that fail."""
    total: int


def judge_pairs(pairs: Iterable[Pair], knowledge: str) -> Judged:
    """Judge all pairs of a table."""
    judgements = [(pair, is_right(pair, knowledge)) for pair in pairs]
    lenient = [pair for pair, right in judgements if right and not pair.right]
    strict = [pair for pair, right in judgements if pair.right and not right]
    return Judged(lenient, strict, len(judgements))


def main() -> None:
    """Print the shares of all tables."""
    for name in ("inference_pairs.jsonl", "inference_second.jsonl", "inference_issue.jsonl"):
        pairs = [*pairs_of(name)]
        wrong = sum(not pair.right for pair in pairs)
        sys.stdout.write(f"{name}: {wrong} wrong, {len(pairs) - wrong} right\n")
        for knowledge in WAYS:
            judgement = judge_pairs(pairs, knowledge)
            lenient, strict = len(judgement.lenient), len(judgement.strict)
            shares = (
                f"{lenient / judgement.total:.1%} too lenient,"
                f" {strict / judgement.total:.1%} too strict"
            )
            sys.stdout.write(
                f"  {knowledge:14} {lenient:3} pass wrongly, {strict:3} fail wrongly: {shares}\n"
            )
            for pair in (*judgement.lenient, *judgement.strict) if "-v" in sys.argv else ():
                verdict = "fails" if pair.right else "passes"
                sys.stdout.write(
                    f"      {pair.field}: {pair.gt!r} / {pair.pred!r} {verdict}: {pair.why}\n"
                )


if __name__ == "__main__":
    main()
