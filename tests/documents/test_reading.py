import gzip
import json
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import content_digest, read_plain, read_text
from stickler_cli.documents.reading import (
    MAX_DOCUMENT_BYTES,
    lines_in,
    parse_document,
    parse_json,
    read_bytes,
)
from stickler_cli.studies.lint.document_rules import value_at, values_of


def problem_in(data: bytes, line: int | None = None) -> Problem:
    result = parse_json(data, "a.json", line)
    assert isinstance(result, Problem), result
    return result


@pytest.mark.parametrize(
    "number",
    [
        9223372036854775807,
        -9223372036854775808,
        -9223372036854775809,
        18446744073709551615,
        18446744073709551616,
        10**30 + 1,
        -(10**30) - 1,
        10**307 + 1,
    ],
)
def test_an_integer_of_any_size_stays_exact(number: int):
    value = parse_json(b'{"n": %d}' % number, "a.json")
    assert value == {"n": number}
    assert isinstance(value, dict)
    assert type(value["n"]) is int


@pytest.mark.parametrize("before", range(12))
def test_a_long_integer_stays_exact_wherever_it_stands(before: int):
    data = b'{"%s": [-%d, 1]}' % (b"x" * before, 2**63 + 1)
    assert parse_json(data, "x.json") == {"x" * before: [-(2**63) - 1, 1]}
    assert read_plain(data) is None


def test_long_digits_that_are_no_integer_are_read_once():
    data = b'{"id": "%s", "x": 0.12345678901234567890123, "n": %d}'
    for digits in range(18, 60):
        assert read_plain(data % (b"1" * digits, 1))
        assert parse_json(data % (b"1" * digits, 10**20 + 1), "x.json")["n"] == 10**20 + 1


@pytest.mark.parametrize("n_digits", [19, 200, 100_000])
@pytest.mark.parametrize("ending", [b"", b"1"])
def test_digits_in_texts_and_fractions_do_not_hide_an_integer(n_digits: int, ending: bytes):
    digits = b"0" * n_digits + ending
    data = b'{"text": "%s", "x": 0.%s, "n": %d}' % (digits, digits, 10**20 + 1)
    assert parse_json(data, "x.json")["n"] == 10**20 + 1
    assert read_plain(data) is None
    assert read_plain(b'{"text": "%s", "x": 0.%s, "n": 1}' % (digits, digits))


@given(
    st.lists(
        st.sampled_from(
            [
                b'{"a": 1',
                b', "b": 12345678901234567890',
                b', "a": "\\u003a"',
                b', "b": {"a": []}',
                b"}",
            ]
        )
    )
)
def test_what_is_read_as_plain_is_what_is_read_closely(segments: list[bytes]):
    data = b"".join(segments)
    plain = read_plain(data)
    assert plain is None or plain == read_text(data, "x.json")


@given(st.recursive(st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_a_document_like_most_others_is_read_as_plain(value: object):
    data = json.dumps({"a": value}).encode()
    plain = read_plain(data)
    assert plain is None or plain == read_text(data, "x.json")
    assert plain is not None or re.search(rb"\d{19}|u003a", data)


def test_a_long_integer_in_a_deep_document_stays_exact():
    value = parse_json(b"[" * 300 + b"%d" % (10**20 + 1) + b"]" * 300, "a.json")
    for _ in range(300):
        assert isinstance(value, list)
        (value,) = value
    assert value == 10**20 + 1


def test_a_long_fraction_is_a_float():
    assert parse_json(b"0.1234567890123456789012345", "a.json") == 0.12345678901234568


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=10,
    )
)
def test_what_json_writes_is_read_back(value: object):
    assert parse_json(json.dumps(value).encode(), "a.json") == value


@given(st.binary(max_size=40))
def test_no_bytes_raise(data: bytes):
    parse_json(data, "a.json")


def test_a_file_of_nul_bytes_is_called_blank():
    assert problem_in(bytes(8)).found == "the file is blank"


def test_a_line_with_only_a_byte_order_mark_is_called_empty():
    assert str(problem_in(b"\xef\xbb\xbf", 1)) == "a.json:1:1: the line is empty, expected JSON"


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("utf-32-le", "UTF-32"),
        ("utf-32-be", "UTF-32"),
    ],
)
def test_another_encoding_is_named(encoding: str, name: str):
    problem = problem_in('{"a": 1}'.encode(encoding))
    assert problem.found == f"the text is encoded as {name}"
    assert problem.expected == "UTF-8"


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "-NaN"])
def test_a_number_that_is_not_finite_is_named_with_its_place(literal: str):
    problem = problem_in(f'{{"a": 1,\n "b": {literal}}}'.encode())
    assert problem.found == f"{literal} is not JSON"
    assert problem.expected == "a number or null"
    assert "json.dumps" in problem.hint
    assert problem.line == 2
    assert problem.column in {7, 8}  # a sign may count as read


NOT_UTF8 = "the text is not UTF-8: byte 0xff is not allowed here"


@pytest.mark.parametrize(
    ("data", "line", "place", "found"),
    [
        ('{"é": 1,\n "ö": 2 x}'.encode(), None, "a.json:2:9", r"not valid JSON: .+"),
        (b'{"\xc3\xa9": 1,\n "\xc3\xb6\xff": 2}', None, "a.json:2:4", NOT_UTF8),
        (b'{"\xff": 2}', 7, "a.json:7:3", NOT_UTF8),
        (b'{"a": 1', 7, "a.json:7:8", r"not valid JSON: .+"),
    ],
)
def test_the_place_of_an_error_is_a_line_of_the_file_and_a_character(
    data: bytes, line: int | None, place: str, found: str
):
    problem = problem_in(data, line)
    assert problem.place == place
    assert re.fullmatch(found, problem.found)


def test_a_document_that_is_cut_off_at_the_end_of_its_line_gets_a_hint():
    assert "must be one whole document" in problem_in(b'{"a": 1', 7).hint


@pytest.mark.parametrize("data", [b'{"a": 1} x', b"[1 [2]]", b"{'a': 1}", b'{"a": 1,}', b"{{}"])
def test_other_errors_do_not_look_like_json_lines(data: bytes):
    assert problem_in(data).hint == ""


def test_depth_up_to_1024_is_read():
    assert isinstance(parse_json(b"[" * 1024 + b"]" * 1024, "a.json"), list)


def test_running_out_of_stack_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    def overflow(data: bytes) -> None:
        raise RecursionError

    monkeypatch.setattr("stickler_cli.documents.reading.json.loads", overflow)
    assert str(problem_in(b"[12345678901234567890]")).endswith(
        ": the document is nested too deeply, expected at most 1024 levels"
    )


@pytest.mark.parametrize(
    ("data", "kind"), [(b"null", "null"), (b"1", "integer"), (b'"a"', "string"), (b"[]", "array")]
)
def test_another_value_is_not_a_document(data: bytes, kind: str):
    problem = parse_document(data, "a.json", 3)
    assert isinstance(problem, Problem)
    assert str(problem) == f"a.json:3:1: the document is of type {kind}, expected a JSON object"


def read_problem(path: Path, limit: int = MAX_DOCUMENT_BYTES) -> Problem:
    result = read_bytes(str(path), limit)
    assert isinstance(result, Problem), result
    assert result.source == str(path)
    return result


def test_gzip_is_recognised_by_its_bytes_not_its_name(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "b.json.gz").write_bytes(b"[]")
    assert read_bytes(str(tmp_path / "a.json")) == b"{}"
    assert read_bytes(str(tmp_path / "b.json.gz")) == b"[]"


def test_the_parts_of_a_gzip_file_are_joined(tmp_path: Path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"[") + gzip.compress(b"]"))
    assert read_bytes(str(tmp_path / "a.gz")) == b"[]"


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(b"12345")
    (tmp_path / "b.json").write_bytes(gzip.compress(b"1" * 100))
    assert read_bytes(str(tmp_path / "a.json"), 5) == b"12345"
    assert read_bytes(str(tmp_path / "b.json"), 100) == b"1" * 100


def test_a_gzip_bomb_is_not_unpacked_beyond_the_limit(tmp_path: Path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(bytes(1_000_000)))
    problem = read_problem(tmp_path / "a.json.gz", 10_000)
    assert "the file is too large after unpacking" in problem.found
    assert problem.expected == "at most 10,000 bytes"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_file_that_states_no_size_is_read_up_to_the_limit():
    assert "the file is larger" in read_problem(Path("/proc/self/status"), 10).found


PACKED = gzip.compress(b'{"a": "some text that does not pack so well"}', mtime=0)


@pytest.mark.parametrize(
    "data",
    [
        PACKED[:-12],  # cut off
        PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:],  # bad checksum
        PACKED + b"more",  # trailing garbage
        PACKED[:10] + b"\xff" * 8 + PACKED[18:],  # bad stream
        PACKED[:2] + b"\x07" + PACKED[3:],  # unknown method
        PACKED[:2],
    ],
)
def test_damaged_gzip_is_a_problem(tmp_path: Path, data: bytes):
    (tmp_path / "a.json.gz").write_bytes(data)
    problem = read_problem(tmp_path / "a.json.gz")
    assert problem.found.startswith("cannot be read: ")
    assert problem.hint in {
        "the compressed file may be damaged: write or copy it again",
        "is the compressed file complete?",
    }


def test_a_gzip_file_cut_short_gets_a_hint(tmp_path: Path):
    (tmp_path / "a.json.gz").write_bytes(PACKED[:-12])
    assert "complete" in read_problem(tmp_path / "a.json.gz").hint


def test_a_fifo_is_never_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "a.json")
    result: list[object] = []
    reader = threading.Thread(
        target=lambda: result.append(read_bytes(str(tmp_path / "a.json"))), daemon=True
    )
    reader.start()
    reader.join(30)  # an opened FIFO would block for ever
    assert result == [Problem(str(tmp_path / "a.json"), "this path is not a regular file")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_a_fifo_that_took_the_place_of_a_file_holds_up_nobody(tmp_path: Path):
    os.mkfifo(tmp_path / "a.json")
    problem = read_bytes(str(tmp_path / "a.json"), size=2)
    assert isinstance(problem, Problem)
    assert problem.found == "this path is not a regular file"


@pytest.mark.parametrize("size", [1, 2, 9, 500, 1000])
def test_a_file_that_has_changed_since_it_was_listed_is_read_as_it_is(tmp_path: Path, size: int):
    (tmp_path / "a.json").write_bytes(b'{"a": 1}')
    assert read_bytes(str(tmp_path / "a.json"), 1000, size) == b'{"a": 1}'


def test_a_file_that_has_grown_beyond_the_limit_is_not_read(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(b"x" * 1001)
    problem = read_bytes(str(tmp_path / "a.json"), 1000, 1000)
    assert isinstance(problem, Problem)
    assert problem.found == "the file is larger"


def test_a_name_that_is_not_text_is_made_printable(tmp_path: Path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    problem = read_bytes(name)
    assert isinstance(problem, Problem)
    assert problem.source == f"{tmp_path}/\\xff.json"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_lines_of_values_at_any_depth():
    text = b'{\n "a": {"b,}": [\n1,\n {"c/d": "x\\"]"}]},\n\n "e": []}'
    wanted = {"", "/a", "/a/b,}", "/a/b,}/0", "/a/b,}/1/c~1d", "/e", "/none"}
    assert lines_in(text, wanted) == {
        "": 1,
        "/a": 2,
        "/a/b,}": 2,
        "/a/b,}/0": 3,
        "/a/b,}/1/c~1d": 4,
        "/e": 6,
    }


@given(st.dictionaries(st.text(), JSON, min_size=1))
def test_every_value_is_found_on_the_line_where_it_is_written(document):
    values = [*values_of(document)]
    pointers = [json_pointer(value.path) for value in values]
    text = json.dumps(document, indent=1, ensure_ascii=False).encode()
    lines_found = lines_in(text, set(pointers))
    lines = text.split(b"\n")
    for value, pointer in zip(values, pointers, strict=True):
        written = json.dumps(value.value, ensure_ascii=False).encode()
        assert lines[lines_found[pointer] - 1].rstrip(b",").endswith(written)
        assert value_at(document, pointer) == value.value


def test_equal_content_has_one_digest_of_the_size_asked_for():
    digest = content_digest({"b": 1, "a": "x", "c": None}, 8)
    assert len(digest) == 8
    assert content_digest({"a": "x", "b": 1}, 8) == digest
    assert content_digest({"a": "x", "b": 2}, 8) != digest
