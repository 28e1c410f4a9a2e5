"""`stickler split`: how well packets of several documents were taken apart."""

from stickler_cli.packets.report import SECTIONS_F1
from stickler_cli.packets.run import split_of
from stickler_cli.reports.formats import PLAIN_FORMATS
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.settings.of_documents import SplitSettings
from .console import ExitCode, warn
from .outputs import NAMED, held_to, outputs_of


def split(settings: SplitSettings) -> ExitCode:
    """Compare the sections of all packets and print what they come to."""
    inputs = [("GT", settings.gt), ("PRED", settings.pred)]
    outputs = outputs_of(settings, inputs, PLAIN_FORMATS)
    with room_for_depth():
        report = split_of(settings)
    outputs.write(report)
    unfit = [each for each in report.packets if each.status in {"failed", "only_pred"}]
    if unfit or not report.packets:
        warn(f"error: {len(unfit)} of {len(report.packets)} packets could not be compared")
        for each in unfit[:NAMED]:
            warn(f"  {each.id}: {each.problem}")
        return ExitCode.INCOMPLETE
    return held_to(settings.fail_under, SECTIONS_F1, report.figure(SECTIONS_F1).value)
