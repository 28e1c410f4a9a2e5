"""`stickler places`: whether right values are in the right place."""

import re

from stickler_cli.core.problems import ComparisonError, Problem, UsageError
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.locating.locator import Locator, Placing
from stickler_cli.locating.placed_fields import Located, places_report
from stickler_cli.reports.formats import PLAIN_FORMATS
from stickler_cli.runs.asking import client_of, comparing, policy_of
from stickler_cli.runs.assembly import inputs_of
from stickler_cli.runs.interruption import ended_by_signals
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.unwrapping import complete_pairs, unwrapper_of
from stickler_cli.score.intervals import intervals_of
from stickler_cli.settings.of_documents import PlacesSettings
from .command_schema import schema_of
from .console import ExitCode, show_problems, warn
from .outputs import notes_of, outputs_of

_SIZE = re.compile(r"\s*(\d{1,6})\s*[xX]\s*(\d{1,6})\s*")


def places(settings: PlacesSettings) -> ExitCode:
    """Compare values and the boxes that they came with, and print what they come to."""
    outputs = outputs_of(settings, inputs_of(settings), PLAIN_FORMATS)
    placing = Placing(settings.boxes, settings.min_overlap, _page_size(settings.page_size))
    loaded = schema_of(settings.schema, settings)
    plan = loaded.plan
    options = comparing(plan, settings, client_of(plan, policy_of(settings)))
    pairs, alone = open_pairs(settings.gt, settings.pred, settings), list[str]()
    locator = Locator(plan, options, placing, Located([], [], {}))
    try:
        with room_for_depth(), ended_by_signals():
            locator.add_all(complete_pairs(pairs, unwrapper_of(plan.root, settings), alone))
    except ComparisonError as error:
        show_problems(error.problems)
        return ExitCode.INCOMPLETE
    notes = notes_of(pairs, alone)
    if locator.unlike:
        found = "of pixels on one side and fractions of the page on the other"
        notes.append(f"{locator.unlike} pairs of boxes are {found}: give --page-size")
    sources = loaded.path, settings.gt, settings.pred
    report = places_report(
        sources, locator.located, settings.min_overlap, intervals_of(settings), notes
    )
    outputs.write(report)
    if report.whole.located is None:
        warn("error: no right value has a box on both sides; docs/places.md says how they are read")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def _page_size(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    if found is None or not int(found[1]) or not int(found[2]):
        raise UsageError([Problem("--page-size", f"it is {text!r}", "WIDTHxHEIGHT as 1654x2339")])
    return float(found[1]), float(found[2])
