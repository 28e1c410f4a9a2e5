"""The command line: parses, calls, prints, exits. No logic of its own."""

from .app import main

__all__ = ["main"]
