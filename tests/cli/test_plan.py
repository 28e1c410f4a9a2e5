"""`stickler plan`: how many documents are needed."""

import json

import pytest

from .conftest import write

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "string"}},
}


@pytest.fixture
def run_of(stickler, data):
    """Evaluate documents, some with a wrong `a`, and return the path of the run file."""

    def evaluate_documents(name, number, wrong):
        write(data / "s.json", SCHEMA)
        for index in range(number):
            write(data / f"{name}-gt/{index:03}.json", {"a": 1, "b": "x"})
            write(data / f"{name}-pred/{index:03}.json", {"a": 1 + (index in wrong), "b": "x"})
        result = stickler(
            "eval", "s.json", f"{name}-gt", f"{name}-pred", "-q", "-o", f"{name}.json"
        )
        assert result.code == 0, result.err
        return f"{name}.json"

    return evaluate_documents


@pytest.fixture
def plan(stickler):
    def run(*arguments):
        result = stickler("plan", *arguments, "-f", "json")
        assert result.code == 0, result.err
        record = json.loads(result.out)
        return {(size["asked"], size["figure"]): size for size in record["sizes"]} | {"": record}

    return run


def test_half_widths_of_every_field_that_has_values(plan, run_of):
    sizes = plan(run_of("r", 50, {3, 9, 20, 31, 44}), "--half-width", "0.02", "--all")
    assert [*sizes] == [("half width", "a.f1"), ("half width", "b.f1"), ""]
    assert 250 < sizes["half width", "a.f1"]["documents"] < 400
    assert sizes["half width", "b.f1"]["documents"] == 91
    assert sizes["half width", "a.f1"]["likely"] is None
    assert len(sizes["half width", "a.f1"]["curve"]) == 24


def test_gates_pass_or_never_will(plan, run_of):
    gates = ["a.f1>=0.8", "a.f1>=0.95", "documents.right>=0.8", "leaves:recall>=0.9", "a.f1<=0.99"]
    sizes = plan(
        run_of("r", 50, {3, 9, 20, 31, 44}),
        *(gate_word for g in gates for gate_word in ("--gate", g)),
    )
    numbers = {
        name: (size["documents"], size["likely"]) for (_, name), size in [*sizes.items()][:-1]
    }
    assert numbers["documents.right"][0] < numbers["documents.right"][1]
    assert numbers["leaves:recall"][0] is not None
    assert sizes["gate", "a.f1"]["limit"] == 0.99
    size = plan("r.json", "--gate", "a.f1>=0.95")["gate", "a.f1"]
    assert (size["documents"], size["likely"], size["curve"]) == (None, None, [])


def test_a_change_by_two_runs_and_by_one(plan, run_of):
    old, new = run_of("old", 60, {1, 2, 3, 4}), run_of("new", 60, {1, 2, 3, 5, 6})
    by_two = plan("--base", old, "--new", new, "--detect", "0.03", "--of", "a.f1")
    assert by_two[""]["run"] == new
    assert "diff says" not in json.dumps(by_two[""]["notes"])
    by_one = plan(new, "--detect", "0.02", "--of", "a.f1", "--correlation", "0.9")
    assert "correlation of 0.9" in by_one[""]["notes"][0]
    assert "0.02 improved only if its --margin is smaller" in by_one[""]["notes"][1]
    planned = plan(
        new, "--detect", "0.02", "--of", "a.f1", "--correlation", "0.1", "--power", "0.9"
    )
    name = ("change", "a.f1")
    assert by_two[name]["documents"] < by_one[name]["documents"] < planned[name]["documents"]
    right = plan("--base", old, "--new", new, "--detect", "0.05", "--of", "documents.right")
    assert right["change", "documents.right"]["documents"] > 20


def test_where_nothing_differs_a_change_is_one_of_single_values(plan, run_of):
    sizes = plan(run_of("r", 50, ()), "--detect", "0.02", "--of", "b.f1")
    assert sizes["change", "b.f1"]["documents"] > 100


def test_fewer_than_ten_documents_give_a_range(plan, stickler, run_of):
    questions = ("--half-width", "0.05", "--detect", "0.1", "--gate", "f1>=0.9")
    sizes = plan(run_of("r", 6, {2}), *questions)
    for name in (("half width", "f1"), ("change", "f1"), ("gate", "f1")):
        low, high = sizes[name]["between"]
        assert sizes[name]["documents"] is None
        assert high is None or low < high / 5
    assert "fewer than 10 documents" in sizes[""]["notes"][0]
    table = stickler("plan", "r.json", *questions, "--gate", "f1>=0.99").out
    assert " to never" in table
    assert "never\n" in stickler("plan", "r.json", "--gate", "f1>=0.999").out or " to " in table


@pytest.mark.parametrize(("largest_size", "is_noted"), [(2, False), (30, True)])
def test_a_note_tells_that_gates_hold_less_for_unequal_documents(
    plan, stickler, data, largest_size, is_noted
):
    # Sizes 1 and 2, twenty documents of each, have a variation of 1/3, below 0.75; of 1 and 30,
    # it is 14.5 / 15.5.
    write(data / "s.json", {"properties": {"a": {"type": "array", "items": {"type": "string"}}}})
    for index in range(40):
        values = ["x"] * (largest_size if index % 2 else 1)
        write(data / f"gt/{index:02}.json", {"a": values})
        write(data / f"pred/{index:02}.json", {"a": values})
    assert stickler("eval", "s.json", "gt", "pred", "-q", "-o", "r.json").code == 0

    notes = plan("r.json", "--gate", "f1>=0.9")[""]["notes"]

    assert any("sizes of documents differ much" in note for note in notes) is is_noted
    assert any("let 48 to 70% of the gates pass" in note for note in notes) is is_noted


def test_the_table_has_numbers_and_a_picture(stickler, run_of, monkeypatch):
    run = run_of("r", 50, {3, 9, 20, 31, 44})
    table = stickler("plan", run, "--half-width", "0.02", "--gate", "f1>=0.99").out
    assert "never" in table
    page = stickler("plan", run, "--half-width", "0.02", "--detect", "0.05", "-f", "html").out
    assert page.count("<figure>") == 2
    assert "the dotted line is at 0.02; the curve reaches the line at the point" in page
    rows = stickler("plan", run, "--half-width", "0.02", "-f", "csv").out.splitlines()
    assert rows[0].startswith("figure,asked,limit,now")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["r.json"], "arguments are missing"),
        (["--half-width", "0.02"], "arguments are missing"),
        (["r.json", "--base", "r.json", "--detect", "0.1"], "arguments are missing"),
        (["r.json", "--half-width", "0.02", "--of", "tp"], "expected one of precision"),
        (["r.json", "--half-width", "0.02", "--of", "fone"], "did you mean f1?"),
        (["r.json", "--half-width", "0.02", "--of", "documents.wrong"], "documents.right"),
        (["r.json", "--gate", "f1==0.5"], "cannot be planned for"),
        (
            ["r.json", "--half-width", "0.02", "--of", "aa.f1"],
            "--of: 'aa.f1' names the field aa",
        ),
    ],
)
def test_other_questions_are_refused(stickler, run_of, arguments, message):
    run_of("r", 12, {1})
    result = stickler("plan", *arguments)
    assert (result.code, message in result.err) == (2, True), result.err
