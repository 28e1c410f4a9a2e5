"""Commands that start in milliseconds, because they are forks of a process that has loaded all.

Starting Python and loading the program takes half a second of processor time. A test that needs a
process of its own, to kill it or to take its streams away, but says nothing of how the process
starts, saves that time here. A fork ends as a process that was started: by `sys.exit`.
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
from typing import Self, TextIO

LARGEST_REQUEST = 1_000_000
"""Number of bytes of a command with its environment, at most."""


class Fork:
    """A command of this project that runs in a fork, with some methods of `subprocess.Popen`.

    It is the first process of a process group of its own. Its standard input is empty, and what it
    writes is kept for `communicate`. `streams` names files (their descriptors) that it has instead
    as standard input (0), output (1) or error (2); where it names None, the stream is closed.
    `most_bytes` limits the size of each file that it writes. At the end of the block of a `with`,
    all processes of the group that still run are killed.
    """

    def __init__(
        self,
        *words: str,
        folder: str | Path = ".",
        environment: dict[str, str] | None = None,
        streams: dict[int, int | None] | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._kept = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - see __exit__
        self.returncode: int | None = None
        files = {1: self._kept[0].fileno(), 2: self._kept[1].fileno()} | (streams or {})
        files_open = {number: file for number, file in files.items() if file is not None}
        request = {
            "words": words,
            "folder": str(Path(folder).absolute()),
            "environment": {**os.environ, **(environment or {})},
            "open": [*files_open],
            "most_bytes": most_bytes,
            "closed": [*(files.keys() - files_open.keys())],
        }
        self._supervisor, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other_end:
            descriptors = [other_end.fileno(), *files_open.values()]
            socket.send_fds(_server(), [json.dumps(request).encode()], descriptors)
        self.pid = json.loads(self._supervisor.recv(100))

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
            self._supervisor.settimeout(timeout)
            self.returncode = json.loads(self._supervisor.recv(100))
        return self.returncode

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
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # with more threads it cannot fork
            pass_fds=[other_end.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        connection.close()
        process.wait()

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
    """Fork again for the command; report its process id, and its exit code when it has ended."""
    process = os.fork()
    if process == 0:
        os.close(report_to)
        os.setsid()
        _run(request, dict(zip(request["open"], descriptors, strict=True)))
    for descriptor in descriptors:
        os.close(descriptor)
    with socket.socket(fileno=report_to) as report:
        report.send(json.dumps(process).encode())
        _, status = os.waitpid(process, 0)
        report.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: dict, descriptors: dict[int, int]) -> None:
    """Run the command as the program of this process, which ends with it."""
    import resource  # Windows lacks it

    from stickler_cli.__main__ import stickler

    for number, descriptor in descriptors.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
        mode = "r" if number == 0 else "w"
        _replace_stream(number, open(number, mode, closefd=False))  # noqa: SIM115 - it stays
    for number in request["closed"]:
        os.close(number)
        _replace_stream(number, None)  # as Python does where a stream is closed from the start
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where nohup began the tests
    if request["most_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["most_bytes"], request["most_bytes"]))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["words"]
    stickler()


def _replace_stream(number: int, stream: TextIO | None) -> None:
    name = ("stdin", "stdout", "stderr")[number]
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection_to_tests:
        serve(connection_to_tests)
