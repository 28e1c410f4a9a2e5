"""The command line: parses, calls, prints, exits. No logic of its own."""

from stickler_cli.runs.process import COLLECTED_AFTER
from .app import main

__all__ = ["COLLECTED_AFTER", "main"]
