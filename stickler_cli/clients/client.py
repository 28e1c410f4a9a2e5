"""The client of models. It keeps answers in memory and on disk, applies limits, and counts usage.

A run has one client, and everything that asks models uses it. Each worker process of the run has a
`RelayedClient`, which forwards questions to the client of the run. In this way, all workers share
limits, turnstiles and answers. A client can also be pickled. The process that unpickles it gets a
new client with an empty memory.
"""

import errno
import hashlib
import json
import os
import pickle
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

from stickler_cli.core.problems import ModelError, Problem, UsageError
from .batching import AskingMode, CallOutcome, Turnstile, ask_in_batches
from .connections import Connections
from .model import A, Model, Purse, Q, UnaskedError, Usage
from .model_policy import DEFAULT_POLICY, Policy

_TABLES: Final = "select type, name, sql from sqlite_master order by name"

CACHE_DIR: Final = "STICKLER_CACHE_DIR"  # environment variable with the directory of the cache
BUSY_SECONDS: Final = 30  # seconds to wait for another process that is writing
MAX_ANSWER_BYTES: Final = 1_000_000
"""Maximum size of a stored answer. A verdict takes a thousand bytes, an embedding some ten
thousand."""

_SCHEMA: Final = """
create table if not exists answers (
    key blob primary key,
    kind text not null,
    model text not null,
    answer blob not null,
    written integer not null
) without rowid
"""


def cache_directory() -> Path:
    """Return the cache directory: `STICKLER_CACHE_DIR`, or else a directory of the user."""
    chosen = os.environ.get(CACHE_DIR)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stickler"


class AnswerCache:
    """Answers of models in one SQLite file, which all runs and processes share.

    The key of an answer is a digest of the question and of everything else that can change the
    answer.

    The file is opened when it is first needed. A file that cannot be used raises UsageError.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "answers.sqlite3"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the stored answers of the given keys, without the keys that have no answer.

        If an answer has more than `MAX_ANSWER_BYTES`, no model gave it. The result then has empty
        bytes in its place, which are not a valid answer.
        """
        statement = "select iif(length(answer) <= ?, answer, x'') from answers where key = ?"
        with self._opened() as connection:
            rows = {
                key: connection.execute(statement, [MAX_ANSWER_BYTES, key]).fetchone()
                for key in keys
            }
        return {key: row[0] for key, row in rows.items() if row}

    def write(self, kind: str, model: str, answers: Mapping[bytes, bytes]) -> None:
        """Store answers under their keys. An answer that is already stored is not replaced."""
        now = int(time.time())
        rows = [(key, kind, model, answer, now) for key, answer in answers.items()]
        with self._opened() as connection, connection:
            connection.execute("begin immediate")
            connection.executemany("insert or ignore into answers values (?, ?, ?, ?, ?)", rows)

    def remove(self, keys: Sequence[bytes]) -> None:
        """Delete the answers of the given keys."""
        with self._opened() as connection, connection:
            connection.execute("begin immediate")
            connection.executemany("delete from answers where key = ?", [(key,) for key in keys])

    def clear(self) -> int:
        """Delete all answers; return their number."""
        if not self.path.exists():
            return 0
        with self._opened() as connection:
            with connection:
                count: int = connection.execute("delete from answers").rowcount
            connection.execute("vacuum")
        return count

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file for a `with` block.

        Only one thread of this process can have it open at a time.

        An error inside the block becomes a UsageError.
        """
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                yield self._connection
            except (OSError, sqlite3.Error) as error:
                reason = getattr(error, "strerror", None) or error
                description = f"the cache of model answers cannot be used ({reason})"
                hint = f"set {CACHE_DIR} to another directory, or give --no-cache"
                raise UsageError([Problem(str(self.path), description, "", hint)]) from None

    def _connect(self) -> sqlite3.Connection:
        """Open the database, and create it if it does not exist.

        Raises:
            OSError: the path is not a regular file.
            sqlite3.Error: the file cannot be used.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):
            # Answers reveal the content of documents, so only the user may read them. An existing
            # file is not opened here, as closing it would release the locks of this process.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        if self.path.is_symlink() or not self.path.is_file():
            raise OSError(errno.EINVAL, "the cache is not a regular file")
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("pragma trusted_schema = off")
            _write_ahead(connection)
            connection.execute("pragma synchronous = normal")
            connection.execute(_SCHEMA)
            _check_tables(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _check_tables(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError if a database has anything except the expected tables.

    For instance, views and triggers could make a query run without end.
    """
    with closing(sqlite3.connect(":memory:")) as expected:
        expected.execute(_SCHEMA)
        if connection.execute(_TABLES).fetchall() != expected.execute(_TABLES).fetchall():
            raise sqlite3.DatabaseError(
                "this database is not a cache of model answers: it has different tables"
            )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a database to the journal mode in which readers do not wait for writers.

    SQLite raises an error if the database is locked during the switch. This function then tries
    again, for at most `BUSY_SECONDS`.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


REMEMBERED_BYTES: Final = 256 * 2**20  # some 20,000 large embeddings, or half a million verdicts
ENTRY_BYTES: Final = 200  # approximate memory of a remembered answer besides the answer itself

Asking: TypeAlias = "SimpleQueue[tuple[Connection, bytes] | None]"
"""A queue of questions from worker processes. An entry is (connection that waits for the answers,
pickled questions). None ends the queue."""


class Client:
    """Gets the answers of models to questions.

    An answer comes from memory, from the cache on disk, or from the model itself.
    """

    def __init__(self, policy: Policy = DEFAULT_POLICY, *, remembers_failures: bool = True) -> None:
        """Create a client with an empty memory.

        Connections and files are opened when they are needed.

        A run may need the answer to the same question many times. If `remembers_failures` is true,
        a question that failed is not asked again.
        """
        self.policy = policy
        self._purse = Purse(policy.max_cost, policy.max_tokens)
        self._turnstiles: dict[tuple[str, str], Turnstile] = {}
        self._needs: dict[Model[Any, Any], Need] = {}
        self._cache = AnswerCache(cache_directory()) if policy.cache else None
        self._connections = Connections(policy.retry.timeout)
        self._memory = Memory()
        self._remembers_failures = remembers_failures
        self._unasked: set[Hashable] = set()
        self._judged = 0
        self._lock = threading.Lock()
        # Do not close at exit: the process ends anyway, and closing would wait for servers.
        weakref.finalize(self, _close, self._connections, self._cache).atexit = False

    def __reduce__(self) -> tuple["partial[Client]", tuple[()]]:
        return partial(Client, self.policy, remembers_failures=self._remembers_failures), ()

    @property
    def usage(self) -> Usage:
        """The calls, tokens and cost so far."""
        return self._purse.usage + Usage(unasked=len(self._unasked))

    def placed(self, model: Model[Q, A]) -> Model[Q, A]:
        """Return a model with the server address and the key that the policy sets for it."""
        address = self.policy.endpoints.get(model.title)
        key = self.policy.keys.get(model.title)
        return model if address is None and key is None else model.moved(address, key)

    def require(self, model: Model[Any, Any]) -> None:
        """Raise UnavailableError if a model cannot be asked.

        If the policy limits the cost in dollars, a model without a known price cannot be asked.
        """
        model = self.placed(model)
        model.require()
        if self.policy.max_cost is not None and not model.is_priced:
            description = "has no known price, so --max-cost cannot be enforced"
            raise model.unavailable(
                description, ("limit the use of the model with --max-tokens instead")
            )

    def answers(self, model: Model[Q, A], questions: Iterable[Q]) -> dict[Q, A | ModelError]:
        """Return a dict that maps each question to its answer, or to an error if it has none.

        Each distinct question is asked at most once in a run. In a dry run, the result has only
        questions with an answer in the cache.

        Raises:
            UsageError: the cache cannot be used.
            UnavailableError: a server refuses the key, or does not have the model.
        """
        model = self.placed(model)
        keys, on_disk = _answer_keys(model, questions)
        answers_by_key = self._memory.find(keys.values())
        if on_disk and self._cache:
            unknown: list[Any] = [key for key in keys.values() if key not in answers_by_key]
            cached = self._cached_answers(model, unknown, self._cache) if unknown else {}
            self.count(Usage(cached=len(cached)))
            if self.policy.dry_run:
                self._needs.setdefault(model, Need(model)).cached += len(cached)
            answers_by_key |= self._memory.keep(cached)
        missing = {question: key for question, key in keys.items() if key not in answers_by_key}
        if self.policy.dry_run:
            self._needs.setdefault(model, Need(model)).add(missing)
        elif self.policy.offline:
            error = ModelError(
                "the cache has no answer to this question, and --offline forbids asking the model"
            )
            answers_by_key |= dict.fromkeys(missing.values(), error)
        elif missing:
            questions, room = list(missing), self._room(model, len(missing))
            for outcome in ask_in_batches(model, questions[:room], self._asking_mode(model)):
                answers_by_key |= self._keep_outcome(model, outcome, missing, on_disk=on_disk)
            unasked = UnaskedError(
                f"the limit of {self.policy.max_pairs} pairs (--max-pairs) has been reached"
            )
            answers_by_key |= self._keep_outcome(
                model, CallOutcome(questions[room:], unasked), missing, on_disk=on_disk
            )
        return {
            question: answers_by_key[key] for question, key in keys.items() if key in answers_by_key
        }

    @staticmethod
    def _cached_answers(
        model: Model[Any, A], keys: Sequence[bytes], cache: AnswerCache
    ) -> dict[Hashable, A]:
        """Return the cached answers of the given keys, and delete invalid ones.

        Answers can be invalid because other programs can write to the file. Their questions will be
        asked again.
        """
        answers: dict[Hashable, A] = {}
        wrong_rows = []
        for key, packed in cache.read(keys).items():
            try:
                answers[key] = model.unpack(packed)
            except (ValueError, TypeError):
                wrong_rows.append(key)
        if wrong_rows:
            cache.remove(wrong_rows)
        return answers

    @contextmanager
    def rehearsing(self) -> "Iterator[Client]":
        """Yield a client that asks no model and only counts the questions that it would ask.

        The two clients share their memory of answers. If the yielded client finds answers in the
        cache, the original client can use them later.
        """
        counting = Client(replace(self.policy, dry_run=True))
        counting._memory = self._memory
        yield counting
        counting.close()
        self.count(counting.usage)

    @property
    def needs(self) -> "list[Need]":
        """What each model would be asked, sorted by kind and name of the model.

        Empty before a dry run.
        """
        return sorted(self._needs.values(), key=lambda need: (need.model.kind, need.model.title))

    def count(self, usage: Usage) -> None:
        """Add a usage (calls, tokens, cost and so on) to the total usage of this client."""
        self._purse.count(usage)

    def close(self) -> None:
        """Close the cache and all connections. The next question opens them again."""
        _close(self._connections, self._cache)

    def _keep_outcome(
        self,
        model: Model[Q, A],
        outcome: CallOutcome[Q, A],
        keys: Mapping[Q, Any],
        *,
        on_disk: bool,
    ) -> dict[Hashable, A | ModelError]:
        """Store the outcome of a call in memory and on disk.

        Return a dict that maps the key of each question to its answer or error. Questions that were
        not asked are not stored, because they may be asked later.
        """
        questions, answers_or_error = outcome
        question_keys = [keys[question] for question in questions]
        if isinstance(answers_or_error, ModelError):
            failures: dict[Hashable, Any] = dict.fromkeys(question_keys, answers_or_error)
            if isinstance(answers_or_error, UnaskedError):  # may be asked later
                self._unasked |= failures.keys()
                return failures
            return self._memory.keep(failures) if self._remembers_failures else failures
        answers = dict(zip(question_keys, answers_or_error, strict=True))
        self._unasked -= answers.keys()
        if on_disk:
            packed = {key: model.pack(answer) for key, answer in answers.items()}
            if self._cache:
                self._cache.write(model.kind, model.title, packed)
            # In the form in which they are read from the cache.
            answers = {key: model.unpack(answer) for key, answer in packed.items()}
        return self._memory.keep(answers)

    def _asking_mode(self, model: Model[Any, Any]) -> AskingMode:
        name = model.title, model.address
        with self._lock:
            if name not in self._turnstiles:
                per_minute = None if model.is_local else self.policy.per_minute
                self._turnstiles[name] = Turnstile(model.title, per_minute)
        return AskingMode(
            connections=self._connections,
            turnstile=self._turnstiles[name],
            purse=self._purse,
            retry=self.policy.retry,
            at_once=self.policy.concurrency,
        )

    def _room(self, model: Model[Any, Any], count: int) -> int:
        """Return how many of `count` questions the limit on judged pairs allows, and reserve them.

        There is no limit for models that do not judge.
        """
        if not model.is_judge:
            return count
        with self._lock:
            room = min(count, self.policy.max_pairs - self._judged)
            self._judged += room
        return room


class RelayedClient(Client):
    """The client of a worker process. It sends new questions to the client of the run."""

    def __init__(self, policy: Policy, relay: Callable[[bytes], bytes]) -> None:
        """Create a client.

        `relay` is a function that sends pickled questions and returns pickled answers.
        """
        super().__init__(policy)
        self._relay = relay

    def answers(self, model: Model[Q, A], questions: Iterable[Q]) -> dict[Q, A | ModelError]:
        """Return answers from memory or from the client of the run.

        Errors of that client are raised here.
        """
        keys = {question: (model, question) for question in questions}
        answers: dict[Hashable, A | ModelError] = self._memory.find(keys.values())
        unknown = [question for question, key in keys.items() if key not in answers]
        if unknown:
            reply = pickle.loads(self._relay(pickle.dumps((model, unknown))))  # noqa: S301 - ours
            if isinstance(reply, Exception):
                raise reply
            new_answers: dict[Hashable, A | ModelError] = {
                keys[question]: answer for question, answer in reply.items()
            }
            answers |= new_answers
            # Do not remember failures, as these questions may be asked again.
            self._memory.keep(
                {
                    key: answer
                    for key, answer in new_answers.items()
                    if not isinstance(answer, ModelError)
                }
            )
        return {question: answers[key] for question, key in keys.items() if key in answers}


def answer_workers(client: Client, asking: Asking) -> None:
    """Answer the questions of worker processes until the queue ends.

    Workers are answered one at a time, so no question is asked twice.
    """
    while (entry := asking.get()) is not None:
        connection, packed = entry
        with suppress(OSError):  # the worker is gone
            connection.send_bytes(_answered(client, packed))


def _answered(client: Client, packed: bytes) -> bytes:
    try:
        return pickle.dumps(client.answers(*pickle.loads(packed)))  # noqa: S301 - by a worker
    except Exception as error:  # noqa: BLE001 - it is raised where the worker waits
        try:
            return pickle.dumps(error)
        except Exception as other:  # noqa: BLE001 - whatever its parts are
            return pickle.dumps(RuntimeError(str(other)))


@dataclass(slots=True)
class Need:
    """How much one model would be asked, as numbers of questions, calls and tokens."""

    model: Model[Any, Any]
    cached: int = 0  # number of questions whose answer is in the cache
    # Estimated tokens of each question, by the key of its answer.
    _tokens: dict[Hashable, int] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """Number of distinct questions to ask."""
        return len(self._tokens)

    @property
    def calls(self) -> int:
        """Minimum number of calls that the questions need."""
        return -(-self.questions // self.model.batch_size)

    @property
    def tokens(self) -> int:
        """Estimated number of tokens of the questions, without the answers."""
        return sum(self._tokens.values())

    def add(self, questions: Mapping[Any, Hashable]) -> None:
        """Count questions that a model would be asked.

        `questions` maps each question to the key of its answer in the cache. Questions with the
        same key count once.
        """
        self._tokens |= {key: self.model.tokens(question) for question, key in questions.items()}


class Memory:
    """Keeps recent answers and failures. The oldest are dropped if memory is full."""

    def __init__(self, limit: int = REMEMBERED_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._results: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def find(self, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
        """Return a dict of the remembered answers and failures of these keys.

        Unknown keys are left out.
        """
        with self._lock:
            return {key: self._results[key] for key in keys if key in self._results}

    def keep(self, results: dict[Hashable, A]) -> dict[Hashable, A]:
        """Remember results under their keys, and return them.

        Drop the oldest results if memory is full.
        """
        with self._lock:
            for key, result in results.items():
                if key not in self._results:
                    self._results[key] = result
                    self._size += _size(result)
            while self._size > self._limit and self._results:
                self._size -= _size(self._results.pop(next(iter(self._results))))
        return results


def _close(*closables: Connections | AnswerCache | None) -> None:
    for closable in closables:
        if closable is not None:
            closable.close()


def _size(result: object) -> int:
    return ENTRY_BYTES + sys.getsizeof(result)


def _answer_keys(model: Model[Q, Any], questions: Iterable[Q]) -> tuple[dict[Q, Hashable], bool]:
    """Return a dict of keys, and whether the model's answers may be stored on disk.

    The dict maps each question to the key under which its answer is stored.
    """
    identity = model.identity
    if identity is None:
        return {question: (model, question) for question in questions}, False
    # The key is a digest of 20 bytes of everything that the answer depends on.
    start = hashlib.blake2b(f"[{json.dumps(identity, sort_keys=True)}, ".encode(), digest_size=20)
    keys: dict[Q, Hashable] = {}
    for question in questions:
        if question not in keys:
            digest = start.copy()
            digest.update(f"{json.dumps(model.text(question))}]".encode())
            keys[question] = digest.digest()
    return keys, True
