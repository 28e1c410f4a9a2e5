"""`python -m benchmarks`: measure, print, and exit with 1 where results disagree."""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import programs, speed
from benchmarks.processes import ProcessError
from benchmarks.report import Report, as_text, machine, results_page
from benchmarks.sets import SETS

RESULTS = Path(__file__).parent / "RESULTS.md"

_NO_REFERENCE = (
    "stickler-eval is not installed for {python}; its columns are left out. It wants an"
    " environment of its own:\n"
    "  python -m venv reference && reference/bin/pip install stickler-eval==1.0.0\n"
    "  python -m benchmarks --reference-python reference/bin/python"
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("speed",), default="speed")
    parser.add_argument(
        "--sets", default=",".join(SETS), help=f"comma-separated, of {', '.join(SETS)}"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each program; the median")
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, once")
    parser.add_argument("--seed", type=int, default=0, help="of the documents")
    parser.add_argument(
        "--reference-python", default=sys.executable, help="a Python that has stickler-eval"
    )
    parser.add_argument("--no-reference", action="store_true", help="leave stickler-eval out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--results", action="store_true", help="also write benchmarks/RESULTS.md")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; 0, or 1 where nothing can be said of the speed."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    names = asked.sets.split(",")
    unknown = [name for name in names if name not in SETS]
    if unknown:
        parser.error(f"no set is called {unknown[0]!r}; there are {', '.join(SETS)}")
    described = machine()
    python = None if asked.no_reference else asked.reference_python
    if python is not None:
        version = programs.reference_version(python)
        if version is None:
            print(_NO_REFERENCE.format(python=python), file=sys.stderr)
            python = None
        else:
            described["stickler-eval"] = version
    settings = speed.Settings(
        seed=asked.seed,
        repeat=1 if asked.quick else asked.repeat,
        share=0.1 if asked.quick else 1.0,
        reference_python=python,
    )
    try:
        reports = [_speed(names, settings)]
    except ProcessError as error:
        print(error, file=sys.stderr)
        return 1
    for report in reports:
        print(as_text(report))
    if asked.json:
        records = {report.title.lower(): report.record for report in reports}
        asked.json.write_text(json.dumps({"machine": described, **records}, indent=1), "utf-8")
    if asked.results:
        given = arguments if arguments is not None else sys.argv[1:]
        command = shlex.join(["python", "-m", "benchmarks", *given])
        RESULTS.write_text(results_page(reports, described, command), "utf-8")
    return 1 if any(report.failures for report in reports) else 0


def _speed(names: Sequence[str], settings: speed.Settings) -> Report:
    timed = []
    for name in names:
        print(f"{name} ...", file=sys.stderr)
        timed.append(speed.measure(SETS[name], settings))
    return speed.report(timed)


if __name__ == "__main__":
    sys.exit(main())
