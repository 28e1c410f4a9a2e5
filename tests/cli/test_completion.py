"""Shell completion: the commands, options and values that are offered for a word."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

STICKLER = str(Path(sys.executable).with_name("stickler"))
"""Path of the installed script, since shells complete by its name."""


def run_stickler(*arguments: str, **variables: str) -> str:
    completed = subprocess.run(
        (STICKLER, *arguments),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **variables},
    )
    return completed.stdout


def complete(typed: str) -> list[str]:
    """Return the words that bash offers for the last word in `typed`."""
    position = str(len(typed.split(" ")) - 1)
    offered = run_stickler(
        _STICKLER_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=position
    )
    return offered.split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("stickler ev", ["eval"]),
        ("stickler eval --fail-u", ["--fail-under"]),
        ("stickler eval --counting ", ["overall", "aggregate", "leaves"]),
        ("stickler eval --counting le", ["leaves"]),
        ("stickler nonsens", []),
    ],
)
def test_a_word_is_completed(typed, offered):
    assert complete(typed) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_is_shown(shell):
    script = run_stickler(
        "--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    assert f"complete_{shell}" in script
