"""The client of this process, for comparisons that are not given one."""

from collections.abc import Iterator
from contextlib import contextmanager

from stickler_cli.clients.client import Client
from stickler_cli.clients.policy import Policy

_desk: Client | None = None


def desk() -> Client:
    """Give the desk of this process."""
    return _desk or open_desk(Policy())


def open_desk(policy: Policy) -> Client:
    """Set a new desk up for this process, in place of the one before."""
    global _desk  # noqa: PLW0603 - limits and connections are the process's, whoever asks
    close_desk()
    _desk = Client(policy, remembers_failures=False)
    return _desk


def close_desk() -> None:
    """Let go of the cache and of all connections; whoever asks next opens them again."""
    global _desk  # noqa: PLW0603 - as above
    if _desk is not None:
        _desk.close()
    _desk = None


@contextmanager
def at_desk(policy: Policy) -> Iterator[Client]:
    """Ask under a policy while the block runs, and as before after it."""
    before = desk().policy
    try:
        yield open_desk(policy)
    finally:
        open_desk(before)
