"""Put the documents of a finished run into new groups. The documents are compared again for this.

The documents must not have changed. Models are not asked, so their answers must be in the cache.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final, get_args

from stickler_cli.core.figures import INFERRED_FROM, join_some
from stickler_cli.core.option import options_of, paths_named, read_settings
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.real_paths import can_be_path, real_path
from stickler_cli.core.remote import is_url
from stickler_cli.documents.reading import STANDARD_INPUT, decoded
from stickler_cli.records.codec import decode
from stickler_cli.runs.assembly import assemble
from stickler_cli.runs.directory.run_directory import begun_with
from stickler_cli.runs.job import BY, OutputsRequested
from stickler_cli.runs.saved import file_in, load_run
from stickler_cli.runs.whole_files import JOURNAL, check_outputs
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.document_result import SIDES
from stickler_cli.score.record import PER_DOCUMENT, Run, run_record
from stickler_cli.settings.deciding import (
    BoxFormat,
    DecidingOptions,
    DocumentOptions,
    Infer,
    SelectionOptions,
)
from stickler_cli.settings.of_commands import (
    CompareSettings,
    ErrorsSettings,
    EvalSettings,
    ReportSettings,
)
from stickler_cli.settings.running import TerminalOptions
from .command_schema import is_model, schema_of
from .console import shell_command
from .eval import check_group_keys, command_line_arguments, compare_command, evaluate_assembly

_KEPT: Final = ("pairs", "seed", "metric")
_KEPT_ONLY_BY_THE_RUN: Final = ("policy", "verdicts")
"""Keys of a run record whose values are taken from the recorded run. These values cannot be
computed again, because they were read from files that are not in the run directory."""
_OF_THE_CALLER: Final = ("by_file", "repeat", "policy", "verdicts")
"""Options whose files are named in the command that the user runs now. The files of all other input
options are named in the recorded run."""
_OF_TERMINAL: Final = options_of(TerminalOptions)
_KEPT_GROUPS: Final = (DocumentOptions, SelectionOptions, DecidingOptions)
"""Settings classes whose options are recorded in the journal of a run. The key of each option in
the journal is the name of the option."""


def regroup_run(name: str, run: Run, settings: ReportSettings, *, detail: bool) -> Run:
    """Compare the documents of a run directory again, and return the run with new groups.

    Raises:
        UsageError: the run is not a directory, or its schema or documents have changed.
    """
    _check_directory(name, BY)
    recorded = _with_allowed_sources(_settings_of(name, run, settings), name, settings.read)
    check_outputs(paths_named(settings, "output"), paths_named(recorded, "input"))
    recorded, schema = _inferred_as_it_was(run, recorded)
    # Request everything that a run directory keeps, to check new figures against recorded ones.
    requested = OutputsRequested(accounts=True, detail=detail)
    assembly = assemble(recorded, requested, lambda: schema)
    new_run, signal = evaluate_assembly(assembly, set())
    if signal is not None or _figures_of(new_run) != _figures_of(run):
        finding = "the documents, or how they are compared, have changed since the run"
        raise UsageError(
            [
                Problem(
                    source=name,
                    found=finding,
                    expected="the same documents and options as in the run",
                    hint="evaluate again, with --restart",
                )
            ]
        )
    check_group_keys(new_run)
    return replace(
        run,
        evaluation=new_run.evaluation,
        detail=new_run.detail,
        first_non_matches=new_run.first_non_matches,
    )


def _check_directory(name: str, option: str, hint: str = "") -> None:
    if not (file_in(name, JOURNAL) if is_url(name) else Path(name).is_dir()):
        finding = f"{name} is a run file, which does not record how the documents were read"
        raise UsageError(
            [
                Problem(
                    source=option,
                    found=finding,
                    expected="a run directory, made with stickler eval --run-dir",
                    hint=hint,
                )
            ]
        )


def command_on_sources(command: str, run: Run, settings: CompareSettings | ErrorsSettings) -> str:
    """Return a command line that reads the schema and the documents of a run.

    It has the words SCHEMA, GT and PRED if the run does not state their paths.
    """
    sources = [
        side for provenance in run.provenance[:1] for side in (provenance.gt, provenance.pred)
    ]
    words = [run.schema.path, *sources] if len(sources) == 2 else ["SCHEMA", "GT", "PRED"]
    words = words[words[0].startswith(INFERRED_FROM) :]
    command_options = options_of(type(settings))  # type: ignore[arg-type]  # cannot be hashed for mypy
    deciding_options = {
        name: provenance
        for name, provenance in options_of(DecidingOptions).items()
        if name in command_options
    }
    document_option = ["--document", settings.document] if settings.document else []
    return shell_command(
        [
            "stickler",
            command,
            *words,
            *command_line_arguments(run.options, deciding_options),
            *document_option,
        ]
    )


def settings_of_finished(settings: CompareSettings) -> CompareSettings:
    """Return settings that compare a document in the same way as a finished run did.

    `settings.pred` is the directory of the run. The sources, and the options that change how
    documents are compared, are taken from the run.

    Raises:
        UsageError: the run is not a directory, cannot be read, or has a source that may not be
            read; or the schema has changed since the run.
    """
    name = settings.pred
    run = load_run(name)
    command = command_on_sources("compare", run, settings)
    _check_directory(name, "RUN", f"or name the documents: {command}")
    recorded = _recorded_settings(name, run, ReportSettings(allow_plugins=settings.allow_plugins))
    allowed = _with_allowed_sources(recorded, name, settings.read)
    check_outputs(paths_named(settings, "output"), paths_named(allowed, "input"))
    allowed, _ = _inferred_as_it_was(run, allowed)
    decided = {
        key: getattr(allowed, key)
        for key, option in options_of(EvalSettings).items()
        if hasattr(settings, key) and option.panel != "output" and key not in _OF_TERMINAL
    }
    return replace(settings, **decided)


def _with_allowed_sources(
    settings: EvalSettings, directory: str, named: Sequence[str]
) -> EvalSettings:
    """Check that the sources of a recorded run may be read, and return its settings.

    A run directory may come from a stranger. Its sources may be read if they are below the working
    directory, but not in the run directory itself. All others, such as URLs, may be read only if
    they are in `named`, the sources that the user allows.

    Raises:
        UsageError: a source may not be read. Standard input is never allowed, because its
            content is not in the run directory.
    """
    named_here = {decoded(source): source for source in named}
    sources = {
        option.name: getattr(settings, option.name)
        for option in options_of(EvalSettings).values()
        if option.role == "input" and option.name not in _OF_THE_CALLER
    }
    if STANDARD_INPUT in sources.values():
        finding, expected = "the run refers to standard input", "a run that was made from files"
        raise UsageError([Problem(directory, finding, expected)])
    refused = [
        path
        for path in dict.fromkeys(sources.values())
        if path and path not in named_here and not _is_below_here(path, directory)
    ]
    if refused:
        finding = f"the run refers to {join_some(map(decoded, refused))}"
        expected = "only files inside the working directory"
        noun = "this file" if len(refused) == 1 else "these files"
        words = [word for path in refused for word in ("--read", path)]
        raise UsageError(
            [
                Problem(
                    source=directory,
                    found=finding,
                    expected=expected,
                    hint=f"to allow {noun}, add {shell_command(words)}",
                )
            ]
        )
    return replace(
        settings, **{key: named_here.get(path, path) for key, path in sources.items() if path}
    )


def _is_below_here(path: str, directory: str) -> bool:
    """Return whether a path is below the working directory, but not in the run directory."""
    if is_url(path) or is_model(path) or not can_be_path(path):
        return False
    place = real_path(path)
    is_in_run = not is_url(directory) and place.is_relative_to(real_path(directory))
    return place.is_relative_to(real_path(Path.cwd())) and not is_in_run


def compare_command_of_finished(name: str, run: Run, settings: ReportSettings) -> str:
    """Return the command line that explains a document of a run.

    The caller appends the document id.
    """
    return compare_command(replace(_recorded_settings(name, run, settings), offline=False))


def _recorded_settings(name: str, run: Run, settings: ReportSettings) -> EvalSettings:
    """Return the settings of a recorded run, including whether its schema was inferred."""
    settings_then = _settings_of(name, run, settings)
    source = "" if run.schema.path == f"{INFERRED_FROM}{settings_then.gt}" else run.schema.path
    # A run directory does not store --infer, but the digest of the result.
    infer: Infer = "never" if run.schema.inferred is None else "always"
    return replace(settings_then, schema=source, infer=infer)


def _settings_of(name: str, run: Run, settings: ReportSettings) -> EvalSettings:
    """Return settings to evaluate a recorded run again, with new groups.

    All settings that change figures are taken from the recorded run.
    """
    begun, place = begun_with(name), f"{decoded(name).rstrip('/')}/{JOURNAL} record 1"
    kept = [*_KEPT, *(option_name for group in _KEPT_GROUPS for option_name in options_of(group))]
    values: dict[str, Any] = {key: begun[key] for key in kept if key in begun}
    sides = decode(list[str], begun.get("validate"), place, ("settings", "validate"))
    intervals = run.evaluation.interval_settings
    values |= {
        "schema": run.schema.path,
        "schema_by": run.schema.by,
        "gt": begun.get("GT"),
        "pred": begun.get("PRED"),
        "confidence": begun.get("confidences"),
        "validate": "both" if sides == [*SIDES] else sides[0] if sides else "none",
        "ci": "none" if intervals is None else intervals.level,
        "rows": run.options.rows,
        "counting": run.options.counting,
        "by": settings.by,
        "by_file": settings.by_file,
        "allow_plugins": settings.allow_plugins,
        "offline": True,
        "quiet": True,
    }
    try:
        return read_settings(EvalSettings, values)  # turns lists of the journal into tuples
    except UsageError as error:
        raise UsageError(
            [replace(problem, source=f"{place}: {problem.source}") for problem in error.problems]
        ) from None


def _inferred_as_it_was(run: Run, settings: EvalSettings) -> tuple[EvalSettings, LoadedSchema]:
    """Infer the schema of a run again. Return (settings of the run, schema).

    Raises:
        UsageError: the inferred schema differs from the schema of the run, because the schema
            file or the ground truth has changed.
    """
    source = settings.schema
    if source == f"{INFERRED_FROM}{settings.gt}":
        source = ""
    # A run directory does not store --infer and --boxes, but the digest of their result.
    inference_choices: tuple[Infer, ...] = (
        ("never",) if run.schema.inferred is None else ("auto", "always")
    )
    for when, boxes in product(inference_choices, get_args(BoxFormat)):
        candidate = replace(settings, schema=source, infer=when, boxes=boxes, quiet=True)
        schema = schema_of(source, candidate)
        if (schema.digest, schema.inferred) == (run.schema.digest, run.schema.inferred):
            return replace(candidate, quiet=settings.quiet), schema
    expected = f"the schema that the run used, {run.schema.digest}"
    raise UsageError([Problem(run.schema.path, "the schema has changed", expected)])


def _figures_of(run: Run) -> dict[str, object]:
    """Return the figures of a run for all documents together, without the figures of groups."""
    record = run_record(replace(run, gates=(), notes=(), provenance=()), per_document=False)
    not_figures = ("by", PER_DOCUMENT, "schema", *_KEPT_ONLY_BY_THE_RUN)
    return {key: value for key, value in record.items() if key not in not_figures}
