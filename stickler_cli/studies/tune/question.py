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
        (
            "Tune with labelled pairs of values: JSON Lines with the keys path, gt, pred and "
            "verdict (same or different); or verdicts downloaded from the HTML report."
        ),
        "FILE",
        in_file="none",
        role="input",
    )
    field: tuple[str, ...] = option(
        (),
        (
            "Show the evidence for this field, such as line_items.price, even if no new threshold "
            "is proposed for it. Repeatable."
        ),
        "PATH",
        in_file="none",
    )
    write: bool = option(
        False,
        (
            "Write the proposed thresholds into SCHEMA. Only thresholds and the schema's "
            "$comment change."
        ),
        in_file="none",
    )
    ci: float = level_of(
        "Level of the confidence interval of the gain. A threshold is proposed only if the whole "
        "interval is above 0."
    )
    seed: int = option(
        0,
        "Seed of all random choices, such as the split of documents into halves.",
        "N",
        values=COUNT,
        panel="statistics",
    )


TUNE: Final = Study(
    settings=TuneSettings,
    record="studies.tune.answer:TuningRecord",
    help="""Propose better thresholds for the fields of a schema.

    A threshold is chosen on half of the documents and checked on the other half. With --verdicts,
    people have said which pairs of values are the same. Without --verdicts, the threshold is placed
    in the gap between the similarities of similar and dissimilar pairs.
    """,
    examples="""
  stickler tune schema.json gt/ pred/
  stickler tune schema.json gt/ pred/ --write
  stickler tune schema.json gt/ pred/ --verdicts verdicts.jsonl -o tuning.json""",
    incomplete="some documents could not be compared",
)
