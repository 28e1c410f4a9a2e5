"""`stickler view`: whose requests are answered, and which errors can be requested."""

import json
import socket
import urllib.error
import urllib.request
from array import array
from collections import OrderedDict
from contextlib import ExitStack, suppress
from threading import Thread
from urllib.parse import quote

import pytest

from stickler_cli.cli import viewing
from stickler_cli.cli.viewing import make_server
from stickler_cli.reports.html.page import ServedRun
from stickler_cli.runs.page_index import DocumentIndex, ErrorIndex
from stickler_cli.runs.saved import load_run, with_lines

EVAL = ("eval", "schema.json", "gt/", "pred/", "--run-dir", "night", "-q")


@pytest.fixture
def night(stickler, data):
    """The run directory of a finished run."""
    stickler(*EVAL)
    return data / "night"


@pytest.fixture
def address(night):
    server, address = make_server("night", 0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield address
    server.shutdown()
    thread.join()
    server.server_close()


def answer(address: str, name: str = "", *values, host: str | None = None, method: str = "GET"):
    query = f"?q={quote(json.dumps(values))}" if name else ""
    headers = {} if host is None else {"Host": host}
    url = f"{address}{name}{query}"
    request = urllib.request.Request(url, headers=headers, method=method)  # noqa: S310 - ours
    try:
        with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_page_is_at_its_address_only_and_nothing_can_be_sent(address):
    status, page = answer(address)
    assert (status, "data-served" in page) == (200, True)
    assert "connect-src" in page
    root = address[: address.index("/", 8) + 1]
    assert answer(root)[0] == answer(f"{root}x{address[len(root) :]}")[0] == 404
    assert answer(address, host="evil.example")[0] == 403
    assert answer(address, method="POST")[0] == 501
    assert address.startswith("http://127.0.0.1:")
    assert len(address) > len(root) + 20


def test_errors_are_found_sorted_and_grouped(address):
    def ask(name, *values):
        return json.loads(answer(address, name, *values)[1])

    def paths(**query):
        return [json.loads(line)[2] for line in ask("page", query, 0, 100)]

    inner_paths = ["lines[1].sku", "lines[1].qty"]
    assert paths() == ["total", "lines[1]", *inner_paths]
    assert paths(judged=1, sort="field") == ["lines[1]", "total"]
    assert paths(find="lamp", values=0) == ["lines[1]"]
    assert paths(outcome=["fd"]) == paths(field="\ntotal\n") == paths(gt="10.5") == ["total"]
    assert paths(of="one") == []
    selection = ask("select", {"group": "document", "judged": 1})
    assert selection == {"count": 2, "values": 3, "groups": [["two", 2, "", "11", 3]]}
    place = {"document": "two", "path": "lines[1]", "as": "fa"}
    selection = ask("place", {"sort": "field", "judged": 1}, place)
    assert (selection["at"], selection["error"][2]) == (0, "lines[1]")
    assert ask("place", {"outcome": ["fd"]}, place)["at"] == -1
    assert len(ask("of", "two")) == 4


def test_documents_are_found_and_sorted(address):
    def ask(name, *values):
        return json.loads(answer(address, f"{name}-documents", *values)[1])

    def ids(**query):
        ids = [json.loads(line)[0] for line in ask("page", query, 0, 100)]
        assert ask("select", query) == {"count": len(ids), "values": 0, "groups": []}
        return ids

    assert ids() == ["two", "one"]  # the lowest score first
    assert ids(sort="id") == ["one", "two"]
    assert ids(find="ON") == []
    assert ids(find="on") == ids(**{"from": 1}) == ids(lost=0) == ["one"]
    assert ids(wrong=1) == ids(below=1) == ids(sort="errors", lost=1) == ["two"]
    place = ask("place", {"sort": "id"}, "two")
    assert (place["at"], place["row"][:2]) == (1, ["two", "evaluated"])
    assert ask("place", {"lost": 0}, "two")["at"] == -1
    assert ask("place", {}, "three") == {"at": -1, "row": None}


def test_documents_are_found_by_their_groups(stickler, data):
    names = ("a", "b", 'c"]["k", "a')
    rows = [
        {"id": name, "kind": kind} for name, kind in zip(("one", "two"), names[1:], strict=True)
    ]
    (data / "known.jsonl").write_text("\n".join(map(json.dumps, rows)))
    grouped = ("--by", "@kind", "--by-file", "known.jsonl")
    stickler("eval", "schema.json", "gt/", "pred/", *grouped, "--run-dir", "night", "-q")
    index = documents_of("night")

    groups = [json.dumps(["@kind", name], separators=(",", ":")) for name in names]
    counts = [index.select({"group": group})["count"] for group in groups]
    assert counts == [0, 1, 1]


def documents_of(name: str) -> DocumentIndex:
    run = load_run(name)
    return DocumentIndex(lambda: ServedRun(run).documents(with_lines(name, run)))


def test_documents_of_a_run_without_rows_are_those_of_its_lines(stickler):
    answers = []
    for rows in ("inline", "none"):
        sides = ("gt/", "pred/", "--rows", rows, "--run-dir", rows, "-q")
        stickler("eval", "schema.json", *sides)
        index = documents_of(rows)
        answers.append(index.page({}, 0, 100))
    assert answers[0] == answers[1]
    assert len(answers[0]) == 2


def test_lines_that_are_no_documents_are_told(stickler, data):
    stickler("eval", "schema.json", "gt/", "pred/", "--rows", "none", "--run-dir", "night", "-q")
    lines = (data / "night" / "documents.jsonl").read_text().splitlines()
    for wrong in ("{", "[]", '{"document": "x"}'):
        (data / "night" / "documents.jsonl").write_text(f"{lines[0]}\n{wrong}\n")
        run = stickler("view", "night")
        assert run.code == 2
        assert "documents.jsonl:2" in run.err


def test_a_page_that_is_served_links_to_addresses_only(night, data):
    server, _ = make_server("night", 0, "https://host/{id}.pdf")
    server.server_close()
    assert 'id="data-sources"' in server.RequestHandlerClass.args[1].decode()
    (data / "plain").mkdir()
    server, _ = make_server("night", 0, "plain")
    server.server_close()
    assert 'id="data-sources"' not in server.RequestHandlerClass.args[1].decode()


@pytest.mark.parametrize("question", ["nothing", "page", "select", "place-documents"])
def test_what_is_no_question_is_refused(address, question):
    assert answer(address, question, 1)[0] == 400


def test_a_run_file_has_no_errors_to_serve(stickler):
    stickler("eval", "schema.json", "gt/", "pred/", "-o", "run.json", "-q")
    run = stickler("view", "run.json")

    assert run.code == 2
    assert "a run file does not contain individual errors" in run.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw_request",
    [
        b"GET //[ HTTP/1.1",
        b"GET \xff\xfe HTTP/1.1",
        b"GET {root}page?q=[[ HTTP/1.1",
        b'GET {root}page?q=[{"at":99999999999999999999999},0,1] HTTP/1.1',
        b'GET {root}of?q=[{"a":1}] HTTP/1.1',
        b"GET {root}select?q=" + b"[" * 30_000 + b" HTTP/1.1",
        b"nothing at all",
    ],
)
def test_a_malformed_request_is_refused_on_one_line(address, capsys, raw_request):
    _, _, host, root, _ = address.split("/")
    capsys.readouterr()
    with socket.create_connection(host.split(":"), timeout=60) as line:
        line.sendall(raw_request.replace(b"{root}", f"/{root}/".encode()) + b"\r\nHost: ")
        line.sendall(host.encode() + b"\r\n\r\n")
        status = line.makefile("rb").read().split(b"\r\n")[0]

    assert b" 400 " in status or b" 404 " in status or b"Error code: 400" in status, status
    assert "Traceback" not in capsys.readouterr().err
    assert answer(address)[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("../../etc/passwd", 'there is no query "../../etc/passwd"'),
        ("__class__?q=[]", 'there is no query "__class__"'),
        ("page", "the arguments are not JSON"),
        ("page?q=", "the arguments are not JSON"),
        ("page?q=[[", "the arguments are not JSON"),
        ("page?q=" + "[" * 20_000, "the arguments are not JSON"),
        ("page?q={}", "the arguments must be a JSON list of 3 elements"),
        ("select?q=[]", "the arguments must be a JSON list of 1 element"),
        ("of?q=[1,2]", "the arguments must be a JSON list of 1 element"),
        ("page?q=[{},0,1e3]", "argument 3 has the wrong type"),
        ("page?q=[{},0,99999999999999999999]", "argument 3 has the wrong type"),
        ("select?q=[[]]", "argument 1 has the wrong type"),
        ('select?q=[{"find":{"a":1}}]', "argument 1 has the wrong type"),
        ('select?q=[{"outcome":[[]]}]', "argument 1 has the wrong type"),
        ('select?q=[{"find":"%5Cud800"}]', "argument 1 has the wrong type"),
        ("select?q=[null]", "argument 1 has the wrong type"),
        ('place?q=[{},{"document":1}]', "argument 2 has the wrong type"),
        ("place-documents?q=[{},null]", "argument 2 has the wrong type"),
        ('of?q=[{"a":1}]', "argument 1 has the wrong type"),
    ],
)
def test_a_question_that_no_page_asks_is_refused_in_words(address, capsys, question, reason):
    capsys.readouterr()
    host, _, path = address.removeprefix("http://").partition("/")
    with socket.create_connection(host.split(":"), timeout=60) as line:
        line.sendall(f"GET /{path}{question} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert b" 400 " in line.makefile("rb").readline()

    message = capsys.readouterr().err
    assert message == (
        f"stickler view refused a request that its own page does not send ({reason}); "
        "you can go on using the page\n"
    )


def test_values_of_wrong_types_in_a_query_find_nothing_or_are_ignored(address):
    for query in ({"find": ["a"]}, {"outcome": "fd"}, {"from": "x"}, {"sort": 3}, {"group": []}):
        assert answer(address, "select", query)[0] == 200
    assert answer(address, "of", "a\0b") == (200, "[]")


def test_callers_without_the_token_have_nothing_printed(address, capsys):
    host = address.split("/")[2]
    capsys.readouterr()
    for path in ("//[", "http://[/", "/%00", f"http://{address.split('//')[1]}", "/x?q=["):
        with socket.create_connection(host.split(":"), timeout=60) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert b" 404 " in line.makefile("rb").readline(), path

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("count", [1_001, 10**30, -1, -(10**30)])
def test_an_answer_has_so_many_lines_at_most(monkeypatch, count):
    index = ErrorIndex(list)
    monkeypatch.setattr(index, "find_lines", lambda query: (array("Q", range(5_000)), []))
    requested = []
    monkeypatch.setattr(
        index, "ask", lambda _, numbers: requested.extend(numbers) or [(n, "") for n in numbers]
    )

    index.page({}, 0, count)

    assert len(requested) == (1_000 if count > 0 else 0)


def test_results_that_other_threads_drop_are_answered_all_the_same(monkeypatch):
    index = ErrorIndex(list)

    class DroppedAtOnce(OrderedDict):
        def __setitem__(self, name, result):
            super().__setitem__(name, result)
            del self[name]

    monkeypatch.setattr(index, "find_lines", lambda query: (array("Q", [7]), []))
    monkeypatch.setattr(index, "_found", DroppedAtOnce())

    assert index.selection({}) == (array("Q", [7]), [])


def test_a_request_that_does_not_arrive_by_a_deadline_is_ended(address, monkeypatch):
    monkeypatch.setattr(viewing, "REQUEST_SECONDS", 0.3)
    host, port = address.split("/")[2].split(":")
    with socket.create_connection((host, port), timeout=0.05) as line:
        ended = False
        for _ in range(200):  # each byte is sooner than any limit of idleness
            with suppress(TimeoutError, ConnectionError):
                line.sendall(b"G")
                ended = line.recv(1) == b""
            if ended:
                break

    assert ended
    assert answer(address)[0] == 200


@pytest.mark.slow
def test_connections_without_the_token_shut_nobody_out(address):
    host, port = address.split("/")[2].split(":")
    lines = [socket.create_connection((host, port), timeout=60) for _ in range(100)]
    try:
        for line in lines:
            with suppress(OSError):  # of the oldest some are closed already
                line.sendall(b"GET ")
        assert answer(address)[0] == 200
        assert answer(address, "select", {})[0] == 200
        closed = 0
        for line in lines[: 100 - viewing.MAX_WITHOUT_TOKEN]:
            with suppress(ConnectionError):
                assert line.recv(1) == b""
            closed += 1
    finally:
        for line in lines:
            line.close()

    assert closed == 100 - viewing.MAX_WITHOUT_TOKEN


def test_so_many_callers_with_the_token_are_answered_at_once(night, monkeypatch):
    monkeypatch.setattr(viewing, "IDLE", 0.01)
    server, _ = make_server("night", 0)
    with server, ExitStack() as stack:
        places = [
            stack.enter_context(server.reserve_slot(object()))
            for _ in range(viewing.MAX_CONNECTIONS)
        ]
        assert all(places)
        with server.reserve_slot(object()) as is_free:
            assert not is_free


def test_it_is_told_how_many_errors_were_read(capsys, monkeypatch):
    monkeypatch.setattr(viewing, "PATIENCE", 0.0)
    rows = viewing._announce_progress(range(2_500))  # noqa: SLF001

    assert len([*rows]) == 2_500
    assert capsys.readouterr().err == "1,000 errors are read\n2,000 errors are read\n"


def test_what_is_looked_up_is_kept_beside_the_run_as_long_as_it_is_this_one(stickler, night):
    def lines():
        server, _ = make_server("night", 0)
        server.server_close()
        indexes = [ErrorIndex(lambda: pytest.fail("it is made anew"), "night")]
        return [index.page({}, 0, 100) for index in indexes]

    before = lines()
    stamps = {path.name: path.stat().st_mtime_ns for path in night.glob("view-*.sqlite")}
    assert len(stamps) == 2
    assert lines() == before
    assert stamps == {path.name: path.stat().st_mtime_ns for path in night.glob("view-*")}
    (night / "view-errors.sqlite").write_bytes(b"no database")
    assert lines() == before
    (night / "non-matches.jsonl").write_text("")
    assert lines() == [[]]
    assert stickler(*EVAL).code == 0  # a run directory all the same


def test_nothing_is_kept_where_nothing_can_be_written(night, monkeypatch):
    monkeypatch.setattr(ErrorIndex, "file", "no/such/folder")
    server, _ = make_server("night", 0)
    server.server_close()
    assert [path.name for path in night.glob("view-*")] == ["view-documents.sqlite"]
