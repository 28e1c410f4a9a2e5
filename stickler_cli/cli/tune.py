"""`stickler tune`: thresholds from evidence."""

from collections.abc import Iterator

from stickler_cli.advice.evidence import Evidence, of_documents, of_verdicts
from stickler_cli.advice.tuning import TuneReport, tuned_fields
from stickler_cli.advice.verdicts import read_verdicts
from stickler_cli.compare.wrappers import Unwrapper
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import ComparisonError
from stickler_cli.documents.pairs import Pairs, open_pairs
from stickler_cli.reports.figures import some_of
from stickler_cli.reports.registry import TUNE_FORMATS
from stickler_cli.runs.assembly import client_of, comparing, inputs_of, policy_of
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.unwrapping import unwrapped, unwrapper_of
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.settings import TuneSettings
from .console import ExitCode, show_problems
from .outputs import NAMED, outputs_of
from .schemas import schema_of


def tune(settings: TuneSettings) -> ExitCode:
    """Propose thresholds, and print the evidence."""
    outputs = outputs_of(settings, inputs_of(settings), TUNE_FORMATS)
    loaded = schema_of(settings.schema, settings)
    try:
        evidence, notes = _evidence(loaded, settings)
    except ComparisonError as error:
        show_problems(error.problems)
        return ExitCode.INCOMPLETE
    fields = tuned_fields(evidence, IntervalSettings(settings.ci, settings.seed))
    order = {field_path(field.path): at for at, field in reversed([*enumerate(loaded.fields)])}
    report = TuneReport(
        loaded.path,
        loaded.plan.model_name,
        settings.verdicts is not None,
        len(evidence.names),
        tuple(sorted(fields, key=lambda field: order.get(field.path, len(order)))),
        settings.ci,
        tuple(notes),
    )
    outputs.write(report)
    return ExitCode.OK


def _evidence(loaded: LoadedSchema, settings: TuneSettings) -> tuple[Evidence, list[str]]:
    """Return the pairs that thresholds are tuned on, and what to note of the sources."""
    plan = loaded.plan
    client = client_of(plan, policy_of(settings))
    options = comparing(plan, settings, client)
    with room_for_depth():
        if settings.verdicts is not None:
            lines = read_verdicts(settings.verdicts, plan, settings.max_document_size)
            return of_verdicts(lines, options), []
        pairs = open_pairs(settings.gt, settings.pred, settings)
        left_out: list[str] = []
        unwrapper = unwrapper_of(plan, settings)
        evidence = of_documents(plan, _comparable(pairs, unwrapper, left_out), options)
    notes = [*map(str, pairs.problems)]
    if left_out:
        notes.append(f"without both sides and left out: {some_of(left_out, NAMED)}")
    return evidence, notes


def _comparable(
    pairs: Pairs, unwrapper: Unwrapper | None, left_out: list[str]
) -> Iterator[tuple[str, JsonObject, JsonObject]]:
    """Yield the documents that have both sides, with their ids; take note of the others."""
    for pair in pairs:
        both = pair if unwrapper is None else unwrapped(unwrapper, pair)
        if isinstance(both.gt, dict) and isinstance(both.pred, dict):
            yield both.id, both.gt, both.pred
        else:
            left_out.append(both.id)
