"""`stickler view`: serve the page of a run, however large. Only this machine can open the page."""

import io
import json
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import parse_qs

import typer

from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.html.page import ServedRun
from stickler_cli.reports.html.payload import WORST_DOCUMENTS
from stickler_cli.runs.page_index import DocumentIndex, ErrorIndex
from stickler_cli.runs.page_sources import checked_sources, is_address
from stickler_cli.runs.saved import errors_of, load_run, with_lines
from stickler_cli.score.detail import PageSources
from stickler_cli.settings.of_commands import ViewSettings
from .console import ExitCode, warn

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HERE: Final = "127.0.0.1"
MAX_CONNECTIONS: Final = 64  # connections that have shown the token of the page
MAX_WITHOUT_TOKEN: Final = 32  # connections that have not shown the token yet
REQUEST_SECONDS: Final = 10.0  # seconds within which a request must have arrived completely
SURROGATES: Final = re.compile("[\ud800-\udfff]")
MAX_NUMBER: Final = 2**63  # integers of SQLite are smaller
BOTH_WAYS: Final = 2  # value of `socket.SHUT_RDWR`; only clients of models import `socket`
IDLE: Final = 60.0  # seconds after which a connection is closed if the client does not read
PATIENCE: Final = 5.0  # seconds between messages on how many errors have been read

_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def view(settings: ViewSettings) -> ExitCode:
    """Run `stickler view`: serve the page of a run until Ctrl-C."""
    checked_sources(settings.sources)
    if settings.sources and not is_address(settings.sources):
        warn(
            "warning: --sources is a directory, but a page opened over http cannot open local files"
        )
    name = settings.run
    server, address = make_server(name, settings.port, settings.sources)
    with server:
        if not settings.quiet:
            warn(
                f"open {address} to see {name}; only this machine can reach this address; "
                "press Ctrl-C to stop"
            )
        if settings.open:
            typer.launch(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return ExitCode.OK


def make_server(
    name: str, port: int, sources: str | None = None
) -> tuple[ThreadingHTTPServer, str]:
    """Make a server for the page of a run. Return (server, address of the page).

    Port 0 means any free port. `sources` is an address with placeholders. The page links each
    document to this address.

    Raises:
        UsageError: the run does not exist, it is a file without individual errors, or the port is
            in use.
    """
    run = load_run(name)
    if errors_of(name, run) is None:
        finding, expected = "a run file does not contain individual errors", "a run directory"
        hint = (
            "make a run directory with stickler eval --run-dir, or an HTML page with "
            "stickler report -o"
        )
        raise UsageError([Problem(source=name, found=finding, expected=expected, hint=hint)])
    if sources and is_address(sources):
        run = replace(run, sources=PageSources(template=sources))
    page = ServedRun(run)
    index = ErrorIndex(lambda: _announce_progress(page.rows(errors_of(name, run) or ())), name)
    documents = DocumentIndex(lambda: page.documents(with_lines(name, run)), name)
    try:
        text = _render_page(page, index, documents)
    except Exception:  # noqa: BLE001 - anybody may have changed the kept database
        documents = DocumentIndex(lambda: page.documents(with_lines(name, run)))
        text = _render_page(page, index, documents)
    questions = {
        "select": Question(index.select, (is_query,)),
        "page": Question(index.page, (is_query, is_number, is_number)),
        "place": Question(index.place, (is_query, is_place)),
        "of": Question(index.of_document, (is_text,)),
        "select-documents": Question(documents.select, (is_query,)),
        "page-documents": Question(documents.page, (is_query, is_number, is_number)),
        "place-documents": Question(documents.place, (is_query, is_text)),
    }
    root = f"/{secrets.token_urlsafe(16)}/"
    answers = partial(_Answers, root, text.encode(), questions)
    try:
        server = _Server((HERE, port), answers)
    except (OSError, OverflowError):
        finding = "this port is in use or not allowed"
        raise UsageError([Problem(f"--port {port}", finding, "another port, or 0")]) from None
    return server, f"http://{HERE}:{server.server_port}{root}"


def _render_page(page: ServedRun, index: ErrorIndex, documents: DocumentIndex) -> str:
    worst = documents.page({}, 0, WORST_DOCUMENTS)
    return page.text(index.total, documents.total, documents.lost, worst)


class MalformedRequestError(Exception):
    """Raised for a request that the page never makes. Its text says what is wrong with it."""


class Question(NamedTuple):
    """A question that the page can ask the server."""

    answer: Callable[..., object]
    tests: tuple[Callable[[object], bool], ...]
    """For each argument, a function that returns whether the argument is valid."""

    def ask(self, text: str) -> object:
        """Return the answer to the question.

        `text` is a JSON list with the arguments of the question.

        Raises:
            MalformedRequestError: the arguments are not JSON, their number is wrong, or one of
                them has a wrong type. The page itself never sends arguments like these.
        """
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedRequestError("the arguments are not JSON") from None
        if not isinstance(arguments, list) or len(arguments) != len(self.tests):
            length = number_of(len(self.tests), "element")
            raise MalformedRequestError(f"the arguments must be a JSON list of {length}")
        for number, (test, argument) in enumerate(zip(self.tests, arguments, strict=True), 1):
            if not test(argument):
                raise MalformedRequestError(f"argument {number} has the wrong type")
        return self.answer(*arguments)


def is_text(value: object) -> bool:
    """Return whether a value is a text that SQLite accepts."""
    return isinstance(value, str) and not SURROGATES.search(value)


def is_number(value: object) -> bool:
    """Return whether a value is an integer that SQLite accepts."""
    return isinstance(value, int) and abs(value) < MAX_NUMBER


def is_place(value: object) -> bool:
    """Return whether a value can identify an error. It must be an object of texts or nulls."""
    return isinstance(value, dict) and all(
        entry is None or is_text(entry) for entry in value.values()
    )


def is_query(value: object) -> bool:
    """Return whether a value is a query of the page.

    A query is an object. Its values are texts, numbers, nulls, or lists of these.
    """
    if not isinstance(value, dict):
        return False
    lists = (entry if isinstance(entry, list) else [entry] for entry in value.values())
    return all(
        entry is None or isinstance(entry, float) or is_text(entry) or is_number(entry)
        for entry in chain.from_iterable(lists)
    )


T = TypeVar("T")


def _announce_progress(rows: Iterable[T]) -> Iterator[T]:
    """Yield the rows unchanged. Every few seconds, print how many rows have been read."""
    last_told = monotonic()
    for number, row in enumerate(rows, start=1):
        if number % 1_000 == 0 and monotonic() - last_told >= PATIENCE:
            warn(f"{number:,} errors are read")
            last_told = monotonic()
        yield row


class _RequestReader(io.RawIOBase):
    """Reads the bytes of a request, until a deadline."""

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection, self._deadline = connection, monotonic() + seconds

    def readable(self) -> bool:
        """Return True: bytes can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read bytes into a buffer. Return the number of bytes read, which is 0 at the end.

        Raises TimeoutError after the deadline.
        """
        seconds = self._deadline - monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        try:
            n_bytes: int = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(IDLE)
        return n_bytes


class _Server(ThreadingHTTPServer):
    """A server with a thread for each connection. The number of connections is limited.

    The address of the page contains a secret token. Connections that have not sent the token yet
    have a limit of their own. If there are too many, the oldest one is closed, so that strangers
    cannot block the page with idle connections.
    """

    def __init__(self, *arguments: Any) -> None:
        self._slots = BoundedSemaphore(MAX_CONNECTIONS)
        self._without_token: dict[Any, None] = {}
        """Connections that have not sent the token yet, the oldest first."""
        self._lock = Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a new connection in a thread of its own.

        If too many connections have not sent the token yet, close the oldest of them.
        """
        with self._lock:
            if len(self._without_token) >= MAX_WITHOUT_TOKEN:
                oldest = next(iter(self._without_token))
                del self._without_token[oldest]
                with suppress(OSError):  # the client is gone already
                    oldest.shutdown(BOTH_WAYS)
            self._without_token[request] = None
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests on a connection, then remove the connection from the lists."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._without_token.pop(request, None)

    @contextmanager
    def reserve_slot(self, request: Any) -> Iterator[bool]:
        """Take a slot for a connection that has sent the token.

        The slot is free again after the block.

        Yield False if no slot becomes free in time; the connection must then not be answered.
        """
        with self._lock:
            self._without_token.pop(request, None)
        is_free = self._slots.acquire(timeout=IDLE)
        try:
            yield is_free
        finally:
            if is_free:
                self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a failure as one line."""
        error = sys.exc_info()[1]
        warn(f"a request was not answered ({type(error).__name__}: {error})")


class _Answers(BaseHTTPRequestHandler):
    """Answers requests of the page. No request changes anything.

    If the address of a request does not contain the secret token, the answer is 404.
    """

    server_version = "stickler"
    timeout = IDLE
    sys_version = ""

    def __init__(
        self,
        secret_path: str,
        page: bytes,
        questions: Mapping[str, Question],
        *rest: Any,
    ) -> None:
        self._secret_path, self._page, self._questions = secret_path, page, questions
        super().__init__(*rest)

    def setup(self) -> None:
        """Prepare to read requests, with a deadline."""
        super().setup()
        self.rfile = io.BufferedReader(_RequestReader(self.connection, REQUEST_SECONDS))

    def handle(self) -> None:
        with suppress(ConnectionError):  # browsers close connections without waiting for answers
            super().handle()

    def do_GET(self) -> None:
        try:
            self._reply()
        except ConnectionError:
            raise
        except MalformedRequestError as error:
            warn(
                "stickler view refused a request that its own page does not send "
                f"({error}); you can go on using the page"
            )
            self._answer(HTTPStatus.BAD_REQUEST, b"no such question", "text/plain")
        except Exception as error:  # noqa: BLE001 - such as a damaged database
            advice = "if this error comes again, delete view-*.sqlite in the run directory"
            warn(f"a request cannot be answered ({type(error).__name__}: {error}); {advice}")
            self._answer(HTTPStatus.BAD_REQUEST, b"no answer", "text/plain")

    def _reply(self) -> None:
        server = cast("_Server", self.server)
        path, _, query = self.path.partition("?")
        if self.headers.get("Host") not in {
            f"{HERE}:{server.server_port}",
            f"localhost:{server.server_port}",
        }:
            self._answer(HTTPStatus.FORBIDDEN, b"another host", "text/plain")
        elif not secrets.compare_digest(
            path[: len(self._secret_path)].encode(), self._secret_path.encode()
        ):
            self._answer(HTTPStatus.NOT_FOUND, b"not found", "text/plain")
        else:
            with server.reserve_slot(self.request) as is_free:
                if is_free:
                    self._reply_to_page(path[len(self._secret_path) :], query)
                else:
                    self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b"too busy", "text/plain")

    def _reply_to_page(self, name: str, query: str) -> None:
        """Send the page, or the answer to one of its queries.

        `name` is the name of the query, if any.
        """
        if not name:
            self._answer(HTTPStatus.OK, self._page, "text/html; charset=utf-8")
        elif name not in self._questions:
            raise MalformedRequestError(f"there is no query {brief(name)}")
        else:
            (text, *_) = parse_qs(query).get("q", [""])
            answer = self._questions[name].ask(text)
            self._answer(HTTPStatus.OK, json.dumps(answer).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for key, value in {**_HEADERS, "Content-Type": kind}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print no line for a request."""
