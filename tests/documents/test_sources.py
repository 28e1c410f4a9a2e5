import gzip
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents import sources
from stickler_cli.documents.document import FileReference
from stickler_cli.documents.lines import is_stream
from stickler_cli.documents.sources import SourceKind, kind_of_source, list_directory


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")


def ids(root: Path) -> list[str]:
    return list(list_directory(str(root), 100).documents)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.json", SourceKind.FILE),
        ("a.JSON.gz", SourceKind.FILE),
        ("a.jsonl", SourceKind.LINES),
        ("a.ndjson", SourceKind.LINES),
        ("a.jsonl.gz", SourceKind.LINES),
        ("a.NDJSON.GZ", SourceKind.LINES),
    ],
)
def test_the_suffix_of_a_file_tells_its_kind(tmp_path: Path, name: str, kind: SourceKind):
    write(tmp_path, name)
    assert kind_of_source(str(tmp_path / name)) is kind


def test_a_directory_may_have_any_name(tmp_path: Path):
    (tmp_path / "a.json").mkdir()
    assert kind_of_source(str(tmp_path / "a.json")) is SourceKind.DIRECTORY


def test_a_dash_is_json_lines():
    assert kind_of_source("-") is SourceKind.LINES


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/dev/null"])
@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs devices that are files")
def test_a_device_or_a_descriptor_is_json_lines(name: str):
    assert is_stream(name)
    assert not Path(name).exists() or kind_of_source(name) is SourceKind.LINES


SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder below /dev, written to by its test


@pytest.mark.skipif(not os.access(SHARED_MEMORY, os.W_OK), reason="needs a folder below /dev")
def test_files_and_folders_below_dev_are_judged_by_what_they_are():
    with TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        write(Path(folder), "a.json", "b.jsonl")
        kinds = [kind_of_source(f"{folder}{name}") for name in ("", "/a.json", "/b.jsonl")]

        assert kinds == [SourceKind.DIRECTORY, SourceKind.FILE, SourceKind.LINES]
        assert not any(map(is_stream, (folder, f"{folder}/a.json", f"{folder}/b.jsonl")))


def test_closed_standard_input_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert kind_of_source("-") == Problem("-", "standard input is closed")


def test_an_unknown_suffix_is_a_problem_that_names_the_known_ones(tmp_path: Path):
    write(tmp_path, "a.xlsx")
    problem = kind_of_source(str(tmp_path / "a.xlsx"))
    assert isinstance(problem, Problem)
    assert ".jsonl" in problem.expected
    assert "a directory" in problem.expected


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("invocies.jsonl", "did you mean {}/invoices.jsonl?"),
        ("a.json", ""),  # no other name is near
        ("no/a.json", "the directory {}/no does not exist either"),
        ("invoices.jsonl/b.json", "{}/invoices.jsonl is a file, not a directory"),
        (
            "invoices.jsonl/no/b.json",
            "the directory {}/invoices.jsonl/no does not exist either",
        ),
    ],
)
def test_a_missing_file_gets_as_a_hint_the_nearest_name_or_what_else_is_missing(
    tmp_path: Path, name: str, hint: str
):
    write(tmp_path, "invoices.jsonl", "orders.jsonl")
    problem = kind_of_source(str(tmp_path / name))
    expected = "there is no such file or directory"
    assert isinstance(problem, Problem)
    assert (problem.found, problem.hint) == (expected, hint.format(tmp_path))


def test_a_missing_file_in_a_directory_that_may_not_be_listed_gets_no_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(name: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    problem = kind_of_source(str(tmp_path / "a.json"))
    assert isinstance(problem, Problem)
    assert (problem.found, problem.hint) == ("there is no such file or directory", "")


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000])
def test_a_name_the_system_refuses_is_a_problem(name: str):
    problem = kind_of_source(name)
    assert isinstance(problem, Problem)
    assert "cannot be read" in problem.found


def test_a_fifo_is_no_source(tmp_path: Path):
    os.mkfifo(tmp_path / "a.jsonl")
    problem = kind_of_source(str(tmp_path / "a.jsonl"))
    assert isinstance(problem, Problem)
    assert problem.found == "this path is not a regular file"
    assert "give -" in problem.hint


def test_a_json_lines_file_that_may_not_be_read_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path, "a.jsonl")
    monkeypatch.setattr(os, "access", lambda name, mode: False)
    problem = kind_of_source(str(tmp_path / "a.jsonl"))
    assert problem == Problem(str(tmp_path / "a.jsonl"), "cannot be read: permission denied")


def test_a_directory_gives_its_documents_by_relative_path_without_suffix(tmp_path: Path):
    write(tmp_path, "b.json", "a.JSON", "sub/deep/c.json.gz", "x.y.json", "sub.json/d.Json.GZ")
    listing = list_directory(str(tmp_path), 100)
    assert list(listing.documents.items()) == [
        ("a", FileReference(str(tmp_path / "a.JSON"), 100, 2)),
        ("b", FileReference(str(tmp_path / "b.json"), 100, 2)),
        ("sub.json/d", FileReference(str(tmp_path / "sub.json/d.Json.GZ"), 100, 2)),
        ("sub/deep/c", FileReference(str(tmp_path / "sub/deep/c.json.gz"), 100, 2)),
        ("x.y", FileReference(str(tmp_path / "x.y.json"), 100, 2)),
    ]
    assert listing.skipped == 0
    assert listing.problems == ()


def test_hidden_files_are_left_out_and_others_are_counted(tmp_path: Path):
    write(tmp_path, "a.json", ".b.json", ".git/c.json", "notes.txt", "sub/d.jsonl", "json")
    listing = list_directory(str(tmp_path), 100)
    assert list(listing.documents) == ["a"]
    assert listing.skipped == 3


def test_a_directory_without_documents_is_a_problem_of_the_source(tmp_path: Path):
    write(tmp_path, "a.jsonl")
    listing = list_directory(str(tmp_path), 100)
    assert listing.skipped == 1
    (problem,) = listing.problems
    assert problem.found == "this directory contains no .json files"
    assert "JSON Lines" in problem.hint


def test_an_id_that_two_files_have_is_a_problem_that_names_both(tmp_path: Path):
    write(tmp_path, "a.json", "b.json")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"{}"))
    documents = list_directory(str(tmp_path), 100).documents
    problem = documents["a"]
    assert isinstance(problem, Problem)
    assert problem.source == f"{tmp_path}/a.json"
    assert f"{tmp_path}/a.json.gz" in problem.found
    assert isinstance(documents["b"], FileReference)


def test_a_link_to_a_file_is_followed(tmp_path: Path):
    write(tmp_path, "elsewhere/a.json")
    (tmp_path / "gt").mkdir()
    (tmp_path / "gt/b.json").symlink_to(tmp_path / "elsewhere/a.json")
    assert list_directory(str(tmp_path / "gt"), 100).documents == {
        "b": FileReference(str(tmp_path / "gt/b.json"), 100, 2)
    }


def test_a_link_to_a_directory_is_left_out_and_named(tmp_path: Path):
    write(tmp_path, "gt/a.json")
    (tmp_path / "gt/loop").symlink_to(tmp_path / "gt")
    (tmp_path / "gt/loop.json").symlink_to(tmp_path / "gt")
    listing = list_directory(str(tmp_path / "gt"), 100)
    assert list(listing.documents) == ["a"]
    assert {problem.source for problem in listing.problems} == {
        f"{tmp_path}/gt/loop",
        f"{tmp_path}/gt/loop.json",
    }
    assert {problem.found for problem in listing.problems} == {
        "this link to a directory was skipped"
    }


def test_the_directory_named_may_be_a_link(tmp_path: Path):
    write(tmp_path, "real/a.json")
    (tmp_path / "gt").symlink_to(tmp_path / "real")
    assert ids(tmp_path / "gt") == ["a"]


def test_names_may_hold_anything(tmp_path: Path):
    write(tmp_path, "ü.json", "a\nb.json", "\x1b[31m.json", "日本/語.json")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")).write_bytes(b"{}")
    assert ids(tmp_path) == ["\x1b[31m", "\\xff", "a\nb", "ü", "日本/語"]


def test_a_directory_that_cannot_be_listed_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path, "a.json", "sub/b.json")
    scandir = os.scandir

    def refuse(directory: str):
        if directory.endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return scandir(directory)

    monkeypatch.setattr(sources.os, "scandir", refuse)
    with pytest.raises(UsageError) as caught:
        list_directory(str(tmp_path), 100)
    assert str(caught.value) == f"{tmp_path}/sub: cannot be read: Permission denied"


def test_a_directory_named_as_a_document_that_holds_none_is_a_problem_in_its_place(tmp_path: Path):
    (tmp_path / "a.json" / "empty.json").mkdir(parents=True)
    write(tmp_path, "b.json/c.json", "d/notes.txt")

    documents = list_directory(str(tmp_path), 100).documents

    assert list(documents) == ["a", "a.json/empty", "b.json/c"]
    assert documents["a"] == Problem(str(tmp_path / "a.json"), "this is a directory", "a file")
