"""A note on ground truths that are equal to each other."""

import json

import pytest

from stickler_cli.cli import main

SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}


@pytest.fixture
def notes_of(tmp_path, monkeypatch, capsys):
    """Return a function that evaluates ground truths, and returns the notes on repeated ones."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))

    def run(*lines):
        for side in ("gt", "pred"):
            (tmp_path / f"{side}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        main(["eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json", "-o", "out.json"])
        return [line for line in capsys.readouterr().err.splitlines() if "same ground" in line]

    return run


def test_ten_repeated_ground_truths_are_noted_whatever_the_order_of_their_keys(notes_of):
    first, same = '{"a": 1, "b": "x"}', '{"b": "x", "a": 1, "c": null}'
    others = [json.dumps({"a": number}) for number in range(5)]

    # The first one and ten that repeat it, of which some are written differently.
    (note,) = notes_of(first, *others, *[first] * 6, *[same] * 4)
    assert "note: 10 documents have the same ground truth as another document" in note
    assert note.endswith("`stickler lint` lists these documents")
    assert notes_of(first, *others, *[first] * 9) == []


def test_the_ground_truths_of_large_runs_are_not_read_again(notes_of, monkeypatch):
    monkeypatch.setattr("stickler_cli.runs.repeated_truths.MAX_DOCUMENTS", 11)

    assert len(notes_of(*['{"a": 1}'] * 11)) == 1
    assert notes_of(*['{"a": 1}'] * 12) == []


def test_two_runs_of_the_same_documents_are_noted_once(notes_of, tmp_path, capsys):
    notes_of(*['{"a": 1}'] * 11)
    (tmp_path / "other.jsonl").write_text((tmp_path / "pred.jsonl").read_text())

    main(["diff", "schema.json", "gt.jsonl", "pred.jsonl", "other.jsonl"])
    assert capsys.readouterr().err.count("same ground truth") == 1
    main(["eval", "schema.json", "gt.jsonl", "pred.jsonl", "--repeat", "other.jsonl"])
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count("same ground truth") == 1


def test_reports_have_the_note_and_a_printed_table_is_not_preceded_by_it(
    notes_of, tmp_path, capsys
):
    (printed,) = notes_of(*['{"a": 1}'] * 11)
    note = printed.removeprefix("note: ")
    assert json.loads((tmp_path / "out.json").read_text())["notes"] == [note]

    command = ["eval", "schema.json", "gt.jsonl", "pred.jsonl"]
    main([*command, "-o", "page.html", "-o", "page.md", "--run-dir", "kept"])
    captured = capsys.readouterr()
    assert "same ground truth" not in captured.err
    start = note.partition(".")[0]
    assert start in " ".join(captured.out.split())
    for name in ("page.html", "page.md", "kept/run.json"):
        assert start in (tmp_path / name).read_text()
    main(["report", "kept"])
    assert start in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "is_read"),
    [
        ([], True),
        (["-f", "csv"], True),  # the note is on standard error
        (["-q"], False),
        (["-q", "-f", "csv"], False),
        (["-q", "-f", "json"], True),
        (["-q", "-o", "page.html"], True),
        (["-q", "--run-dir", "kept"], True),
        (["--ci", "none"], False),  # the note is about intervals
    ],
)
def test_ground_truths_are_read_for_the_note_only_if_something_shows_it(
    notes_of, monkeypatch, options, is_read
):
    notes_of(*['{"a": 1}'] * 11)
    assemblies = []

    def record_call(assembly):
        assemblies.append(assembly)
        return iter(())

    monkeypatch.setattr("stickler_cli.runs.evaluate.note_repeated_truths", record_call)
    main(["eval", "schema.json", "gt.jsonl", "pred.jsonl", *options])
    assert len(assemblies) == is_read


@pytest.mark.parametrize("command", ["errors", "compare"])
def test_commands_without_intervals_do_not_note_repeated_ground_truths(notes_of, capsys, command):
    notes_of(*['{"a": 1}'] * 10, '{"a": 2}', '{"a": 1}')
    main([command, "schema.json", "gt.jsonl", "pred.jsonl"])
    assert "same ground truth" not in capsys.readouterr().err
