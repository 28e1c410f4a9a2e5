"""The pairs of values of `data/inference_*.jsonl`, and their comparison by inference.

Before the rules were written, each pair got a verdict by the standards of somebody who knows such
documents. `python -m tests.schema.inference_pairs [-v]` prints the shares of pairs that inference
judges otherwise.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from stickler_cli.api.eval_result import EvalResult, compared
from stickler_cli.schema.loading import load_observed, loaded
from tests.schema.observing import seen_in

DATA = Path(__file__).parent / "data"
WAYS = ("names alone", "its own value", "a column", "no schema")
"""What inference knows of a pair: the schema; also the ground-truth value; also other values of the
field; or these values without a schema."""


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
    """Yield the pairs of a file."""
    for line in (DATA / name).read_text("utf-8").splitlines():
        row = json.loads(line)
        for pair in row["pairs"]:
            yield Pair(row["kind"], row["field"], row["schema"], row.get("column", []), *pair)


def knowledge_of(pair: Pair, knowledge: str) -> str:
    """Return what inference sees of a pair, as JSON."""
    seen: list[Any] = [pair.field, pair.schema]
    if knowledge != "names alone":
        seen.append(pair.gt)
    if knowledge in ("a column", "no schema"):
        seen.append(pair.column)
    return json.dumps(seen)


def are_right(pairs: list[Pair], knowledge: str) -> list[bool]:
    """Return which predictions are right by inference, which sees the same of all these pairs."""
    first = pairs[0]
    is_list = first.schema.get("type") == "array"

    def document(value: Any) -> dict[str, Any]:
        return {first.field: [value] if is_list else value}

    other_values = [] if knowledge == "its own value" else first.column
    seen = seen_in(*map(document, (first.gt, *other_values)))
    if knowledge == "no schema":
        observed = load_observed(seen, "gt")
    else:
        options = {} if knowledge == "names alone" else {"look": lambda: seen}
        schema = {"type": "object", "properties": {first.field: first.schema}}
        observed = loaded(schema, "plain", when="auto", **options)
    gts = [document(pair.gt) for pair in pairs]
    preds = [document(pair.pred) for pair in pairs]
    batch = compared(observed.plan, gts, preds)
    return [
        EvalResult(batch, row, observed.plan, observed.fields).all_fields_matched
        for row in range(len(pairs))
    ]


class Judged(NamedTuple):
    """The judgements of a table's pairs that differ from the verdicts."""

    lenient: list[Pair]
    """Wrong predictions that count as right."""
    strict: list[Pair]
    """Right predictions that count as wrong."""
    total: int


def judge_pairs(pairs: Iterable[Pair], knowledge: str) -> Judged:
    """Compare all pairs of a table, with inference from the given knowledge."""
    judgements = []
    for _, group in groupby(pairs, lambda pair: knowledge_of(pair, knowledge)):
        alike = list(group)
        judgements += zip(alike, are_right(alike, knowledge), strict=True)
    lenient = [pair for pair, right in judgements if right and not pair.right]
    strict = [pair for pair, right in judgements if pair.right and not right]
    return Judged(lenient, strict, len(judgements))


def main() -> None:
    """Print, for each table, the shares of pairs that are judged wrongly."""
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
