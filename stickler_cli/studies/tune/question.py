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
        "Tune on these pairs of values: JSON Lines of path, gt, pred and verdict, which is same "
        "or different; or the verdicts that the HTML report has downloaded.",
        "FILE",
        in_file="none",
        role="input",
    )
    field: tuple[str, ...] = option(
        (),
        "Also show the evidence of this field, as line_items.price. Repeatable.",
        "PATH",
        in_file="none",
    )
    write: bool = option(
        False,
        "Write what is proposed into SCHEMA; nothing else in it changes but its $comment.",
        in_file="none",
    )
    ci: float = level_of("Propose what has a gain by an interval of this level.")
    seed: int = option(
        0, "Draw other halves and other random samples.", "N", values=COUNT, panel="statistics"
    )


TUNE: Final = Study(
    settings=TuneSettings,
    record="studies.tune.answer:TuningRecord",
    help="""Propose thresholds that the evidence supports.

    Half of the documents chooses a threshold and the other half judges it. With --verdicts
    people have said which values are the same; without, the gap between like and unlike
    pairs counts.
    """,
    examples="""
  stickler tune schema.json gt/ pred/
  stickler tune schema.json gt/ pred/ --write
  stickler tune schema.json gt/ pred/ --verdicts verdicts.jsonl -o tuning.json""",
    incomplete="documents cannot be compared",
)
