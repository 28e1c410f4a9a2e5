"""`stickler errors`: the errors of a run that was made before, or is made here, one by one."""

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from math import inf
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_names, field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.reports.error_list import ErrorList
from stickler_cli.reports.formats import ERROR_FORMATS
from stickler_cli.runs.assembly import inputs_of
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.saved import errors_in, errors_of, file_in, load_run
from stickler_cli.runs.whole_files import NON_MATCHES, RUN_FILE
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error, error_record
from stickler_cli.score.record import Run
from stickler_cli.settings.of_commands import ErrorsSettings, as_of_eval
from .command_schema import schema_of
from .console import ExitCode
from .eval import whole_run
from .outputs import exit_code_of, outputs_of

_CLASSES: Final = {each.value: rank for rank, each in enumerate(ErrorClass)}

_ORDERS: Final[Mapping[str, Callable[[Error], Any]]] = {
    "field": attrgetter("field"),
    "class": lambda error: _CLASSES[error.error_class],
    "similarity": lambda error: inf if error.similarity is None else error.similarity,
}
"""What errors are sorted by; they come in the order of the documents."""


def errors(settings: ErrorsSettings) -> ExitCode:
    """List the errors that were asked for."""
    if settings.error_class is not None and _class(settings.error_class) not in _CLASSES:
        found, expected = f"there is no class {settings.error_class}", "a class of errors"
        hint = did_you_mean(settings.error_class, _CLASSES)
        raise UsageError([Problem("--class", found, expected, hint or ", ".join(_CLASSES))])
    # With sources in a configuration file, a run may be named all the same.
    is_run = not settings.gt or file_in(settings.pred, RUN_FILE) is not None
    inputs = [("the run", settings.pred)] if is_run else inputs_of(settings)
    outputs = outputs_of(settings, inputs, ERROR_FORMATS)
    if is_run:
        run = load_run(settings.pred)
        outputs.write(_chosen(run, _kept(settings.pred, run), settings))
        return ExitCode.OK
    with TemporaryDirectory(prefix="stickler-") as place:
        file = str(Path(place) / NON_MATCHES)
        asked = as_of_eval(settings, ci="none", non_matches=file)
        kept = OutputsRequested(accounts=True)
        run = whole_run(asked, kept, lambda: schema_of(settings.schema, asked))
        outputs.write(_chosen(run, errors_in(file), settings))
    return exit_code_of(run)


def _kept(name: str, run: Run) -> Iterable[Error]:
    found = errors_of(name, run)
    if found is None:
        said = "a run file has no single errors"
        expected = "a run directory, as stickler eval --run-dir makes it"
        hint = "or compare the documents again: stickler errors SCHEMA GT PRED"
        raise UsageError([Problem(name, said, expected, hint)])
    return found


def _chosen(run: Run, found: Iterable[Error], settings: ErrorsSettings) -> ErrorList:
    """Return the errors that were asked for, in the order that was asked for."""
    total, kept, documents, inside = 0, list[tuple[Any, bytes]](), set[str](), 0
    order = _ORDERS.get(settings.sort)
    for error in found:
        total += 1
        if _is_asked_for(error, settings):
            line = json_line(error_record(error))[:-1]  # a copy without room to spare
            kept.append((order and order(error), line))
            documents.add(error.document)
            inside += error.inside is not None
    if not kept:
        _refuse_unknown(run, settings)
    if order is not None:
        kept.sort(key=lambda entry: entry[0])
    return ErrorList([line for _, line in kept], inside, len(documents), total)


def _is_asked_for(error: Error, settings: ErrorsSettings) -> bool:
    wanted, field, name = settings.document, settings.field, settings.error_class
    return (
        (wanted is None or _among(wanted, [error.document]))
        and (field is None or error.path == field or fnmatchcase(error.field, field))
        and (name is None or error.error_class == _class(name))
    )


def _refuse_unknown(run: Run, settings: ErrorsSettings) -> None:
    """Raise UsageError with what was asked for and is not in the run, with errors or without."""
    blocks = run.evaluation.ledger.blocks
    ids = None if blocks is None else [*blocks.ids()]
    fields = [field_path(info.path) for info in run.fields]
    field = settings.field if settings.field is None else _field_of(settings.field)
    asked = (
        ("--document", "document", settings.document, ids),
        ("--field", "field", field, fields),
    )
    problems = [
        Problem(flag, f"there is no {what} {wanted}", hint=did_you_mean(wanted, known))
        for flag, what, wanted, known in asked
        if wanted is not None and known is not None and not _among(wanted, known)
    ]
    if problems:
        raise UsageError(problems)


def _among(wanted: str, known: Iterable[str]) -> bool:
    return any(name == wanted or fnmatchcase(name, wanted) for name in known)


def _field_of(path: str) -> str:
    """Return the path of a field, without list indexes; of what is no path, such as a glob, it."""
    try:
        return field_path(field_names(path))
    except ValueError:
        return path


def _class(name: str) -> str:
    """Return a class as results name it; reports for people have blanks in it."""
    return name.lower().replace(" ", "_").replace("-", "_")
