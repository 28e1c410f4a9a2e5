"""A program that applies a pattern to names. A timer ends it if a search takes too long.

Regular expressions of Python have no step limit, and a search can be stopped only by ending its
process. Therefore this program runs in a process of its own. It needs only the standard library, so
it starts in some 20 ms.

The first line of its input is the pattern. Each further line is a list of names, and the program
answers with a line for each name. All lines are JSON.
"""

import faulthandler
import json
import re
import signal
import sys


def name_by(name_pattern: re.Pattern[str], name: str) -> str:
    """Return the part of a name that is used as the id for pairing.

    This is the first group of the pattern. If the pattern has no group, it is the whole match. If
    the pattern does not match, or this part is empty, it is the whole name.
    """
    match = name_pattern.search(name)
    if match is None:
        return name
    return (match[1] if name_pattern.groups else match[0]) or name


def main() -> None:
    """Answer each list of names until the input ends. Exit if a list takes too many seconds."""
    seconds = float(sys.argv[1])
    # Ctrl-C is handled by the run, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name_pattern = re.compile(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        # Only a thread of the interpreter can end the process in the middle of a search.
        faulthandler.dump_traceback_later(seconds, exit=True)
        for name in json.loads(line):
            sys.stdout.write(json.dumps(name_by(name_pattern, name)) + "\n")
            sys.stdout.flush()
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
