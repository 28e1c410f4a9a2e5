"""Whatever a directory contains, each document has the outcome that docs/reliability.md states."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.cli import main
from .input_cases import CASES, LIMIT, SOUND, Case, unreadable

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- inputs: from tests/documents/input_cases.py -->\n", "<!-- end of inputs -->\n"
WRITE = "STICKLER_WRITE_SNAPSHOTS"
SIDES = ("gt", "pred")


def tried() -> list[tuple[int, Case]]:
    """Return the cases that can be made on this machine, with their numbers."""
    can_do_everything = os.name == "posix" and os.geteuid() == 0
    return [
        (number, case)
        for number, case in enumerate(CASES)
        if not (case.without_root and can_do_everything)
    ]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The results of one run with all cases, each as ground truth and as prediction.

    The dict has the line of each document, by id, and the exit code under `code`.
    """
    root = tmp_path_factory.mktemp("inputs")
    (root / "schema.json").write_text('{"type": "object", "properties": {"v": {}}}')
    for side in SIDES:
        (root / side).mkdir()
    for number, case in tried():
        for side, other in (SIDES, SIDES[::-1]):
            name = f"{side}-é-{number}.json"
            case.make(root / side / name)
            (root / other / name).write_text(SOUND)
    documents = root / "documents.jsonl"
    code = main(
        [
            *("eval", str(root / "schema.json"), str(root / "gt"), str(root / "pred"), "-q"),
            *("--max-document-size", f"{LIMIT}", "--documents", str(documents)),
        ]
    )
    lines = [json.loads(line) for line in documents.read_text().splitlines()]
    return {"code": code, **{line["document"]: line for line in lines}}


def test_the_run_goes_on_and_its_code_says_that_something_is_missing(outcomes):
    assert outcomes["code"] == 3


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_each_input_has_the_outcome_of_the_page(outcomes, number, side):
    case = CASES[number]
    if (number, case) not in tried():
        pytest.skip(f"ROOT MAY DO EVERYTHING: {case.name} is not tried")
    line = outcomes[f"{side}-é-{number}"]
    problem_text = " ".join(line["problems"])

    assert line["status"] == getattr(case, side)
    assert line["remarks"] == ([case.remark] if case.remark else [])
    if case.expected_text and not (side == "gt" and case.gt == "unmatched"):
        position = 0
        for fragment in case.expected_text.split("…"):
            position = problem_text.index(fragment.strip(), position)
    else:
        assert bool(problem_text) == (case.gt == "unmatched")


PR_CAPBSET_DROP = 24
READING_ALL = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; see capabilities(7)


def give_up_reading_all() -> None:
    """Remove the capabilities by which root reads all files.

    The program that this process starts then respects permissions, even as root.
    """
    for capability in READING_ALL:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="permissions are given up as Linux has it")
def test_a_file_that_may_not_be_read_is_told(tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "object", "properties": {"id": {}}}')
    for side in SIDES:
        (tmp_path / side).mkdir()
        for name in ("one", "two"):
            (tmp_path / side / f"{name}.json").write_text(SOUND)
    unreadable(tmp_path / "pred" / "two.json")
    ran = subprocess.run(
        [sys.executable, "-m", "stickler_cli", "eval", "schema.json", "gt", "pred", "-f", "json"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        preexec_fn=give_up_reading_all,
    )
    (problem,) = json.loads(ran.stdout)["problems"]
    assert (problem["document"], problem["status"]) == ("two", "invalid")
    assert problem["problem"] == "pred/two.json: cannot be read: Permission denied"
    assert ran.returncode == 0


def table() -> str:
    """Return the tables of docs/reliability.md as text.

    There is a table for each pair of statuses: as prediction, and as ground truth.
    """
    tables: dict[tuple[str, str], list[str]] = {}
    for case in CASES:
        message = case.expected_text.strip().removesuffix(":") or "; ".join(
            {"byte_order_mark": ["a note counts these documents"]}.get(case.remark, [])
        )
        tables.setdefault((case.pred, case.gt), []).append(f"| {case.name} | {message} |")
    return "\n".join(
        f"With these inputs, a prediction is `{pred}`, and a ground truth is `{gt}`:\n\n"
        "| input | message |\n|---|---|\n" + "\n".join(rows) + "\n"
        for (pred, gt), rows in tables.items()
    )


def test_the_page_has_the_tables_of_these_cases():
    before, begin, remainder = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    table_text, end, after = remainder.partition(END)
    assert begin
    assert end
    if os.environ.get(WRITE):
        PAGE.write_text(before + begin + table() + end + after, encoding="utf-8", newline="\n")
        pytest.skip(f"wrote {PAGE.name}")
    assert table_text == table(), f"if this is intended, run with {WRITE}=1 and look at the diff"
