"""A note on ground truths that repeat each other."""

import json

import pytest

from stickler_cli.cli import main

SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}


@pytest.fixture
def notes_of(tmp_path, monkeypatch, capsys):
    """Evaluate ground truths that are lines of a file, and return the notes on repeated ones."""
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
    assert capsys.readouterr().err.count("same ground truth") == 1
