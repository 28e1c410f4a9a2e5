"""Run directories: their content, how interrupted runs continue, and what is refused."""

import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.cli.console import ExitCode
from stickler_cli.runs import assembly
from stickler_cli.runs import evaluate as evaluate_module
from stickler_cli.runs.directory.run_directory import CHECKSUM_BYTES, FIRST_LINE
from stickler_cli.runs.executors import executor
from stickler_cli.runs.whole_files import PARTIAL
from .conftest import write, write_data
from .forks import Fork
from .test_faults import PATIENCE, alive, until

pytestmark = pytest.mark.slow

CHANCE = random.Random(5)  # noqa: S311
FILES = ("run.json", "documents.jsonl", "non-matches.jsonl")
PARTIAL_FILES = tuple(f"{name}{PARTIAL}" for name in FILES)
EVAL = ("eval", "schema.json", "gt", "pred", "--no-config", "--show-non-matches", "3")
KEPT = (*EVAL, "--run-dir", "kept")


def write_orders(folder: Path) -> None:
    """Write documents with all kinds of outcomes."""
    write_data(folder)
    write(folder / "gt" / "lonely.json", {"id": "L-1", "total": 3})
    write(folder / "gt" / "Alike.json", {"id": "L-2", "total": 4})
    write(folder / "pred" / "alike.json", '{"id": "L-2", "id": "L-2", "total": 4, "more": 1}')
    write(folder / "gt" / "odd.json", {"id": "O-1", "total": 10**25})
    write(folder / "pred" / "odd.json", "no JSON")
    open_list = {"_value": [], "_exhaustive": False}
    either = {"_value": "S-1", "_alternatives": ["S-2"]}
    gold = {"id": either, "total": {"_labelled": False}, "lines": open_list}
    write(folder / "gt" / "sound.json", gold)
    write(folder / "pred" / "sound.json", {"id": "S-2", "total": 1, "lines": [{"sku": "a"}]})


def make_chunks_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each document be a chunk of its own."""
    monkeypatch.setattr(executor, "FIRST_BYTES", 0)
    monkeypatch.setattr(executor, "CHUNK", executor.CHUNK._replace(text=0))


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents with all kinds of outcomes; each is a chunk of its own."""
    make_chunks_small(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_orders(tmp_path)
    return tmp_path


def call(*arguments: str) -> tuple[int, str, str]:
    """Run a command in this process; return exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def contents(folder: str = "kept") -> dict[str, bytes]:
    return {name: (Path(folder) / name).read_bytes() for name in FILES}


def going_on_with_kept(out: str) -> str:
    """Return an output in which the suggested commands use the run directory `kept`."""
    assert out.count(" errors schema.json gt pred ") == 1
    return re.sub(" errors schema.json gt pred .*--cause", " errors kept --cause", out)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, tuple[int, str]]:
    """The run directory of a run that is not interrupted, and its exit code and output."""
    folder = tmp_path_factory.mktemp("finished")
    write_orders(folder)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        make_chunks_small(patch)
        code, out, err = call(*KEPT)
        assert err == ""
        record = json.loads(contents()["run.json"])
    assert [record[key][0]["field"] for key in ("not_labelled", "left_out")] == ["total", "lines"]
    return folder / "kept", (code, out)


@pytest.fixture
def uninterrupted(orders: Path, finished) -> tuple[tuple[int, str], dict[str, bytes]]:
    """Exit code and output, and the files, of a run that is not interrupted."""
    run_directory, result = finished
    shutil.copytree(run_directory, orders / "kept")
    return result, contents()


def test_a_run_directory_holds_what_files_of_their_own_would(orders, uninterrupted):
    outputs = ("-o", "run.json", "--documents", "documents.jsonl", "--non-matches")
    code, out, _ = call(*EVAL, *outputs, "non-matches.jsonl")
    assert ((code, going_on_with_kept(out)), contents(".")) == uninterrupted
    assert names("kept") == sorted((*FILES, "journal"))


def test_a_finished_run_is_shown_again_without_evaluating(orders, uninterrupted, monkeypatch):
    journal = Path("kept/journal").read_bytes()
    monkeypatch.delattr(evaluate_module, "chunk_results")
    code, out, err = call(*KEPT)
    assert ((code, out), contents()) == uninterrupted
    assert err == "7 documents are already finished (saved in --run-dir kept)\n"
    assert Path("kept/journal").read_bytes() == journal


def test_a_finished_run_can_be_asked_for_another_report_and_another_gate(orders, uninterrupted):
    code, out, _ = call(*KEPT, "-f", "csv", "--show-non-matches", "5", "--gate", "f1>=0.99", "-q")
    assert (code, out.partition(",")[0]) == (ExitCode.GATE_FAILED, "field")
    assert [gate["passed"] for gate in json.loads(contents()["run.json"])["gates"]] == [False]
    code, out, _ = call(*EVAL[:-1], "5", "--run-dir", "kept")
    assert out == going_on_with_kept(call(*EVAL[:-1], "5")[1])
    assert call(*KEPT)[:2] == uninterrupted[0]
    assert contents() == uninterrupted[1]


def test_commands_that_take_a_run_take_its_directory(orders, uninterrupted):
    from stickler_cli.reports.formats import render
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.runs.saved import load_run

    assert render("json", load_run("kept"), TableStyle()).encode() == uninterrupted[1]["run.json"]


def journal_lines() -> list[bytes]:
    return Path("kept/journal").read_bytes().splitlines(keepends=True)


def places_to_cut() -> list[int]:
    """Return positions at which tests cut the journal off.

    They are the ends of all lines, the bytes before and after these ends, and some random
    positions.
    """
    ends, total = [0], 0
    for line in journal_lines():
        total += len(line)
        ends += [total - 1, total, total + 1]
    return sorted({*ends[:-1], *CHANCE.sample(range(total), 12)})


def test_a_run_goes_on_from_any_byte_with_the_same_bytes_at_the_end(orders, uninterrupted):
    journal = Path("kept/journal").read_bytes()
    for place in places_to_cut():
        for name in FILES:
            Path("kept", name).unlink()
        Path("kept/journal").write_bytes(journal[:place])
        code, out, err = call(*KEPT)
        assert ((code, out), contents()) == uninterrupted, place
        assert Path("kept/journal").read_bytes() == journal, place
        torn = place > len(FIRST_LINE) and journal[place - 1 : place] != b"\n"
        assert ("have been removed" in err) is torn, place


def test_a_run_goes_on_from_a_damaged_byte_with_the_same_bytes_at_the_end(orders, uninterrupted):
    journal = Path("kept/journal").read_bytes()
    start = len(journal_lines()[0])
    blank = start + 2 * CHECKSUM_BYTES  # between the checksum, in hexadecimal digits, and the JSON
    assert journal[blank : blank + 2] == b" {"
    places = [start, blank - 1, blank, blank + 1, len(journal) - 1]
    for place in (*places, *CHANCE.sample(range(start, len(journal)), 7)):
        damaged = journal[:place] + bytes([journal[place] ^ 1]) + journal[place + 1 :]
        Path("kept/journal").write_bytes(damaged)
        code, out, err = call(*KEPT)
        assert ((code, out), contents()) == uninterrupted, place
        assert "bytes of the journal were damaged, so they have been removed" in err


def test_only_what_is_not_finished_is_evaluated(orders, uninterrupted, monkeypatch):
    Path("kept/journal").write_bytes(b"".join(journal_lines()[:4]))
    evaluated = []
    evaluate = evaluate_module.chunk_results

    def spy(*arguments, **options):
        for chunk in evaluate(*arguments, **options):
            evaluated.extend(chunk.ids)
            yield chunk

    monkeypatch.setattr(evaluate_module, "chunk_results", spy)
    code, out, err = call(*KEPT)
    assert evaluated == ["odd", "one", "sound", "two", "alike"]
    assert err == "2 documents are already finished (saved in --run-dir kept)\n"
    assert ((code, out), contents()) == uninterrupted


def test_a_run_goes_on_with_other_processes(orders, uninterrupted):
    Path("kept/journal").write_bytes(b"".join(journal_lines()[:3]))
    assert (call(*KEPT, "--jobs", "2")[:2], contents()) == uninterrupted


def test_groups_and_pages_are_kept_too(orders):
    command = (*KEPT, "--by", "id", "-o", "page.html", "-o", "run.csv")
    first, outputs = call(*command), [Path(name).read_bytes() for name in ("page.html", "run.csv")]
    before = contents()
    Path("kept/journal").write_bytes(b"".join(journal_lines()[:5]))
    assert call(*command)[:2] == first[:2]
    assert contents() == before
    assert [Path(name).read_bytes() for name in ("page.html", "run.csv")] == outputs


def test_json_lines_are_kept_too(orders):
    for side in ("gt", "pred"):
        lines = [json.dumps({"id": str(number), "total": number}) for number in range(5)]
        write(orders / f"{side}.jsonl", "\n".join(lines))
    command = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id")
    code, out, _ = call(*command, "--run-dir", "kept")
    before = contents()
    Path("kept/journal").write_bytes(b"".join(journal_lines()[:4]))
    assert call(*command, "--run-dir", "kept")[:2] == (code, out)
    assert contents() == before


def test_one_pair_is_kept_too(orders):
    command = ("eval", "schema.json", "gt/two.json", "pred/two.json", "--run-dir", "kept")
    first = call(*command)
    before = contents()
    assert call(*command)[:2] == first[:2]
    assert contents() == before
    errors = json.loads(before["run.json"])["non_matches"]
    assert len([error for error in errors if "inside" not in error]) == 2


def test_no_documents_are_kept_too(orders):
    for side in ("gt", "pred"):
        write(orders / f"{side}.jsonl", "")
    command = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--run-dir", "kept")
    first = call(*command)
    assert call(*command) == first


# --- what is not as it was


def refused(*arguments: str) -> str:
    code, out, err = call(*arguments)
    assert (code, out) == (ExitCode.USAGE, "")
    return err


BEFORE = {"whole": 10, "begun": 4}
"""Number of lines in the journal: of a finished run, and of a run with two finished documents,
`Alike` and `lonely`."""


@pytest.mark.parametrize("state", BEFORE)
@pytest.mark.parametrize(
    ("path", "content", "change"),
    [
        ("pred/lonely.json", "{}", "the prediction of lonely is new"),
        ("gt/lonely.json", "{}", "the ground truth of lonely has changed"),
        ("gt/lonely.json", None, "lonely is missing now"),
        ("gt/Alike.json", "no JSON", "the ground truth of Alike has changed"),
        ("gt/a.json", "{}", "a is new"),
        ("gt/B.json", "{}", "B is new"),
        ("pred/Alike.json", "{}", "the prediction of Alike is new"),
    ],
)
def test_a_document_that_was_finished_and_is_another_is_named(
    orders, uninterrupted, state, path, content, change
):
    lines = journal_lines()
    assert len(lines) == BEFORE["whole"]
    Path("kept/journal").write_bytes(b"".join(lines[: BEFORE[state]]))
    if content is None:
        Path(path).unlink()
    else:
        write(Path(path), content)
    err = refused(*KEPT)
    begins = "error: --run-dir kept: documents have changed since the run was started: "
    assert begins in err
    assert change in err
    assert "to start over, use --restart" in err
    assert contents() == uninterrupted[1]


def test_a_hint_that_a_document_gave_is_noticed_when_it_is_gone(orders, uninterrupted):
    Path("kept/journal").write_bytes(b"".join(journal_lines()[: BEFORE["begun"]]))
    Path("pred/alike.json").unlink()
    assert "files with names similar to Alike have been added or removed" in refused(*KEPT)


@pytest.mark.parametrize("name", ["a", "zz"])
def test_documents_that_follow_those_of_an_unfinished_run_are_evaluated(
    orders, uninterrupted, name
):
    Path("kept/journal").write_bytes(b"".join(journal_lines()[:3]))
    write(orders / "gt" / f"{name}.json", {"id": "Z"})
    code, out, _ = call(*KEPT)
    expected, text, _ = call(*EVAL)
    assert (code, out) == (expected, going_on_with_kept(text))


def test_a_prediction_that_has_no_ground_truth_any_more_is_named(orders, uninterrupted):
    Path("gt/sound.json").unlink()
    assert "documents have changed since the run was started" in refused(*KEPT)


def test_a_document_after_the_last_one_of_a_finished_run_is_new(orders, uninterrupted):
    write(orders / "pred" / "beta.json", {})
    assert "since the run was started: beta is new" in refused(*KEPT)


def test_no_more_than_five_documents_are_named(orders, uninterrupted):
    for number in range(7):
        write(orders / "gt" / f"a{number}.json", {})
    assert re.search(r": a0 is new, .*, a4 is new, and 2 more, expected", refused(*KEPT))


def test_lines_in_another_order_are_told(orders):
    for side in ("gt", "pred"):
        write(orders / f"{side}.jsonl", '{"id": "x"}\n{"id": "y"}')
    command = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id")
    call(*command, "--run-dir", "kept")
    write(orders / "gt.jsonl", '{"id": "y"}\n{"id": "x"}')
    assert "document y has taken the position of document x" in refused(
        *command, "--run-dir", "kept"
    )


@pytest.mark.parametrize(
    ("options", "change"),
    [
        (("--missing", "skip"), '--missing is now "skip", but was "fn"'),
        (("--pairing-floor", "0.5"), "--pairing-floor is now 0.5, but was 0.2"),
        (("--validate", "pred"), '--validate is now ["pred"], but was []'),
        (("--lenient-json",), "--lenient-json is now true, but was false"),
        (("--max-document-size", "1MB"), "--max-document-size is now 1000000, but was 100000000"),
        (("--extra-fields", "ignore"), '--extra-fields is now "ignore", but was "fa"'),
        (("--recall-with-fd",), "--recall-with-fd is now true, but was false"),
        (("--by", "id"), "--by is now id, but was not given"),
        (("--seed", "7"), "--ci or --seed is now {"),
        (("-o", "page.html"), "the run was started without an HTML report (-o report.html)"),
        (("--show-non-matches", "101"), "--show-non-matches is now 101, but was 100"),
    ],
)
def test_another_option_is_named(orders, uninterrupted, options, change):
    assert f"error: --run-dir kept: {change}" in refused(*KEPT, *options)
    assert contents() == uninterrupted[1]


def test_another_schema_is_named(orders, uninterrupted):
    with Path("schema.json").open("a") as file:
        file.write("\n")
    assert "kept: the schema has changed since the run was started" in refused(*KEPT)


def test_another_version_is_named(orders, uninterrupted, monkeypatch):
    monkeypatch.setattr("stickler_cli.runs.keeping.__version__", "9.9")
    assert 'version is now "9.9", but was "' in refused(*KEPT)


def test_other_sources_are_named(orders, uninterrupted):
    shutil.copytree("gt", "other")
    assert 'GT is now "other", but was "gt"' in refused("eval", "schema.json", "other", *KEPT[3:])


def test_everything_that_decides_a_result_is_a_setting(orders, uninterrupted):
    from dataclasses import fields

    from stickler_cli.compare.plan import Options
    from stickler_cli.runs.job import Job, OutputsRequested
    from stickler_cli.settings.deciding import DecidingOptions

    settings = json.loads(journal_lines()[1].partition(b" ")[2])["settings"]
    elsewhere = {"plan": "schema", "options": None, "validation": "validate"}
    elsewhere |= {"requested": None, "client": "asking", "purpose": None}
    elsewhere |= {"unwrapper": "wrapped", "work_at_once": None, "metrics": "metric"}
    elsewhere |= {"schemas": "schema by", "step": "schema", "marks": "verdicts"}
    elsewhere |= {"listed_fields": "schema"}
    decisive = {
        field.name
        for kind in (Options, OutputsRequested, DecidingOptions, Job)
        for field in fields(kind)
    }
    assert {elsewhere.get(name, name) for name in decisive} - {None} <= set(settings)


def test_restart_begins_again(orders, uninterrupted):
    code, out, err = call(*KEPT, "--missing", "skip", "--restart")
    assert err == ""
    expected, text, _ = call(*EVAL, "--missing", "skip")
    assert (code, out) == (expected, going_on_with_kept(text))
    assert call(*KEPT, "--restart")[:2] == uninterrupted[0]
    assert contents() == uninterrupted[1]


# --- what is refused


def test_a_directory_with_something_else_is_refused(orders):
    err = refused(*EVAL, "--run-dir", ".")
    assert (
        "the directory contains files that are not from a run (gt, pred, schema.json)" in err
        or "would overwrite GT" in err
    )
    write(orders / "notes" / "a.txt", "mine")
    assert "the directory contains files that are not from a run (a.txt)" in refused(
        *EVAL, "--run-dir", "notes"
    )
    assert names("notes") == ["a.txt"]


def test_a_journal_of_something_else_is_refused(orders):
    write(orders / "kept" / "journal", "Dear diary\n")
    assert "was not written by stickler" in refused(*KEPT)


def test_a_file_is_no_directory(orders):
    write(orders / "file", "")
    assert "--run-dir file: this is a file, expected a directory" in refused(
        *EVAL, "--run-dir", "file"
    )
    assert "--run-dir file/a: this directory cannot be used (Not a directory)" in refused(
        *EVAL, "--run-dir", "file/a"
    )


def test_a_directory_among_the_documents_is_refused(orders):
    assert "the output would overwrite GT" in refused(*EVAL, "--run-dir", "gt/kept")


def test_standard_input_cannot_be_read_again(orders):
    write(orders / "gt.jsonl", "{}")
    err = refused("eval", "schema.json", "gt.jsonl", "-", "--run-dir", "kept")
    assert "PRED is standard input, which cannot be read again" in err
    assert not Path("kept").exists()


@pytest.mark.parametrize("option", ["--documents", "--non-matches"])
def test_lines_have_one_place(orders, option):
    assert f"{option}: --run-dir is also given" in refused(*KEPT, option, "lines.jsonl")


def test_restart_needs_a_directory(orders):
    assert "--restart: --run-dir is missing" in refused(*EVAL, "--restart")


def test_records_that_are_whole_but_not_ours_are_refused(orders, uninterrupted):
    from stickler_cli.runs.directory.run_directory import Journal

    journal = Journal("kept/journal", "--run-dir kept")
    list(journal.records())
    journal.append({"more": 1})
    journal.close()
    assert "kept/journal record 10" in refused(*KEPT)


def test_a_record_that_is_no_json_is_refused(orders, uninterrupted, monkeypatch):
    from stickler_cli.runs.directory import run_directory as module

    journal = module.Journal("kept/journal", "--run-dir kept")
    list(journal.records())
    write_line = module.json_line
    monkeypatch.setattr(module, "json_line", lambda record: b"no JSON\n")
    journal.append({})
    journal.close()
    monkeypatch.setattr(module, "json_line", write_line)
    assert "record 10 is not JSON" in refused(*KEPT)


# --- for real

COMPARATOR = """
import time
from pathlib import Path
from stickler_cli.comparators.base import BaseComparator

class Patient(BaseComparator):
    def compare(self, gt, pred):
        if Path("wait-at", gt).exists():
            Path("waiting").touch()
            while Path("wait-at", gt).exists():
                time.sleep(0.01)
        return float(gt == pred)
"""
PATIENT = {
    "type": "object",
    "properties": {"a": {"type": "string", "x-aws-stickler-comparator": "patient:Patient"}},
}
COMMAND = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--allow-plugins", "-f", "json")
DOCUMENTS = 200


@pytest.fixture
def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents at which tests can make a run wait; some are wrong, all have an unknown field."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "patient.py", COMPARATOR)
    write(tmp_path / "schema.json", PATIENT)
    write(tmp_path / "gt.jsonl", "\n".join(f'{{"a": "x{n}"}}' for n in range(DOCUMENTS)))
    preds = (f'{{"a": "x{n if n % 3 else 0}", "b{n % 7}": 1}}' for n in range(DOCUMENTS))
    write(tmp_path / "pred.jsonl", "\n".join(preds))
    return tmp_path


def running(*arguments: str, **more: int) -> Fork:
    return Fork(*COMMAND, "--run-dir", "kept", *arguments, **more)


@contextlib.contextmanager
def hold_at_document(document: int, *arguments: str) -> Iterator[Fork]:
    """Start a run, and continue when it waits in the middle of the given document."""
    place = write(Path("wait-at", f"x{document}"), "")
    with running(*arguments) as process:
        until(Path("waiting").exists)
        yield process
    place.unlink(missing_ok=True)
    Path("waiting").unlink()


def finish(*arguments: str) -> tuple[int, str, str]:
    with running(*arguments) as process:
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def journal_size() -> int:
    journal = Path("kept/journal")
    return journal.stat().st_size if journal.exists() else 0


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@linux
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(patient, jobs):
    _, uninterrupted, _ = finish("--jobs", jobs)
    expected = contents()
    shutil.rmtree("kept")
    for document in (10, 150):
        with hold_at_document(document, "--jobs", jobs) as process:
            until(lambda document=document: document == 10 or journal_size() > 3000)
            process.kill()
            until(lambda process=process: not alive(process.pid))
        assert process.returncode == -signal.SIGKILL
        assert not Path("kept/run.json").exists()
    result = subprocess.run(
        (sys.executable, "-m", "stickler_cli", *COMMAND, "--run-dir", "kept", "--jobs", jobs),
        env={**os.environ, "PYTHONHASHSEED": "2"},  # sets of texts have another order
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "documents are already finished" in result.stderr
    assert (result.returncode, result.stdout) == (0, uninterrupted)
    assert contents() == expected
    assert names("kept") == sorted((*FILES, "journal"))


@linux
def test_a_run_that_is_interrupted_leaves_partial_files_and_goes_on(patient):
    _, uninterrupted, _ = finish()
    expected = contents()
    shutil.rmtree("kept")
    with hold_at_document(150, "--jobs", "1") as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED
    assert json.loads(out)["partial"] is True
    assert names("kept") == sorted([*PARTIAL_FILES, "journal"])
    code, out, err = finish()
    assert (code, out) == (0, uninterrupted)
    assert "documents are already finished" in err
    assert contents() == expected
    assert names("kept") == sorted((*FILES, "journal"))


@linux
def test_two_runs_cannot_have_one_directory(patient):
    with hold_at_document(150, "--jobs", "1") as first:
        code, out, err = finish()
        assert (code, out) == (ExitCode.USAGE, "")
        assert "error: --run-dir kept: another run is using this directory; wait until" in err
        Path("wait-at/x150").unlink()
        assert first.wait(PATIENCE) == 0


@linux
def test_a_run_on_a_full_disk_goes_on_when_there_is_room(patient):
    _, uninterrupted, _ = finish()
    expected, size = contents(), journal_size()
    shutil.rmtree("kept")
    with running("--jobs", "1", most_bytes=size // 2) as process:
        _, err = process.communicate(PATIENCE)
    assert process.returncode == ExitCode.INTERNAL
    assert "could not be written to kept/" in err
    assert names("kept") == ["journal"]
    code, out, _ = finish()
    assert (code, out) == (0, uninterrupted)
    assert contents() == expected


def test_a_run_directory_that_is_removed_during_the_run_is_told(stickler, data, monkeypatch):
    together = evaluate_module.gather

    def gather_and_remove(*arguments):
        total = together(*arguments)
        shutil.rmtree(data / "kept")
        return total

    monkeypatch.setattr(evaluate_module, "gather", gather_and_remove)
    result = stickler("eval", "schema.json", "gt", "pred", "--run-dir", "kept")

    assert result.code == 4
    assert "the run directory was deleted during the run" in result.err
    assert not (data / "kept").exists()


def test_a_run_with_a_page_of_some_fields_continues_with_another_number_of_rows(
    orders, monkeypatch
):
    page = (*KEPT, "-o", "page.html", "-q")
    monkeypatch.setattr(assembly, "MAX_FIELDS", 1)
    code, _, error = call(*page)
    assert (code, error.count("internal")) == (ExitCode.OK, 0)
    first = Path("page.html").read_bytes()

    assert b"listed_fields" not in Path("kept", "journal").read_bytes()
    monkeypatch.setattr(assembly, "MAX_FIELDS", 2_000)  # as a later version might have it
    assert call(*page)[0] == ExitCode.OK
    assert Path("page.html").read_bytes() == first
