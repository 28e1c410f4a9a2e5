"""`stickler judge-check`: its options and its help."""

from typing import Final

from stickler_cli.core.option import NumberRange, Settings, option
from stickler_cli.settings.deciding import SchemaOptions, SchemaSource
from stickler_cli.settings.running import ModelOptions, StudyOptions, level_of
from stickler_cli.studies.study import Study


class LabelledSource(Settings):
    """The option for the file of labelled pairs: pairs of values that people judged."""

    pairs: str = option(
        "",
        "Labelled pairs: JSON Lines with the keys path, gt, pred and verdict (same or different).",
        "PAIRS",
        is_path=True,
        argument=True,
        in_file="none",
        role="input",
    )


class JudgeSettings(SchemaSource, LabelledSource, SchemaOptions, ModelOptions, StudyOptions):
    """Settings of `stickler judge-check`."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if kappa over all fields is below this number (at most 1).",
        "KAPPA",
        values=NumberRange("a number"),
        in_file="none",
        panel="gates",
    )
    ci: float = level_of("Level of the confidence intervals.")
    clear_cache: bool = option(
        False,
        "Before judging, delete all model answers that are saved on disk.",
        in_file="none",
        panel="models",
    )


JUDGES: Final = Study(
    settings=JudgeSettings,
    record="studies.judges.answer:JudgeReport",
    help="""Check LLM judges against your labels.

    Reports, for each field that asks a model, how often the judge agrees with your labels, Cohen's
    kappa, and the pairs that the judge accepts although they differ. Also reports tokens, cost and
    time. The file of pairs has the same form as for stickler tune --verdicts.
    """,
    examples="""
  stickler judge-check schema.json pairs.jsonl
  stickler judge-check schema.json pairs.jsonl --fail-under 0.8 -o judge.json
  stickler judge-check schema.json pairs.jsonl --endpoint openai:m=http://host""",
    gate="kappa is below --fail-under",
    incomplete="some pairs were not judged, or there are no pairs",
)
