"""`stickler compare` explains a pair of documents; `stickler errors` lists individual errors."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from math import inf
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stickler_cli.compare.engine import compare as compare_documents
from stickler_cli.compare.tree import TreePart, explain, tree_of
from stickler_cli.core.json_values import DocumentKind, JsonDocument, brief, json_line
from stickler_cli.core.locations import field_names, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.document_pair import DocumentPair, KindsOf, read_pair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.reports.cause_sentences import causes
from stickler_cli.reports.error_list import ErrorList
from stickler_cli.reports.formats import ERROR_FORMATS, PAIR_FORMATS
from stickler_cli.reports.pair import ComparedPair, errors_by_location, find_units, list_units
from stickler_cli.reports.view import RunView
from stickler_cli.runs.assembly import client_of, comparing, kinds_of, policy_of
from stickler_cli.runs.chunk import unwrapped
from stickler_cli.runs.job import OutputsRequested, SchemaChoice, parse_groupings, unwrapper_of
from stickler_cli.runs.process import ended_by_signals
from stickler_cli.runs.saved import errors_in, errors_of, file_in, load_run
from stickler_cli.runs.whole_files import NON_MATCHES, RUN_FILE
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.errors.causes import Causes, split_cause_keys
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error, error_record
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.settings.of_commands import CompareSettings, ErrorsSettings, as_of_eval
from stickler_cli.studies.answering import Desk, StudyAnswer
from .answers import write_answer
from .console import ExitCode
from .outputs import report_model_usage
from .regrouping import command_on_sources, settings_of_finished

_CLASSES: Final = {each.value: rank for rank, each in enumerate(ErrorClass)}
_ORDERS: Final[Mapping[str, Callable[[Error], Any]]] = {
    "field": attrgetter("field"),
    "class": lambda error: _CLASSES[error.error_class],
    "similarity": lambda error: inf if error.similarity is None else error.similarity,
}
"""Maps a value of the option --sort to a function that returns the sort key of an error. With any
other value of --sort, errors are not sorted."""


def compare(settings: CompareSettings) -> ExitCode:
    """Run `stickler compare`: print each step of the comparison of two documents."""
    if settings.only_errors and settings.everything:
        raise UsageError(
            [Problem("--all", "--only-errors is also given", "either --all or --only-errors")]
        )
    if _names_run(settings):
        settings = settings_of_finished(settings)
    return write_answer(partial(_explain_pair, settings), settings, PAIR_FORMATS)


def _names_run(settings: CompareSettings | ErrorsSettings) -> bool:
    """Return whether PRED is a finished run instead of predictions."""
    return not settings.gt or file_in(settings.pred, RUN_FILE) is not None


def _explain_pair(settings: CompareSettings, desk: Desk) -> StudyAnswer:
    if settings.cause is not None:
        settings = _settings_of_cause(settings, settings.cause, desk)
    pair, loaded = _select_pair(settings, desk.schema())
    if (unwrapper := unwrapper_of(loaded.plan.root, settings)) is not None:
        pair = unwrapped(unwrapper, pair)
    if not isinstance(pair.gt, dict | list) or not isinstance(pair.pred, dict | list):
        sides = (pair.gt, "ground truth"), (pair.pred, "prediction")
        problems = [
            side or Problem(pair.id, f"there is no {name} for this document")
            for side, name in sides
            if side is None or isinstance(side, Problem)
        ]
        return StudyAnswer(
            None, RunVerdict.INCOMPLETE, [f"error: {problem}" for problem in problems]
        )
    return StudyAnswer(_compare_pair(loaded, pair, pair.gt, pair.pred, settings))


def _settings_of_cause(settings: CompareSettings, number: int, desk: Desk) -> CompareSettings:
    """Return settings that select the first document with an error of the cause `number`."""
    if settings.document is not None:
        raise UsageError(
            [Problem("--cause", "--document is also given", "either --cause or --document")]
        )
    run = desk.run(as_of_eval(settings, ci="none"), OutputsRequested())
    causes = run.evaluation.fold(Causes)
    documents = causes.documents_of(causes.find_numbered(number))
    assert documents  # noqa: S101 - `as_of_eval` keeps rows, and every cause is in a document
    first = documents[0]
    if len(documents) > 1:
        desk.tell(
            f"showing document {first}, the first of {len(documents)} documents with cause {number}"
        )
    return replace(settings, document=first)


def _select_pair(
    settings: CompareSettings, loaded: LoadedSchema
) -> tuple[DocumentPair, LoadedSchema]:
    """Return the requested pair of documents, and the schema of this pair."""
    if settings.schema_by is None:
        return _find_pair(settings, kinds_of(loaded)), loaded
    (by,) = parse_groupings((), settings.by_file, settings.schema_by)
    choice = SchemaChoice(by, loaded.of_step)
    pair = _find_pair(settings, kinds_of(loaded), choice.kinds_of)
    chosen = choice.for_document(pair.id, pair.gt) if isinstance(pair.gt, dict | list) else loaded
    if isinstance(chosen, Problem):
        return replace(pair, gt=chosen), loaded
    return pair, chosen


def _find_pair(
    settings: CompareSettings, kinds: tuple[DocumentKind, ...], kinds_of: KindsOf | None = None
) -> DocumentPair:
    pairs = open_pairs(settings.gt, settings.pred, settings, kinds)
    document = settings.document
    if pairs.single and document is None:
        return read_pair(next(pairs.refs()), kinds_of=kinds_of)
    ids = []
    for ref in pairs.refs():  # in one pass, as standard input cannot be read again
        if ref.id == document:
            return read_pair(ref, kinds_of=kinds_of)
        ids.append(ref.id)
    example = f"for example, --document {shlex.quote(ids[0])}" if ids else ""
    if document is None:
        finding, expected = "there are no documents", "documents to compare"
        if ids:
            finding = "no document is selected"
            expected = "the option --document ID, or two JSON files"
        raise UsageError(
            [
                Problem(
                    source=settings.gt,
                    found=finding,
                    expected=expected,
                    hint=example,
                )
            ]
        )
    finding = f"there is no document {document!r}"
    hint = did_you_mean(document, ids) or example
    raise UsageError(
        [
            Problem(
                source="--document",
                found=finding,
                expected=("the id of a document, as stickler eval shows it"),
                hint=hint,
            )
        ]
    )


def _compare_pair(
    loaded: LoadedSchema,
    pair: DocumentPair,
    gt: JsonDocument,
    pred: JsonDocument,
    settings: CompareSettings,
) -> ComparedPair:
    client = client_of(loaded.plan, policy_of(settings))
    options = comparing(loaded.plan, settings, client)
    with ended_by_signals():
        table = compare_documents(loaded.plan, [gt], [pred], options, (), [pair.gold])
        root = tree_of(table, 0, options)
        explain(root)
    report_model_usage(client, settings)
    return ComparedPair(
        schema=loaded.path,
        model_name=loaded.name,
        document=pair.id,
        pairing_floor=settings.pairing_floor,
        extra_fields=settings.extra_fields,
        root=root,
        chosen=_select_units(settings, loaded, root),
        errors=errors_by_location(batch_of_unit(root).classified_errors(0)),
        detail="errors" if settings.only_errors else "all" if settings.everything else "brief",
        partial_gt=settings.partial_gt,
    )


def _select_units(
    settings: CompareSettings, loaded: LoadedSchema, root: TreePart
) -> list[TreePart]:
    """Return the values or objects that the user selects with the option `--field`.

    If the option is not given, return the whole document.

    Raises:
        UsageError: `--field` is not a path, or the document does not have the selected field.
    """
    field = settings.field
    if field is None:
        return [root]
    expected = "a field of the ground truth, such as line_items[2].price"
    try:
        path = parse_field_path(field)
    except ValueError as error:
        raise UsageError([Problem("--field", str(error), expected)]) from None
    if settings.schema_by is not None and path[:1] == (f"{Path(loaded.path).stem}/",):
        path = path[1:]  # the path as a run writes it
    chosen = find_units(root, path)
    if not chosen:
        hint = did_you_mean(field, [field_path(unit.gt_path) for unit in list_units(root)])
        missing = f"the document has no field {brief(field)}"
        raise UsageError([Problem(source="--field", found=missing, expected=expected, hint=hint)])
    return chosen


def errors(settings: ErrorsSettings) -> ExitCode:
    """Run `stickler errors`: list the errors that the user's filters select."""
    if settings.error_class is not None and _class_name(settings.error_class) not in _CLASSES:
        finding, expected = f"unknown class {settings.error_class}", "a class of errors"
        hint = did_you_mean(settings.error_class, _CLASSES)
        raise UsageError(
            [
                Problem(
                    source="--class",
                    found=finding,
                    expected=expected,
                    hint=hint or ", ".join(_CLASSES),
                )
            ]
        )
    is_run = _names_run(settings)
    return write_answer(
        partial(_list_recorded_errors if is_run else _list_new_errors, settings),
        settings,
        ERROR_FORMATS,
    )


def _list_recorded_errors(settings: ErrorsSettings, desk: Desk) -> StudyAnswer:
    run = load_run(settings.pred)
    recorded_errors = errors_of(settings.pred, run)
    if recorded_errors is None:
        finding = "a run file does not contain individual errors"
        expected = "a run directory, made with stickler eval --run-dir"
        hint = f"or compare the documents again: {command_on_sources('errors', run, settings)}"
        raise UsageError(
            [Problem(source=settings.pred, found=finding, expected=expected, hint=hint)]
        )
    return StudyAnswer(_select_errors(run, recorded_errors, settings))


def _list_new_errors(settings: ErrorsSettings, desk: Desk) -> StudyAnswer:
    with TemporaryDirectory(prefix="stickler-") as directory:
        file = str(Path(directory) / NON_MATCHES)
        eval_settings = as_of_eval(settings, ci="none", non_matches=file)
        run = desk.run(eval_settings, OutputsRequested(accounts=True))
        return StudyAnswer(_select_errors(run, errors_in(file), settings), desk.judge(run))


def _select_errors(run: Run, candidates: Iterable[Error], settings: ErrorsSettings) -> ErrorList:
    """Return the errors that have the document, field, class and cause in the settings, sorted.

    Raises:
        UsageError: there is no such cause, or no error is selected because the run does not have
            the document or field.
    """
    total, chosen, documents = 0, list[tuple[Any, bytes]](), set[str]()
    sort_key, document, field = _ORDERS.get(settings.sort), settings.document, settings.field
    name = settings.error_class and _class_name(settings.error_class)
    if settings.cause is not None:
        entry = run.evaluation.fold(Causes).find_numbered(settings.cause)
        candidates = _errors_of_cause(candidates, {cause.key for cause in entry}, name)
    for error in candidates:
        total += 1
        if (
            (document is None or _matches_any(document, [error.document]))
            and (field is None or error.path == field or fnmatchcase(error.field, field))
            and (name is None or error.error_class == name)
        ):
            # Copy it: the original may hold spare memory.
            line = json_line(error_record(error))[:-1]
            chosen.append((sort_key and sort_key(error), line))
            documents.add(error.document)
    if not chosen:
        _check_filters(run, settings)
    if sort_key is not None:
        chosen.sort(key=lambda entry: entry[0])
    named_causes, further_causes = (
        causes(RunView(run)) if chosen and settings.sort == "cause" else ([], [])
    )
    return ErrorList(
        lines=[line for _, line in chosen],
        documents=len(documents),
        total=total if settings.cause is None else None,
        causes=[*named_causes, *further_causes],
    )


def _errors_of_cause(
    errors: Iterable[Error], keys: set[str], class_name: str | None
) -> Iterator[Error]:
    """Yield the errors whose cause has one of the keys.

    An error inside a failed item may have no cause of its own. If `class_name` selects a class of
    errors, an error without a cause is treated as if it had the cause of its item.
    """
    causes_of_items = dict[tuple[str, str], str]()
    for error in errors:
        cause = error.cause
        if class_name is not None and not cause and error.inside is not None:
            cause = causes_of_items.get((error.document, error.inside), "")
        if keys.isdisjoint(split_cause_keys(cause)):
            continue
        if error.values is not None:  # parents come before what is inside them
            causes_of_items[error.document, error.path] = cause
        yield error._replace(cause=cause)


def _check_filters(run: Run, settings: ErrorsSettings) -> None:
    """Raise UsageError if a filter names a document or field that the run does not have."""
    blocks = run.evaluation.ledger.blocks
    ids = None if blocks is None else [*blocks.ids()]
    fields = [field_path(field_info.field) for field_info in run.fields]
    field = settings.field
    with suppress(ValueError):  # patterns are not paths
        field = field and field_path(field_names(field))
    filters = (
        ("--document", "document", settings.document, ids),
        ("--field", "field", field, fields),
    )
    problems = [
        Problem(flag, f"there is no {kind} {wanted}", hint=did_you_mean(wanted, names))
        for flag, kind, wanted, names in filters
        if wanted is not None and names is not None and not _matches_any(wanted, names)
    ]
    if problems:
        raise UsageError(problems)


def _matches_any(pattern: str, names: Iterable[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def _class_name(name: str) -> str:
    """Return the name of an error class as runs write it: `missed_value` for `Missed value`."""
    return name.lower().replace(" ", "_").replace("-", "_")
