"""`stickler plan`: its options and its help."""

from typing import Final

from stickler_cli.core.option import NumberRange, option
from stickler_cli.settings.deciding import SHARE
from stickler_cli.settings.of_commands import FinishedOptions
from stickler_cli.settings.running import StudyOptions, level_of
from stickler_cli.studies.study import Study

USAGE: Final = "a RUN (or --base and --new), and also --half-width, --detect or --gate"


class PlanSettings(FinishedOptions, StudyOptions):
    """Settings of `stickler plan`."""

    run: str = option(
        "",
        (
            "A run of similar documents: a run file or a run directory. Not needed with "
            "--base and --new."
        ),
        "[RUN]",
        is_path=True,
        argument=True,
        needed=False,
        role="input",
    )
    half_width: float | None = option(
        None,
        (
            "Estimate how many documents give a confidence interval of this half width: 0.02 "
            "for plus or minus 0.02."
        ),
        "WIDTH",
        values=NumberRange("a number above 0, below 0.5", lambda number: 0 < number < 0.5),
        in_file="none",
    )
    of: str = option(
        "f1",
        "The figure to plan for, such as items.amount.f1 or documents.right.",
        "FIGURE",
        in_file="none",
    )
    every_field: bool = option(
        False,
        "Plan for each field separately. --of is then a metric without a field, such as f1.",
        flag="--all",
        in_file="none",
    )
    detect: float | None = option(
        None,
        "Estimate how many documents are needed to detect a change of this size between two runs.",
        "CHANGE",
        values=SHARE,
        in_file="none",
    )
    gate: tuple[str, ...] = option(
        (),
        (
            "Estimate how many documents are needed so that the whole confidence interval passes "
            "this gate, such as f1>=0.95, if the rate stays the same. Repeatable."
        ),
        "EXPR",
        in_file="none",
    )
    power: float = option(
        0.8,
        "The probability that the change is detected, or that the gate passes.",
        "SHARE",
        values=SHARE,
    )
    base: str | None = option(
        None,
        (
            "For --detect: the first of two runs of the same documents, such as one run of each "
            "system. The plan assumes that future runs differ as much as these two. Needs --new."
        ),
        "RUN",
        in_file="none",
        role="input",
    )
    new: str | None = option(
        None,
        (
            "For --detect: the second of two runs of the same documents; the first is --base. "
            "Needs --base."
        ),
        "RUN",
        in_file="none",
        role="input",
    )
    correlation: float = option(
        0.5,
        "Assumed correlation between the errors of two runs. Used only if a single run is given.",
        "SHARE",
        values=SHARE._replace(
            expected="a number of at least 0, below 1", fits=lambda number: 0 <= number < 1
        ),
    )
    ci: float = level_of(
        "Level of the confidence intervals. The significance level of tests is 1 minus this level."
    )


PLAN: Final = Study(
    settings=PlanSettings,
    record="studies.plan.answer:SizeReport",
    help="""Estimate how many documents you need for a reliable result.

    Choose what you need: an interval of a certain width (--half-width), a change that is detected
    (--detect), or a gate that passes (--gate). The estimate comes from a pilot run of similar
    documents, by inverting the formula of the confidence intervals.
    """,
    examples="""
  stickler plan run.json --half-width 0.02 --all
  stickler plan run.json --gate 'f1>=0.95' --gate 'items.amount.f1>=0.9'
  stickler plan --base a.json --new b.json --detect 0.01 --power 0.9""",
)
