"""Commands that start in milliseconds, because they are forks of a process that has loaded all.

Starting Python and loading the program takes half a second of processor time. A test that needs a
process of its own, to kill it or to take its streams away, but says nothing of how the process
starts, saves that time here. A fork ends as a process that was started: by `sys.exit`.

A fork cannot show what happens while a program starts. All forks have the hash seed of one process,
so they agree on the order of a set of strings. The variables of Python (`PYTHON...`) and those that
a module reads when it is imported have the values of when the first fork was made. A stream that
is closed is closed after all modules are loaded.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self, TextIO

LARGEST_REQUEST = 1_000_000
"""Number of bytes of a command with its environment, at most."""


class Fork:
    """A command of this project that runs in a fork, with some methods of `subprocess.Popen`.

    It is the first process of a process group of its own. Its standard input is empty, and what it
    writes is kept for `communicate`. `streams` names files (their descriptors) that it has instead
    as standard output (1) or error (2), and None for each stream that is closed. `most_bytes`
    limits the size of each file that it writes. At the end of the block of a `with`, all processes
    of the group that still run are killed.
    """

    def __init__(
        self,
        *words: str,
        folder: str | Path = ".",
        streams: dict[int, int | None] | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._kept = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - see __exit__
        self.returncode: int | None = None
        files = {1: self._kept[0].fileno(), 2: self._kept[1].fileno()} | (streams or {})
        request = {
            "words": words,
            "folder": str(Path(folder).absolute()),
            "environment": {**os.environ},
            "streams": [(number, file is not None) for number, file in files.items()],
            "most_bytes": most_bytes,
        }
        self._supervisor, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other_end:
            files_open = [file for file in files.values() if file is not None]
            descriptors = [other_end.fileno(), *files_open]
            with suppress(ConnectionError):  # then no answer comes
                socket.send_fds(_server(), [json.dumps(request).encode()], descriptors)
        self.pid = self._receive(60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait(60)
        for file in (self._supervisor, *self._kept):
            file.close()

    def wait(self, timeout: float) -> int:
        """Wait until the fork has ended; return its exit code, negative after a signal."""
        if self.returncode is None:
            self.returncode = self._receive(timeout)
        return self.returncode

    def _receive(self, timeout: float) -> int:
        """Return the next number that is reported: the process id, then the exit code."""
        self._supervisor.settimeout(timeout)
        message = self._supervisor.recv(100)
        assert message, "the process that forks has ended; the first test that failed shows why"
        return json.loads(message)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait until the fork has ended; return what it wrote to standard output and error."""
        self.wait(timeout)
        for file in self._kept:
            file.seek(0)
        out, err = (file.read().decode(errors="surrogateescape") for file in self._kept)
        return out, err

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _server() -> socket.socket:
    """Start the process that forks; return the connection to it, whose end ends the process."""
    connection, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other_end:
        process = subprocess.Popen(
            (sys.executable, __file__, str(other_end.fileno())),
            cwd="/",  # no test may be the place of all others
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # with more threads it cannot fork
            pass_fds=[other_end.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        connection.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()

    atexit.register(end)
    return connection


def serve(connection: socket.socket) -> None:
    """Fork for each request, until the other side closes the connection."""
    from stickler_cli.cli import main

    with tempfile.TemporaryDirectory() as folder:  # a run loads all that runs need
        gt = Path(folder, "gt.json")
        gt.write_text('{"id": "A-1", "total": 1}', encoding="utf-8")
        assert main(["eval", str(gt), str(gt), "-qo", f"{folder}/run.json", "--no-config"]) == 0
    supervisors: list[int] = []
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, LARGEST_REQUEST, 4)
        if not message:
            return
        supervisors.append(os.fork())
        if supervisors[-1] == 0:
            connection.close()
            _supervise(json.loads(message), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        supervisors = [each for each in supervisors if os.waitpid(each, os.WNOHANG)[0] == 0]


def _supervise(request: dict, report_to: int, *descriptors: int) -> None:
    """Fork again for the command, which reports its process id; report its exit code at its end."""
    process = os.fork()
    if process == 0:
        os.setsid()  # before the tests know the process, as they kill its group
        os.write(report_to, json.dumps(os.getpid()).encode())
        os.close(report_to)
        _run(request, *descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    with socket.socket(fileno=report_to) as report:
        _, status = os.waitpid(process, 0)
        report.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: dict, *descriptors: int) -> None:
    """Run the command as the program of this process, which ends with it."""
    import resource  # Windows lacks it

    from stickler_cli.__main__ import stickler

    remaining_descriptors = iter(descriptors)
    for number, is_open in request["streams"]:
        _replace_stream(number, next(remaining_descriptors) if is_open else None)
    # As at the start of a program, also if a shell or nohup ignores signals of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if request["most_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["most_bytes"], request["most_bytes"]))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["words"]
    stickler()


def _replace_stream(number: int, descriptor: int | None) -> None:
    """Put an open file in the place of standard output or error, or close a stream (None)."""
    stream: TextIO | None = None  # as Python has it where a stream is closed
    if descriptor is None:
        os.close(number)
    else:
        os.dup2(descriptor, number)
        os.close(descriptor)
        # Python opens standard error so that each line is written at once, whatever is in it.
        as_error: dict[str, Any] = {"buffering": 1, "errors": "backslashreplace"}
        stream = open(number, "w", closefd=False, **(as_error if number == 2 else {}))  # noqa: SIM115 - it stays
    name = ("stdin", "stdout", "stderr")[number]
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection_to_tests:
        serve(connection_to_tests)
