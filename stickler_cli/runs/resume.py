"""A run that goes on where one ended: what is finished, and has its fingerprint still, is kept."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import chain, islice
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.json_values import json_line
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.remote import is_url
from stickler_cli.core.rules import encoded
from stickler_cli.documents.document import digest_of
from stickler_cli.documents.document_pair import Fingerprint, PairRef, fingerprint_of
from stickler_cli.documents.reading import decoded
from stickler_cli.records.chunk_record import read_chunk
from stickler_cli.records.codec import read
from stickler_cli.runs.directory.run_directory import BEGIN_AGAIN, JournalRecord, RunDirectory
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.inputs import DocumentOptions, SelectionOptions
from stickler_cli.settings.of_documents import EvalSettings
from .assembly import Assembly
from .chunk import ChunkResult
from .grouping import Grouping
from .interruption import Interruption, until_interrupted
from .job import sides_of
from .read_documents import Item
from .verdict_files import digest_of_marks

NAMED: Final = 5  # documents that an error names
FINISHED: Final = "finished"  # the key of the last record of a whole run: its number of documents


def continued(
    directory: RunDirectory,
    items: Iterator[PairRef],
    evaluate: Callable[[Iterator[Item], int], Generator[ChunkResult]],
    interruption: Interruption,
) -> Generator[ChunkResult]:
    """Yield the results of all documents, and note in the journal those that are new.

    `evaluate` is told how many documents there are before those that it is given.

    Raises:
        UsageError: documents are not what they were, with their names; or the journal holds
            something else.
        OSError: the journal cannot be written.
    """
    journal = directory.journal
    kept = _Kept(directory, items)
    yield from until_interrupted(kept.chunks(), interruption)
    if interruption.signal is not None:
        return
    if journal.cut:
        cut = f"the last {journal.cut:,} bytes of its journal are damaged and were cut off"
        directory.tell(f"{directory.source}: {cut}")
    if kept.documents:
        directory.tell(f"{directory.source}: {kept.documents:,} documents are finished already")
    following = next(items, None)
    if kept.finished:
        if following is not None:
            raise kept.not_the_same([], [following.id, *(item.id for item in items)])
        return
    if following is not None:
        with closing(evaluate(chain((following,), items), kept.documents)) as chunks:
            for chunk in chunks:
                directory.note(encoded(chunk))
                kept.documents += len(chunk.ids)
                yield chunk
    if interruption.signal is None:
        directory.note({FINISHED: kept.documents})
    journal.sync()


def deciding(assembly: Assembly) -> dict[str, object]:
    """Return everything that decides what a journal holds, by the names that messages use."""
    settings, job = assembly.settings, assembly.job
    policy = job.options.client and job.options.client.policy
    return {
        "version": __version__,
        "semantics": SEMANTICS,
        "schema": assembly.schema.digest,
        "inferred annotations": assembly.schema.inferred,
        **_sources(settings),
        **asdict(part_of(settings, DocumentOptions)),
        **asdict(part_of(settings, SelectionOptions)),
        "seed": settings.seed,
        **asdict(part_of(settings, DecidingOptions)),
        **asdict(job.requested),
        "by": [_digest_of_grouping(entry) for entry in job.by],
        "schema by": _digest_of_grouping(job.schemas.by) if job.schemas else None,
        "asking": policy and {"offline": policy.offline, "dry_run": policy.dry_run},
        "validate": sides_of(settings.validate),
        "metric": [*job.metrics],
        "verdicts": digest_of_marks(job.marks) if job.marks else None,
    }


def _sources(settings: EvalSettings) -> dict[str, str | None]:
    """Return where documents are; of a URL without what signs it, which may be another tomorrow."""
    named = {
        "GT": settings.gt,
        "PRED": settings.pred,
        "pairs": settings.pairs,
        "confidences": settings.confidence,
    }
    return {key: decoded(name) if name and is_url(name) else name for key, name in named.items()}


def _digest_of_grouping(grouping: Grouping) -> list[str]:
    return [grouping.key, digest_of(json_line(asdict(grouping)))]


class _Kept:
    def __init__(self, directory: RunDirectory, items: Iterator[PairRef]) -> None:
        self._directory = directory
        self._items = items
        self.documents = 0
        self.finished = False
        """Whether they are all of the run."""

    def chunks(self) -> Iterator[ChunkResult]:
        """Yield the results, as long as the documents are those that they were made of."""
        changed: list[str] = []
        for source, record in self._chunk_records():
            chunk = read_chunk(ChunkResult, record, source)
            refs = list(islice(self._items, len(chunk.ids)))
            now = [ref.id for ref in refs]
            if now != chunk.ids:
                before = list(chunk.ids)
                for place, following in self._chunk_records():
                    before += read(list[str], following.get("ids"), place, ("ids",))
                raise self.not_the_same(before, [*now, *(item.id for item in self._items)])
            for ref, fingerprint in zip(refs, chunk.fingerprints, strict=True):
                changed += _changes(ref, fingerprint)
            self.documents += len(chunk.ids)
            if not changed:
                yield chunk
        if changed:
            raise self._refused(changed)

    def _chunk_records(self) -> Iterator[JournalRecord]:
        for source, record in self._directory.records:
            if FINISHED in record:
                self.finished = True
            else:
                yield source, record

    def not_the_same(self, before: list[str], now: list[str]) -> UsageError:
        """Return which documents came and went; `before` and `now` are those from some place on."""
        kept, present = set(before), set(now)
        gone = [f"{name} is gone" for name in before if name not in present]
        end = len(now)
        if not self.finished:  # what comes after all that are finished is not evaluated yet
            end = max((place for place, name in enumerate(now) if name in kept), default=0)
        new = [f"{name} is new" for name in now[:end] if name not in kept]
        moved = [f"{now[0]} stands where {before[0]} was"] if not gone and not new else []
        return self._refused(gone + new + moved)

    def _refused(self, named: list[str]) -> UsageError:
        more = f", and {len(named) - NAMED} more" if len(named) > NAMED else ""
        found = f"documents are not what they were: {', '.join(named[:NAMED])}{more}"
        source = self._directory.source
        return UsageError([Problem(source, found, "those that were evaluated", BEGIN_AGAIN)])


def _changes(ref: PairRef, before: Fingerprint | None) -> Iterator[str]:
    """Yield what is not as it was; of a document that was not read to its end nobody knows."""
    if before is None:
        return
    now = fingerprint_of(ref)
    for side, old, new in (
        ("ground truth", before.gt, now.gt),
        ("prediction", before.pred, now.pred),
    ):
        if old != new:
            how = "is new" if not old else "has changed" if new else "is gone"
            yield f"the {side} of {ref.id} {how}"
    if (before.gt, before.pred) == (now.gt, now.pred) and before.hint != now.hint:
        yield f"the names that resemble {ref.id} have changed"
