"""`stickler view`: who is answered, and what may be asked of the errors of a run."""

import json
import urllib.error
import urllib.request
from threading import Thread
from urllib.parse import quote

import pytest

from stickler_cli.cli.viewing import served


@pytest.fixture
def address(stickler):
    stickler("eval", "schema.json", "gt/", "pred/", "--run-dir", "night", "-q")
    server, address = served("night", 0)
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
        with urllib.request.urlopen(request, timeout=120) as found:  # noqa: S310
            return found.status, found.read().decode()
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

    inside = ["lines[1].sku", "lines[1].qty"]
    assert paths() == ["total", "lines[1]", *inside]
    assert paths(judged=1, sort="field") == ["lines[1]", "total"]
    assert paths(find="lamp", values=0) == ["lines[1]"]
    assert paths(outcome=["fd"]) == paths(field="total") == paths(gt="10.5") == ["total"]
    assert paths(of="one") == []
    found = ask("select", {"group": "document", "judged": 1})
    assert found == {"count": 2, "groups": [["two", 2, "", "11"]]}
    place = {"document": "two", "path": "lines[1]", "as": "fa"}
    found = ask("place", {"sort": "field", "judged": 1}, place)
    assert (found["at"], found["error"][2]) == (0, "lines[1]")
    assert ask("place", {"outcome": ["fd"]}, place)["at"] == -1
    assert len(ask("of", "two")) == 4


@pytest.mark.parametrize("question", ["nothing", "page", "select"])
def test_what_is_no_question_is_refused(address, question):
    assert answer(address, question, 1)[0] == 400


def test_a_run_file_has_no_errors_to_serve(stickler):
    stickler("eval", "schema.json", "gt/", "pred/", "-o", "run.json", "-q")
    said = stickler("view", "run.json")

    assert said.code == 2
    assert "a run file has no single errors" in said.err
