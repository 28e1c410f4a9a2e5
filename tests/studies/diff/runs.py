"""Functions that make runs from records of documents, as files have them."""

from dataclasses import replace

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import parse_field_path
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.studies.diff import joined_runs
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.record import Difference

OPTIONS = RunOptions()
SIGNATURE = SchemaSignature("order.json", f"sha256:{'0' * 64}", "Order", None)


def document(name, score=1.0, status="evaluated", **fields):
    """Return a document's record; counts of fields are given as `total={"tp": 1}`.

    `whole` has the counts of the whole document. `__` in a name stands for a dot.
    """
    exact_counts = fields.pop("whole", None)
    counts = {name.replace("__", "."): entry for name, entry in fields.items()}
    if exact_counts is not None:
        counts = {"": exact_counts, **counts}
    return {"id": name, "status": status, "score": score, "fields": counts}


def run_of(*documents, paths=("total",), **changes):
    """Return a run of these documents; its schema has the fields `paths`."""
    blocks = Blocks()
    blocks.read_records(documents)
    fields = [FieldInfo(parse_field_path(path), "leaf", "Exact", 0.5, 1.0) for path in paths]
    run = Run(Evaluation(ledger=Ledger(blocks=blocks)), SIGNATURE, OPTIONS, fields)
    return replace(run, **changes)


RIGHT = {"tp": 1}
WRONG = {"fd": 1}
MISSED = {"fn": 1}


def single(name, right, score=None):
    """Return the record of a document with one field, `total`."""
    counts = RIGHT if right else WRONG
    return document(name, float(right) if score is None else score, whole=counts, total=counts)


def compared(base, new, names=("BASE", "NEW"), gates=(), settings=None) -> Difference:
    """Return the difference between two runs."""
    return compare_runs({names[0]: base}, {names[1]: new}, gates, settings)


def joined(bases, news, rule=None):
    """Join runs as in a comparison of two sides.

    Fields are those of the first run, and so is the rule for rates by default.
    """
    return joined_runs.join_runs(bases, news, bases[0].fields, rule or bases[0].rule)
