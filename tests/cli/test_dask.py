"""A run on a Dask cluster: a real scheduler and two real workers on this machine.

Each test checks that the results equal those of one process byte for byte, or that an error says
why there are no results.
"""

import gzip
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from stickler_cli.cli import main
from stickler_cli.cli.console import ExitCode
from stickler_cli.runs import evaluate
from stickler_cli.runs.executors import executor
from .conftest import write
from .test_faults import COMPARATOR, EVAL, PATIENCE, SCHEMA, alive, problems, running, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

DOCUMENTS = 40


@pytest.fixture(scope="module")
def distributed() -> ModuleType:
    """The package of the cluster, whose import takes a second; only these tests need it."""
    return pytest.importorskip("distributed", reason="distributed IS NOT INSTALLED: no Dask")


@pytest.fixture
def dask_cluster(distributed) -> ModuleType:
    from stickler_cli.runs.executors import dask_cluster

    return dask_cluster


SPARING = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
}
"""Settings of Dask: workers take no samples of their stacks, and a task is given up when it has
killed two workers, not four. To start a worker again takes seconds of processor time."""


@contextmanager
def started(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process of a cluster in a process group of its own, and end the group afterwards."""
    with (folder / "cluster.log").open("ab") as log:
        process = subprocess.Popen(
            (sys.executable, "-m", *arguments),
            cwd=folder,
            env={**os.environ, **SPARING, "PYTHONPATH": os.pathsep.join((str(folder), *sys.path))},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGTERM)
            until(lambda: not alive(process.pid))
        process.wait()


@contextmanager
def cluster(folder: Path, *worker_options: str, workers: int = 1) -> Iterator[SimpleNamespace]:
    """Start a scheduler and workers that can import modules from a folder."""
    import distributed

    place = folder / "scheduler.json"
    place.unlink(missing_ok=True)
    meeting = ("--scheduler-file", str(place))  # where the scheduler says which port it has
    listening = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    worker = ("--nworkers", "1", "--no-dashboard", "--death-timeout", str(PATIENCE))
    with ExitStack() as stack:
        start = lambda *given: stack.enter_context(started(*given, folder=folder))  # noqa: E731
        start("distributed.cli.dask_scheduler", *meeting, *listening)
        processes = [
            start("distributed.cli.dask_worker", *meeting, *worker, *worker_options)
            for _ in range(workers)
        ]
        until(place.exists)
        with distributed.Client(
            scheduler_file=str(place), timeout=PATIENCE, set_as_default=False
        ) as client:
            client.wait_for_workers(workers, timeout=PATIENCE)
            yield SimpleNamespace(
                address=client.scheduler.address, workers=processes, client=client
            )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, distributed) -> Iterator[SimpleNamespace]:
    """A running cluster of two workers, with the folder from which they import modules.

    A worker that dies is started again.
    """
    folder = tmp_path_factory.mktemp("cluster")
    write(folder / "obedient.py", COMPARATOR)
    with cluster(folder, "--nthreads", "1", workers=2) as address:
        address.folder = folder
        yield address


@pytest.fixture
def orders(tmp_path: Path, shared: SimpleNamespace, monkeypatch: pytest.MonkeyPatch):
    """Return a function that writes documents.

    `build(die=3)` makes the comparator die at document 3.
    """
    monkeypatch.syspath_prepend(str(shared.folder))
    monkeypatch.chdir(tmp_path)

    def build(**places: int) -> Path:
        write(tmp_path / "schema.json", SCHEMA)
        predictions = {place: order for order, place in places.items()}
        lines = [
            json.dumps({"a": predictions.get(number, f"x{number}")}) for number in range(DOCUMENTS)
        ]
        write(tmp_path / "pred.jsonl", "\n".join(lines))
        write(tmp_path / "gt.jsonl", "".join(f'{{"a": "x{n}"}}\n' for n in range(DOCUMENTS)))
        return tmp_path

    return build


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit each task to four documents, so that a half can be halved again."""
    monkeypatch.setattr(evaluate, "TASK", executor.Largest(4.0, 4, 8_000_000))
    monkeypatch.setattr(executor, "FIRST_BYTES", 1_000)


def outputs(folder: Path, name: str, *arguments: str) -> dict[str, object]:
    """Evaluate; return the exit code and the text of each written file, without start times."""
    folder_of_run = folder / name
    folder_of_run.mkdir()
    files = {
        "--documents": "documents.jsonl",
        "--non-matches": "non-matches.csv",
        "--values": "values.tsv",
        "-o": "run.json",
    }
    options = [
        word for option, file in files.items() for word in (option, str(folder_of_run / file))
    ]
    code = main((*arguments, *options, "--no-config", "--show-non-matches", "5", "-q"))
    texts = {file: (folder_of_run / file).read_text(encoding="utf-8") for file in files.values()}
    run = json.loads(texts.pop("run.json"))
    for provenance in run["provenance"]:
        del provenance["started"]
    return {"code": code, "run": json.dumps(run), **texts}


# --- the same bytes


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents with all kinds of outcomes, both in directories and as JSON Lines."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{number},{'ab'[number % 2]}" for number in range(60)]
    write(tmp_path / "groups.csv", "id,kind\n" + "\n".join(lines))
    fields = {"id": {"type": "string"}, "total": {"type": "number"}}
    items = {"type": "array", "items": {"type": "object", "properties": fields}}
    write(tmp_path / "schema.json", {"type": "object", "properties": {**fields, "items": items}})
    gts, preds = [], []
    for number in range(60):
        item = {"id": f"item {number}", "total": number * 1.1}
        gt = {"id": f"D-{number}", "total": number / 3, "items": [item] * (number % 4)}
        pred = {**gt, "total": gt["total"] + (number % 5 == 0), "items": gt["items"][: number % 3]}
        gts.append(gt)
        preds.append(pred)
        write(tmp_path / "gt" / f"{number}.json", gt)
        if number % 11:
            write(tmp_path / "pred" / f"{number}.json", pred if number % 7 else "no JSON")
    write(tmp_path / "pred" / "alone.json", {})
    for name, documents in (("gt", gts), ("pred", preds[::-1])):
        text = "".join(json.dumps(document) + "\n" for document in documents)
        write(tmp_path / f"{name}.jsonl", text)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    pairs = [{"id": f"{n}", "gt": gts[n], "prediction": preds[n]} for n in range(60)]
    write(tmp_path / "pairs.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    return tmp_path


@pytest.mark.parametrize(
    "sources",
    [
        ("gt", "pred"),
        ("gt.jsonl", "pred.jsonl"),
        ("gt.jsonl", "pred.jsonl", "--id-field", "id"),
        ("gt.jsonl.gz", "pred.jsonl.gz"),
        ("--pairs", "pairs.jsonl"),
        ("gt", "pred", "--rows", "none"),
        ("gt", "pred", "--by", "@kind", "--by-file", "groups.csv"),
    ],
    ids=" ".join,
)
def test_results_are_those_of_one_process_to_the_byte(mixed, shared, small_tasks, sources):
    arguments = ("eval", "schema.json", *sources)

    local = outputs(mixed, "here", *arguments, "--jobs", "1")
    remote = outputs(mixed, "there", *arguments, "--engine", "dask", "--scheduler", shared.address)

    assert remote == local
    assert local["code"] in {ExitCode.OK, ExitCode.INCOMPLETE}
    assert local["documents.jsonl"].count("\n") >= 60


def test_both_workers_work_and_none_is_sent_a_document(
    mixed, shared, small_tasks, monkeypatch, distributed
):
    sent = []
    submit = distributed.Client.submit

    def submitted(client, function, *arguments, **more):
        sent.append((function.__name__, arguments))
        return submit(client, function, *arguments, **more)

    def where(scheduler_log):
        return {entry[1] for entry in scheduler_log}

    monkeypatch.setattr(distributed.Client, "submit", submitted)
    arguments = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--no-config", "-q")
    main((*arguments, "--engine", "dask", "--scheduler", shared.address))

    tasks = [packed for name, (*_, packed) in sent if name == "evaluate_task"]
    assert len(tasks) >= 60 / 4  # of 60 documents, a task has at most four
    assert not any(b'"total"' in zlib.decompress(packed) for packed in tasks)
    done = shared.client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert all(done.values()), done


def test_standard_input_goes_to_the_workers(mixed, shared, monkeypatch, capsys):
    command = ("eval", "schema.json", "gt.jsonl", "-", "--no-config", "-f", "json")
    printed = []
    for engine in ((), ("--engine", "dask", "--scheduler", shared.address)):
        text = (mixed / "pred.jsonl").read_bytes()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        main((*command, *engine))
        run = json.loads(capsys.readouterr().out)
        printed.append([run["documents"], run["confusion_matrix"], run["per_document"]])
    assert printed[0] == printed[1]


# --- workers that die


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(orders, shared):
    folder = orders(wait=20)
    write(folder / "obedient.py", COMPARATOR)
    engine = ("--engine", "dask", "--scheduler", shared.address)
    with running(folder, *engine, "--documents", "there.jsonl") as process:
        until((folder / "waiting").exists)
        until((folder / "waiting").read_text)
        os.kill(int((folder / "waiting").read_text()), signal.SIGKILL)
        (folder / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (ExitCode.OK, "")
    assert json.loads(out)["documents"]["total"] == DOCUMENTS

    with running(folder, "--jobs", "1", "--documents", "here.jsonl") as process:
        output, _ = process.communicate(timeout=PATIENCE)
    assert (folder / "there.jsonl").read_bytes() == (folder / "here.jsonl").read_bytes()
    without = [json.loads(text) | {"provenance": None} for text in (out, output)]
    assert without[0] == without[1]


def test_a_result_that_is_lost_before_it_is_fetched_is_made_again(
    mixed, shared, monkeypatch, distributed
):
    lost = []
    status = distributed.Future.status.fget

    def first_is_lost(future):
        if threading.current_thread() is threading.main_thread() and not lost:
            lost.append(future.key)
            return "lost"
        return status(future)

    arguments = ("eval", "schema.json", "gt.jsonl", "pred.jsonl")
    local = outputs(mixed, "here", *arguments, "--jobs", "1")
    monkeypatch.setattr(distributed.Future, "status", property(first_is_lost))
    remote = outputs(mixed, "there", *arguments, "--engine", "dask", "--scheduler", shared.address)

    assert lost
    assert remote == local
    # Of a result that is lost while it is fetched, Dask would tell by its log.
    assert not logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)


def test_a_result_that_others_died_of_on_its_way_is_made_in_halves(
    mixed, shared, monkeypatch, distributed
):
    died = []
    result = distributed.Future.result

    def first_died(future, *arguments, **more):
        if not died:
            died.append(future.key)
            raise distributed.KilledWorker(future.key, None, 3)
        return result(future, *arguments, **more)

    arguments = ("eval", "schema.json", "gt.jsonl", "pred.jsonl")
    local = outputs(mixed, "here", *arguments, "--jobs", "1")
    monkeypatch.setattr(distributed.Future, "result", first_died)
    remote = outputs(mixed, "there", *arguments, "--engine", "dask", "--scheduler", shared.address)

    assert died
    assert remote == local


def test_a_document_that_no_worker_survives_is_named_and_all_others_count(
    orders, shared, small_tasks, capsys
):
    orders(die=17)
    code = main((*EVAL, "--engine", "dask", "--scheduler", shared.address, "--no-config"))
    run = json.loads(capsys.readouterr().out)
    message = "every worker that compared this document died (out of memory?)"
    assert code == ExitCode.INCOMPLETE
    assert {entry["document"]: entry["problem"] for entry in run["problems"]} == {
        "line 18": f"line 18: {message}"
    }
    assert run["documents"]["evaluated"] == DOCUMENTS - 1


def test_an_error_of_a_comparator_is_told_as_in_one_process(orders, shared, capsys):
    orders(**{"raise": 5})
    messages = []
    for engine in (("--jobs", "1"), ("--engine", "dask", "--scheduler", shared.address)):
        code = main((*EVAL, *engine, "--no-config"))
        messages.append((code, problems(capsys.readouterr().out)))
    assert messages[0] == messages[1]
    assert list(messages[0][1]) == ["line 6"]


def test_a_cluster_that_loses_its_workers_is_not_waited_for_in_vain(
    orders, tmp_path, monkeypatch, capsys, dask_cluster
):
    orders()
    monkeypatch.setattr(dask_cluster, "ALONE", 1.0)
    monkeypatch.setattr(dask_cluster, "LOOKING", 0.1)
    with cluster(tmp_path, "--no-nanny") as scheduler:
        os.killpg(scheduler.workers[0].pid, signal.SIGKILL)
        until(lambda: not scheduler.client.nthreads())
        code = main((*EVAL, "--engine", "dask", "--scheduler", scheduler.address, "--no-config"))
    assert code == ExitCode.INTERNAL
    assert "--engine dask: the cluster has had no workers for 1 seconds" in capsys.readouterr().err


# --- what is refused


@pytest.fixture
def refused(shared, capsys):
    def run(*arguments: str) -> str:
        address = () if "--scheduler" in arguments else ("--scheduler", shared.address)
        code = main((*EVAL, "--engine", "dask", *address, "--no-config", *arguments))
        printed = capsys.readouterr()
        assert (code, printed.out) == (ExitCode.USAGE, "")
        assert "Traceback" not in printed.err
        return printed.err

    return run


def test_a_worker_with_another_version_of_what_decides_is_refused(
    orders, refused, monkeypatch, dask_cluster
):
    orders()
    wanted = {**dask_cluster.versions(), "rapidfuzz": "1.2.3"}
    monkeypatch.setattr(dask_cluster, "versions", lambda: wanted)
    err = refused()
    assert "the worker tcp://127.0.0.1:" in err
    assert " has rapidfuzz " in err
    assert "expected 1.2.3, as on this machine; on the worker, run pip install" in err


def test_a_worker_that_lacks_a_comparator_is_refused(orders, refused, tmp_path, monkeypatch):
    folder = orders()
    write(folder / "elsewhere.py", COMPARATOR)
    text = (folder / "schema.json").read_text().replace("obedient:", "elsewhere:")
    write(folder / "schema.json", text)
    monkeypatch.syspath_prepend(str(folder))
    err = refused()
    assert "a worker cannot load the job (No module named 'elsewhere')" in err


def test_documents_that_a_worker_does_not_have_are_told_before_any_is_failed(
    orders, refused, monkeypatch, dask_cluster
):
    orders()
    needs = dask_cluster.Needs
    monkeypatch.setattr(dask_cluster, "Needs", lambda *given: needs(given[0], "/", given[2]))
    err = refused()
    assert "gt.jsonl: the worker tcp://127.0.0.1:" in err
    assert "cannot read this file or directory, expected a shared directory" in err


def test_a_scheduler_that_is_not_there_is_told(orders, refused, monkeypatch, dask_cluster):
    orders()
    monkeypatch.setattr(dask_cluster, "CONNECTING", 0.5)
    err = refused("--scheduler", "tcp://127.0.0.1:9")
    assert "--scheduler tcp://127.0.0.1:9: the scheduler does not answer" in err
    err = refused("--scheduler", "nonsense://")
    assert "--scheduler nonsense://: the scheduler does not answer" in err
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        err = refused("--scheduler", address)
    assert f"{address}: the scheduler does not answer (no answer within 0.5 s)" in err


def test_a_worker_of_several_threads_is_refused(orders, refused, tmp_path):
    orders()
    with cluster(tmp_path, "--nthreads", "2", "--no-nanny") as scheduler:
        err = refused("--scheduler", scheduler.address)
    assert (
        "has 2 threads, expected processes of one thread; start the worker with dask worker"
    ) in err


# --- a cluster of the run's own


def test_a_cluster_of_its_own_ends_with_the_run(orders, tmp_path, shared):
    folder = orders()
    write(folder / "obedient.py", COMPARATOR)
    with running(folder, "--engine", "dask", "--jobs", "2") as process:
        out, err = process.communicate(timeout=PATIENCE)
        until(lambda: not alive(process.pid))
    assert (process.returncode, err) == (ExitCode.OK, "")
    assert json.loads(out)["documents"]["total"] == DOCUMENTS


@pytest.mark.parametrize(
    ("number", "code", "jobs"),
    [(signal.SIGINT, ExitCode.INTERRUPTED, "2"), (signal.SIGTERM, ExitCode.TERMINATED, "1")],
)
def test_a_signal_ends_the_run_with_what_is_finished(orders, number, code, jobs):
    folder = orders(wait=35)
    write(folder / "obedient.py", COMPARATOR)
    with running(folder, "--engine", "dask", "--jobs", jobs, "-o", "run.json") as process:
        until((folder / "waiting").exists)
        os.killpg(process.pid, number)  # as a terminal does it
        out, err = process.communicate(timeout=PATIENCE)
        until(lambda: not alive(process.pid))
    assert "Traceback" not in err
    assert process.returncode == code, err
    record = json.loads(out)
    assert record["partial"] is True
    assert record["documents"]["total"] < DOCUMENTS


def test_a_run_that_was_killed_goes_on_where_it_ended(orders, shared, capsys):
    orders()
    command = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--allow-plugins", "--no-config")
    engine = ("--engine", "dask", "--scheduler", shared.address)
    assert main((*command, "-q", *engine, "--run-dir", "kept")) == ExitCode.OK
    capsys.readouterr()
    assert main((*command, "--jobs", "1", "--run-dir", "kept")) == ExitCode.OK
    assert f"{DOCUMENTS} documents are already finished" in capsys.readouterr().err
