"""Changes of the figures of confidences between two runs of the same documents."""

import json
import random

import pytest

from stickler_cli.cli import main
from stickler_cli.score.field_counts import CONFIDENCES
from stickler_cli.studies.diff.record import Decision, Trend
from tests.cli.conftest import SCHEMA, write
from .runs import compared, run_of, single


def wrapped(value, confidence):
    return {"_value": value, "_confidence": confidence}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with runs of forty documents: with good, with useless, and without confidences."""
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "schema.json", SCHEMA)
    draw = random.Random(3)  # noqa: S311 - no secret
    for index in range(40):
        gt = {"id": f"A-{index}", "total": index}
        is_right = draw.random() < 0.7
        total = index if is_right else index + 5
        good = 0.9 + draw.random() / 10 if is_right else draw.random() / 2
        write(folder / "gt" / f"{index}.json", gt)
        write(folder / "plain" / f"{index}.json", {**gt, "total": total})
        write(folder / "good" / f"{index}.json", {**gt, "total": wrapped(total, good)})
        write(folder / "bad" / f"{index}.json", {**gt, "total": wrapped(total, draw.random())})
    for name in ("plain", "good", "bad"):
        sources = [str(folder / source) for source in ("schema.json", "gt", name)]
        assert main(("eval", *sources, "-q", "-o", str(folder / f"{name}.json"))) == 0
    return folder


@pytest.fixture
def runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def diff(runs, capsys):
    def run(*arguments):
        code = main(("diff", *arguments, "-f", "json"))
        captured = capsys.readouterr()
        total_changes = json.loads(captured.out)["whole"]
        return code, {
            change["metric"]: change
            for change in total_changes
            if change["metric"].startswith("confidence.")
        }

    return run


def test_confidences_that_got_worse_are_told(diff):
    _, changes = diff("good.json", "bad.json")
    assert changes.keys() == {f"confidence.{name}" for name in ("auroc", "ece", "brier", "aurc")}
    assert all(change["trend"] == "regressed" for change in changes.values())
    auroc = changes["confidence.auroc"]
    assert auroc["before"] == 1
    assert auroc["change"] == pytest.approx(auroc["after"] - 1)
    assert auroc["interval"][0] <= auroc["change"] <= auroc["interval"][1] < 0
    assert auroc["p"] == 0.001


def test_confidences_that_got_better_are_told(diff):
    _, changes = diff("bad.json", "good.json")
    assert all(change["trend"] == "improved" for change in changes.values())


def test_the_same_confidences_are_identical(diff):
    _, changes = diff("good.json", "good.json")
    for change in changes.values():
        assert (change["change"], change["p"], change["trend"]) == (0, 1, "identical")


def test_nothing_is_told_where_a_run_has_no_confidences(diff):
    assert diff("plain.json", "good.json")[1] == {}


def test_the_table_names_them(runs, capsys):
    assert main(("diff", "good.json", "bad.json")) == 0
    out = capsys.readouterr().out
    assert "confidence auroc" in out
    assert "regressed" in out


@pytest.mark.parametrize(
    ("gate", "code", "message"),
    [
        ("confidence.auroc>=-0.7", 0, ""),
        ("confidence.auroc>=-0.1", 1, "change of confidence.auroc is -0."),
        ("confidence.total.ece.upper<=0.01", 1, "change of confidence.total.ece.upper is 0."),
        ("confidence.id.auroc>=0", 1, "at least one of the runs does not have this figure"),
        (
            "confidence.coverage>=0",
            1,
            "stickler diff does not compute changes of this confidence figure",
        ),
    ],
)
def test_gates_ask_what_became_of_confidences(runs, capsys, gate, code, message):
    assert main(("diff", "good.json", "bad.json", "-q", "--gate", gate)) == code
    assert message in capsys.readouterr().err


RIGHT, WRONG = True, False


def run_with(*values):
    """Return a run of documents with one value each, given as (whether right, confidence)."""
    documents = []
    for number, (right, confidence) in enumerate(values):
        side = "right" if right else "wrong"
        confidences = {CONFIDENCES: {side: {"total": [confidence]}}}
        documents.append({**single(f"d{number:02}", right), **confidences})
    return run_of(*documents)


def change_of(name, base, new):
    return next(
        change for change in compared(base, new).whole if change.metric == f"confidence.{name}"
    )


def test_a_figure_that_one_of_the_runs_has_not_has_no_change():
    base = run_with((WRONG, 0.2), *[(RIGHT, 0.9)] * 9)
    none = run_with(*[(RIGHT, 0.9)] * 10)

    for runs, figures in (((base, none), (1, None)), ((none, base), (None, 1))):
        change = change_of("auroc", *runs)
        assert (change.before, change.after) == figures
        assert (change.change, change.interval, change.p) == (None, None, None)
        assert (change.trend, change.decided_by) == (Trend.INCONCLUSIVE, Decision.ONE_SIDED)
        assert (change.runs_before, change.runs_after) == tuple(
            [] if figure is None else [figure] for figure in figures
        )
    assert change_of("brier", base, none).change == pytest.approx(0.01 - (0.04 + 9 * 0.01) / 10)


@pytest.mark.parametrize(("documents", "ends"), [(4, None), (5, (0.24, 0.24))])
def test_below_five_documents_there_is_no_interval_of_confidences(documents, ends):
    base, new = (run_with(*[(RIGHT, confidence)] * documents) for confidence in (0.9, 0.5))
    change = change_of("brier", base, new)

    assert change.change == pytest.approx(0.5**2 - 0.1**2)
    assert change.interval == (ends and pytest.approx(ends))
    # As large a change comes of two of all ways to swap them; 999 are drawn.
    assert change.p == pytest.approx(2 / 2**documents, abs=0.05)
    assert (change.trend, change.decided_by) == (Trend.INCONCLUSIVE, Decision.DOCUMENTS)


def test_swaps_that_leave_a_run_without_the_figure_have_no_part_in_p():
    base = run_with((WRONG, 0.5), *[(RIGHT, 0.9)] * 11)
    new = run_with((RIGHT, 0.9), (WRONG, 0.95), *[(RIGHT, 0.9)] * 10)
    change = change_of("auroc", base, new)

    # Half of all swaps put both errors into one run. The others change it by 1, down or up.
    assert (change.before, change.after, change.p) == (1, 0, 1)
