"""Patterns of `--pair-by`, which find the part of a name that is used as the id for pairing."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import IO, Final, TypeAlias, cast

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError
from . import name_search
from .document import Reference
from .name_search import name_by

PAIR_BY: Final = "--pair-by"

LONGEST_NAME: Final = 500
"""Maximum length of a name to which a pattern is applied. It is enough for a path. The time of a
search grows with the square or the cube of the length."""
MOST_NAMES: Final = 1000  # number of names of each side from which a pattern is proposed

# Names that are searched together; patterns without nested repeats take milliseconds.
SEARCH_SECONDS: Final = 5
BATCH_NAMES: Final = 100  # names that wait for the search together, with their documents in memory

PATTERNS: Final = (
    r"([^/]+)$",  # different directories
    r"_(.+)$",  # names such as gt_1 and pred_1
    r"-(.+)$",
    r"^(.+)_",
    r"^(.+)-",
    r"^(.+)\.",  # names such as 1.gt and 1.pred
    r"(\d+)\D*$",
    r"^\D*(\d+)",
)
"""Patterns for common differences between names. The pattern that pairs most names is proposed. If
several patterns pair equally many names, the first of them is proposed."""

NameSearch: TypeAlias = Callable[[Sequence[str]], list[str]]
"""A function that takes names and returns the part of each name that is used as the id for
pairing."""


def parse_name_pattern(text: str) -> re.Pattern[str]:
    """Parse the value of `--pair-by`.

    Raises:
        UsageError: the text is not a regular expression.
    """
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        finding = f"the pattern {brief(text)} is not valid ({error})"
        raise UsageError([Problem(PAIR_BY, finding, "a regular expression")]) from None


def rename_by_pattern(
    documents: Callable[[], Iterable[tuple[str, Reference]]],
    name_pattern: re.Pattern[str],
    source: str,
) -> Iterator[tuple[str, Reference]]:
    """Yield documents with a new id: the part of the document's name that a pattern finds.

    Raises:
        UsageError: the pattern finds the same text in two names, a name is too long for a search,
            or a search takes too long.
    """
    full_names: dict[str, str] = {}
    with _open_search(name_pattern, source) as search:
        remaining = iter(documents())
        while batch := list(islice(remaining, BATCH_NAMES)):
            names = [name for name, _ in batch]
            for name in names:
                _check_length(name, source)
            for (name, reference), short_name in zip(batch, search(names), strict=True):
                if short_name in full_names:
                    first_name = full_names[short_name]
                    finding = (
                        f"the pattern finds the same text, {short_name!r}, in two ids of "
                        f"{source}: {first_name!r} and {name!r}"
                    )
                    expected = "a pattern that finds a different text in each id"
                    raise UsageError([Problem(PAIR_BY, finding, expected)])
                full_names[short_name] = name
                yield short_name, reference


def _check_length(name: str, source: str) -> None:
    if len(name) > LONGEST_NAME:
        finding = f"the id {brief(name)} of {source} has {len(name):,} characters"
        expected = (
            f"ids of at most {LONGEST_NAME:,} characters, so that the pattern search stays fast"
        )
        raise UsageError([Problem(PAIR_BY, finding, expected)])


def _open_search(name_pattern: re.Pattern[str], source: str) -> AbstractContextManager[NameSearch]:
    """Return a context whose value is a function that applies a pattern to names.

    If the pattern may be slow, it is applied in another process, because a process can be ended.
    """
    if _is_quick(name_pattern.pattern):
        return nullcontext(lambda names: [name_by(name_pattern, name) for name in names])
    return _search_in_process(name_pattern, source)


def _is_quick(pattern: str) -> bool:
    """Return whether a pattern has at most one repeat, and no alternatives.

    With such a pattern, the number of steps grows only with the square of a name's length.
    """
    return sum(map(pattern.count, "*+?{|")) <= 1


@contextmanager
def _search_in_process(name_pattern: re.Pattern[str], source: str) -> Iterator[NameSearch]:
    """Return a context whose value is a function that applies a pattern in another process.

    The process ends itself if a search takes too long.
    """
    with subprocess.Popen(  # noqa: S603 - a program of this package
        # Skip the modules of the site, which the program does not need.
        [sys.executable, "-I", "-S", name_search.__file__, str(SEARCH_SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="ascii",
    ) as process:
        questions, answers = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)

        def search(names: Sequence[str]) -> list[str]:
            print(json.dumps(names), file=questions, flush=True)
            matches = [json.loads(line) for line in islice(answers, len(names))]
            if len(matches) < len(names):
                raise _took_too_long(names[len(matches)], source)
            return matches

        try:
            print(json.dumps(name_pattern.pattern), file=questions, flush=True)
            yield search
        finally:
            process.kill()


def _took_too_long(name: str, source: str) -> UsageError:
    finding = (
        f"searching the id {brief(name)} of {source} for the pattern takes more than "
        f"{SEARCH_SECONDS} seconds"
    )
    expected = "a pattern without a repetition inside a repetition, such as (a+)+"
    return UsageError([Problem(PAIR_BY, finding, expected)])


def propose_pattern(gts: Sequence[str], preds: Sequence[str]) -> tuple[str, int] | None:
    """Propose a pattern for `--pair-by`; return (pattern, number of names that it pairs).

    A pattern is proposed only if both conditions are true:

    - It pairs at least half of the names in the shorter one of the two lists.
    - It never finds the same text in two names of the same list.

    Only the first `MOST_NAMES` names of each list are tested. Return None if there is no such
    pattern, or if one of these names is longer than `LONGEST_NAME`.
    """
    gts, preds = gts[:MOST_NAMES], preds[:MOST_NAMES]
    if max(map(len, (*gts, *preds)), default=0) > LONGEST_NAME:
        return None
    best: tuple[str, int] | None = None
    for pattern in PATTERNS:
        gt_parts, pred_parts = _find_parts(pattern, gts), _find_parts(pattern, preds)
        n_paired = len(gt_parts & pred_parts)
        is_unique = len(gt_parts) == len(gts) and len(pred_parts) == len(preds)
        is_most = n_paired > (best[1] if best else 0)
        if is_unique and is_most and 2 * n_paired >= min(len(gts), len(preds)):
            best = pattern, n_paired
    return best


def _find_parts(pattern: str, names: Iterable[str]) -> set[str]:
    name_pattern = re.compile(pattern)
    return {name_by(name_pattern, name) for name in names}
