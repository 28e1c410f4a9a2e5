"""`stickler judge-check`: its options and its help."""

from typing import Final

from stickler_cli.core.option import NumberRange, Settings, option
from stickler_cli.settings.deciding import SchemaOptions, SchemaSource
from stickler_cli.settings.running import ModelOptions, StudyOptions, level_of
from stickler_cli.studies.study import Study


class LabelledSource(Settings):
    """The option for the file of pairs of values that people judged."""

    pairs: str = option(
        "",
        "Labelled pairs: JSON Lines with path, gt, pred and verdict (same or different).",
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
        "Fail (exit 1) if kappa over all fields is below this, at most 1.",
        "KAPPA",
        values=NumberRange("a number"),
        in_file="none",
        panel="gates",
    )
    ci: float = level_of("Level of the confidence intervals.")
    clear_cache: bool = option(
        False,
        "First delete all answers of models that are saved on disk.",
        in_file="none",
        panel="models",
    )


JUDGES: Final = Study(
    settings=JudgeSettings,
    record="studies.judges.answer:JudgeReport",
    help="""Check LLM judges against your labels.

    Reports agreement, Cohen's kappa, the pairs that a judge accepts although they differ, and
    tokens, cost and time, for each field that asks a model. Pairs have the form that
    tune --verdicts takes.
    """,
    examples="""
  stickler judge-check schema.json pairs.jsonl
  stickler judge-check schema.json pairs.jsonl --fail-under 0.8 -o judge.json
  stickler judge-check schema.json pairs.jsonl --endpoint openai:m=http://host""",
    gate="kappa is below --fail-under",
    incomplete="some pairs were not judged, or there are no pairs",
)
