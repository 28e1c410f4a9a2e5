"""pytest: `assert_extraction`, and a run file of all that a session asserted.

This module is loaded wherever pytest is and stickler is installed, and so loads nothing itself.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import stickler_cli

if TYPE_CHECKING:
    from stickler_cli import Scored, Scorer

_OPTION: Final = "--stickler-runs"


class Extractions:
    """Asserts in one test; the session remembers the results."""

    def __init__(self, test: str, found: "dict[str, tuple[Scorer, dict[str, Scored]]]") -> None:
        """Take the id of the test, and the results of earlier tests, by schema."""
        self._test, self._found, self._calls = test, found, 0

    def assert_extraction(
        self,
        gt: Any,
        pred: Any,
        schema: Any,
        *,
        min_score: float | None = None,
        gates: Iterable[str] = (),
    ) -> None:
        """Fail unless a prediction has a score, and reaches gates; without either, any error fails.

        Args:
            gt: the ground truth, as `Scorer.score` takes it.
            pred: likewise, whatever it is.
            schema: a `Scorer`, or what makes one.
            min_score: in [0, 1]; what the score must reach.
            gates: such as `total.f1>=1`.
        """
        __tracebackhide__ = True  # pytest shows the test, not this
        if repr(schema) not in self._found:  # the values of one that is JSON
            is_scorer = isinstance(schema, stickler_cli.Scorer)
            made = schema if is_scorer else stickler_cli.Scorer(schema)
            self._found[repr(schema)] = made, {}
        scorer, names = self._found[repr(schema)]
        scored = scorer.score(gt, pred)
        self._calls += 1
        names[f"{self._test} {self._calls}" if self._calls > 1 else self._test] = scored
        failed = [] if min_score is None or scored.score >= min_score else [f"below {min_score:g}"]
        judged = {gate: scored.judged(gate) for gate in gates}
        failed += [f"{gate} is {value:g}" for gate, (value, passed) in judged.items() if not passed]
        if failed or (min_score is None and not judged and not scored.passed):
            told = ", ".join([f"score {scored.score:.4f}", *failed])
            pytest.fail(f"{told}\n{scored.explain()}", pytrace=False)


_FOUND: Final = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    told = "Write a run file of all extractions of each schema, for stickler diff."
    parser.getgroup("stickler").addoption(_OPTION, metavar="DIR", help=told)


@pytest.fixture
def stickler(request: pytest.FixtureRequest) -> Extractions:
    """Asserts on extractions: `stickler.assert_extraction(gt, pred, schema)`."""
    return Extractions(request.node.nodeid, request.config.stash.setdefault(_FOUND, {}))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the run files; of each process its own, where there are several."""
    directory = session.config.getoption(_OPTION)
    worker = getattr(session.config, "workerinput", {}).get("workerid", "")
    for at, (scorer, scored) in enumerate(session.config.stash.get(_FOUND, {}).values()):
        if directory:
            parts = re.sub(r"\W+", "_", scorer.plan.model_name), str(at or ""), worker
            place = Path(directory, f"{'-'.join(filter(None, parts))}.json")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(scorer.evaluation(scored).report("json"), encoding="utf-8")
