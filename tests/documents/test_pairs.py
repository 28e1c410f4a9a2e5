import gzip
import io
import json
import pickle
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import DocumentPair, read_pair
from stickler_cli.documents.pairs import Pairs, open_pairs, with_confidences
from stickler_cli.settings.deciding import DocumentOptions


def write(root: Path, documents: dict[str, object]) -> str:
    for name, document in documents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(root)


def write_lines(path: Path, *documents: object) -> str:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in documents]
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def feed(monkeypatch: pytest.MonkeyPatch, *documents: object) -> None:
    data = "".join(json.dumps(document) + "\n" for document in documents).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))


def usage_problem(gt: str, pred: str, id_field: str | None = None) -> Problem:
    with pytest.raises(UsageError) as caught:
        open_pairs(gt, pred, DocumentOptions(id_field=id_field))
    (problem,) = caught.value.problems
    return problem


def test_two_files_are_one_pair_named_after_the_ground_truth(tmp_path: Path):
    write(tmp_path, {"gt.v1.json": {"a": 1}, "pred.json": {"a": 2}})
    pairs = open_pairs(str(tmp_path / "gt.v1.json"), str(tmp_path / "pred.json"))
    assert list(pairs) == [DocumentPair("gt.v1", {"a": 1}, {"a": 2})]
    assert (pairs.single, pairs.total, pairs.skipped, pairs.problems) == (True, 1, {}, ())


def test_a_file_named_only_by_its_suffix_has_an_id(tmp_path: Path):
    write(tmp_path, {".json": {}})
    name = str(tmp_path / ".json")
    assert [pair.id for pair in open_pairs(name, name)] == [name]


def test_two_directories_pair_by_relative_path_without_suffix(tmp_path: Path):
    gt = write(tmp_path / "gt", {"b.json": {"a": 1}, "sub/a.json": {"a": 2}, "c.json": {"a": 3}})
    pred = write(tmp_path / "pred", {"b.JSON": {"a": 4}, "sub/a.json": {"a": 5}, "a.json": {}})
    pairs = open_pairs(gt, pred)
    assert list(pairs) == [
        DocumentPair("b", {"a": 1}, {"a": 4}),
        DocumentPair("c", {"a": 3}, None),
        DocumentPair("sub/a", {"a": 2}, {"a": 5}),
        DocumentPair("a", None, {}),
    ]
    assert list(pairs) == list(pairs)
    assert (pairs.single, pairs.total, pairs.problems) == (False, 4, ())


def test_files_that_are_not_json_are_counted_for_each_directory(tmp_path: Path):
    gt = write(tmp_path / "gt", {"a.json": {}, "README.md": ""})
    pred = write(tmp_path / "pred", {"a.json": {}})
    assert open_pairs(gt, pred).skipped == {gt: 1, pred: 0}


def test_a_directory_goes_with_itself(tmp_path: Path):
    root = write(tmp_path, {"a.json": {}})
    assert list(open_pairs(root, root)) == [DocumentPair("a", {}, {})]


def test_a_document_that_cannot_be_used_is_a_problem_in_its_place(tmp_path: Path):
    gt = write(tmp_path / "gt", {"a.json": "{", "b.json": {}})
    pred = write(tmp_path / "pred", {"a.json": {}, "b.json": "[]"})
    first, second = open_pairs(gt, pred)
    assert isinstance(first.gt, Problem)
    assert first.gt.place == f"{gt}/a.json:1:2"
    assert first.pred == {}
    assert second.gt == {}
    assert isinstance(second.pred, Problem)
    assert "array" in second.pred.found
    assert second.pred.expected == "a JSON object"


def test_a_directory_without_documents_is_a_problem_of_the_sources(tmp_path: Path):
    gt = write(tmp_path / "gt", {"a.json": {}})
    (tmp_path / "pred").mkdir()
    pairs = open_pairs(gt, str(tmp_path / "pred"))
    assert [problem.found for problem in pairs.problems] == [
        "this directory contains no .json files"
    ]
    assert list(pairs) == [DocumentPair("a", {}, None)]


def test_json_lines_pair_by_position_among_lines_that_are_not_blank(tmp_path: Path):
    gt = write_lines(tmp_path / "gt.jsonl", {"a": 1}, "", {"a": 2}, "", {"a": 3})
    pred = write_lines(tmp_path / "pred.jsonl", "", {"a": 4}, {"a": 5})
    pairs = open_pairs(gt, pred)
    assert list(pairs) == [
        DocumentPair("line 1", {"a": 1}, {"a": 4}),
        DocumentPair("line 3", {"a": 2}, {"a": 5}),
        DocumentPair("line 5", {"a": 3}, None),
    ]
    assert list(pairs) == list(pairs)
    assert (pairs.single, pairs.total) == (False, None)


def test_predictions_beyond_the_last_line_of_ground_truth_are_named(tmp_path: Path):
    gt = write_lines(tmp_path / "gt.jsonl", "", {"a": 1})
    pred = write_lines(tmp_path / "pred.jsonl", {"a": 2}, {"a": 3})
    assert list(open_pairs(gt, pred)) == [
        DocumentPair("line 2", {"a": 1}, {"a": 2}),
        DocumentPair("pred line 2", None, {"a": 3}),
    ]


def test_a_bad_line_keeps_its_position(tmp_path: Path):
    gt = write_lines(tmp_path / "gt.jsonl", {"a": 1}, {"a": 2})
    pred = write_lines(tmp_path / "pred.jsonl", "{", {"a": 3})
    first, second = open_pairs(gt, pred)
    assert isinstance(first.pred, Problem)
    assert first.pred.place == f"{pred}:1:2"
    assert second == DocumentPair("line 2", {"a": 2}, {"a": 3})


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson.gz"])
def test_json_lines_pair_by_id_in_the_order_of_ground_truth(tmp_path: Path, suffix: str):
    gt = write_lines(tmp_path / f"gt.{suffix}", *({"m": {"id": i}} for i in ("b", 7, "a")))
    pred = write_lines(tmp_path / f"pred.{suffix}", *({"m": {"id": i}} for i in ("c", "a", "7")))
    pairs = open_pairs(gt, pred, DocumentOptions(id_field="m.id"))
    assert list(pairs) == [
        DocumentPair("b", {"m": {"id": "b"}}, None),
        DocumentPair("7", {"m": {"id": 7}}, {"m": {"id": "7"}}),
        DocumentPair("a", {"m": {"id": "a"}}, {"m": {"id": "a"}}),
        DocumentPair("c", None, {"m": {"id": "c"}}),
    ]
    assert list(pairs) == list(pairs)
    assert pairs.total is None


def test_a_json_lines_file_with_a_bad_line_goes_with_itself(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", {"id": "a"}, "{", {"id": "a"})
    ids = [pair.id for pair in open_pairs(file, file, DocumentOptions(id_field="id"))]
    assert ids == ["a", "gt line 2", "gt line 3", "pred line 2"]


def test_a_directory_goes_with_json_lines_by_id(tmp_path: Path):
    directory = write(tmp_path / "d", {"a.json": {"n": 1}, "b.json": {"n": 2}, "x.txt": ""})
    file = write_lines(tmp_path / "a.jsonl", {"id": "c"}, {"id": "a"})
    pairs = open_pairs(directory, file, DocumentOptions(id_field="id"))
    assert list(pairs) == [
        DocumentPair("a", {"n": 1}, {"id": "a"}),
        DocumentPair("b", {"n": 2}, None),
        DocumentPair("c", None, {"id": "c"}),
    ]
    assert (pairs.total, pairs.skipped) == (3, {directory: 1})
    pairs = open_pairs(file, directory, DocumentOptions(id_field="id"))
    assert list(pairs) == [
        DocumentPair("c", {"id": "c"}, None),
        DocumentPair("a", {"id": "a"}, {"n": 1}),
        DocumentPair("b", None, {"n": 2}),
    ]
    assert (pairs.total, pairs.skipped) == (None, {directory: 1})


@pytest.mark.parametrize("id_field", [None, "id"])
@pytest.mark.parametrize("side", ["gt", "pred"])
def test_standard_input_may_be_either_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side: str, id_field: str | None
):
    file = write_lines(tmp_path / "a.jsonl", {"id": "a"})
    feed(monkeypatch, {"id": "a"})
    pairs = open_pairs(
        *(("-", file) if side == "gt" else (file, "-")), DocumentOptions(id_field=id_field)
    )
    (pair,) = pairs
    assert pair == DocumentPair("a" if id_field else "line 1", {"id": "a"}, {"id": "a"})


def test_references_can_be_read_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def copied(pairs: Pairs) -> list[DocumentPair]:
        return [read_pair(pickle.loads(pickle.dumps(ref))) for ref in pairs.refs()]  # noqa: S301

    directory = write(tmp_path / "d", {"a.json": {}, "b.json": "{"})
    plain = write_lines(tmp_path / "a.jsonl", {"id": "a"}, {"id": "b"}, "{")
    packed = write_lines(tmp_path / "a.jsonl.gz", {"id": "a"}, {"id": "a"})
    for gt, pred, id_field in [
        (directory, directory, None),
        (plain, packed, None),
        (packed, plain, "id"),
        (plain, directory, "id"),
    ]:
        pairs = open_pairs(gt, pred, DocumentOptions(id_field=id_field))
        assert copied(pairs) == list(pairs) != []


def test_the_limit_holds_for_every_kind_of_source(tmp_path: Path):
    long = {"a": "x" * 50}
    directory = write(tmp_path / "d", {"a.json": long})
    lines = write_lines(tmp_path / "a.jsonl", long)
    for name in (directory, f"{directory}/a.json", lines):
        (pair,) = open_pairs(name, name, DocumentOptions(max_document_size=50))
        assert isinstance(pair.gt, Problem)
        assert isinstance(pair.pred, Problem)
        assert pair.gt.expected == "at most 50 bytes"


def test_standard_input_cannot_be_both_sides():
    assert "both GT and PRED" in usage_problem("-", "-").found


def test_all_missing_sources_are_named_at_once(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        open_pairs(str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert [problem.source for problem in caught.value.problems] == [
        f"{tmp_path}/a.json",
        f"{tmp_path}/b.json",
    ]


def test_a_missing_source_is_a_usage_error(tmp_path: Path):
    directory = write(tmp_path / "gt", {"a.json": {}})
    assert usage_problem(directory, str(tmp_path / "gtt")).hint == f"did you mean {directory}?"


def test_sources_that_do_not_go_together_are_a_usage_error(tmp_path: Path):
    directory = write(tmp_path / "d", {"a.json": {}})
    file = f"{directory}/a.json"
    lines = write_lines(tmp_path / "a.jsonl", {"id": "a"})
    problem = usage_problem(file, directory)
    assert problem.source == directory
    assert problem.found == f"this is a directory, but the ground truth ({file}) is a JSON file"
    assert usage_problem(lines, file).source == file
    assert usage_problem(file, lines, "id").found.startswith(
        "this is a JSON Lines, CSV or TSV file"
    )
    assert "--id-field" in usage_problem(directory, lines).hint
    assert "--id-field" in usage_problem(lines, directory).hint


def test_an_id_field_without_json_lines_is_a_usage_error(tmp_path: Path):
    directory = write(tmp_path / "d", {"a.json": {}})
    for name in (directory, f"{directory}/a.json"):
        problem = usage_problem(name, name, "id")
        assert problem.source == "--id-field"
        assert "JSON Lines" in problem.found


@pytest.mark.parametrize("id_field", ["", "a..b", "["])
def test_an_id_field_that_is_no_field_path_is_a_usage_error(tmp_path: Path, id_field: str):
    lines = write_lines(tmp_path / "a.jsonl", {"id": "a"})
    problem = usage_problem(lines, lines, id_field)
    assert problem.source == "--id-field"
    assert "meta.id" in problem.expected


def as_directory(root: Path, ids: list[str]) -> str:
    # Any text can be an id in JSON Lines, but not every text can be the name of a file.
    return write(root, {f"{document.encode().hex()}.json": {} for document in ids} | {"-.txt": ""})


def as_lines(root: Path, ids: list[str]) -> str:
    root.mkdir()
    return write_lines(root / "a.jsonl", *({"id": document.encode().hex()} for document in ids))


@given(
    gt_ids=st.lists(st.text(max_size=4), unique=True, max_size=8),
    pred_ids=st.lists(st.text(max_size=4), unique=True, max_size=8),
    gt_form=st.sampled_from([as_directory, as_lines]),
    pred_form=st.sampled_from([as_directory, as_lines]),
)
def test_every_id_of_either_side_comes_once(gt_ids, pred_ids, gt_form, pred_form):
    gt_ids = [f"x{document}" for document in gt_ids]  # a file with an empty name is hidden
    pred_ids = [f"x{document}" for document in pred_ids]
    with tempfile.TemporaryDirectory() as name:
        gt = gt_form(Path(name, "gt"), gt_ids)
        pred = pred_form(Path(name, "pred"), pred_ids)
        id_field = "id" if as_lines in (gt_form, pred_form) else None
        pairs = list(open_pairs(gt, pred, DocumentOptions(id_field=id_field)))
    sides_by_id = {bytes.fromhex(pair.id).decode(): (pair.gt, pair.pred) for pair in pairs}
    assert len(sides_by_id) == len(pairs)
    assert sides_by_id.keys() == set(gt_ids) | set(pred_ids)
    for document, (gt_document, pred_document) in sides_by_id.items():
        assert (gt_document is not None) == (document in gt_ids)
        assert (pred_document is not None) == (document in pred_ids)


@given(st.lists(st.sampled_from(['{"id": "a"}', '{"id": "b"}', '{"id": 1}', "{", "{}", ""])))
def test_no_lines_lose_or_repeat_an_id(lines: list[str]):
    with tempfile.TemporaryDirectory() as name:
        gt = write_lines(Path(name, "gt.jsonl"), *lines)
        pred = write_lines(Path(name, "pred.jsonl"), *reversed(lines))
        by_id = [ref.id for ref in open_pairs(gt, pred, DocumentOptions(id_field="id")).refs()]
        by_line = [ref.id for ref in open_pairs(gt, pred).refs()]
    filled = [number for number, line in enumerate(lines, 1) if line]
    assert by_line == [f"line {number}" for number in filled]
    assert len(set(by_id)) == len(by_id)
    assert sum(document.startswith(("a", "b", "1", "gt")) for document in by_id) == len(filled)


def test_who_waits_for_lines_by_id_is_told_how_many_they_are(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "1"}\n{"id": "2"}\n', "utf-8")
    pairs = open_pairs(str(file), str(file), DocumentOptions(id_field="id"))
    assert (pairs.total, pairs.expected) == (None, 2)


def test_confidences_that_break_off_are_refused(tmp_path: Path):
    gt = write_lines(tmp_path / "gt.jsonl", {"id": "a"})
    confidences = Path(write_lines(tmp_path / "known.jsonl.gz", {"id": "a"}, {"id": "b"}))
    confidences.write_bytes(confidences.read_bytes()[:-9])
    settings = DocumentOptions(id_field="id")
    with pytest.raises(UsageError, match=r"known\.jsonl\.gz:3:1: cannot be read: Comp"):
        with_confidences(open_pairs(gt, gt, settings), str(confidences), settings)
