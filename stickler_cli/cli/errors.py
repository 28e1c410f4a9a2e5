"""`stickler errors`: the errors of a run that was made before, or is made here, one by one."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from math import inf
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_names, field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.reports.cause_sentences import causes
from stickler_cli.reports.error_list import ErrorList
from stickler_cli.reports.formats import ERROR_FORMATS
from stickler_cli.reports.view import RunView
from stickler_cli.runs.assembly import inputs_of
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.saved import errors_in, errors_of, file_in, load_run
from stickler_cli.runs.whole_files import NON_MATCHES, RUN_FILE
from stickler_cli.score.errors.causes import Causes, keys_in
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error, error_record
from stickler_cli.score.record import Run
from stickler_cli.settings.of_commands import ErrorsSettings, as_of_eval
from stickler_cli.studies.answering import Answer, Desk
from .answers import answered
from .console import ExitCode
from .regrouping import on_sources

_CLASSES: Final = {each.value: rank for rank, each in enumerate(ErrorClass)}

_ORDERS: Final[Mapping[str, Callable[[Error], Any]]] = {
    "field": attrgetter("field"),
    "class": lambda error: _CLASSES[error.error_class],
    "similarity": lambda error: inf if error.similarity is None else error.similarity,
}
"""What errors are sorted by; they come in the order of the documents."""


def errors(settings: ErrorsSettings) -> ExitCode:
    """List the errors that were asked for."""
    if settings.error_class is not None and _class_name(settings.error_class) not in _CLASSES:
        found, expected = f"there is no class {settings.error_class}", "a class of errors"
        hint = did_you_mean(settings.error_class, _CLASSES)
        raise UsageError([Problem("--class", found, expected, hint or ", ".join(_CLASSES))])
    # With sources in a configuration file, a run may be named all the same.
    is_run = not settings.gt or file_in(settings.pred, RUN_FILE) is not None
    inputs = [("the run", settings.pred)] if is_run else inputs_of(settings)
    return answered(
        partial(_errors_kept if is_run else _errors_made, settings), settings, inputs, ERROR_FORMATS
    )


def _errors_kept(settings: ErrorsSettings, desk: Desk) -> Answer:
    run = load_run(settings.pred)
    kept = errors_of(settings.pred, run)
    if kept is None:
        found = "a run file has no single errors"
        expected = "a run directory, as stickler eval --run-dir makes it"
        hint = f"or compare the documents again: {on_sources('errors', run, settings)}"
        raise UsageError([Problem(settings.pred, found, expected, hint)])
    return Answer(_asked_errors(run, kept, settings))


def _errors_made(settings: ErrorsSettings, desk: Desk) -> Answer:
    with TemporaryDirectory(prefix="stickler-") as place:
        file = str(Path(place) / NON_MATCHES)
        asked = as_of_eval(settings, ci="none", non_matches=file)
        run = desk.run(asked, OutputsRequested(accounts=True))
        return Answer(_asked_errors(run, errors_in(file), settings), desk.judge(run))


def _asked_errors(run: Run, found: Iterable[Error], settings: ErrorsSettings) -> ErrorList:
    """Return the errors that were asked for, in the order that was asked for."""
    total, kept, documents = 0, list[tuple[Any, bytes]](), set[str]()
    order, document, field = _ORDERS.get(settings.sort), settings.document, settings.field
    name = settings.error_class and _class_name(settings.error_class)
    keys = None
    if settings.cause is not None:
        keys = {it.key for it in run.evaluation.fold(Causes).asked(settings.cause)}
    for error in found:
        total += 1
        if (
            (document is None or _among(document, [error.document]))
            and (field is None or error.path == field or fnmatchcase(error.field, field))
            and (name is None or error.error_class == name)
            and (keys is None or not keys.isdisjoint(keys_in(error.cause)))
        ):
            line = json_line(error_record(error))[:-1]  # a copy without room to spare
            kept.append((order and order(error), line))
            documents.add(error.document)
    if not kept:
        _refuse_unknown(run, settings)
    if order is not None:
        kept.sort(key=lambda entry: entry[0])
    named, more = causes(RunView(run)) if kept and settings.sort == "cause" else ([], [])
    lines, of = [line for _, line in kept], total if settings.cause is None else None
    return ErrorList(lines, len(documents), of, [*named, *more])


def _refuse_unknown(run: Run, settings: ErrorsSettings) -> None:
    """Raise UsageError with documents and fields asked for that the run does not have."""
    blocks = run.evaluation.ledger.blocks
    ids = None if blocks is None else [*blocks.ids()]
    fields = [field_path(info.field) for info in run.fields]
    field = settings.field
    with suppress(ValueError):  # of what is no path, such as a glob
        field = field and field_path(field_names(field))
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


def _class_name(name: str) -> str:
    """Return a class as results name it; reports for people have blanks in it."""
    return name.lower().replace(" ", "_").replace("-", "_")
