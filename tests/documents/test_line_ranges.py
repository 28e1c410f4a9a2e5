"""Pairs of lines as ranges of bytes: reading them gives the lines that were written."""

from pathlib import Path

import pytest

from stickler_cli.core.problems import Undelivered
from stickler_cli.documents.document_pair import PairRef
from stickler_cli.documents.pairs import LineRange, in_ranges, open_pairs
from stickler_cli.settings.deciding import DocumentOptions


def refs_of(folder: Path, gt: bytes, pred: bytes, **settings: object) -> list[PairRef]:
    (folder / "gt.jsonl").write_bytes(gt)
    (folder / "pred.jsonl").write_bytes(pred)
    options = DocumentOptions(**settings)
    return list(open_pairs(str(folder / "gt.jsonl"), str(folder / "pred.jsonl"), options).refs())


def again(runs: list[PairRef | LineRange]) -> list[PairRef]:
    return [ref for run in runs for ref in (run.refs() if isinstance(run, LineRange) else [run])]


@pytest.mark.parametrize(
    ("gt", "pred", "ranges", "n_single"),
    [
        (b"{}\n" * 50, b'{"a": 1}\n' * 50, 1, 0),
        (b'{"a": 1}\r\n{} \r\n{}', b"{}\n[1]\t\nx", 1, 0),
        (b"{}\n\n{}\n{}\n", b"{}\n{}\n{}\n", 2, 0),  # a blank line in one of the two
        (b"{}\n \t\n{}\n", b"{}\n\n{}\n", 2, 0),
        (b"{}\n{}\n{}\n", b"{}\n", 1, 2),
        (b"", b"{}\n{}\n", 0, 2),
        (b'{}\n{"too": "long"}\n{}\n', b"{}\n{}\n{}\n", 2, 1),
    ],
)
def test_lines_that_follow_each_other_are_a_range(tmp_path, gt, pred, ranges, n_single):
    refs = refs_of(tmp_path, gt, pred, max_document_size=12)
    runs = list(in_ranges(refs))
    assert again(runs) == refs
    assert sum(isinstance(run, LineRange) for run in runs) == ranges
    assert sum(isinstance(run, PairRef) for run in runs) == n_single


def test_what_is_left_out_between_two_lines_is_in_no_range(tmp_path):
    lines = b"".join(b'{"a": %d}\n' % number for number in range(30))
    refs = refs_of(tmp_path, lines, lines)
    some_refs = [ref for place, ref in enumerate(refs) if place % 7]
    runs = list(in_ranges(some_refs))
    assert again(runs) == some_refs
    assert len(runs) == 5


def test_lines_that_pair_by_id_are_in_no_range(tmp_path):
    refs = refs_of(tmp_path, b'{"id": 1}\n{"id": 2}\n', b'{"id": 1}\n{"id": 2}\n', id_field="id")
    assert list(in_ranges(refs)) == refs


def test_a_file_that_is_gone_is_a_problem_of_each_document(tmp_path):
    (line_range,) = in_ranges(refs_of(tmp_path, b"{}\n{}\n", b"{}\n{}\n"))
    (tmp_path / "pred.jsonl").unlink()
    assert isinstance(line_range, LineRange)
    for number, ref in enumerate(line_range.refs(), 1):
        source = str(tmp_path / "pred.jsonl")
        finding = "cannot be read: No such file or directory"
        assert ref.pred == Undelivered(source, finding, line=number)
        assert ref.id == f"line {number}"


def test_a_file_that_was_cut_off_meanwhile_has_empty_documents(tmp_path):
    (line_range,) = in_ranges(refs_of(tmp_path, b"{}\n" * 3, b"{}\n" * 3))
    (tmp_path / "pred.jsonl").write_bytes(b"{}\n")
    assert isinstance(line_range, LineRange)
    assert [ref.pred.read_data() for ref in line_range.refs()] == [b"{}", b"", b""]
