"""The command line: parses, calls, prints, exits. No logic of its own."""

from stickler_cli.cli.app import main

__all__ = ["main"]
