"""The command line: it parses arguments, calls other packages, prints, and exits."""

from stickler_cli.runs.process import COLLECTED_AFTER
from .app import main

__all__ = ["COLLECTED_AFTER", "main"]
