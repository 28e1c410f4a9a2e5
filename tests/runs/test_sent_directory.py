"""Run directories at URLs, tested with the memory file system of fsspec."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from stickler_cli.cli.app import main
from stickler_cli.core import remote
from stickler_cli.runs.directory import run_directory
from stickler_cli.runs.directory.run_directory import SentDirectory
from stickler_cli.runs.executors import executor

fsspec = pytest.importorskip("fsspec")

RUN = "memory://store/run"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
WHOLE = {"journal", "run.json", "documents.jsonl", "non-matches.jsonl"}


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The files of the store, as a dict; a schema and six pairs are on the disk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(remote, "WAITS", ())
    monkeypatch.setattr(executor, "FIRST_BYTES", 0)
    monkeypatch.setattr(executor, "CHUNK", executor.CHUNK._replace(text=0))  # a chunk is a document
    Path("schema.json").write_text(json.dumps(SCHEMA))
    for name, count in (("gt", 7), ("pred", 2)):
        Path(f"{name}.jsonl").write_text("".join(f'{{"n": {n % count}}}\n' for n in range(6)))
    files = fsspec.filesystem("memory")
    yield files.store
    files.store.clear()


def run(*asked: str, directory: str = RUN, code: int = 0) -> None:
    sources = ["schema.json", "gt.jsonl", "pred.jsonl", "--run-dir", directory]
    options = ["--jobs", "1", "--no-config", *asked]
    assert main(["eval", *sources, *options]) == code


def names(stored: dict[str, Any]) -> set[str]:
    return {name.removeprefix("/store/run/") for name in stored}


def test_a_run_leaves_elsewhere_what_it_leaves_on_a_disk(stored: dict[str, Any]):
    run()
    run(directory="here")
    assert names(stored) == WHOLE == {file.name for file in Path("here").iterdir()}
    for name in WHOLE - {"journal", "run.json"}:  # which say when it began
        assert stored[f"/store/run/{name}"].getvalue() == Path("here", name).read_bytes()


def test_a_finished_run_elsewhere_can_be_asked(
    stored: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    run()
    assert main(["errors", RUN, "--no-config"]) == 0
    assert "line 6" in capsys.readouterr().out
    assert main(["report", RUN, "--by", "@directory", "--no-config"]) != 1
    assert main(["report", RUN, "--show-documents", "1", "--no-config"]) == 0
    assert "stickler compare schema.json gt.jsonl pred.jsonl" in capsys.readouterr().out


def test_a_run_whose_machine_died_goes_on_where_it_was(
    stored: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with monkeypatch.context() as dying:
        dying.setattr(run_directory, "SEND_SECONDS", -1)
        dying.setattr(SentDirectory, "_finish", lambda self, with_results: rmtree(self.folder))
        run()
    part_names = names(stored)
    assert len(part_names) == 8  # the settings, each of six documents, and that they are all
    assert all(name.startswith("journal") for name in part_names)
    for name in sorted(part_names)[-3:]:  # nor were the last of them sent
        del stored[f"/store/run/{name}"]
    stored[f"/store/run/{sorted(part_names)[-4]}"].truncate(20)
    run()
    error_output = capsys.readouterr().err
    assert f"--run-dir {RUN}: the last 20 bytes of the journal were damaged" in error_output
    assert f"3 documents are already finished (saved in --run-dir {RUN})" in error_output
    assert names(stored) == WHOLE
    run()
    assert f"6 documents are already finished (saved in --run-dir {RUN})" in capsys.readouterr().err


def test_parts_that_were_put_together_already_count_once(
    stored: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(run_directory, "SEND_SECONDS", -1)
    monkeypatch.setattr(SentDirectory, "_remove", lambda self, names: None)
    run()
    assert len(names(stored)) == 8 + 3
    run()
    assert f"6 documents are already finished (saved in --run-dir {RUN})" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--seed", "7"],
            (
                f"--run-dir {RUN}: --seed is now 7, but was 0, expected the same options as "
                "when the run was started"
            ),
        ),
        (["--id-field", "n"], "--id-field is"),
    ],
)
def test_the_directory_of_another_run_is_refused_and_stays_as_it_is(
    stored: dict[str, Any], arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
):
    run()
    before = {name: file.getvalue() for name, file in stored.items()}
    run(*arguments, code=2)
    error_text = " ".join(capsys.readouterr().err.split())
    assert expected in error_text
    assert "to start over, use --restart; to keep both runs, give another directory" in error_text
    assert {name: file.getvalue() for name, file in stored.items()} == before


def test_documents_that_have_changed_are_refused(
    stored: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    run()
    Path("gt.jsonl").write_text(Path("gt.jsonl").read_text().replace("5", "50"))
    run(code=2)
    message = (
        "documents have changed since the run was started: the ground truth of line 6 has changed"
    )
    assert f"--run-dir {RUN}: {message}" in " ".join(capsys.readouterr().err.split())


def test_to_begin_again_removes_what_is_of_the_run_alone(
    stored: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    run()
    fsspec.filesystem("memory").pipe_file("/store/run/notes.txt", b"mine")
    fsspec.filesystem("memory").pipe_file("/store/run/run.json.partial", b"old")
    run("--restart", "--seed", "7")
    assert "finished already" not in capsys.readouterr().err
    assert names(stored) == {*WHOLE, "notes.txt"}


def test_a_directory_that_holds_something_else_is_refused(
    stored: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    fsspec.filesystem("memory").pipe_file("/store/run/notes.txt", b"mine")
    run(code=2)
    assert (
        f"--run-dir {RUN}: the directory contains files that are not from a run (notes.txt)"
        in capsys.readouterr().err
    )
    run(directory="https://example.org/run", code=2)
    assert "stickler cannot write to an http address" in capsys.readouterr().err


def test_what_cannot_be_sent_is_kept_here_and_goes_on_from_there(
    stored: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def full(self: object, *given: object, **said: object) -> None:
        raise RuntimeError("the store is full")

    with monkeypatch.context() as failing:
        failing.setattr(type(fsspec.filesystem("memory")), "put_file", full)
        run(code=4)
    error_text = " ".join(capsys.readouterr().err.split())
    assert "the store is full" in error_text
    kept = Path(error_text.partition("the results are saved in ")[2].partition(";")[0])
    assert {file.name for file in kept.iterdir()} == WHOLE
    run(directory=str(kept))
    assert "6 documents are already finished" in capsys.readouterr().err
    for file in kept.iterdir():
        file.unlink()
    kept.rmdir()


def test_a_journal_that_cannot_be_sent_for_a_while_is_sent_later(
    stored: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    files, requested = fsspec.filesystem("memory"), list[str]()
    real = type(files).pipe_file

    def sometimes(self: object, path: str, *given: object, **said: object) -> None:
        requested.append(path)
        if len(requested) == 3:
            raise RuntimeError("the store has a moment")
        real(self, path, *given, **said)

    monkeypatch.setattr(type(files), "pipe_file", sometimes)
    monkeypatch.setattr(run_directory, "SEND_SECONDS", -1)
    run()
    assert (
        "the results cannot be uploaded (RuntimeError: the store has a moment)"
        in capsys.readouterr().err
    )
    assert len(requested) == len(set(requested)) + 1  # one was sent again
    assert names(stored) == WHOLE
