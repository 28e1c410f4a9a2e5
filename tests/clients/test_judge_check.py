"""`stickler judge-check`: the verdicts of judges are compared with those of people."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from schemas.writing import schema_of
from stickler_cli.cli import main
from stickler_cli.studies.judges.answer import kappa

PREFIX = "x-aws-stickler-"
SCHEMA = {
    "title": "Place",
    "type": "object",
    "properties": {
        "street": {
            "type": "string",
            f"{PREFIX}comparator": "LLMComparator",
            f"{PREFIX}comparator-config": {"model": "openai:judge"},
        },
        "kind": {
            "type": "string",
            f"{PREFIX}comparator": "LLMComparator",
            f"{PREFIX}comparator-config": {"model": "openai:other", "scale": "0-1"},
            f"{PREFIX}threshold": 0.6,
        },
        "code": {"type": "string", f"{PREFIX}comparator": "ExactComparator"},
    },
}
LINES = [
    ("street", "Main St", "MAIN ST", "same"),
    ("street", "Side St", "SIDE ST", "same"),
    ("street", "Main St", "Side St", "different"),
    ("street", "Hill Rd", "HILL RD", "different"),  # a false accept: case is all that differs
    ("street", "Hill Rd", "Hill Road", "same"),  # a false reject
    ("kind", "car", "CAR", "same"),
    ("kind", "car", "bus", "different"),
]


@pytest.fixture
def judges(server, tmp_path, monkeypatch):
    """Write a schema and labelled pairs; return their paths, as arguments for the command line."""

    def judge(message):
        first, other = json.loads(message).values()
        alike = first.lower() == other.lower()
        if '"car"' in message:
            return {"score": 0.6 if alike else 0.5, "reason": "a grade"}
        return {"equivalent": alike, "reason": "case aside"}

    monkeypatch.setattr(server, "judge", judge)
    schema, pairs = tmp_path / "schema.json", tmp_path / "pairs.jsonl"
    schema.write_text(json.dumps(SCHEMA))
    pairs.write_text(lines_of(LINES))
    return [str(schema), str(pairs)]


def lines_of(rows):
    keys = ("path", "gt", "pred", "verdict")
    return "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)


@pytest.mark.slow
def test_judges_are_held_against_what_people_say(server, judges, capsys):
    assert main(["judge-check", *judges, "-f", "json"]) == 0

    report = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema_of("stickler-judge-check")).validate(report)
    street, kind = report["fields"]
    assert street["field"] == "street"
    assert street["model"] == "openai:judge"
    assert (street["pairs"], street["same"]) == (5, 3)
    assert (street["false_accepts"], street["false_rejects"]) == (1, 1)
    assert street["agreement"] == 0.6
    assert street["false_accept_rate"] == 0.5
    # by chance: 3/5 * 3/5 + 2/5 * 2/5 = 0.52
    assert street["kappa"] == pytest.approx((0.6 - 0.52) / 0.48)
    low, high = street["agreement_interval"]
    assert 0 < low < 0.6 < high < 1
    assert (kind["agreement"], kind["kappa"], kind["false_accept_rate"]) == (1.0, 1.0, 0.0)
    assert report["total"]["pairs"] == 7
    assert [disagreement["kind"] for disagreement in report["disagreements"]] == [
        "false_accept",
        "false_reject",
    ]
    assert report["disagreements"][0] == {
        "field": "street",
        "kind": "false_accept",
        "gt": '"Hill Rd"',
        "pred": '"HILL RD"',
        "similarity": 1.0,
        "reason": "case aside",
    }
    assert report["usage"] == "7 calls, 0 answers from the cache, 770 tokens, cost unknown"


@pytest.mark.slow
def test_the_table_says_it_in_a_sentence(server, judges, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["judge-check", *judges]) == 0

    out = capsys.readouterr().out
    assert out.startswith("Place (")
    assert (
        "the judges agree with people on 0.7143 of pairs, kappa 0.4167; they accept 1 of 3 "
        "pairs that people call different, and reject 1 of 4 pairs that people call the same"
        in " ".join(out.split())
    )
    assert 'street: "Hill Rd" and "HILL RD" match, but are different' in out
    assert "models: 7 calls" in out


@pytest.mark.slow
def test_a_gate_on_kappa_decides_the_exit_code(server, judges, capsys):
    assert main(["judge-check", *judges, "--fail-under", "0.4", "-q"]) == 0
    assert main(["judge-check", *judges, "--fail-under", "0.5", "-q"]) == 1

    assert "gate failed: kappa 0.41" in capsys.readouterr().err


@pytest.mark.slow
def test_pairs_without_a_verdict_are_told_and_count_nowhere(server, judges, capsys):
    server.faults += [400]
    options = ["-f", "json", "--model-concurrency", "1"]
    assert main(["judge-check", *judges, *options]) == 3

    result = capsys.readouterr()
    total = json.loads(result.out)["total"]
    assert (total["pairs"], total["failed"]) == (6, 1)
    assert "error: 1 of 7 pairs were not judged" in result.err
    assert json.loads(result.out)["disagreements"][-1]["kind"] == "failed"
    assert len(server.requests) == 7


@pytest.mark.slow
def test_too_many_pairs_are_refused_before_any_is_asked(server, judges, capsys):
    assert main(["judge-check", *judges, "--max-pairs", "6"]) == 2

    error = capsys.readouterr().err
    assert "judges would be asked about 7 pairs of 7 lines (0 more have saved answers)" in error
    assert server.requests == []


@pytest.mark.slow
def test_lines_of_other_fields_are_left_out(server, judges, capsys, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(lines_of([*LINES, ("code", "a", "b", "different")]))
    assert main(["judge-check", *judges]) == 0
    assert "note: 1 pair skipped, because the field asks no model" in capsys.readouterr().out

    pairs.write_text(lines_of([("code", "a", "b", "different")]))
    assert main(["judge-check", *judges]) == 3
    assert "error: 0 of 0 pairs were not judged" in capsys.readouterr().err


def test_a_schema_that_asks_nobody_is_refused(tmp_path, capsys):
    schema, pairs = tmp_path / "schema.json", tmp_path / "pairs.jsonl"
    schema.write_text('{"type": "object", "properties": {"a": {"type": "string"}}}')
    pairs.write_text(lines_of([("a", "x", "y", "same")]))
    assert main(["judge-check", str(schema), str(pairs)]) == 2

    assert "no field asks a model, expected a field with LLMComparator" in capsys.readouterr().err


RATINGS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


@pytest.mark.slow
@given(RATINGS)
def test_kappa_is_that_of_scikit_learn(ratings):
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn IS NOT INSTALLED")
    first, other = np.array(ratings, bool).T
    if len({*first.tolist(), *other.tolist()}) == 1:
        assert kappa(first, other) is None  # chance alone would agree on all
        return

    expected = sklearn.cohen_kappa_score(first, other)
    assert kappa(first, other) == pytest.approx(expected, abs=1e-12)


def test_kappa_of_nothing_is_none():
    assert kappa(np.zeros(0, bool), np.zeros(0, bool)) is None


@pytest.mark.slow
def test_the_answers_on_disk_are_forgotten_before_judges_are_asked(server, judges, capsys):
    assert main(["judge-check", *judges, "--quiet"]) == 0
    n_requests = len(server.requests)
    assert n_requests == len(LINES)
    assert main(["judge-check", *judges, "--quiet"]) == 0
    assert len(server.requests) == n_requests
    capsys.readouterr()

    assert main(["judge-check", *judges, "--clear-cache"]) == 0
    assert f"{len(LINES)} answers cleared from " in capsys.readouterr().err
    assert len(server.requests) == 2 * n_requests


def test_offline_there_must_be_answers(server, judges, capsys):
    assert main(["judge-check", *judges, "--quiet"]) == 0

    assert main(["judge-check", *judges, "--clear-cache", "--offline"]) == 2
    assert "--clear-cache: --offline is also given" in capsys.readouterr().err
    assert main(["judge-check", *judges, "--offline", "--quiet"]) == 0  # nothing was forgotten
