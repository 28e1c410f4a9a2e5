"""`stickler tune`: its options and its help."""

from typing import Final

from stickler_cli.core.option import option
from stickler_cli.settings.deciding import COUNT
from stickler_cli.settings.running import PairStudyOptions, level_of
from stickler_cli.studies.study import Study


class TuneSettings(PairStudyOptions):
    """Settings of `stickler tune`."""

    verdicts: str | None = option(
        None,
        "Tune on these pairs of values: JSON Lines with path, gt, pred and verdict (same or "
        "different); or verdicts downloaded from the HTML report.",
        "FILE",
        in_file="none",
        role="input",
    )
    field: tuple[str, ...] = option(
        (),
        "Also show the evidence for this field, such as line_items.price. Repeatable.",
        "PATH",
        in_file="none",
    )
    write: bool = option(
        False,
        "Write the proposed thresholds into SCHEMA; only its $comment changes as well.",
        in_file="none",
    )
    ci: float = level_of(
        "Propose only thresholds whose gain is confirmed by an interval of this level."
    )
    seed: int = option(
        0, "Seed of the halves and of all random samples.", "N", values=COUNT, panel="statistics"
    )


TUNE: Final = Study(
    settings=TuneSettings,
    record="studies.tune.answer:TuningRecord",
    help="""Propose better thresholds for the fields of a schema.

    A threshold is chosen on half of the documents and checked on the other half. With --verdicts,
    people have said which values are the same; without, the gap between similar and dissimilar
    pairs is used.
    """,
    examples="""
  stickler tune schema.json gt/ pred/
  stickler tune schema.json gt/ pred/ --write
  stickler tune schema.json gt/ pred/ --verdicts verdicts.jsonl -o tuning.json""",
    incomplete="some documents could not be compared",
)
