"""Run one target under atheris: `python -m fuzz schema -max_total_time=60`; see README.md."""

import re
import sys
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import atheris
import orjson

from fuzz.mutation import mutate_value

with atheris.instrument_imports(include=["stickler_cli"]):
    from fuzz.targets import TARGETS
    from stickler_cli.cli.commands import settings_of_commands
    from stickler_cli.core.option import options_of

HERE = Path(__file__).parent
DICTIONARY = HERE / "words.dict"
WORDS = re.findall(r'^"\\"(.*)\\""$', DICTIONARY.read_text(), re.MULTILINE)
WORDS += [
    f"--{name.replace('_', '-')}"
    for settings in settings_of_commands().values()
    for name in options_of(settings)
]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Return changed input for libFuzzer.

    Two times in three, the result is JSON that was changed as a JSON value. Otherwise, or if `data`
    is not JSON, libFuzzer changes the bytes.
    """
    random = Random(seed)
    if random.random() < 2 / 3:
        try:
            changed = orjson.dumps(mutate_value(orjson.loads(data), WORDS, random))
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            changed = b""
        if 0 < len(changed) <= max_size:
            return changed
    return bytes(atheris.Mutate(data, max_size))


def main() -> None:
    """Run libFuzzer on a target, with its seeds and dictionary; libFuzzer ends the process."""
    name, *options = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(
            f"usage: python -m fuzz {'|'.join(TARGETS)} [libFuzzer options] [folders or files]"
        )
    flags = [option for option in options if option.startswith("-")]
    inputs = [option for option in options if option not in flags]
    if not any(Path(name).is_file() for name in inputs):
        # libFuzzer writes new inputs to the first folder, which must not be that of the seeds.
        inputs = [*(inputs or [mkdtemp()]), str(HERE / name)]
    atheris.Setup(
        [sys.argv[0], f"-dict={DICTIONARY}", *flags, *inputs], TARGETS[name], custom_mutator=mutate
    )
    atheris.Fuzz()


main()
