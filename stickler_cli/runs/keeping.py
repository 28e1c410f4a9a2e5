"""Files that a run writes while it compares: rows of documents, and a run directory.

A run directory lets the next run continue. Documents that are finished in it are not evaluated
again if their fingerprints are unchanged.
"""

import errno
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.json_values import json_line
from stickler_cli.core.option import select_settings
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.remote import is_url
from stickler_cli.core.rules import encoded
from stickler_cli.documents.document import digest_of
from stickler_cli.documents.document_pair import Fingerprint, PairRef, fingerprint_of
from stickler_cli.documents.reading import decoded
from stickler_cli.records.account_format import (
    RUN_KEY,
    run_text,
    table_of_documents,
    table_of_errors,
    table_of_values,
)
from stickler_cli.records.codec import decode
from stickler_cli.records.row_files import LinesFile, format_of_lines, lines_as_rows
from stickler_cli.records.run_reading import chunk_record, read_chunk
from stickler_cli.runs.directory.run_directory import (
    BEGIN_AGAIN,
    JournalRecord,
    RunDirectory,
    run_directory,
)
from stickler_cli.score.errors.marks import Marks
from stickler_cli.score.record import Run
from stickler_cli.settings.deciding import DecidingOptions, DocumentOptions, SelectionOptions
from stickler_cli.settings.of_commands import EvalSettings
from .assembly import Assembly
from .chunk import ChunkResult, WorkItem
from .job import Grouping, sides_of
from .process import Interruption, until_interrupted
from .whole_files import DOCUMENTS, NON_MATCHES, RUN_DIR, RUN_FILE, whole_file

MAX_NAMED_DOCUMENTS: Final = 5  # number of documents that an error lists
# Key of the last record of a complete run, with its number of documents.
FINISHED: Final = "finished"


@dataclass(frozen=True, slots=True)
class Keeper:
    """The files that a run writes while it compares."""

    lines: Mapping[str, LinesFile]
    """The open files of JSON lines. The key says what the lines are about: `document_lines`,
    `non_match_lines` or `value_lines`."""
    started: str
    """Start time of the run, or of the earlier run that it continues."""
    interruption: Interruption
    directory: RunDirectory | None = None

    def results(
        self,
        items: Iterator[PairRef],
        evaluate: Callable[[Iterator[WorkItem], int], Generator[ChunkResult]],
    ) -> Generator[ChunkResult]:
        """Yield the results of all documents. New results are appended to the journal.

        `evaluate` is called with the documents that are missing in the journal, and with the number
        of documents in the journal.

        Raises:
            UsageError: documents have changed since they were evaluated (the message names them),
                or the journal has invalid records.
            OSError: the journal cannot be written.
        """
        directory, interruption = self.directory, self.interruption
        if directory is None:
            yield from evaluate(items, 0)
            return
        journal, finished = directory.journal, _Finished(directory, items)
        yield from until_interrupted(finished.chunks(), interruption)
        if interruption.signal is not None:
            return
        if journal.cut:
            cut = (
                f"the last {journal.cut:,} bytes of the journal were damaged, so they have "
                "been removed"
            )
            directory.tell(f"{directory.source}: {cut}")
        if finished.documents:
            already = f"{finished.documents:,} documents are already finished"
            directory.tell(f"{already} (saved in {directory.source})")
        following = next(items, None)
        if finished.is_whole:
            if following is not None:
                raise finished.not_the_same([], [following.id, *(item.id for item in items)])
            return
        if following is not None:
            with closing(evaluate(chain((following,), items), finished.documents)) as chunks:
                for chunk in chunks:
                    directory.note(chunk_record(chunk))
                    finished.documents += len(chunk.ids)
                    yield chunk
        if interruption.signal is None:
            directory.note({FINISHED: finished.documents})
        journal.sync()

    def finish(self, run: Run, written: Callable[[Run], Iterable[bytes]]) -> None:
        """Write the files of a finished run.

        Raises:
            OSError: a file cannot be written, or its directory is gone.
        """
        if "document_lines" in self.lines:
            self.lines["document_lines"].note(RUN_KEY, lambda: run_text(run))
        if self.directory is not None:
            place = self.directory.place(RUN_FILE)
            if not is_url(place) and not Path(place).parent.is_dir():
                finding = "the run directory was deleted during the run"
                raise FileNotFoundError(errno.ENOENT, finding, str(Path(place).parent))
            with whole_file(place, RUN_DIR, partial=lambda: run.partial) as stream:
                stream.writelines(written(run))
            if not run.partial:
                self.directory.finish()


@contextmanager
def open_kept_files(
    assembly: Assembly, started: str, interruption: Interruption, tell: Callable[[str], None]
) -> Iterator[Keeper]:
    """Open the files that a run writes while it compares. They are closed after the block."""
    settings = assembly.settings
    options = ["--documents", "--non-matches", "--values"]
    paths = [settings.documents, settings.non_matches, settings.values]

    def ended_early() -> bool:
        return interruption.signal is not None

    directory, lines = None, dict[str, LinesFile]()
    names = ("document_lines", "non_match_lines", "value_lines")
    tables = (table_of_documents, table_of_errors, table_of_values)
    with ExitStack() as files:
        if settings.run_dir is not None:
            begun_with, restart = deciding(assembly), settings.restart
            directory = files.enter_context(
                run_directory(settings.run_dir, begun_with, started, restart=restart, tell=tell)
            )
            options[:2] = [RUN_DIR, RUN_DIR]
            paths[:2] = [directory.place(name) for name in (DOCUMENTS, NON_MATCHES)]
            started = directory.started
        for name, option, path, table in zip(names, options, paths, tables, strict=True):
            if path:
                form = format_of_lines(option, path)
                stream = files.enter_context(whole_file(path, option, partial=ended_early))
                lines[name] = files.enter_context(lines_as_rows(stream, form, table))
        yield Keeper(lines=lines, started=started, interruption=interruption, directory=directory)


def deciding(assembly: Assembly) -> dict[str, object]:
    """Return all settings that decide the results in a journal.

    Keys are the names that messages use for the settings.
    """
    settings, job = assembly.settings, assembly.job
    policy = job.options.client and job.options.client.policy
    return {
        "version": __version__,
        "semantics": SEMANTICS,
        "schema": assembly.schema.digest,
        "inferred annotations": assembly.schema.inferred,
        **_list_sources(settings),
        **asdict(select_settings(settings, DocumentOptions)),
        **asdict(select_settings(settings, SelectionOptions)),
        "seed": settings.seed,
        **asdict(select_settings(settings, DecidingOptions)),
        **asdict(job.requested),
        "by": [_digest_of_grouping(entry) for entry in job.by],
        "schema by": _digest_of_grouping(job.schemas.by) if job.schemas else None,
        "asking": policy and {"offline": policy.offline, "dry_run": policy.dry_run},
        "validate": sides_of(settings.validate),
        "metric": [*job.metrics],
        "verdicts": _digest_of_marks(job.marks) if job.marks else None,
    }


def _list_sources(settings: EvalSettings) -> dict[str, str | None]:
    """Return where documents come from, with the keys `GT`, `PRED`, `pairs` and `confidences`.

    A source that was not given is None. Signatures in URLs are removed, because they change.
    """
    named = {
        "GT": settings.gt,
        "PRED": settings.pred,
        "pairs": settings.pairs,
        "confidences": settings.confidence,
    }
    return {key: decoded(name) if name and is_url(name) else name for key, name in named.items()}


def _digest_of_grouping(grouping: Grouping) -> list[str]:
    return [grouping.key, digest_of(json_line(asdict(grouping)))]


class _Finished:
    def __init__(self, directory: RunDirectory, items: Iterator[PairRef]) -> None:
        self._directory = directory
        self._items = items
        self.documents = 0
        self.is_whole = False
        """Whether the journal has all documents of the run."""

    def chunks(self) -> Iterator[ChunkResult]:
        """Yield the results in the journal.

        Raises:
            UsageError: documents have changed since the results were written, or were added or
                removed.
        """
        changed: list[str] = []
        for source, record in self._chunk_records():
            chunk = read_chunk(ChunkResult, record, source)
            refs = list(islice(self._items, len(chunk.ids)))
            now = [ref.id for ref in refs]
            if now != chunk.ids:
                before = list(chunk.ids)
                for location, following in self._chunk_records():
                    before += decode(list[str], following.get("ids"), location, ("ids",))
                raise self.not_the_same(before, [*now, *(item.id for item in self._items)])
            if len(chunk.fingerprints) != len(refs):
                finding = (
                    f"the record has {len(chunk.fingerprints)} fingerprints for {len(refs)} "
                    "documents"
                )
                raise UsageError([Problem(source, finding, hint=BEGIN_AGAIN)])
            for ref, fingerprint in zip(refs, chunk.fingerprints, strict=True):
                changed += _describe_changes(ref, fingerprint)
            self.documents += len(chunk.ids)
            if not changed:
                yield chunk
        if changed:
            raise self._refused(changed)

    def _chunk_records(self) -> Iterator[JournalRecord]:
        for source, record in self._directory.records:
            if FINISHED in record:
                self.is_whole = True
            else:
                yield source, record

    def not_the_same(self, before: list[str], now: list[str]) -> UsageError:
        """Return an error that says how documents have changed since the run was started.

        It names documents that were added, removed or moved. `before` are the document ids in the
        journal, and `now` those of this run. Both begin at the first id that differs.
        """
        kept, present = set(before), set(now)
        gone = [f"{name} is missing now" for name in before if name not in present]
        end = len(now)
        if not self.is_whole:  # later documents have not been evaluated yet
            end = max((index for index, name in enumerate(now) if name in kept), default=0)
        new = [f"{name} is new" for name in now[:end] if name not in kept]
        moved = (
            [f"document {now[0]} has taken the position of document {before[0]}"]
            if not gone and not new
            else []
        )
        return self._refused(gone + new + moved)

    def _refused(self, descriptions: list[str]) -> UsageError:
        more_text = (
            f", and {len(descriptions) - MAX_NAMED_DOCUMENTS} more"
            if len(descriptions) > MAX_NAMED_DOCUMENTS
            else ""
        )
        finding = (
            f"documents have changed since the run was started: "
            f"{', '.join(descriptions[:MAX_NAMED_DOCUMENTS])}{more_text}"
        )
        source = self._directory.source
        return UsageError(
            [
                Problem(
                    source=source,
                    found=finding,
                    expected="the same documents as when the run was started",
                    hint=BEGIN_AGAIN,
                )
            ]
        )


def _describe_changes(ref: PairRef, before: Fingerprint | None) -> Iterator[str]:
    """Yield texts on how a document has changed since its fingerprint `before` was taken.

    `before` is None if the document could not be read to its end at that time.
    """
    if before is None:
        return
    now = fingerprint_of(ref)
    for side, old, new in (
        ("ground truth", before.gt, now.gt),
        ("prediction", before.pred, now.pred),
    ):
        if old != new:
            change = "is new" if not old else "has changed" if new else "is missing now"
            yield f"the {side} of {ref.id} {change}"
    if (before.gt, before.pred) == (now.gt, now.pred) and before.hint != now.hint:
        yield f"files with names similar to {ref.id} have been added or removed"


def _digest_of_marks(marks: Marks) -> str:
    records = [
        [marked, encoded(mark)]
        for marks_of_document in marks.values()
        for marked, mark in marks_of_document.items()
    ]
    return digest_of(json_line(records))
