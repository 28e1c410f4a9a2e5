"""Read files of earlier commands: runs, errors, policies, verdicts, and tunings in schemas.

A tuning records the documents for which `stickler tune` chose thresholds. The thresholds suit these
documents better than new documents, so a gate on the same documents would pass too easily.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.json_values import (
    OBJECTS_OR_ARRAYS,
    JsonObject,
    JsonValue,
)
from stickler_cli.core.option import options_record, select_settings
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.core.real_paths import can_be_path, real_path
from stickler_cli.core.remote import is_there, is_url
from stickler_cli.documents.document import content_digest, read_document
from stickler_cli.documents.lines import lines_of
from stickler_cli.documents.packed_files import MANY_DOCUMENTS
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.reading import (
    MAX_DOCUMENT_BYTES,
    STANDARD_INPUT,
    decoded,
    parse_json,
    read_bytes,
    source_of,
    unreadable,
)
from stickler_cli.documents.sources import near_name
from stickler_cli.records.account_format import (
    VERDICT_FORMAT,
    AccountRecord,
    VerdictRecord,
    accounts_in,
    is_in_rows,
    record_in,
)
from stickler_cli.records.codec import decode
from stickler_cli.records.run_reading import EVALUATE_AGAIN, read_options, read_run
from stickler_cli.schema.references import list_files_behind
from stickler_cli.score.blocks import MAX_BLOCK_DOCUMENTS, Blocks
from stickler_cli.score.detail import Detail
from stickler_cli.score.errors.error_rows import Error, columns_of_record
from stickler_cli.score.errors.marks import Mark, MarkedError, Marks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.policy import (
    POLICY_FORMAT,
    AcceptancePolicy,
    PolicyOutcome,
    evaluate_policy,
    sign_policy,
)
from stickler_cli.score.record import PER_DOCUMENT, Run
from stickler_cli.settings.deciding import DecidingOptions, FindingOptions
from stickler_cli.settings.of_commands import EvalSettings
from .directory.run_directory import begun_with
from .whole_files import DOCUMENTS, JOURNAL, NON_MATCHES, RUN_FILE, own_file

if TYPE_CHECKING:
    from stickler_cli.schema.loading import LoadedSchema  # imports the engine

MAX_RUN_BYTES: Final = 2_000_000_000  # uncompressed: about a million documents of forty fields

_FILE: Final = re.compile(r"\.(json(\.gz|\.zst)?|parquet)\Z", re.IGNORECASE)
_EXPECTED: Final = "a run file, made with stickler eval -o run.json, or a run directory"


_VERDICTS: Final = (
    "the file verdicts.jsonl, downloaded from an HTML report, with one verdict on each line"
)

COMMENT: Final = "$comment"
KEPT: Final = 64
"""Maximum number of document hashes that a tuning keeps. The lowest hashes are kept. They show
whether tuning documents are evaluated again. For example, if 5 % of them are evaluated again, the
chance is 96 % that at least one of the evaluated documents has a kept hash."""

_HASH_BYTES: Final = 6
_TUNED: Final = re.compile(
    r"\[stickler tune: (?P<what>[^\]]*) on (?P<count>\d+) documents, (?P<kept>[0-9a-f,]*)\]"
)


def load_run(name: str, limit: int = MAX_RUN_BYTES) -> Run:
    """Read a run from a run file (also compressed), a run directory, or a Parquet file.

    The documents in a Parquet file are read only if the run was set to keep them (option `--rows`).
    If the returned run has no documents, `with_rows` adds them.

    Raises:
        UsageError: the run does not exist or cannot be read; the message has the location.
    """
    file = _run_file(name)
    if is_in_rows(file):
        return _load_run_of_table(file)
    record = _json_in(file, limit)
    if not isinstance(record, dict) or "format" not in record:
        raise UsageError([Problem(decoded(file), "this is not a run", _EXPECTED)])
    return read_run(record, decoded(file))


def sources_of_run(name: str) -> list[tuple[str, str]]:
    """Return the files that a finished run names, as pairs of title and path.

    They are its sources of documents, its schema, and the files that the schema refers to.

    If the run cannot be read, the list is empty, and no error is raised here. The command will try
    to read the run again later, and then report the error.
    """
    try:
        file = _run_file(name)
        record = record_in(file) if is_in_rows(file) else _json_in(file, MAX_RUN_BYTES)
        settings = begun_with(name) if file_in(name, JOURNAL) else {}
    except (OSError, UsageError, UnavailableError):
        return []
    run = f"the run {decoded(name)!r}"
    sources = [(f"the confidences of {run}", settings.get("confidences"))]
    match record:
        case {"schema": {"path": path}}:
            sources.append((f"the schema of {run}", path))
            files = _files_behind_schema(path) if isinstance(path, str) else ()
            title = f"a file that the schema of {run} refers to"
            sources += [(title, file) for file in files]
    match record:
        case {"provenance": [*origins]}:
            origins_read = (origin for origin in origins if isinstance(origin, dict))
            for origin in origins_read:
                sources.append((f"the ground truth of {run}", origin.get("gt")))
                sources.append((f"the prediction of {run}", origin.get("pred")))
    return [(title, path) for title, path in sources if isinstance(path, str)]


def _files_behind_schema(path: str) -> list[str]:
    """Return the files to which a recorded schema refers.

    `path` is the file of the schema, or a directory. For a directory, the result has the files to
    which the schemas in it refer. For a URL, the result is empty.

    Schemas are read only to find these references. Nothing of their contents is shown.
    """
    if is_url(path) or not can_be_path(path):
        return []
    files: list[str] = []
    with suppress(OSError):
        schema = Path(path)
        for file in sorted(schema.glob("*.json")) if schema.is_dir() else [schema]:
            if file.is_file() and file.stat().st_size <= MAX_DOCUMENT_BYTES:
                files += list_files_behind(file)
    return files


def _json_in(file: str, limit: int) -> object:
    """Return the JSON value in a file.

    Raises:
        UsageError: the file cannot be read.
    """
    data = read_bytes(file, limit, values=MANY_DOCUMENTS)
    record = data if isinstance(data, Problem) else parse_json(data, decoded(file))
    if isinstance(record, Problem):
        raise UsageError([record])
    return record


def file_in(directory: str, name: str) -> str | None:
    """Return the path of a file in a run directory; None if it does not exist.

    Raises:
        UsageError: the file is a link, or not a regular file; or the server does not answer.
    """
    if is_url(directory):
        url = f"{directory.rstrip('/')}/{name}"
        try:
            return url if is_there(url) else None
        except OSError as error:
            raise UsageError([unreadable(decoded(directory), error)]) from None
    file = own_file(directory, name)
    return None if file is None else str(file)


def _run_file(name: str) -> str:
    """Return the file that contains a run, given the run file or run directory.

    A URL without the suffix of a run file is a directory.
    """
    path = Path(name)
    if is_url(name) and _FILE.search(decoded(name)):
        return name
    if is_url(name) or path.is_dir():
        if file := file_in(name, RUN_FILE):
            return file
        finding, hint = f"this directory does not contain {RUN_FILE}", ""
    elif path.exists():
        return name
    else:
        finding, hint = "there is no such file or directory", near_name(name)
    raise UsageError([Problem(source=decoded(name), found=finding, expected=_EXPECTED, hint=hint)])


def _load_run_of_table(file: str) -> Run:
    """Return the run in a Parquet file.

    The returned run has its single documents only if it was set to keep them (option `--rows`).
    """
    record = record_in(file)
    run = read_run(record, decoded(file))
    if not run.evaluation.keeps_rows or run.options.rows == "none":
        return run
    rows = sorted(accounts_in(file), key=lambda account: str(account["id"]))
    return read_run({**record, PER_DOCUMENT: rows}, decoded(file))


def with_rows(name: str, run: Run) -> Run:
    """Add the documents in a run's Parquet file to the run, and return it.

    The run is returned unchanged if it has documents already, or if the file is not a Parquet file.
    If there are many documents, some are kept in a temporary file instead of in memory.
    """
    if run.evaluation.ledger.blocks is not None or not is_in_rows(name):
        return run
    return _add_records(run, accounts_in(name), name)


def _add_records(run: Run, records: Iterable[Mapping[str, Any]], source: str) -> Run:
    """Return a run with records of documents added.

    Raises:
        UsageError: a record has a value of a wrong type.
    """
    blocks = Blocks()
    blocks.read_records(decode(AccountRecord, record, decoded(source)) for record in records)
    ledger = replace(run.evaluation.ledger, blocks=blocks)
    return replace(run, evaluation=replace(run.evaluation, ledger=ledger))


def with_lines(name: str, run: Run) -> Run:
    """Add the documents in a run directory to the run, and return it.

    The run is returned unchanged if it has documents already. The documents are only for display,
    so the confidence intervals of the run do not change. If there are many documents, some are kept
    in a temporary file instead of in memory.

    Raises:
        UsageError: a document cannot be read; the message names its line.
    """
    if run.evaluation.ledger.blocks is not None or (file := own_file(name, DOCUMENTS)) is None:
        return run
    return _add_records(run, _accounts_of_lines(str(file)), str(file))


def _accounts_of_lines(file: str) -> Iterator[dict[str, Any]]:
    for line in lines_of(file, MAX_RUN_BYTES):
        record: Any = read_document(line).value
        if isinstance(record, Problem):
            raise UsageError([record])
        if not isinstance(record, dict) or not {"document", "status", "fields"} <= record.keys():
            finding, expected = (
                "this line does not contain the result of a document",
                "a line that stickler eval --run-dir has written",
            )
            raise UsageError([Problem(decoded(file), finding, expected, line=line.line)])
        yield {"id": record["document"], "score": record.get("overall_score"), **record}


def load_policy(name: str) -> AcceptancePolicy:
    """Read an acceptance policy, as `stickler accept` writes it.

    Raises:
        UsageError: the policy does not exist, or was changed after it was made.
    """
    record = _json_in(name, MAX_DOCUMENT_BYTES)
    if not isinstance(record, dict) or record.get("format") != POLICY_FORMAT:
        finding, expected = "this is not a policy", "a file written by stickler accept -o"
        raise UsageError([Problem(decoded(name), finding, expected)])
    policy = decode(AcceptancePolicy, record, decoded(name))
    if policy.semantics != SEMANTICS:
        finding = (
            f"the policy was made with version {policy.semantics} of the semantics (the "
            f"rules of comparison), but this stickler uses version {SEMANTICS}"
        )
        raise UsageError(
            [
                Problem(
                    source=decoded(name),
                    found=finding,
                    expected="a policy of this version",
                    hint="make the policy again with stickler accept",
                )
            ]
        )
    if sign_policy(policy).digest != policy.digest:
        finding = "the policy file was changed by hand, so its promised error rate no longer holds"
        raise UsageError(
            [Problem(decoded(name), finding, hint="make the policy again with stickler accept")]
        )
    return policy


def policy_of_run(
    name: str, schema: "LoadedSchema", settings: EvalSettings
) -> Callable[[Evaluation], PolicyOutcome]:
    """Read an acceptance policy; return a function that applies the policy to an evaluation.

    Raises:
        UsageError: the policy was made with another schema, or with other options.
    """
    source, policy = f"--policy {name}", load_policy(name)
    if (policy.schema, policy.inferred) != (schema.digest, schema.inferred):
        finding = "the policy was made with a different schema"
        raise UsageError([Problem(source, finding, f"a policy made with {schema.path}")])
    policy_options = options_record(read_options(policy.options, DecidingOptions, source))
    requested = options_record(select_settings(settings, DecidingOptions))
    differing = [
        f"{option} was {value!r}"
        for option, value in policy_options.items()
        if requested[option] != value
    ]
    if differing:
        finding = f"the policy was made with different options: {', '.join(differing)}"
        raise UsageError([Problem(source, finding, "the same options")])
    if policy.by is not None and policy.by not in settings.by:
        finding, hint = (
            f"the policy has different thresholds for each group of {policy.by}",
            f"add --by {policy.by}",
        )
        raise UsageError([Problem(source, finding, hint=hint)])
    return partial(evaluate_policy, policy)


def judgements_of(
    settings: EvalSettings, schema: "LoadedSchema"
) -> tuple[Marks, Callable[[Evaluation], PolicyOutcome] | None]:
    """Return people's verdicts from `--verdicts`, and a function that applies `--policy`.

    Without `--verdicts`, there are no verdicts. Without `--policy`, the function is None.
    """
    verdicts, policy = settings.verdicts, settings.policy
    return (
        {} if verdicts is None else marks_of(verdicts, settings.max_document_size),
        None if policy is None else policy_of_run(policy, schema, settings),
    )


def errors_of(name: str, run: Run) -> Iterator[Error] | None:
    """Return the errors of a finished run; None if the run does not store its errors.

    Errors are in a file of a run directory, or in the run itself if it has only one pair.
    """
    if file := file_in(name, NON_MATCHES):
        return errors_in(file)
    if run.document is None or "errors" not in run.document:
        return None
    records = cast("list[object]", run.document["errors"])
    return (_error(value, decoded(name)) for value in records)


def errors_in(file: str) -> Iterator[Error]:
    """Yield the errors in a file of JSON Lines.

    Raises:
        UsageError: the file is of another kind.
    """
    for line in lines_of(file, MAX_RUN_BYTES):
        yield _error(read_document(line).value, decoded(file), line.line)


def _error(value: object, source: str, line: int | None = None) -> Error:
    if isinstance(value, Problem):
        raise UsageError([value])
    if not isinstance(value, dict) or not {"document", "path", "field"} <= value.keys():
        finding = "the keys document, path and field are missing"
        expected = "a line that stickler eval --non-matches has written"
        raise UsageError(
            [
                Problem(
                    source=source, found=finding, expected=expected, hint=EVALUATE_AGAIN, line=line
                )
            ]
        )
    location = source if line is None else f"{source}:{line}"
    return decode(Error, columns_of_record(value), location)


def page_of(name: str) -> str:
    """Return the address of the HTML page of a finished run, or an empty text if there is none.

    The page is in the run directory or beside the run.
    """
    run = Path(name)
    name_ = run.stem if run.suffix == ".json" else run.name
    files = run / "report.html", run.parent / f"{name_}.html"
    return next((real_path(file).as_uri() for file in files if _is_own(file)), "")


def _is_own(page: Path) -> bool:
    return page.is_file() and not page.is_symlink()


def load_detail(name: str, run: Run) -> Detail | None:
    """Read the errors of a finished run, and return them in the form that its HTML page needs.

    Return None if the run does not store its errors.

    Raises:
        UsageError: the file cannot be read; the message names the line.
    """
    errors = errors_of(name, run)
    if errors is None:
        return None
    blocks = run.evaluation.ledger.blocks
    scores = (
        {document_row.id: document_row.score for document_row in blocks.documents()}
        if blocks
        else {}
    )
    detail = Detail(knows_values=False)
    errors_by_document = groupby(errors, attrgetter("document"))
    for position, (document, document_errors) in enumerate(errors_by_document, 1):
        detail.errors.add((scores.get(document) or 0.0, document), [*document_errors])
        if position % MAX_BLOCK_DOCUMENTS == 0:  # else samples of all causes fill the memory
            detail.errors.settle()
    detail.errors.settle()
    return detail


def marks_of(file: str, limit: int) -> Marks:
    """Return people's verdicts on errors, as a dict from document ids to verdicts.

    If the file has several verdicts on an error, the last one counts.

    Raises:
        UsageError: some lines are not verdicts; the message lists all of them.
    """
    marks_by_document: dict[str, dict[MarkedError, Mark]] = {}
    problems: list[Problem] = []
    for line in lines_of(file, limit):
        value = read_document(line).value
        if isinstance(value, Problem):
            problems.append(value)
            continue
        source = f"{source_of(file)}:{line.line}"
        if not isinstance(value, dict) or value.get("format") != VERDICT_FORMAT:
            finding = "this line is not a verdict on an error"
            problems.append(Problem(source_of(file), finding, _VERDICTS, line=line.line))
            continue
        try:
            record = decode(VerdictRecord, value, source)
        except UsageError as error:
            problems += error.problems
            continue
        if (made_by := record["semantics"]) != SEMANTICS:
            finding = (
                f"this verdict was made with version {made_by} of the semantics (the rules of "
                f"comparison), but this stickler uses version {SEMANTICS}"
            )
            hint = "evaluate again with -o report.html, and mark the errors again on that page"
            problems.append(
                Problem(
                    source=source_of(file), found=finding, expected="", hint=hint, line=line.line
                )
            )
            continue
        marked = MarkedError(record["document"], record["path"], record["outcome"])
        seen: dict[str, JsonValue] = {side: value[side] for side in ("gt", "pred") if side in value}
        marks_by_document.setdefault(marked.document, {})[marked] = Mark(record["verdict"], seen)
    if not marks_by_document:  # no line is a verdict, so it is probably another kind of file
        problems = problems[:1] or [
            Problem(source_of(file), "the file contains no verdicts", _VERDICTS)
        ]
    if problems:
        raise UsageError(problems)
    return marks_by_document


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tuning: thresholds that `stickler tune` set, and the documents on which it tuned them."""

    thresholds: str
    """Fields with their old and new thresholds, such as `items.name 0.8 -> 0.85`."""
    count: int
    """Number of documents that the thresholds were tuned on."""
    kept: frozenset[str]
    """Hashes of the documents that the thresholds were tuned on. If there are more than `KEPT`,
    only the lowest hashes are kept."""

    @property
    def sentence(self) -> str:
        """A sentence on the tuning, for reports."""
        return (
            f"the thresholds in the schema were tuned on {self.count} documents: {self.thresholds}"
        )

    @property
    def written(self) -> str:
        """The tuning as text. It is written in this form into the `$comment` of the schema."""
        kept = ",".join(sorted(self.kept))
        return f"[stickler tune: {self.thresholds} on {self.count} documents, {kept}]"


def tunings(contents: JsonValue) -> tuple[Tuned, ...]:
    """Return the tunings that are recorded in the `$comment` of a schema."""
    comment = contents.get(COMMENT) if isinstance(contents, dict) else None
    return tuple(
        Tuned(match["what"], int(match["count"]), frozenset(match["kept"].split(",")))
        for match in _TUNED.finditer(comment if isinstance(comment, str) else "")
    )


def commented(contents: JsonObject, tuned: Tuned) -> str:
    """Add a tuning to a schema's `$comment`, and return the new comment.

    If the comment already has a tuning on the same documents, both become one tuning.
    """
    earlier = tunings(contents)
    same_documents = [tuning.thresholds for tuning in earlier if tuning.kept == tuned.kept]
    other_tunings = [tuning.written for tuning in earlier if tuning.kept != tuned.kept]
    tuned = Tuned(", ".join([*same_documents, tuned.thresholds]), tuned.count, tuned.kept)
    comment = contents.get(COMMENT)
    own_comment = _TUNED.sub("", comment).strip() if isinstance(comment, str) else ""
    return " ".join(filter(None, [own_comment, *other_tunings, tuned.written]))


def hashes(gt: str, settings: FindingOptions) -> Iterator[str]:
    """Yield a hash of the content of each document in a source.

    Documents that cannot be read are left out.
    """
    for _, reference in open_documents(gt, settings).refs():
        value = read_document(reference, kinds=OBJECTS_OR_ARRAYS).value
        if isinstance(value, dict | list):
            yield content_digest(value, _HASH_BYTES).hex()


def tuned_on(thresholds: str, documents: Iterable[str]) -> Tuned:
    """Return the record of a tuning. `documents` are the hashes of the documents that were used."""
    distinct = sorted({*documents})
    return Tuned(thresholds, len(distinct), frozenset(distinct[:KEPT]))


def notes_of(
    schemas: Iterable[JsonValue], settings: EvalSettings, *, gated: bool
) -> tuple[list[str], list[str]]:
    """Return two lists about the tunings that are recorded in schemas: notes, and warnings.

    Each tuning gets a note. `gated` says whether the run has gates. If it has gates, each tuning
    that used some of the evaluated documents gets a warning, too. Otherwise there are no warnings.
    """
    earlier = [tuning for contents in schemas for tuning in tunings(contents)]
    warnings = overlap(earlier, settings.gt, settings) if gated else []
    return [tuning.sentence for tuning in earlier], warnings


def overlap(tuned: Sequence[Tuned], gt: str, settings: FindingOptions) -> list[str]:
    """Return a warning for each tuning that used documents of the ground truth `gt`."""
    if not tuned or gt == STANDARD_INPUT:  # standard input cannot be read twice
        return []
    own_hashes = {*hashes(gt, settings)}
    return [
        (
            f"{tuning.sentence}; about {len(tuning.kept & own_hashes) / len(tuning.kept):.0%} of "
            "those documents are also evaluated here, so the results may look better than on "
            "new documents"
        )
        for tuning in tuned
        if tuning.kept & own_hashes
    ]
