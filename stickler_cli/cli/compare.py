"""`stickler compare` and `errors`: one pair of documents explained, and errors one by one."""

import shlex
from collections.abc import Callable, Iterable, Mapping
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
from stickler_cli.core.json_values import DocumentKind, JsonDocument, json_line
from stickler_cli.core.locations import field_names, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.document_pair import DocumentPair, KindsOf, read_pair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.reports.cause_sentences import causes
from stickler_cli.reports.error_list import ErrorList
from stickler_cli.reports.formats import ERROR_FORMATS, PAIR_FORMATS
from stickler_cli.reports.pair import ComparedPair, all_places, by_place, places
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
from .answers import answered
from .console import ExitCode
from .outputs import tell_asked
from .regrouping import of_finished, on_sources

_CLASSES: Final = {each.value: rank for rank, each in enumerate(ErrorClass)}
_ORDERS: Final[Mapping[str, Callable[[Error], Any]]] = {
    "field": attrgetter("field"),
    "class": lambda error: _CLASSES[error.error_class],
    "similarity": lambda error: inf if error.similarity is None else error.similarity,
}
"""What errors are sorted by; they come in the order of the documents."""


def compare(settings: CompareSettings) -> ExitCode:
    """Compare the two documents and print how it went."""
    if settings.only_errors and settings.everything:
        raise UsageError([Problem("--all", "--only-errors is given too", "one of the two")])
    if _names_run(settings):
        settings = of_finished(settings)
    return answered(partial(_explained_pair, settings), settings, PAIR_FORMATS)


def _names_run(settings: CompareSettings | ErrorsSettings) -> bool:
    """Return whether PRED is a run; with sources in a configuration file it may be one too."""
    return not settings.gt or file_in(settings.pred, RUN_FILE) is not None


def _explained_pair(settings: CompareSettings, desk: Desk) -> StudyAnswer:
    if settings.cause is not None:
        settings = _of_cause(settings, settings.cause, desk)
    found, loaded = _pair(settings, desk.schema())
    if (unwrapper := unwrapper_of(loaded.plan.root, settings)) is not None:
        found = unwrapped(unwrapper, found)
    if not isinstance(found.gt, dict | list) or not isinstance(found.pred, dict | list):
        sides = (found.gt, "ground truth"), (found.pred, "prediction")
        problems = [
            side or Problem(found.id, f"there is no {name} for this document")
            for side, name in sides
            if side is None or isinstance(side, Problem)
        ]
        return StudyAnswer(
            None, RunVerdict.INCOMPLETE, [f"error: {problem}" for problem in problems]
        )
    return StudyAnswer(_comparison(loaded, found, found.gt, found.pred, settings))


def _of_cause(settings: CompareSettings, number: int, desk: Desk) -> CompareSettings:
    """Return the settings with the first document of a cause."""
    if settings.document is not None:
        raise UsageError([Problem("--cause", "--document is given too", "one of the two")])
    run = desk.run(as_of_eval(settings, ci="none"), OutputsRequested())
    causes = run.evaluation.fold(Causes)
    documents = causes.documents_of(causes.asked(number)) or []
    if len(documents) > 1:
        desk.tell(f"{documents[0]} is the first of {len(documents)} documents of cause {number}")
    return replace(settings, document=documents[0])


def _pair(settings: CompareSettings, loaded: LoadedSchema) -> tuple[DocumentPair, LoadedSchema]:
    """Return the pair that was asked for, and the schema that it has, of several."""
    if settings.schema_by is None:
        return _found(settings, kinds_of(loaded)), loaded
    (by,) = parse_groupings((), settings.by_file, settings.schema_by)
    choice = SchemaChoice(by, loaded.of_step)
    pair = _found(settings, kinds_of(loaded), choice.kinds_of)
    chosen = choice.for_document(pair.id, pair.gt) if isinstance(pair.gt, dict | list) else loaded
    if isinstance(chosen, Problem):
        return replace(pair, gt=chosen), loaded
    return pair, chosen


def _found(
    settings: CompareSettings, kinds: tuple[DocumentKind, ...], kinds_of: KindsOf | None = None
) -> DocumentPair:
    pairs = open_pairs(settings.gt, settings.pred, settings, kinds)
    document = settings.document
    if pairs.single and document is None:
        return read_pair(next(pairs.refs()), kinds_of=kinds_of)
    ids = []
    for ref in pairs.refs():  # once: standard input has no second time
        if ref.id == document:
            return read_pair(ref, kinds_of=kinds_of)
        ids.append(ref.id)
    example = f"such as --document {shlex.quote(ids[0])}" if ids else ""
    if document is None:
        expected = "two JSON files, or --document ID"
        raise UsageError([Problem(settings.gt, "there are many documents", expected, example)])
    found = f"there is no document {document!r}"
    hint = did_you_mean(document, ids) or example
    raise UsageError([Problem("--document", found, "an id as eval names it", hint)])


def _comparison(
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
    tell_asked(client, settings)
    return ComparedPair(
        schema=loaded.path,
        model_name=loaded.name,
        document=pair.id,
        pairing_floor=settings.pairing_floor,
        extra_fields=settings.extra_fields,
        root=root,
        chosen=_asked_places(settings, loaded, root),
        errors=by_place(batch_of_unit(root).classified_errors(0)),
        detail="errors" if settings.only_errors else "all" if settings.everything else "brief",
        partial_gt=settings.partial_gt,
    )


def _asked_places(
    settings: CompareSettings, loaded: LoadedSchema, root: TreePart
) -> list[TreePart]:
    """Find the places that were asked for; without a wish, the whole document."""
    field = settings.field
    if field is None:
        return [root]
    expected = "a place of the ground truth, such as line_items[2].price"
    try:
        path = parse_field_path(field)
    except ValueError as error:
        raise UsageError([Problem("--field", str(error), expected)]) from None
    if settings.schema_by is not None and path[:1] == (f"{Path(loaded.path).stem}/",):
        path = path[1:]  # as a run names it
    found = places(root, path)
    if not found:
        hint = did_you_mean(field, [field_path(place.gt_path) for place in all_places(root)])
        missing = f"there is no {field} in this document"
        raise UsageError([Problem("--field", missing, expected, hint)])
    return found


def errors(settings: ErrorsSettings) -> ExitCode:
    """List the errors that were asked for."""
    if settings.error_class is not None and _class_name(settings.error_class) not in _CLASSES:
        found, expected = f"there is no class {settings.error_class}", "a class of errors"
        hint = did_you_mean(settings.error_class, _CLASSES)
        raise UsageError([Problem("--class", found, expected, hint or ", ".join(_CLASSES))])
    is_run = _names_run(settings)
    return answered(
        partial(_errors_kept if is_run else _errors_made, settings), settings, ERROR_FORMATS
    )


def _errors_kept(settings: ErrorsSettings, desk: Desk) -> StudyAnswer:
    run = load_run(settings.pred)
    kept = errors_of(settings.pred, run)
    if kept is None:
        found = "a run file has no single errors"
        expected = "a run directory, as stickler eval --run-dir makes it"
        hint = f"or compare the documents again: {on_sources('errors', run, settings)}"
        raise UsageError([Problem(settings.pred, found, expected, hint)])
    return StudyAnswer(_asked_errors(run, kept, settings))


def _errors_made(settings: ErrorsSettings, desk: Desk) -> StudyAnswer:
    with TemporaryDirectory(prefix="stickler-") as place:
        file = str(Path(place) / NON_MATCHES)
        asked = as_of_eval(settings, ci="none", non_matches=file)
        run = desk.run(asked, OutputsRequested(accounts=True))
        return StudyAnswer(_asked_errors(run, errors_in(file), settings), desk.judge(run))


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
            and (keys is None or not keys.isdisjoint(split_cause_keys(error.cause)))
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
