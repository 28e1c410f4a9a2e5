"""pytest plug-in: `assert_extraction`, and a run file with all assertions of a session.

Every pytest process in an environment with stickler loads this module, so it imports little.
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
    """The fixture of one test. Its assertions compare extractions with the ground truth."""

    def __init__(
        self, test: str, scored_by_schema: "dict[str, tuple[Scorer, dict[str, Scored]]]"
    ) -> None:
        """Create the fixture of a test. `scored_by_schema` collects the results of the session."""
        self._test, self._scored_by_schema, self._calls = test, scored_by_schema, 0

    def assert_extraction(
        self,
        gt: Any,
        pred: Any,
        schema: Any,
        *,
        min_score: float | None = None,
        gates: Iterable[str] = (),
    ) -> None:
        """Fail if a prediction scores below `min_score`, or does not pass a gate.

        If there are neither `min_score` nor gates, fail if the prediction has any error.

        Args:
            gt: the ground truth, as `Scorer.score` takes it.
            pred: the prediction, as `Scorer.score` takes it.
            schema: a `Scorer`, or a schema that `Scorer` takes.
            min_score: minimum score, in [0, 1].
            gates: gates on the result, such as `total.f1>=1`.
        """
        __tracebackhide__ = True  # hides this frame, so that pytest shows the test
        # Schemas are told apart by their JSON values.
        if repr(schema) not in self._scored_by_schema:
            is_scorer = isinstance(schema, stickler_cli.Scorer)
            new_scorer = schema if is_scorer else stickler_cli.Scorer(schema)
            self._scored_by_schema[repr(schema)] = new_scorer, {}
        scorer, scored_by_name = self._scored_by_schema[repr(schema)]
        scored = scorer.score(gt, pred)
        self._calls += 1
        scored_by_name[f"{self._test} {self._calls}" if self._calls > 1 else self._test] = scored
        failed = [] if min_score is None or scored.score >= min_score else [f"below {min_score:g}"]
        gate_figures = {gate: scored.judged(gate) for gate in gates}
        failed += [
            f"{gate} is {value:g}" for gate, (value, passed) in gate_figures.items() if not passed
        ]
        if failed or (min_score is None and not gate_figures and not scored.passed):
            failure = ", ".join([f"score {scored.score:.4f}", *failed])
            pytest.fail(f"{failure}\n{scored.explain()}", pytrace=False)


_SCORED_BY_SCHEMA: Final = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command-line option for the run file."""
    description = (
        "For each schema, write a run file with all extractions, so that stickler diff can compare "
        "it with another run."
    )
    parser.getgroup("stickler").addoption(_OPTION, metavar="DIR", help=description)


@pytest.fixture
def stickler(request: pytest.FixtureRequest) -> Extractions:
    """The fixture `stickler`. Tests call `stickler.assert_extraction(gt, pred, schema)`."""
    return Extractions(request.node.nodeid, request.config.stash.setdefault(_SCORED_BY_SCHEMA, {}))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the run files at the end of the session. Each process of a session writes its own."""
    directory = session.config.getoption(_OPTION)
    worker = getattr(session.config, "workerinput", {}).get("workerid", "")
    for schema_index, (scorer, scored) in enumerate(
        session.config.stash.get(_SCORED_BY_SCHEMA, {}).values()
    ):
        if directory:
            name_parts = (
                re.sub(r"\W+", "_", scorer.plan.model_name),
                str(schema_index or ""),
                worker,
            )
            file = Path(directory, f"{'-'.join(filter(None, name_parts))}.json")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(scorer.evaluation(scored).report("json"), encoding="utf-8")
