"""Documents at URLs: on an S3 server, over HTTP, and in the memory file system of fsspec."""

import gzip
import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from stickler_cli.cli.app import main
from stickler_cli.core import problems, remote
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.documents import sources
from stickler_cli.documents.document import FileReference, read_document
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.sources import SourceKind, kind_of_source, list_directory
from stickler_cli.schema.loading import load_schema
from stickler_cli.settings.deciding import DocumentOptions

fsspec = pytest.importorskip("fsspec")
pytestmark = pytest.mark.slow

LIMIT = 1_000
LIMITED = DocumentOptions(max_document_size=LIMIT)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    started = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield f"http://{host}:{port}"
    started.stop()


@pytest.fixture(scope="module")
def s3(server: str) -> Iterator[Any]:
    """The file system of the server. It is one for all tests, as connecting it takes long."""
    with pytest.MonkeyPatch.context() as patch:
        settings = {"ENDPOINT_URL": server, "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x"}
        for name, value in {**settings, "DEFAULT_REGION": "us-east-1"}.items():
            patch.setenv(f"AWS_{name}", value)
        patch.setenv("NO_PROXY", "127.0.0.1")
        files = fsspec.filesystem("s3")
        yield files
        files.clear_instance_cache()


@pytest.fixture
def bucket(s3: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(remote, "WAITS", (0.0,))
    s3.mkdir("docs")
    yield "s3://docs"
    s3.invalidate_cache()
    s3.rm("docs", recursive=True)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(remote, "WAITS", (0.0,))
    yield "memory://docs"
    fsspec.filesystem("memory").store.clear()


@pytest.fixture(params=["bucket", "memory"])
def store(request: pytest.FixtureRequest) -> str:
    """The URL of an empty directory in a store."""
    location: str = request.getfixturevalue(request.param)
    return location


def put(root: str, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        with fsspec.open(f"{root}/{name}", "wb") as stream:
            stream.write(data)


def document(n: int) -> bytes:
    return json.dumps({"n": n}).encode()


def problem_text(value: object) -> str:
    assert isinstance(value, Problem)
    return str(value)


def test_a_directory_elsewhere_is_listed_as_one_here(store: str):
    put(store, {"gt/a.json": b"{}", "gt/b/c.json.gz": b"{}", "gt/.d.json": b"{}", "gt/e.txt": b""})
    listing = list_directory(f"{store}/gt", LIMIT)
    assert [*listing.documents] == ["a", "b/c"]
    assert (listing.skipped, listing.hidden) == (1, 1)
    assert listing.documents["a"] == FileReference(f"{store}/gt/a.json", LIMIT, 2)


@pytest.mark.parametrize("root", ["memory://docs", "MEMORY://docs"])
def test_two_colons_in_a_name_lead_nowhere_else(memory: str, root: str):
    files = fsspec.filesystem("memory")
    files.pipe_file("/docs/a::b.json", b"{}")
    assert [*list_directory(root, LIMIT).documents] == ["a::b"]
    assert remote.read_urls([f"{root}/a::b.json"], LIMIT) == [b"{}"]
    remote.send_bytes(b"[]", f"{root}/zip::c.json")
    assert files.cat_file("/docs/zip::c.json") == b"[]"


def test_a_glob_names_some_of_them_by_what_is_below_it(store: str):
    put(store, {"gt/a1.json": b"{}", "gt/a2.json": b"{}", "gt/b1.json": b"{}"})
    assert [*list_directory(f"{store}/gt/a*.json", LIMIT).documents] == ["a1", "a2"]
    assert kind_of_source(f"{store}/gt/a*.json") is SourceKind.DIRECTORY


def test_a_listing_elsewhere_that_takes_long_is_told(store: str, monkeypatch: pytest.MonkeyPatch):
    put(store, {"gt/a.json": b"{}"})
    messages: list[str] = []
    twice = threading.Event()

    def tell(line: str) -> None:
        messages.append(line)
        if len(messages) == 2:
            twice.set()

    def slow(url: str) -> Iterator[tuple[str, str, int]]:
        assert twice.wait(60)
        return remote.list_url(url)

    for name in ("PATIENCE", "REMINDER"):
        monkeypatch.setattr(sources, name, 0)
    monkeypatch.setattr(sources, "list_url", slow)
    assert [*list_directory(f"{store}/gt", LIMIT, tell).documents] == ["a"]
    assert (
        messages[0]
        == f"still listing the files of {store}/gt; the comparison starts when the list is complete"
    )


def test_a_place_without_anything_is_refused(store: str):
    put(store, {"gt/a.json": b"{}"})
    with pytest.raises(UsageError, match=r"nothing at this URL, expected \.json files"):
        list_directory(f"{store}/other", LIMIT)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_a_file_that_is_not_there_is_refused(store: str, name: str):
    put(store, {"gt/a.json": b"{}"})
    expected = f"{store}/{name}: cannot be read: there is no such file"
    assert problem_text(kind_of_source(f"{store}/{name}")) == expected


def test_documents_elsewhere_pair_and_what_cannot_be_used_is_a_problem(store: str):
    large = document(10**LIMIT)
    put(store, {"gt/a.json": document(1), "gt/b.json": b"", "gt/c.json": large, "gt/d.json": b"{"})
    put(store, {"pred/a.json": gzip.compress(document(2))})
    pairs = {pair.id: pair for pair in open_pairs(f"{store}/gt", f"{store}/pred", LIMITED)}
    assert (pairs["a"].gt, pairs["a"].pred) == ({"n": 1}, {"n": 2})
    assert problem_text(pairs["b"].gt) == f"{store}/gt/b.json: the file is empty, expected JSON"
    assert "the file has 1,008 bytes" in problem_text(pairs["c"].gt)
    assert problem_text(pairs["d"].gt).startswith(f"{store}/gt/d.json:1:2: not valid JSON")


def test_a_document_may_have_any_name(bucket: str):
    names = ["a[1]", "a::memory:b", "a?b", "é ü"]  # what fsspec reads as patterns and as chains
    for n, name in enumerate(names):
        fsspec.filesystem("s3").pipe_file(f"docs/gt/{name}.json", document(n))
    pairs = {pair.id: pair for pair in open_pairs(f"{bucket}/gt", f"{bucket}/gt")}
    assert [pairs[name].gt for name in names] == [{"n": n} for n in range(4)]


def test_lines_elsewhere_are_read_as_they_come(store: str):
    put(store, {"gt.jsonl": document(1) + b"\n" + document(2), "p.jsonl.gz": gzip.compress(b"{}")})
    first, second = open_pairs(f"{store}/gt.jsonl", f"{store}/p.jsonl.gz")
    assert (first.gt, first.pred) == ({"n": 1}, {})
    assert (second.gt, second.pred) == ({"n": 2}, None)


def test_a_table_elsewhere_is_read(store: str, tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"id": ["a"], "document": ['{"n":1}']}), tmp_path / "t.parquet")
    put(store, {"t.parquet": (tmp_path / "t.parquet").read_bytes(), "pred/a.json": b"{}"})
    (pair,) = open_pairs(f"{store}/t.parquet", f"{store}/pred")
    assert (pair.gt, pair.pred) == ({"n": 1}, {})


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_reads_and_writes_elsewhere_what_it_does_here(
    bucket: str,
    jobs: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    files = {f"{side}/{n}.json": document(n % 3) for side in ("gt", "pred") for n in range(12)}
    files |= {"pred/7.json": document(9), "schema.json": json.dumps(SCHEMA).encode()}
    put(bucket, files)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)

    def results(root: str) -> str:
        sources = (f"{root}/{name}" for name in ("schema.json", "gt", "pred"))
        arguments = ["eval", *sources, "-f", "csv", "--no-config", "--jobs", jobs]
        assert main([*arguments, "--non-matches", f"{root}/out/errors.jsonl"]) == 0
        with fsspec.open(f"{root}/out/errors.jsonl") as stream:
            return capsys.readouterr().out + stream.read().decode()

    (tmp_path / "out").mkdir()
    with monkeypatch.context() as before:  # workers know what is said after others of theirs began
        before.delenv("AWS_ENDPOINT_URL")
        expected = results(str(tmp_path))
    assert results(bucket) == expected


def test_a_run_that_was_sent_elsewhere_is_read_from_there(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    put(memory, {"gt.json": document(1), "schema.json": json.dumps(SCHEMA).encode()})
    same = [f"{memory}/gt.json"] * 2
    run = f"{memory}/run.json"
    assert main(["eval", f"{memory}/schema.json", *same, "-q", "-o", run, "--no-config"]) == 0
    assert main(["report", run, "--no-config"]) == 0
    assert "1 document, " in capsys.readouterr().out


def test_documents_in_parquet_that_were_sent_elsewhere_are_a_run(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("pyarrow")
    lines = b"\n".join(document(n) for n in range(3))
    put(store, {"gt.jsonl": lines, "schema.json": json.dumps(SCHEMA).encode()})
    arguments = ["eval", f"{store}/schema.json", *[f"{store}/gt.jsonl"] * 2, "-q", "--no-config"]
    for name in ("a", "b"):
        assert main([*arguments, "--documents", f"{store}/{name}.parquet"]) == 0
    assert main(["diff", f"{store}/a.parquet", f"{store}/b.parquet", "--no-config"]) == 0
    assert "3 documents" in capsys.readouterr().out
    merged = ["merge", f"{store}/a.parquet", f"{store}/b.parquet", "--no-config"]
    main(merged)
    assert f"{store}/a.parquet" in capsys.readouterr().err  # documents are in both
    (tmp_path / "a.parquet").write_bytes(fsspec.open(f"{store}/a.parquet").open().read())
    assert main(["report", str(tmp_path / "a.parquet"), "--no-config"]) == 0
    local_output = capsys.readouterr().out
    assert main(["report", f"{store}/a.parquet", "--no-config"]) == 0
    assert capsys.readouterr().out == local_output


def test_a_run_directory_that_was_copied_elsewhere_is_read_there(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for name, data in (("gt", document(1)), ("pred", document(2)), ("schema", b"")):
        (tmp_path / f"{name}.json").write_bytes(data or json.dumps(SCHEMA).encode())
    sources = [str(tmp_path / f"{name}.json") for name in ("schema", "gt", "pred")]
    run = tmp_path / "run"
    assert main(["eval", *sources, "--run-dir", str(run), "-q", "--no-config"]) == 0
    put(store, {f"run/{file.name}": file.read_bytes() for file in run.iterdir()})
    assert main(["errors", str(run), "--no-config"]) == 0
    local_output = capsys.readouterr().out
    assert main(["errors", f"{store}/run", "--no-config"]) == 0
    assert capsys.readouterr().out == local_output
    assert main(["report", f"{store}/none", "--no-config"]) == 2
    assert f"{store}/none: this directory does not contain run.json" in capsys.readouterr().err


def test_a_directory_of_schemas_may_be_elsewhere(store: str, capsys: pytest.CaptureFixture[str]):
    kinds = {f"schemas/{kind}.json": json.dumps(SCHEMA).encode() for kind in ("a", "b")}
    put(store, {**kinds, "schemas/.hidden.json": b"", "schemas/more/c.json": b"", "n.txt": b""})
    put(store, {"gt.jsonl": b'{"kind": "a", "n": 1}\n{"kind": "b", "n": 2}'})
    arguments = ["eval", f"{store}/schemas", *[f"{store}/gt.jsonl"] * 2, "--schema-by", "kind"]
    assert main([*arguments, "--no-config"]) == 0
    assert "2 documents, " in capsys.readouterr().out
    arguments[1] = f"{store}/none"
    assert main([*arguments, "--no-config"]) == 2
    assert f"{store}/none: this directory contains no schema" in capsys.readouterr().err


def test_what_cannot_be_sent_is_kept_and_the_message_says_where(
    bucket: str, capsys: pytest.CaptureFixture[str]
):
    put(bucket, {"a.json": document(1), "schema.json": json.dumps(SCHEMA).encode()})
    same = [f"{bucket}/a.json"] * 2
    arguments = ["eval", f"{bucket}/schema.json", *same, "-q", "--no-config"]
    assert main([*arguments, "-o", "s3://none/run.json"]) != 0
    error_output = capsys.readouterr().err
    assert "s3://none/run.json" in error_output
    kept = Path(error_output.rpartition("saved in ")[2].rstrip(")\n"))
    assert json.loads(kept.read_bytes())["documents"]["evaluated"] == 1
    kept.unlink()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-o", "https://example.org/run.json"], "stickler cannot write to an http address"),
        (["-o", "memory://docs/a.json"], "would overwrite "),
    ],
)
def test_outputs_that_cannot_be_elsewhere_are_refused(
    memory: str, options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
):
    put(memory, {"a.json": document(1), "schema.json": json.dumps(SCHEMA).encode()})
    same = [f"{memory}/a.json"] * 2
    assert main(["eval", f"{memory}/schema.json", *same, "-q", "--no-config", *options]) == 2
    assert expected in capsys.readouterr().err


def test_what_fails_once_is_tried_again(memory: str, monkeypatch: pytest.MonkeyPatch):
    put(memory, {"a.jsonl": document(1), "gt/a.json": document(1)})
    files, failed = fsspec.filesystem("memory"), set[str]()

    def failing(name: str) -> None:
        real = getattr(type(files), name)

        def once(self: Any, *given: Any, **said: Any) -> Any:
            if name not in failed:
                failed.add(name)
                raise RuntimeError("the store has a moment")
            return real(self, *given, **said)

        monkeypatch.setattr(type(files), name, once)

    for name in ("open", "find", "cat_file", "info"):
        failing(name)
    ((_, pair),) = enumerate(open_pairs(f"{memory}/gt", f"{memory}/gt"))
    assert pair.gt == pair.pred == {"n": 1}
    assert [pair.gt for pair in open_pairs(f"{memory}/a.jsonl", f"{memory}/a.jsonl")] == [{"n": 1}]
    assert failed == {"open", "find", "cat_file", "info"}


def test_what_fails_for_good_is_a_problem_that_says_why(
    memory: str, monkeypatch: pytest.MonkeyPatch
):
    def down(*given: Any, **said: Any) -> Any:
        raise RuntimeError("the store is down")

    put(memory, {"gt/a.json": document(1)})
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "cat_file", down)
    (pair,) = open_pairs(f"{memory}/gt", f"{memory}/gt")
    expected = "cannot be read: RuntimeError: the store is down"
    assert problem_text(pair.gt) == f"{memory}/gt/a.json: {expected}"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *said: Any) -> None:  # noqa: A002 - as it is declared
        pass


def test_documents_are_read_over_http_and_what_signs_a_url_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "a.json").write_bytes(document(1))
    (tmp_path / "b.json").write_bytes(b"{")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        (pair,) = open_pairs(f"{root}/a.json?signature=3f", f"{root}/b.json?signature=3f")
        server.shutdown()
    assert (pair.id, pair.gt) == ("a", {"n": 1})
    assert problem_text(pair.pred).startswith(f"{root}/b.json:1:2: not valid JSON")


class _Shaky(_Quiet):
    """A server that fails twice for each file before it sends the file."""

    requests_by_path: ClassVar[dict[str, int]]

    def do_GET(self) -> None:
        self.requests_by_path[self.path] = self.requests_by_path.get(self.path, 0) + 1
        if self.requests_by_path[self.path] <= 2:
            self.send_error(503)
        else:
            super().do_GET()


def test_a_server_that_fails_twice_is_asked_a_third_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(remote, "WAITS", (0.0, 0.0))
    names = ["a.json", "b.json", "lines.jsonl"]
    for name in names:
        (tmp_path / name).write_bytes(document(1))

    class Handler(_Shaky):
        requests_by_path: ClassVar[dict[str, int]] = {}

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        (pair,) = open_pairs(f"{root}/a.json", f"{root}/b.json")
        (line,) = open_pairs(*[f"{root}/lines.jsonl"] * 2)
        Handler.requests_by_path.clear()
        monkeypatch.setattr(remote, "WAITS", ())  # it is looked at once before it is read
        (failed,) = open_pairs(f"{root}/a.json", f"{root}/b.json")
        server.shutdown()
    assert pair.gt == pair.pred == line.gt == line.pred == {"n": 1}
    assert "503" in problem_text(failed.gt)


def test_a_schema_elsewhere_leads_to_no_other_file(memory: str):
    schema = {"type": "object", "properties": {"n": {"$ref": "other.json"}}}
    put(memory, {"schema.json": json.dumps(schema).encode(), "other.json": b'{"type": "string"}'})
    with pytest.raises(Exception, match=r"other\.json"):
        load_schema(f"{memory}/schema.json")


@pytest.mark.parametrize("reference", ["memory://docs/other.json", "s3://docs/other.json"])
def test_no_schema_has_a_url_read(memory: str, tmp_path: Path, reference: str):
    put(memory, {"other.json": b'{"type": "string"}'})
    schema = {"type": "object", "properties": {"n": {"$ref": reference}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    with pytest.raises(Exception, match=r"other\.json"):
        load_schema(str(tmp_path / "schema.json"))


def test_without_fsspec_a_url_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(problems, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"'\.\[remote\]'"):
        kind_of_source("s3://docs/gt.jsonl")


@pytest.mark.parametrize(
    ("url", "package"), [("gs://b/a.json", "gcsfs"), ("az://b/a.json", "adlfs")]
)
def test_without_its_driver_a_url_says_what_to_install(
    url: str, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    assert main(["eval", url, url, "--no-config"]) != 0
    scheme = url.partition(":")[0]
    expected = (
        f"{url}: to read {scheme}:// URLs, stickler needs the package {package}, which is not "
        f"installed; pip install {package}"
    )
    assert expected in " ".join(capsys.readouterr().err.split())


def test_a_kind_of_url_that_nothing_knows_is_refused():
    with pytest.raises(UsageError, match="URLs with nonsense:// cannot be read"):
        kind_of_source("nonsense://b/a.json")


def test_fsspec_is_loaded_for_urls_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "a.json").write_bytes(document(1))
    (pair,) = open_pairs(str(tmp_path), str(tmp_path))
    assert pair.gt == {"n": 1}
    assert "fsspec" not in sys.modules
    assert read_document(FileReference(str(tmp_path / "a.json"), LIMIT)).value == {"n": 1}


@pytest.mark.parametrize("name", ["http://127.0.0.1:9/run", "http://127.0.0.1:9/run/run.json"])
@pytest.mark.parametrize("command", ["view", "report", "errors", "diff"])
def test_a_run_at_an_unreachable_url_is_an_input_that_cannot_be_read(
    command: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(remote, "WAITS", ())
    names = [name, name] if command == "diff" else [name]

    assert main([command, *names]) == 2
    assert capsys.readouterr().err.startswith(f"error: {name}: cannot be read: ")


def test_a_url_below_a_file_is_an_input_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("a")

    assert main(["view", (tmp_path / "file").as_uri()]) == 2
    assert "cannot be read" in capsys.readouterr().err
