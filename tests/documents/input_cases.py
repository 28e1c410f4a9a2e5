"""Kinds of input that may stand in place of a document, and the results of `eval`.

`test_input_cases.py` makes all of these inputs in a directory and evaluates them at once. It also
checks that docs/reliability.md has the same list.
"""

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Make = Callable[[Path], object]
"""Function that makes the input at a path that ends in `.json`; the directory exists."""

LIMIT = 1_000_000
"""Maximum size of a document in the tests, in bytes."""


@dataclass(frozen=True)
class Case:
    """A kind of input, and what happens to a document with this input."""

    name: str
    """Name of the input in docs/reliability.md."""
    make: Make
    expected_text: str = ""
    """Fragments of the problem's text, separated by `…`; empty if there is no problem."""
    pred: str = "invalid"
    """Status of a document with this input as prediction and a valid ground truth."""
    gt: str = "failed"
    """Status of a document with this input as ground truth and a valid prediction."""
    remark: str = ""
    """Remark on the document; empty if there is none."""
    without_root: bool = False
    """Whether the input causes no problem for the user root, who may read every file."""


def text(content: str | bytes) -> Make:
    """Return a function that writes a file with this content."""
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data)


def packed(data: bytes) -> Make:
    """Return a function that writes a gzip file with this content."""
    return lambda path: path.with_name(f"{path.name}.gz").write_bytes(data)


def sparse(size: int) -> Make:
    """Return a function that makes a file of a given size that takes no space on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as stream:
            stream.truncate(size)

    return make


def unreadable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


def looping_link(path: Path) -> None:
    path.symlink_to(path.name)


def nested(levels: int) -> str:
    return '{"v": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


SOUND = json.dumps({"v": 1})
BOMB = gzip.compress(b'{"v": "' + b"x" * 2 * LIMIT + b'"}')

CASES = [
    Case("a key that an object has twice", text('{"v": 2, "v": 1}'), 'the key "v" is repeated',
         "evaluated", "evaluated", "duplicate_keys"),
    Case("a UTF-8 byte order mark", text("\ufeff" + SOUND), "", "evaluated", "evaluated",
         "byte_order_mark"),
    Case("an integer of more than 64 bits", text('{"v": 36893488147419103233}'), "", "evaluated",
         "evaluated"),
    Case("1024 levels of nesting", text(nested(1024)), "", "evaluated", "evaluated"),
    Case("a document packed by gzip, whatever its name", text(gzip.compress(SOUND.encode())), "",
         "evaluated", "evaluated"),
    Case("`NaN`", text('{"v": NaN}'), "NaN is not JSON"),
    Case("`Infinity`", text('{"v": Infinity}'), "Infinity is not JSON"),
    Case("`-Infinity`", text('{"v": -Infinity}'), "-Infinity is not JSON"),
    Case("a number beyond floating point, `1e400`", text('{"v": 1e400}'),
         "not valid JSON: number is infinity"),
    Case("an integer of 5000 digits", text('{"v": ' + "9" * 5000 + "}"),
         "not valid JSON: number is infinity"),
    Case("10,000 levels of nesting", text(nested(10_000)),
         "the document is nested more than 1024 levels deep"),
    Case("a lone surrogate, escaped", text('{"v": "\\ud800"}'), "not valid JSON: "),
    Case("a lone surrogate, raw", text(b'{"v": "\xed\xa0\x80"}'), (
        "the text is not UTF-8: byte 0xed is not allowed here"
    )),
    Case("Latin-1", text('{"v": "é"}'.encode("latin-1")), (
        "the text is not UTF-8: byte 0xe9 is not allowed here"
    )),
    Case("UTF-16", text(SOUND.encode("utf-16")), "the text is encoded as UTF-16"),
    Case("UTF-32", text(SOUND.encode("utf-32")), "the text is encoded as UTF-32"),
    Case("an empty file", text(""), "the file is empty"),
    Case("a file of blanks", text(" \n"), "the file is blank"),
    Case("JSON that breaks off", text('{"v": 1'), "not valid JSON: unexpected end of data"),
    Case("a list", text("[1]"), "the document is of type array"),
    Case("`null`", text("null"), "the document is of type null"),
    Case("JSON Lines in a `.json` file", text(f"{SOUND}\n{SOUND}\n"), "not valid JSON: "),
    Case("JSON in a Markdown code fence", text(f"```json\n{SOUND}\n```"), "not valid JSON: "),
    Case("more bytes than `--max-document-size`", sparse(200_000_000),
         "the file has 200,000,000 bytes"),
    Case("a gzip file that unpacks to more than that", packed(BOMB),
         "the file is too large after unpacking"),
    Case("a gzip file that breaks off", packed(gzip.compress(SOUND.encode())[:-9]),
         "cannot be read: Compressed file ended"),
    Case("a directory named `x.json`", lambda path: path.mkdir(), "this is a directory"),
    Case("a link that leads nowhere", lambda path: path.symlink_to("nowhere"),
         "this link points to a file that does not exist"),
    Case("a link that leads to itself", looping_link, "cannot be read: Too many levels"),
    Case("a named pipe", os.mkfifo, "this path is not a regular file"),
    Case("a file that may not be read", unreadable, "cannot be read: Permission denied",
         without_root=True),
    Case("two files of one id, `x.json` and `x.json.gz`",
         lambda path: (text(SOUND)(path), packed(gzip.compress(b"{}"))(path)),
         "this file gives the same document id as …"),
    Case("nothing", lambda path: None, "there is no …", "missing", "unmatched"),
    Case("a file whose name differs only in case",
         lambda path: text(SOUND)(path.with_name(path.name.upper().replace("JSON", "json"))),
         "there is no … which differs only in case", "missing", "unmatched"),
    Case("a file whose name differs only in Unicode form",
         lambda path: text(SOUND)(path.with_name(path.name.replace("é", "e\u0301"))),
         "there is no … which differs only in Unicode form", "missing", "unmatched"),
]  # fmt: skip
