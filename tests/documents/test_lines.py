import gzip
import io
import sys
from pathlib import Path

import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.documents import lines as lines_module
from stickler_cli.documents.document import FileReference, LineReference, bytes_of, read_document
from stickler_cli.documents.lines import documents_by_id, lines_of

LIMIT = 100


def gt_by_id(file, id_field, limit):
    return documents_by_id(file, "gt", id_field, limit)


def preds_by_id(file, id_field, limit):
    return dict(documents_by_id(file, "pred", id_field, limit))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))


def test_blank_lines_count_and_are_left_out(lines: Path):
    lines.write_bytes(b'{"a": 1}\n\n  \r\n{"a": 2}\r\n{"a": 3}')
    assert list(lines_of(str(lines), LIMIT)) == [
        LineReference(str(lines), 1, 8, 0, b'{"a": 1}'),
        LineReference(str(lines), 4, 8, 14, b'{"a": 2}'),
        LineReference(str(lines), 5, 8, 24, b'{"a": 3}'),
    ]


def test_a_packed_file_gives_the_lines_themselves(lines: Path):
    lines.write_bytes(gzip.compress(b'{"a": 1}\n\n{"a": 2}\n'))
    packed_lines = list(lines_of(str(lines), LIMIT))
    assert packed_lines == [
        LineReference(str(lines), 1, 8, None, b'{"a": 1}'),
        LineReference(str(lines), 3, 8, None, b'{"a": 2}'),
    ]
    assert [read_document(reference).value for reference in packed_lines] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_gives_the_lines_themselves(pack, monkeypatch: pytest.MonkeyPatch):
    feed(monkeypatch, pack(b'{"a": 1}\n'))
    (line,) = lines_of("-", LIMIT)
    assert line == LineReference("-", 1, 8, None, b'{"a": 1}')
    assert line.source == "standard input"


def test_standard_input_may_be_unable_to_look_ahead(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}\n")))
    assert [line.line for line in lines_of("-", LIMIT)] == [1]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_beyond_the_limit_is_a_problem_and_the_next_is_read(pack, lines: Path):
    long = b'"' + b"x" * (3 * LIMIT) + b'"\n'
    lines.write_bytes(pack(b"{}\n" + long + b'{"a": 1}\n' + long[:-1]))
    first, second, third, fourth = lines_of(str(lines), LIMIT)
    assert read_document(first).value == {}
    assert str(second) == (
        f"{lines}:2:1: the line has 303 bytes, expected at most 100 bytes; "
        "if this really is one document, raise --max-document-size"
    )
    assert read_document(third).value == {"a": 1}
    assert isinstance(fourth, Problem)
    assert fourth.found == "the line has 302 bytes"
    assert fourth.line == 4


def test_a_line_of_exactly_the_limit_is_read(lines: Path):
    line = b'{"a": "' + b"x" * (LIMIT - 9) + b'"}'
    assert len(line) == LIMIT
    lines.write_bytes(line + b"\n" + line)
    assert [len(line.data) for line in lines_of(str(lines), LIMIT)] == [LIMIT, LIMIT]


def test_a_file_that_has_gone_is_a_problem(lines: Path):
    (line,) = lines_of(str(lines), LIMIT)
    assert isinstance(line, Problem)
    problem = bytes_of(LineReference(str(lines), 7, 10, 0, None))
    assert isinstance(problem, Problem)
    assert problem.place == f"{lines}:7:1"


def test_a_bad_line_is_a_problem_with_its_line(lines: Path):
    lines.write_bytes(b'\n{"a": 1,}\n[]\n')
    first, second = (read_document(line).value for line in lines_of(str(lines), LIMIT))
    assert isinstance(first, Problem)
    assert first.place == f"{lines}:2:8"
    assert isinstance(second, Problem)
    assert second.line == 3
    assert second.expected == "a JSON object"


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b" \n"])
def test_a_line_cut_short_is_told_apart_from_the_next(lines: Path, end: bytes):
    lines.write_bytes(b'{"a": 1' + end)
    (line,) = lines_of(str(lines), LIMIT)
    problem = read_document(line).value
    assert isinstance(problem, Problem)
    assert problem.place == f"{lines}:1:8"


def test_a_problem_with_a_file_is_the_document(lines: Path):
    problem = read_document(FileReference(str(lines), LIMIT)).value
    assert isinstance(problem, Problem)
    assert read_document(problem).value is problem


@pytest.mark.parametrize(
    ("path", "line"),
    [(("id",), b'{"id": "x"}'), (("m", "ids", 1), b'{"m": {"ids": ["w", "x"]}}')],
)
def test_an_id_is_looked_up_by_field_path(lines: Path, path: tuple[str | int, ...], line: bytes):
    lines.write_bytes(line)
    read = LineReference(str(lines), 1, len(line), 0, line)
    assert list(gt_by_id(str(lines), path, LIMIT)) == [("x", read)]
    assert preds_by_id(str(lines), path, LIMIT) == {"x": read._replace(data=None)}


def test_lines_are_found_again_in_any_order(lines: Path):
    lines.write_bytes(b'{"id": "x"}\n\n{"id": "yy"}\r\n{"id": "z"}')
    index = preds_by_id(str(lines), ("id",), LIMIT)
    for name in ("z", "x", "yy"):
        assert bytes_of(index[name]) == b'{"id": "%s"}' % name.encode()


def test_an_integer_is_an_id(lines: Path):
    lines.write_bytes(b'{"id": 36893488147419103233}')
    assert list(preds_by_id(str(lines), ("id",), LIMIT)) == ["36893488147419103233"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"a": 1}', 'the document has no field "id[0]"'),
        (b'{"id": []}', 'the document has no field "id[0]"'),
        (b'{"id": {"0": "x"}}', 'the document has no field "id[0]"'),
        (b'{"id": [1.5]}', "id[0] is of type number"),
        (b'{"id": [true]}', "id[0] is of type boolean"),
        (b'{"id": [null]}', "id[0] is of type null"),
        (b"[1]", 'the document has no field "id[0]"'),
        (b"1", "the document is of type integer"),
        (b"{", "not valid JSON"),
    ],
)
def test_a_document_without_an_id_is_a_problem_under_its_line(lines: Path, line: bytes, found: str):
    lines.write_bytes(b"\n" + line)
    (gt_id, gt), *_ = gt_by_id(str(lines), ("id", 0), LIMIT)
    ((pred_id, pred),) = preds_by_id(str(lines), ("id", 0), LIMIT).items()
    assert (gt_id, pred_id) == ("gt line 2", "pred line 2")
    assert gt == pred
    assert isinstance(gt, Problem)
    assert gt.line == 2
    assert gt.found.startswith(found)


def test_a_line_that_cannot_be_read_is_a_problem_under_its_line(lines: Path):
    lines.write_bytes(b'{"id": "' + b"x" * LIMIT + b'"}')
    ((document, problem),) = gt_by_id(str(lines), ("id",), LIMIT)
    assert document == "gt line 1"
    assert isinstance(problem, Problem)


TWICE = b'{"id": "x"}\n{"id": "y"}\n{"id": "x"}\n'


def test_of_two_ground_truth_documents_with_one_id_the_first_counts(lines: Path):
    lines.write_bytes(TWICE)
    (first, reference), (second, _), (third, problem) = gt_by_id(str(lines), ("id",), LIMIT)
    assert (first, second, third) == ("x", "y", "gt line 3")
    assert read_document(reference).value == {"id": "x"}
    assert problem == Problem(
        str(lines), "the id 'x' is also on line 1", "a different id on each line", line=3
    )


def test_of_two_predictions_with_one_id_neither_counts(lines: Path):
    lines.write_bytes(TWICE)
    index = preds_by_id(str(lines), ("id",), LIMIT)
    assert list(index) == ["x", "y"]
    problem = index["x"]
    assert isinstance(problem, Problem)
    assert problem.found == "the id 'x' is also on line 1"
    assert problem.line == 3


def test_a_document_may_be_called_as_a_line_without_an_id(lines: Path):
    lines.write_bytes(b'{"id": "gt line 2"}\n{}\n{"id": "pred line 4"}\n{}\n')
    assert [document for document, _ in gt_by_id(str(lines), ("id",), LIMIT)] == [
        "gt line 2",
        "gt line 2'",
        "pred line 4",
        "gt line 4",
    ]
    assert list(preds_by_id(str(lines), ("id",), LIMIT)) == [
        "gt line 2",
        "pred line 2",
        "pred line 4",
        "pred line 4'",
    ]


def test_lines_packed_by_zstandard_are_read_and_one_that_is_cut_off_says_where(lines: Path):
    zstd = pytest.importorskip("backports.zstd")
    packed = zstd.compress(b'{"a": 1}\n' * 3) + zstd.compress(b'{"a": 2}\n')
    lines.write_bytes(packed)
    assert [read_document(line).value for line in lines_of(str(lines), LIMIT)][2:] == [
        {"a": 1},
        {"a": 2},
    ]
    lines.write_bytes(packed[:-4])
    *_, last = lines_of(str(lines), LIMIT)
    assert isinstance(last, Problem)
    assert last.hint == "is the compressed file complete?"
    lines.write_bytes(packed[:8] + b"\xff" * 8)
    (damaged,) = lines_of(str(lines), LIMIT)
    assert isinstance(damaged, Problem)
    assert damaged.found.startswith("cannot be read")
    assert damaged.hint == "the compressed file may be damaged: write or copy it again"


def test_a_line_without_end_is_given_up(monkeypatch):
    feed(monkeypatch, b'{"a": 1}\n' + b" " * 5000 + b'\n{"a": 2}\n')

    first, problem = lines_of("-", LIMIT)

    assert isinstance(first, LineReference)
    assert problem.line == 2
    assert problem.found.startswith("this line has more than 1,")
    assert problem.found.endswith(" bytes; the rest of the file was not read")


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_packed_file_of_line_breaks_alone_is_given_up(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(lines_module, "MAX_BLANK_LINES", 100)
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b"{}" + ending * 101 + b"{}" + ending * 10_000 + b"{}"))

    first, second, problem = lines_of(str(file), 1_000)

    assert (first.line, second.line) == (1, 102)
    assert isinstance(problem, Problem)
    assert problem.found == "there are more than 100 blank lines in a row"
    assert problem.line == 202 + 1


@pytest.mark.parametrize("text", ["1", "null", '"text"', "-", "\x00"])
def test_lines_that_hold_no_document_end_somewhere(tmp_path, monkeypatch, text):
    monkeypatch.setattr(lines_module, "MAX_LINES_WITHOUT_DOCUMENT", 100)
    text_of_lines = "{}\n" + f"{text}\n" * 101 + "{}\n"
    file = tmp_path / "x.jsonl.gz"
    file.write_bytes(gzip.compress((f"{text}\n" * 100 + text_of_lines).encode()))

    *lines, problem = lines_module.lines_of(str(file), 1_000)

    assert [line.line for line in lines] == [*range(1, 203)]  # the document begins the count anew
    assert problem.line == 202
    assert problem.found == "there are more than 100 lines in a row without a JSON object"
