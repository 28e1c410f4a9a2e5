"""The promises of docs/threat-model.md about hostile schemas, documents and files."""

import ast
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import pytest

import stickler_cli
from .conftest import GOOD, SCHEMA, write

PACKAGE = Path(stickler_cli.__file__).parent

# What can run code, reach the network or read objects, and the modules that may.
DANGEROUS = {
    "pickle": {
        "documents/lines.py",  # of a file without a name that it wrote
        "runs/executors/dask_cluster.py",
        "runs/executors/executor.py",  # packs jobs
        "runs/executors/pool.py",
        "core/sorted_lines.py",
        "score/blocks.py",  # likewise
    },
    "multiprocessing": {
        "runs/executors/dask_cluster.py",
        "runs/executors/pool.py",
    },
    "importlib": {
        "__init__.py",
        "api/evaluation_views.py",
        "compat.py",  # makes modules itself, and says which are absent
        "core/problems.py",
        "runs/executors/dask_cluster.py",  # asks which versions a worker has
        "reports/formats.py",
        "cli/answers.py",
        "cli/command.py",
    },
    "fsspec": {"core/remote.py"},  # reads URLs
    "ctypes": {"runs/executors/pool.py"},  # asks Linux to end it with its parent
}
FORBIDDEN = {
    *("yaml", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code"),
    *("pkgutil", "subprocess", "socket", "ssl", "ftplib", "smtplib", "webbrowser", "xmlrpc"),
}

GUARD = """
import os, sys
ENDS = {"socket.connect", "socket.getaddrinfo", "socket.bind", "urllib.Request", "os.system",
        "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class"}
armed = False
def guard(event, arguments):
    if armed and event in ENDS:
        os.write(2, f"GUARD {event} {arguments!r}".encode())
        os._exit(99)
sys.addaudithook(guard)
from stickler_cli.cli import main
armed = True
for schema in sys.argv[1:]:
    code = main(["eval", schema, "gt", "pred", "--no-config"])
    assert code in {0, 2}, (schema, code)
"""


@cache
def used_in(module):
    """Return the names that a module imports, and the functions that it calls by a bare name."""
    imported, called = set(), set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
    return imported, called


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.slow
def test_only_named_modules_can_read_objects_or_import_by_name():
    using = {name: set() for name in DANGEROUS}
    for module in MODULES:
        imported, _ = used_in(module)
        for name in DANGEROUS.keys() & imported:
            using[name].add(module.relative_to(PACKAGE).as_posix())

    for name, allowed in DANGEROUS.items():
        assert using[name] <= allowed | BACKENDS, name


BACKENDS = {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "clients").rglob("*.py")}
SEARCHING = "documents/name_patterns.py"  # runs this Python on its own search, to end it in time


@pytest.mark.slow
def test_no_module_outside_the_model_backends_can_run_programs_or_reach_the_network():
    for module in MODULES:
        imported, called = used_in(module)
        if module.relative_to(PACKAGE).as_posix() not in BACKENDS | {SEARCHING}:
            assert not FORBIDDEN & imported, module
        assert not {"eval", "exec", "compile", "__import__"} & called, module


SCHEMAS = [
    SCHEMA,
    {"type": "object", "properties": {"id": {"$ref": "http://127.0.0.1:9/x.json"}}},
    {"$schema": "http://127.0.0.1:9/schema", "type": "object"},
    {"$id": "http://127.0.0.1:9/", "type": "object", "properties": {"id": {"$ref": "x"}}},
    {"type": "object", "properties": {"id": {"x-aws-stickler-comparator": "os:system"}}},
    {"type": "object", "properties": {"id": {"anyOf": [{"$ref": "ftp://x/y"}, {}]}}},
]


@pytest.mark.slow
def test_no_schema_or_document_reaches_the_network_or_runs_anything(data):
    files = [f"{number}.json" for number, _ in enumerate(SCHEMAS)]
    for file, schema in zip(files, SCHEMAS, strict=True):
        write(data / file, schema)
    hostile = {"id": "${jndi:ldap://127.0.0.1:9/x}", "$ref": "http://127.0.0.1:9/", "__class__": 1}
    write(data / "pred" / "one.json", hostile)
    process = subprocess.run(
        [sys.executable, "-c", GUARD, *files],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )

    assert process.returncode == 0, process.stderr


IDS = ("../../escaped", "/escaped", "..", "a/../../b", "\x1b[2J\nid", "con", "~root", "=cmd()")


@pytest.mark.slow
def test_ids_never_name_a_file(stickler, data):
    """Outputs are written to where the user says, and ids stand in them as text."""
    lines = "".join(json.dumps({"id": name, "total": 1}) + "\n" for name in IDS)
    write(data / "work" / "gt.jsonl", lines)
    write(data / "work" / "pred.jsonl", lines)
    before = {*data.parent.rglob("*")}

    run = stickler(
        *("eval", "schema.json", "work/gt.jsonl", "work/pred.jsonl", "-f", "json"),
        *("--documents", "work/documents.jsonl", "--non-matches", "work/errors.jsonl"),
        *("-o", "work/run.json", "--id-field", "id"),
    )

    assert run.code == 0
    created = {path.relative_to(data).as_posix() for path in {*data.parent.rglob("*")} - before}
    assert created == {"work/documents.jsonl", "work/errors.jsonl", "work/run.json"}
    documents = (data / "work/documents.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["document"] for line in documents) == sorted(IDS)


def test_gzip_inside_gzip_is_unpacked_once(stickler, data):
    inner = gzip.compress(json.dumps(GOOD).encode())
    (data / "pred" / "one.json").write_bytes(gzip.compress(inner))

    run = stickler("eval", "schema.json", "gt", "pred", "-f", "json")

    assert run.json["documents"]["invalid"] == 1
    assert "is not UTF-8" in run.json["problems"][0]["problem"]


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_a_run_file_that_is_a_pickle_is_only_text_that_is_no_json(stickler, data, name):
    evil = b"cos\nsystem\n(S'touch escaped'\ntR."
    (data / name).write_bytes(gzip.compress(evil) if name.endswith("gz") else evil)

    run = stickler("merge", name, name)

    assert run.code == 2
    assert "not valid JSON" in run.err
    assert not (data / "escaped").exists()


def test_what_a_file_or_schema_says_cannot_write_to_the_terminal(stickler, data):
    write(data / "pred" / "\x1b[2J\u202e.json", "\x1b]0;title\x07")
    write(data / "gt" / "\x1b[2J\u202e.json", GOOD)
    write(
        data / "evil.json",
        {"type": "\x1b[31m", "properties": {"\x9b2J": {"x-aws-stickler-\x1b[1m": "\x07"}}},
    )
    error_output = (
        stickler("eval", "schema.json", "gt", "pred").err + stickler("check", "evil.json").err
    )

    assert not {letter for letter in error_output if letter != "\n" and not letter.isprintable()}
    assert "\\x1b" in error_output


def test_an_output_beside_a_planted_link_is_written_to_a_file_of_its_own(stickler, data):
    """Nobody can guess the name under which a file is written before it takes its place."""
    for letters in ("tmp", "partial", "bak"):
        (data / f"run.json.{letters}").symlink_to(data / "victim")
    run = stickler("eval", "schema.json", "gt", "pred", "-f", "json", "-o", "run.json")

    assert run.code == 0
    assert not (data / "victim").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such device")
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "/dev/zero", "gt", "pred"),
        ("eval", "schema.json", "gt", "pred", "--verdicts", "/dev/zero"),
        ("eval", "schema.json", "gt", "pred", "--config", "/dev/zero"),
        ("tune", "schema.json", "gt", "pred", "--verdicts", "/dev/zero"),
    ],
)
def test_a_device_that_has_no_end_is_not_read(stickler, data, words):
    result = stickler(*words)

    assert result.code == 2
    assert "this path is a device" in result.err


@pytest.mark.slow
def test_a_run_file_of_many_empty_entries_is_refused_at_the_first(stickler, data):
    run = json.loads(stickler("eval", "schema.json", "gt", "pred", "-f", "json").out)
    write(data / "many.json", run | {"causes": [{}] * 300_000})
    tracemalloc.start()
    result = stickler("report", "many.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert 'many.json#/causes/0: the key "class" is missing' in result.err
    assert peak < 60_000_000


@pytest.mark.parametrize("odd_text", ["\x1b[31m", "\u202ey", "\U000e0041", "\n::error::x"])
@pytest.mark.parametrize(
    "command_line", [["--x{}"], ["eval", "--x{}"], ["eva{}"], ["eval", "a", "b", "c", "d{}"]]
)
def test_odd_characters_of_a_mistaken_command_line_are_escaped(stickler, odd_text, command_line):
    result = stickler(*(argument.replace("{}", odd_text) for argument in command_line))

    assert result.code == 2
    assert odd_text not in result.err
    for line in result.err.split("\n"):
        assert line.isprintable()
        assert not line.startswith("::")
