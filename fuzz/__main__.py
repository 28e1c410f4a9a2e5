"""Run one target under atheris: `python -m fuzz schema -max_total_time=60`; see README.md."""

import sys
from pathlib import Path
from tempfile import mkdtemp

import atheris

with atheris.instrument_imports(include=["stickler_cli"]):
    from fuzz.targets import TARGETS

HERE = Path(__file__).parent


def main() -> None:
    """Hand a target, its seeds and its dictionary to libFuzzer, which ends the process."""
    name, *options = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"usage: python -m fuzz {'|'.join(TARGETS)} [libFuzzer options] [corpus folders]")
    flags = [option for option in options if option.startswith("-")]
    # libFuzzer keeps what it finds in the first folder: not among the seeds.
    folders = [option for option in options if option not in flags] or [mkdtemp()]
    dictionary = f"-dict={HERE / 'words.dict'}"
    atheris.Setup([sys.argv[0], dictionary, *flags, *folders, str(HERE / name)], TARGETS[name])
    atheris.Fuzz()


main()
