"""`python -m benchmarks`: measure, print, and exit with 1 where results disagree."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import (
    accept,
    auditing,
    changes,
    coverage,
    growth,
    instructions,
    memory,
    native,
    one_document,
    planning,
    programs,
    speed,
    startup,
    workers,
)
from benchmarks.processes import ProcessError
from benchmarks.report import Report, describe_machine, render_results_page, render_text
from benchmarks.sets import SETS
from benchmarks.targets import check_targets

RESULTS = Path(__file__).parent / "RESULTS.md"

MEASURES: Final = ("speed", "growth", "workers", "startup", "memory", "one-document")
ALONE: Final = ("instructions", "coverage", "accept", "planning", "auditing")
"""Names of measurements that take minutes and have no targets, because they do not measure time.
They run only if they are requested by name."""

_NO_REFERENCE = (
    "stickler-eval is not installed for {python}; its columns are left out. It wants an"
    " environment of its own:\n"
    "  python -m venv reference && reference/bin/pip install stickler-eval==1.0.0\n"
    "  python -m benchmarks --reference-python reference/bin/python"
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=(*MEASURES, "all", *ALONE),
        default="all",
        help="the measurement; all runs those that are listed before it",
    )
    parser.add_argument("--sets", help=f"comma-separated, of {', '.join(SETS)}")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each program; the median")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the documents, once; for a rough table"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the documents")
    parser.add_argument(
        "--reference-python", default=sys.executable, help="a Python that has stickler-eval"
    )
    parser.add_argument("--no-reference", action="store_true", help="leave stickler-eval out")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="take the one document from here: schema.json, gt/ and pred*/",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument(
        "--update", action="store_true", help="make these the instructions to compare with"
    )
    parser.add_argument("--results", action="store_true", help="also write benchmarks/RESULTS.md")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen measurements; return 1 if results disagree or a program fails, else 0.

    A missed target is reported but is no failure, since it may be due to the machine.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    chosen_names = options.sets.split(",") if options.sets else []
    known_names = instructions.COUNTS if options.what == "instructions" else SETS
    unknown = [name for name in chosen_names if name not in known_names]
    if unknown:
        parser.error(f"no set is called {unknown[0]!r}; there are {', '.join(known_names)}")
    description = describe_machine()
    is_with_reference = (
        options.what in ("speed", "one-document", "all") and not options.no_reference
    )
    python = _checked_reference(options.reference_python) if is_with_reference else None
    if python is not None:
        description["stickler-eval"] = programs.reference_version(python) or ""
    reports = []
    try:
        for report in _measured(options, chosen_names, python):
            print(render_text(report), end="\n\n", flush=True)
            reports.append(report)
    except ProcessError as error:
        print(error, file=sys.stderr)
        return 1
    if options.what not in ALONE:
        reports.insert(0, check_targets(reports, rough=options.quick))
        print(render_text(reports[0]))
    if options.json:
        records = {report.title.lower(): report.record for report in reports}
        options.json.write_text(json.dumps({"machine": description, **records}, indent=1), "utf-8")
    if options.results:
        RESULTS.write_text(render_results_page(reports, description, _again(options)), "utf-8")
    return 1 if any(report.failures for report in reports) else 0


def _again(options: argparse.Namespace) -> str:
    """Return the command line that repeats this measurement with the same documents."""
    words = ["python -m benchmarks", options.what]
    words += [f"--sets {options.sets}"] if options.sets else []
    words += ["--quick"] if options.quick else [f"--repeat {options.repeat}"]
    words += [f"--seed {options.seed}", *(["--data DIR"] if options.data else [])]
    reference = (
        "--no-reference" if options.no_reference else "--reference-python REFERENCE/bin/python"
    )
    return " ".join([*words, reference])


def _checked_reference(python: str) -> str | None:
    """Return `python` if this Python has stickler-eval.

    Otherwise print how to install stickler-eval, and return None.
    """
    if programs.reference_version(python) is not None:
        return python
    print(_NO_REFERENCE.format(python=python), file=sys.stderr)
    return None


def _measured(
    options: argparse.Namespace, chosen_names: Sequence[str], reference: str | None
) -> Iterator[Report]:
    repeat = 1 if options.quick else options.repeat
    share = 0.1 if options.quick else 1.0
    seed = options.seed
    settings = speed.Settings(
        seed=seed,
        repeat=repeat,
        share=share,
        every_reference=not options.quick,
        reference_python=reference,
    )
    measures: dict[str, Callable[[], Report]] = {
        "speed": lambda: _speed(chosen_names or list(SETS), settings),
        "growth": lambda: growth.measure(repeat, seed),
        "workers": lambda: workers.measure(repeat, seed, share),
        "startup": lambda: startup.measure(5 * repeat, seed),
        "memory": lambda: memory.measure(seed, n_many=round(memory.MANY * share)),
        "one-document": lambda: one_document.measure(repeat, seed, options.data, reference),
    }
    if options.what == "instructions":
        chosen = chosen_names or list(instructions.COUNTS)
        yield instructions.measure(chosen, seed, update=options.update)
    elif options.what == "coverage":
        yield coverage.measure(seed, round(coverage.REPETITIONS * share))
        yield from changes.measure(seed, round(changes.REPETITIONS * share))
    elif options.what == "accept":
        yield accept.measure(seed, round(accept.SETS * share))
    elif options.what == "planning":
        yield planning.measure(seed, share)
    elif options.what == "auditing":
        yield auditing.measure(seed, share)
    else:
        for name in MEASURES if options.what == "all" else [options.what]:
            print(f"{name} ...", file=sys.stderr)
            yield measures[name]()


def _speed(names: Sequence[str], settings: speed.Settings) -> Report:
    with tempfile.TemporaryDirectory() as directory:
        program = native.build(Path(directory))
        if program is None:
            print("no rustc: the native floor is left out", file=sys.stderr)
        settings = replace(settings, native_floor=program)
        timed = []
        for name in names:
            print(f"  {name} ...", file=sys.stderr)
            timed.append(speed.measure(SETS[name], settings))
    return speed.report(timed)


if __name__ == "__main__":
    sys.exit(main())
