"""Work in threads: results and errors are passed on, and no wait takes longer than allowed."""

import threading

import pytest

from stickler_cli.core.threads import NotInTimeError, in_thread, run_within


def test_the_result_of_work_is_returned():
    assert run_within(60, lambda: 3) == 3
    assert in_thread(lambda: 3).result(60) == 3


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_of_work_is_raised_where_its_result_is_awaited(error):
    def fail():
        raise error

    with pytest.raises(type(error)) as raised:
        run_within(60, fail)
    assert raised.value is error


def test_work_that_takes_too_long_is_left_to_itself():
    over = threading.Event()

    with pytest.raises(NotInTimeError):
        run_within(0.01, lambda: over.wait(60))

    over.set()
