"""`stickler tune`: thresholds from evidence."""

from dataclasses import replace
from pathlib import Path

from stickler_cli.advice.evidence import Evidence, of_documents, of_verdicts
from stickler_cli.advice.schema_text import with_thresholds
from stickler_cli.advice.tuning import TunedField, TuneReport, tuned_fields
from stickler_cli.advice.verdicts import read_verdicts
from stickler_cli.core.figures import number_of, setting
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import ComparisonError, Problem, UsageError, did_you_mean
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.reading import BOM, STANDARD_INPUT
from stickler_cli.reports.formats import PLAIN_FORMATS
from stickler_cli.runs.asking import client_of, comparing, policy_of
from stickler_cli.runs.assembly import inputs_of
from stickler_cli.runs.directory.whole_files import whole_file
from stickler_cli.runs.interruption import ended_by_signals
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.tuned import COMMENT, commented, hashes, tuned_on
from stickler_cli.runs.unwrapping import complete_pairs, unwrapper_of
from stickler_cli.schema.annotated_text import with_keys
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.settings.of_schemas import TuneSettings
from .command_schema import schema_of
from .console import ExitCode, show_problems
from .outputs import notes_of, outputs_of, tell_asked


def tune(settings: TuneSettings) -> ExitCode:
    """Propose thresholds, and print the evidence."""
    outputs = outputs_of(settings, inputs_of(settings), PLAIN_FORMATS)
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
        settings.field,
    )
    known = [field.path for field in fields]
    unknown = [path for path in settings.field if path not in known]
    if unknown:
        expected = f"one of {', '.join(known) or 'none'}"
        raise UsageError(
            Problem("--field", f"there are no pairs of {path}", expected, did_you_mean(path, known))
            for path in unknown
        )
    if settings.write and report.proposed:
        report = _written(loaded, report, settings)
    outputs.write(report)
    return ExitCode.OK


def _written(loaded: LoadedSchema, report: TuneReport, settings: TuneSettings) -> TuneReport:
    """Write what is proposed into the schema file; return the report with what became of it."""
    if loaded.inferred is not None or not Path(settings.schema).is_file():
        found = "how to compare is inferred, which one annotation would end"
        if loaded.inferred is None:
            found = "SCHEMA is no file"
        hint = "write one first: stickler init"
        raise UsageError([Problem("--write", found, "a file with an annotated schema", hint)])
    if settings.gt == STANDARD_INPUT:
        found = "GT is standard input, which cannot be read again to tell what was tuned on"
        raise UsageError([Problem("--write", found, "a file or a directory")])
    file = Path(settings.schema)
    content = file.read_bytes()
    text = content.removeprefix(BOM)
    text, written, notes = with_thresholds(loaded, text, report.proposed, settings)
    if written:
        what = ", ".join(map(_change, written))
        tuned = tuned_on(what, hashes(settings.gt, settings))
        said: JsonObject = {COMMENT: commented(loaded.contents, tuned)}
        text = with_keys(text.decode(), {"": said}).encode()
        with whole_file(settings.schema, "--write") as stream:
            stream.write(content[: len(content) - len(content.removeprefix(BOM))] + text)
        notes.append(f"wrote {what} to {settings.schema}")
    return replace(report, notes=(*report.notes, *notes))


def _change(field: TunedField) -> str:
    return f"{field.path} {setting(field.threshold)} -> {setting(field.proposal.threshold)}"


def _evidence(loaded: LoadedSchema, settings: TuneSettings) -> tuple[Evidence, list[str]]:
    """Return the pairs that thresholds are tuned on, and what to note of the sources."""
    plan = loaded.plan
    client = client_of(plan, policy_of(settings))
    options = comparing(plan, settings, client)
    with room_for_depth(), ended_by_signals():
        if settings.verdicts is not None:
            lines, left_out = read_verdicts(settings.verdicts, plan, settings.max_document_size)
            evidence = of_verdicts(lines, options)
            tell_asked(client, settings)
            of = number_of(left_out, "verdict")
            return evidence, [f"on no two values and left out: {of}"] if left_out else []
        pairs = open_pairs(settings.gt, settings.pred, settings, (plan.kind,))
        alone: list[str] = []
        documents = complete_pairs(pairs, unwrapper_of(plan.root, settings), alone)
        evidence = of_documents(plan, documents, options)
    tell_asked(client, settings)
    return evidence, notes_of(pairs, alone)
