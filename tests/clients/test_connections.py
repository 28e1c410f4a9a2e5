"""Connections: each is opened once, and all are closed in order; asynchronous work has one loop."""

import asyncio
import threading

import pytest

from stickler_cli.clients.connections import Connections


@pytest.fixture
def connections():
    opened = Connections(60)
    yield opened
    opened.close()


def test_what_has_a_key_is_opened_once(connections):
    first, again = connections.opened("a", object), connections.opened("a", object)

    assert first is again
    assert connections.opened("b", object) is not first


def test_what_was_opened_last_is_closed_first_and_opened_again_when_needed(connections):
    closed = []
    for key in "abc":
        connections.opened(key, lambda key=key: key.upper(), closed.append)
    connections.opened("d", object)
    connections.close()

    assert closed == ["C", "B", "A"]
    assert connections.opened("a", lambda: "another") == "another"


def test_threads_that_need_the_same_get_the_same(connections):
    barrier, connections_made = threading.Barrier(4), []

    def work():
        barrier.wait()
        connections_made.append(connections.opened("a", object))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(connection) for connection in connections_made}) == 1


def test_asynchronous_work_is_done_on_one_loop_in_a_thread_of_its_own(connections):
    async def where():
        return asyncio.get_running_loop(), threading.get_ident()

    first, again = connections.run(where()), connections.run(where())

    assert first == again
    assert first[1] != threading.get_ident()


def test_an_error_of_asynchronous_work_is_raised_here(connections):
    async def fail():
        raise KeyError("of the work")

    with pytest.raises(KeyError, match="of the work"):
        connections.run(fail())


def test_an_asynchronous_connection_is_closed_on_the_loop_that_it_lived_on(connections):
    class Library:
        closed_on = None

        async def close(self):
            self.closed_on = asyncio.get_running_loop()

    async def loop():
        return asyncio.get_running_loop()

    lived_on = connections.run(loop())
    connection = connections.opened("a", Library, connections.close_asynchronous)
    connections.close()

    assert connection.closed_on is lived_on
    assert connections.run(loop()) is not lived_on
