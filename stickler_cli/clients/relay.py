"""The client of a worker process, and the thread that answers it in the process above.

So limits, turnstiles and what is known are those of the whole run.
"""

import pickle
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TypeAlias

from stickler_cli.clients.models.model import A, Model, ModelError, Q
from .allowance import Policy
from .client import Client

Asking: TypeAlias = "SimpleQueue[tuple[Connection, bytes] | None]"
"""Questions of workers, packed, and where each waits for answers; None ends it."""


class RelayedClient(Client):
    """Has the client of the run answer questions that are new to it."""

    def __init__(self, policy: Policy, relay: Callable[[bytes], bytes]) -> None:
        """Start with an empty memory; `relay` sends questions and waits for their answers."""
        super().__init__(policy)
        self._relay = relay

    def answers(self, model: Model[Q, A], questions: Iterable[Q]) -> dict[Q, A | ModelError]:
        """Return the answers of the client of the run, or raise its error."""
        keys = {question: (model, question) for question in questions}
        known: dict[Hashable, A | ModelError] = self._memory.find(keys.values())
        asked = [question for question, key in keys.items() if key not in known]
        if asked:
            answered = pickle.loads(self._relay(pickle.dumps((model, asked))))  # noqa: S301 - ours
            if isinstance(answered, Exception):
                raise answered
            found: dict[Hashable, A | ModelError] = {
                keys[question]: answer for question, answer in answered.items()
            }
            known |= found
            self._memory.keep({q: it for q, it in found.items() if not isinstance(it, ModelError)})
        return {question: known[key] for question, key in keys.items() if key in known}


def answer_workers(client: Client, asking: Asking) -> None:
    """Answer questions of workers, one after the other: so none is asked twice."""
    while (entry := asking.get()) is not None:
        connection, packed = entry
        with suppress(OSError):  # the worker is gone
            connection.send_bytes(_answered(client, packed))


def _answered(client: Client, packed: bytes) -> bytes:
    try:
        return pickle.dumps(client.answers(*pickle.loads(packed)))  # noqa: S301 - by a worker
    except Exception as error:  # noqa: BLE001 - it is raised where the worker waits
        try:
            return pickle.dumps(error)
        except Exception as other:  # noqa: BLE001 - whatever its parts are
            return pickle.dumps(RuntimeError(str(other)))
