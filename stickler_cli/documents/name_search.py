"""A program that searches names for a pattern, and ends itself if a search takes too long.

Python's regular expressions have no limit of steps, and nothing in a process can end a search. The
program needs the standard library alone, so that it starts in some 20 ms.

Its first line of input is the pattern, each further line a list of names. It answers with a line
for each name, all of them JSON.
"""

import faulthandler
import json
import re
import signal
import sys


def name_by(name_pattern: re.Pattern[str], name: str) -> str:
    """Return the part of a name that pairs: the first group, or the match; else all of the name."""
    match = name_pattern.search(name)
    if match is None:
        return name
    return (match[1] if name_pattern.groups else match[0]) or name


def main() -> None:
    """Answer lists of names until there are no more, each within the seconds of the argument."""
    seconds = float(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends this process
    name_pattern = re.compile(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        # A thread of the interpreter, which waits for nothing, ends the process.
        faulthandler.dump_traceback_later(seconds, exit=True)
        for name in json.loads(line):
            sys.stdout.write(json.dumps(name_by(name_pattern, name)) + "\n")
            sys.stdout.flush()
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
