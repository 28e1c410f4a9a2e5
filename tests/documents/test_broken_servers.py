"""Servers that misbehave: messages name the status, and no request waits for ever."""

import json
import socketserver
import threading
import tracemalloc
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat

import pytest

from stickler_cli.cli.app import main
from stickler_cli.core import remote

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
pytestmark = pytest.mark.slow

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
DOCUMENT = b'{"n": 1}'


@pytest.fixture
def server(monkeypatch):
    over, requests = threading.Event(), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            fault = self.path.split("/")[1]
            requests.append(fault)
            if fault == "silent":
                over.wait(60)
            body, size = DOCUMENT, len(DOCUMENT)
            if fault in {"short", "stuck"}:
                body, size = body[:5], 100
            extra_bytes = 10_000 * (fault == "endless" and self.command == "GET")
            again = fault == "flaky" and requests.count(fault) % 2
            self.send_response(500 if again else int(fault) if fault.isdigit() else 200)
            if fault == "302":
                self.send_header("Location", self.path)
            if fault != "endless":
                self.send_header("Content-Length", str(size))
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)
            with suppress(OSError):  # whoever asked is gone
                self.wfile.writelines(repeat(b" " * 1_000_000, extra_bytes))
            if fault == "stuck":
                over.wait(60)
            self.close_connection = True

        def do_HEAD(self):
            self.do_GET()

        def log_message(self, *_):
            """Print nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(remote, "WAITS", (0.0,))
    yield f"http://somebody:hunter22@127.0.0.1:{http.server_port}"
    over.set()
    http.shutdown()
    thread.join()
    http.server_close()


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@pytest.fixture
def slow_server(monkeypatch):
    """The URL of a server that sends a byte every 0.1 seconds, so that it is never silent long."""
    over = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            method, path = self.rfile.readline().split()[:2]
            at_once, dripped = b"", HEAD + b"A: 1\r\n" * 100
            if path.startswith(b"/body"):
                at_once, dripped = HEAD + b"\r\n", b" " * 600 * (method == b"GET")
            with suppress(OSError):  # whoever asked is gone
                self.wfile.write(at_once)
                for position in range(len(dripped)):
                    self.wfile.write(dripped[position : position + 1])
                    if over.wait(0.1):
                        return

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(remote, "AT_ONCE", 100)  # bytes for which a server may take as long again
    monkeypatch.setattr(remote, "_PART", 100)
    monkeypatch.setattr(remote, "GRACE_SECONDS", 0.0)
    yield f"http://127.0.0.1:{server.server_address[1]}"
    over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(remote.URL_TIMEOUT, "60")  # evaluations set it, also for later tests
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    for name in ("one.json", "one.jsonl"):
        (tmp_path / name).write_bytes(DOCUMENT)
    return tmp_path


def run(*sides):
    return main(["eval", "schema.json", *sides, "--no-config", "--url-timeout", "0.5"])


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("401", "the server answered 401"),
        ("403", "the server answered 403"),
        ("404", "there is no such file"),
        ("500", "the server answered 500"),
        ("302", "the server answered 302, and redirects without end"),
        ("silent", "the server sent no data for 0.5 seconds"),
    ],
)
def test_what_cannot_be_reached_is_told_with_place_and_status(
    data_folder, server, capsys, fault, found
):
    url = f"{server}/{fault}/one.json"

    assert run("one.json", url) == 2
    error_output = capsys.readouterr().err
    assert f"/{fault}/one.json: cannot be read: {found}" in error_output
    assert "hunter22" not in error_output


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("fault", ["short", "stuck"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_download_that_breaks_off_is_a_failed_document_on_either_side(
    data_folder, server, capsys, fault, suffix, side
):
    sides = [f"one.{suffix}"] * 2
    sides[side] = f"{server}/{fault}/one.{suffix}"

    assert run(*sides) == 3
    error_output = capsys.readouterr().err
    assert "1 of 1 documents could not be evaluated" in error_output
    assert "cannot be read" in error_output


TOO_SLOW = "cannot be read: the server was too slow: it has not sent everything after"


@pytest.mark.parametrize(("part", "code"), [("head", 2), ("body", 3)])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_server_that_sends_byte_by_byte_is_given_up(
    data_folder, slow_server, capsys, part, code, suffix, side
):
    sides = [f"one.{suffix}"] * 2
    sides[side] = f"{slow_server}/{part}/one.{suffix}"

    assert run(*sides, "--strict") == code
    assert TOO_SLOW in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_schema_that_a_server_sends_byte_by_byte_is_given_up(
    data_folder, slow_server, capsys, part
):
    url = f"{slow_server}/{part}/schema.json"

    assert main(["eval", url, "one.json", "one.json", "--no-config", "--url-timeout", "0.5"]) == 2
    assert "the server was too slow" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_body_without_end_is_a_failed_document(data_folder, server, capsys, suffix, side):
    sides = [f"one.{suffix}"] * 2
    sides[side] = f"{server}/endless/one.{suffix}"
    tracemalloc.start()
    code = run(*sides, "--max-document-size", "1000000", "--strict")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert code == 3
    assert peak < 100_000_000
    assert "1,000,000 bytes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scheme", "names"),
    [
        ("http", {"client_kwargs"}),
        ("s3", {"config_kwargs"}),
        ("gs", {"requests_timeout"}),
        ("az", {"connection_timeout", "read_timeout"}),
        ("memory", set()),
    ],
)
def test_each_driver_is_told_how_long_to_wait(monkeypatch, scheme, names):
    monkeypatch.setenv(remote.URL_TIMEOUT, "7")
    limits = remote._limits_of(scheme, None)  # noqa: SLF001

    assert limits.keys() == names
    assert str(limits).count("7.0") == (2 if names else 0)


def test_a_server_that_fails_once_is_asked_again(data_folder, server):
    assert run("one.json", f"{server}/flaky/one.json") == 0


@pytest.mark.parametrize("kind", ["reference", "dask", "jupyter", "zip", "nothing"])
def test_only_urls_that_are_tested_are_read(data_folder, capsys, kind):
    assert run("one.json", f"{kind}://one.json") == 2
    assert f"URLs with {kind}:// cannot be read, expected file://" in capsys.readouterr().err


def test_what_libraries_say_is_told_without_secrets():
    url = "s3://me:hunter22@bucket/a?sig=3f3f3f3f"
    message = (
        'Invalid bucket name "me:hunter22@bucket" and sig=3f3f3f3f of\n https://me:p@host/a?b=c'
    )

    scrubbed_message = remote._scrubbed(message, url)  # noqa: SLF001

    assert (
        scrubbed_message == 'Invalid bucket name "[hidden]@bucket" and [hidden] of https://host/a'
    )


def test_there_is_no_such_bucket():
    error = FileNotFoundError("the thing")
    error.response = {"Error": {"Code": "NoSuchBucket"}}

    os_error = remote._as_os_error(error, "s3://b/a")  # noqa: SLF001
    assert str(os_error) == "[Errno 2] the store has no such bucket"
