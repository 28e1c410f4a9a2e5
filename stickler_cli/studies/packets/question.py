"""`stickler split`: its options and its help."""

from typing import Final

from stickler_cli.core.option import NumberRange, option
from stickler_cli.settings.deciding import (
    DocumentOptions,
    IntervalOptions,
    PairsSource,
    PredictionSource,
    TruthSource,
)
from stickler_cli.settings.running import StudyOptions
from stickler_cli.studies.study import Study


class SplitSettings(
    TruthSource, PredictionSource, PairsSource, DocumentOptions, IntervalOptions, StudyOptions
):
    """Settings of `stickler split`."""

    fail_under: float | None = option(
        None,
        (
            "Fail (exit 1) if the F1 of sections (by their pages and class) is below this "
            "number (0 to 1)."
        ),
        "F1",
        values=NumberRange("a number"),
        panel="gates",
    )


PACKETS: Final = Study(
    settings=SplitSettings,
    record="studies.packets.answer:SplitReport",
    help="""Evaluate how packets of pages were split into documents.

    A packet is a file of many pages, such as a scan, that contains several documents. GT and PRED
    have the same forms as for eval, but each document describes one packet: a list of sections,
    each with its pages and its class. Reports how many sections are completely right, and figures
    for boundaries, page classes and page order (panoptic quality, V-measure, Rand indexes), with
    confidence intervals over packets.
    """,
    examples="""
  stickler split gt/ pred/
  stickler split gt.jsonl pred.jsonl --id-field packet -o split.json""",
    gate="F1 of sections is below --fail-under",
    incomplete="some packets could not be compared, or there are no packets",
)
