"""The stream of results is the same for any workers and any chunks."""

import io
import multiprocessing
import signal
import threading

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import Problem, UsageError, WorkerDiedError
from stickler_cli.documents.document import FileReference
from stickler_cli.documents.document_pair import DocumentPair, PairRef
from stickler_cli.runs import evaluate, process
from stickler_cli.runs.chunk import TOO_LITTLE_MEMORY, evaluate_chunk
from stickler_cli.runs.evaluate import chunk_results, gather
from stickler_cli.runs.executors import executor, pool
from stickler_cli.runs.job import Job, OutputsRequested, Workers
from stickler_cli.runs.process import Interruption, usable_cores
from stickler_cli.schema.compiler import compile_schema
from .conftest import processes_stand_still

PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }
)
SIDES = (
    ({"a": "x", "tags": ["p", "q"]}, {"a": "x", "tags": ["q"]}),
    ({"a": "x"}, {"a": "completely different", "b": 1}),
    ({"a": "x"}, {"a": "x"}),
    ({"a": "x"}, None),
    (None, {"a": "x"}),
    ({"a": "x"}, Problem("p.json", "it is empty")),
    (Problem("g.json", "it is empty"), {}),
)
REQUESTED = OutputsRequested(
    document_lines=True, non_match_lines=True, first_non_matches=3, accounts=True
)
JOB = Job(PLAN, Options(), requested=REQUESTED)


def pairs(count: int) -> list[DocumentPair]:
    return [DocumentPair(str(number), *SIDES[number % len(SIDES)]) for number in range(count)]


def gather_outputs(items, crew, job=JOB, total=None) -> tuple[object, ...]:
    """Evaluate pairs; return the record, the lines, and the first errors."""
    documents, errors = io.BytesIO(), io.BytesIO()
    results = chunk_results(job, items, crew, total=total)
    evaluation = gather(results, job, {"document_lines": documents, "non_match_lines": errors})
    record = orjson.dumps(evaluation.evaluation.to_dict())
    return record, documents.getvalue(), errors.getvalue(), evaluation.first_non_matches


@given(
    sides=st.lists(st.sampled_from(SIDES), max_size=24),
    crew=st.builds(Workers, st.integers(2, 4), st.none() | st.integers(1, 5)),
    known=st.booleans(),
)
def test_any_processes_and_chunks_give_the_same_bytes(sides, crew, known):
    items = [DocumentPair(str(number), *pair) for number, pair in enumerate(sides)]
    total = len(items) if known else None
    with processes_stand_still():
        assert gather_outputs(items, crew, total=total) == gather_outputs(items, Workers(1))


@pytest.mark.slow
@pytest.mark.parametrize("start_method", ["fork", "fork of a server", "new process"])
def test_real_processes_read_the_documents_themselves(tmp_path, monkeypatch, start_method):
    if start_method == "new process":
        monkeypatch.setattr(pool.sys, "platform", "darwin")
    monkeypatch.setattr(pool, "can_fork", lambda: start_method == "fork")
    refs = []
    for number in range(12):
        file = tmp_path / f"{number}.json"
        file.write_text('{"a": "x"}' if number % 3 else "{")
        side = FileReference(str(file), 1000)
        refs.append(PairRef(str(number), side, side))
    assert gather_outputs(refs, Workers(2)) == gather_outputs(refs, Workers(1))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_a_worker_that_is_slower_than_all_others_holds_up_nobody_for_ever(in_process, workers):
    # The stand-in of the first worker speaks only when no other has anything to say.
    assert gather_outputs(pairs(45), Workers(workers, 1)) == gather_outputs(pairs(45), Workers(1))


def test_what_nobody_wants_is_not_made():
    chunk = evaluate_chunk(Job(PLAN, Options()), pairs(7))
    assert (chunk.document_lines, chunk.non_match_lines) == (b"", b"")
    assert chunk.first_non_matches == []
    assert chunk.document is None
    assert chunk.evaluation.ledger.blocks is None
    assert chunk.ids == [str(number) for number in range(7)]


def test_the_first_errors_of_the_run_are_kept_and_no_more():
    job = Job(PLAN, Options(), requested=OutputsRequested(first_non_matches=3))
    first = gather_outputs(pairs(30), Workers(1), job)[3]
    # The first document has one error, the second two: a, and the key b.
    assert [error.document for error in first] == ["0", "1", "1"]


# --- as many processes as fit


@pytest.fixture
def impatient(monkeypatch):
    """Make runs start other processes at once, as if there were much work."""
    for name in ("MEASURED_SECONDS", "WORTH_FORKING", "WORTH_STARTING"):
        monkeypatch.setattr(evaluate, name, 0.0)
    monkeypatch.setattr(evaluate, "usable_cores", lambda: 2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("total", [None, 60])
def test_long_runs_are_shared_and_the_rest_is_read_once(total, monkeypatch):
    started = []
    start = pool.Pool
    monkeypatch.setattr(pool, "Pool", lambda **given: started.append(given) or start(**given))
    assert gather_outputs(pairs(60), Workers("auto"), total=total) == gather_outputs(
        pairs(60), Workers(1)
    )
    (arguments,) = started
    assert arguments["number"] == 2
    assert arguments["left"] is None or 0 < arguments["left"] < 60


def test_small_runs_stay_in_this_process(monkeypatch):
    monkeypatch.setattr(evaluate, "usable_cores", lambda: 8)
    monkeypatch.setattr(pool, "Pool", None)
    assert gather_outputs(pairs(9), Workers("auto"), total=9) == gather_outputs(
        pairs(9), Workers(1)
    )


def test_on_one_processor_all_runs_stay_in_this_process(impatient, monkeypatch):
    monkeypatch.setattr(evaluate, "usable_cores", lambda: 1)
    monkeypatch.setattr(pool, "Pool", None)
    assert gather_outputs(pairs(9), Workers("auto")) == gather_outputs(pairs(9), Workers(1))


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 6), ("250000 100000", 2), ("50000 100000", 1), ("900000 100000", 6), ("", 6)],
)
def test_a_container_s_share_of_the_processors_counts(tmp_path, monkeypatch, quota, cores):
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(process, "CPU_QUOTA", file)
    monkeypatch.setattr(process, "affinity", lambda: 6)
    assert usable_cores() == cores


def test_there_is_a_processor():
    assert process.affinity() >= 1


# --- memory


def no_memory_for(name, monkeypatch, module):
    """Make each chunk fail with a MemoryError if it contains the document `name`."""

    def evaluate(job, items):
        items = list(items)
        if any(item.id == name for item in items):
            raise MemoryError
        return evaluate_chunk(job, items)

    monkeypatch.setattr(module, "evaluate_chunk", evaluate)


@pytest.mark.parametrize("crew", [Workers(1), Workers(2, 4)])
def test_results_that_take_too_much_memory_fail_one_document(in_process, monkeypatch, crew):
    no_memory_for("7", monkeypatch, executor if crew.jobs == 1 else pool)
    evaluation = gather(chunk_results(JOB, pairs(20), crew), JOB)
    assert [entry.problem for entry in evaluation.evaluation.problems if entry.document == "7"] == [
        f"7: {TOO_LITTLE_MEMORY}"
    ]
    assert evaluation.evaluation.documents["total"] == 20


def test_a_document_that_cannot_be_read_for_lack_of_memory_is_failed(monkeypatch):
    def fail_to_read(ref, *, fingerprinted, marks=None, kinds_of=None):
        raise MemoryError

    monkeypatch.setattr("stickler_cli.runs.chunk.read_pair", fail_to_read)
    chunk = evaluate_chunk(JOB, [PairRef("one", None, None)])
    assert [entry.problem for entry in chunk.evaluation.problems] == [f"one: {TOO_LITTLE_MEMORY}"]


def test_memory_can_be_limited_on_linux_only(monkeypatch):
    monkeypatch.setattr(process.sys, "platform", "darwin")
    with pytest.raises(
        UsageError,
        match="--memory-limit: memory can only be limited on Linux, but this system is darwin",
    ):
        process.check_memory_limit()


# --- workers


def test_a_worker_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(pool, "SECONDS_TO_END", 0.0)
    started = pool.Worker(JOB, pool.packed_job(JOB, "--jobs"), None)
    assert started.connection.recv_bytes() == pool.READY
    started.end()
    assert multiprocessing.active_children() == []


def test_forks_end_by_themselves_when_nobody_has_work_for_them(monkeypatch):
    monkeypatch.setattr(pool, "can_fork", lambda: True)
    started = []
    for _ in range(3):
        started.append(pool.Worker(JOB, b"", None, started))
    for worker in started:
        assert worker.connection.recv_bytes() == pool.READY
    # One that held an end of another's pipe would keep it waiting until it is killed.
    assert [worker.end() for worker in started] == ["exit code 0"] * 3


def test_a_process_with_threads_is_not_forked():
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        assert not process.can_fork()
    finally:
        waiting.set()
        thread.join()


def test_threads_that_python_does_not_know_are_known_to_the_system(tmp_path, monkeypatch):
    status = tmp_path / "status"
    monkeypatch.setattr(process, "STATUS", status)
    monkeypatch.setattr(process.sys, "platform", "linux")
    monkeypatch.setattr(process.threading, "active_count", lambda: 1)  # whatever else runs here
    for threads, forkable in ((1, True), (2, False), (12, False)):
        status.write_text(f"Name:\tpython\nThreads:\t{threads}\nSigQ:\t0/1\n")
        assert process.can_fork() is forkable


def test_workers_that_cannot_be_started_are_an_error(monkeypatch):
    def refuse(**_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(pool, "Worker", refuse)
    with pytest.raises(WorkerDiedError, match="--jobs: a worker process cannot be started"):
        gather(chunk_results(JOB, pairs(3), Workers(2)), JOB)


# --- interruption


def test_an_interruption_ends_a_run_between_documents():
    interruption = Interruption()

    def items():
        for pair in pairs(9):
            if pair.id == "4":
                interruption.signal = signal.SIGINT
            yield pair

    workers = Workers(1, chunk_size=2)
    results = chunk_results(JOB, items(), workers, interruption=interruption)
    assert [name for chunk in results for name in chunk.ids] == [
        "0",
        "1",
        "2",
        "3",
    ]  # 4 is given up


def test_a_second_signal_does_what_it_did_before_the_run():
    interruption = Interruption()
    before = signal.getsignal(signal.SIGINT)

    def ended(number, frame):
        raise KeyboardInterrupt("at once")

    signal.signal(signal.SIGINT, ended)
    try:
        with interruption.listening():
            signal.raise_signal(signal.SIGINT)
            assert interruption.signal == signal.SIGINT
            with pytest.raises(KeyboardInterrupt, match="at once"):
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread_nothing_listens():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def listen() -> None:
        with Interruption().listening():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [before]


def test_no_more_processes_are_started_than_cores_can_use(monkeypatch):
    numbers = []

    class Counted(pool.Pool):
        def __init__(self, *, number, **kwargs):
            numbers.append(number)
            super().__init__(number=1, **kwargs)

    monkeypatch.setattr(pool, "Pool", Counted)
    monkeypatch.setattr(evaluate, "usable_cores", lambda: 2)

    assert gather_outputs(iter(pairs(5)), Workers(100_000)) == gather_outputs(
        iter(pairs(5)), Workers(1)
    )
    assert numbers == [64]
