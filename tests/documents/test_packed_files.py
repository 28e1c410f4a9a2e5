"""Small compressed files that unpack to millions of values are refused before they are parsed."""

import gzip
import io

import pytest

from stickler_cli.cli import main
from stickler_cli.core.problems import Problem
from stickler_cli.documents import packed_files
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.lines import lines_of
from stickler_cli.documents.packed_files import (
    MANY_DOCUMENTS,
    ONE_DOCUMENT,
    OverfullFileError,
    count_values,
    open_unpacked,
)
from stickler_cli.documents.reading import read_bytes

LIMIT = 100_000_000
HINT = "if you trust the file, unpack it and pass the unpacked file"


def pack_zstandard(data: bytes) -> bytes:
    zstd = pytest.importorskip("backports.zstd")
    return zstd.compress(data)


PACKERS = [gzip.compress, pack_zstandard]
N_VALUES = ONE_DOCUMENT.minimum + 1


@pytest.mark.parametrize(
    ("text", "n_values"),
    [
        (b"1", 1),
        (b"[]", 2),  # the list itself counts twice, as it might have an item
        (b"[1, 2]", 3),
        (b'{"a": {"b": 1}, "c": [null]}', 5),
        (b'"a, b"', 2),  # a comma inside a string counts too
    ],
)
def test_values_are_counted_by_commas_and_brackets(text: bytes, n_values: int):
    assert count_values(text) == n_values


@pytest.mark.slow
@pytest.mark.parametrize("value", [b"[]", b"{}", b"null", b'""', b"0", b"[0]", b'{"a":0}'])
@pytest.mark.parametrize("pack", PACKERS)
def test_a_small_file_of_a_million_values_is_refused_with_what_to_do(tmp_path, value, pack):
    file = tmp_path / "a.json"
    file.write_bytes(pack(b"[" + b",".join([value] * N_VALUES) + b"]"))
    n_bytes = file.stat().st_size

    problem = read_bytes(str(file))

    finding = f"cannot be read: {n_bytes:,} compressed bytes unpack to more than 1,000,000 values"
    assert problem == Problem(str(file), finding, hint=HINT)


def test_the_same_values_are_read_from_a_file_that_is_not_compressed(tmp_path):
    text = b"[" + b",".join([b"0"] * N_VALUES) + b"]"
    (tmp_path / "a.json").write_bytes(text)
    assert read_bytes(str(tmp_path / "a.json")) == text


def test_a_larger_compressed_file_may_have_more_values():
    two_per_byte = 2 * 600_000
    ONE_DOCUMENT.check(two_per_byte, packed_bytes=600_000)
    with pytest.raises(OverfullFileError, match=r"600,000 compressed bytes .* 1,200,000 values"):
        ONE_DOCUMENT.check(two_per_byte + 1, packed_bytes=600_000)
    with pytest.raises(OverfullFileError, match="more than 1,000,000 values"):
        ONE_DOCUMENT.check(1_000_001, packed_bytes=499_999)


def make_lines(tmp_path, text: bytes, suffix=".jsonl.gz"):
    file = tmp_path / f"a{suffix}"
    file.write_bytes(gzip.compress(text))
    return [*lines_of(str(file), LIMIT)]


def test_one_line_of_a_million_values_ends_the_file(tmp_path):
    bomb = b'{"a":[' + b",".join([b"0"] * N_VALUES) + b"]}\n"
    first, second = make_lines(tmp_path, b"{}\n" + bomb + b"{}\n")

    assert isinstance(first, LineReference)
    assert isinstance(second, Problem)
    assert (second.line, second.hint) == (2, HINT)
    assert "unpack to more than 1,000,000 values" in second.found


def test_all_lines_of_a_small_file_have_three_million_values_at_most():
    MANY_DOCUMENTS.check(3_000_000, packed_bytes=1)
    with pytest.raises(OverfullFileError, match="more than 3,000,000 values"):
        MANY_DOCUMENTS.check(3_000_001, packed_bytes=1)


@pytest.mark.parametrize(
    ("line", "n_lines", "n_read"),
    [
        # Ten values for the line, its 5,000 commas, two brackets and the root: 5,013.
        (b'{"a":[' + b"0," * 5_000 + b"0]}\n", 6, 5),
        (b"{}\n", 2_501, 2_500),  # 12 values each
        (b" \n", 2_728, 0),  # 11 values each, but no documents
    ],
)
def test_the_values_of_all_lines_are_added_up(tmp_path, monkeypatch, line, n_lines, n_read):
    monkeypatch.setattr(packed_files, "MANY_DOCUMENTS", MANY_DOCUMENTS._replace(minimum=30_000))
    *read, problem = make_lines(tmp_path, line * n_lines)

    assert len(read) == n_read
    assert isinstance(problem, Problem)
    assert "unpack to more than 30,000 values" in problem.found
    assert problem.line == n_lines


def test_rows_of_empty_cells_and_arrays_of_empty_documents_are_refused_too(tmp_path):
    (row,) = make_lines(tmp_path, b"a,b\n" + b"," * N_VALUES, ".csv.gz")
    (array,) = make_lines(tmp_path, b"[" + b"{}," * 300_000 + b"{}]", ".json.gz")

    assert "1,000,000 values" in row.found
    assert "3,000,000 values" in array.found


def test_usual_lines_are_read_however_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(packed_files, "MANY_DOCUMENTS", MANY_DOCUMENTS._replace(minimum=30_000))
    # A record of five fields with random digits has far fewer values than bytes.
    line = b'{"id":"%d","total":%d.%d,"name":"Name %d","date":"2024-01-%02d"}\n'
    numbers = [number * 7919 % 1_000_003 for number in range(5_000)]
    text = b"".join(line % (number, number, number, number, number % 28 + 1) for number in numbers)
    assert count_values(text) + 10 * len(numbers) > 30_000

    lines = make_lines(tmp_path, text)

    assert len(lines) == len(numbers)
    assert not any(isinstance(line, Problem) for line in lines)


def test_long_texts_are_refused_beyond_a_ratio_of_200(monkeypatch, tmp_path):
    monkeypatch.setattr(packed_files, "MAX_STREAM_BYTES", 1_000_000)
    line = b'{"a":"' + b"x" * 400_000 + b'"}\n'

    first, second, problem = make_lines(tmp_path, line * 3)

    assert isinstance(first, LineReference)
    assert isinstance(second, LineReference)
    assert isinstance(problem, Problem)
    assert "unpack to more than 1,000,000 bytes" in problem.found


@pytest.mark.parametrize("pack", PACKERS)
def test_very_many_empty_members_are_refused(tmp_path, pack):
    members = pack(b"") * 10_000
    (tmp_path / "few.json").write_bytes(members[: -len(pack(b""))] + pack(b"{}"))
    (tmp_path / "many.json").write_bytes(members + pack(b"{}"))

    assert read_bytes(str(tmp_path / "few.json")) == b"{}"
    problem = read_bytes(str(tmp_path / "many.json"))
    assert isinstance(problem, Problem)
    assert "unpack to more than 10,000 separately compressed parts" in problem.found


def test_members_of_some_size_are_read_however_many_there_are():
    member = gzip.compress(b'{"id":"a","text":"Each line was compressed by a run of its own."}\n')
    stream = io.BytesIO(member * 10_001)
    assert len(member) > packed_files.MIN_MEMBER_BYTES

    with open_unpacked(stream, member) as lines:
        n_lines = sum(1 for _ in iter(lambda: lines.readline(LIMIT), b""))

    assert n_lines == 10_001


def test_a_compressed_bomb_without_a_schema_is_an_error_that_names_the_file(tmp_path, capsys):
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b'{"a":[' + b"[]," * N_VALUES + b"[]]}"))

    code = main(["eval", str(file), str(file), "--no-config"])

    assert code == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "bomb.json.gz: cannot be read:" in err
    assert HINT in err
