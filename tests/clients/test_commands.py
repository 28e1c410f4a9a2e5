"""`stickler eval` with model comparators, as a user runs it."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.cli import main

pytestmark = pytest.mark.slow

KEY = "sk-a-secret-of-this-test"
PREFIX = "x-aws-stickler-"

SCHEMA = {
    "type": "object",
    "properties": {
        "street": {
            "type": "string",
            f"{PREFIX}comparator": "LLMComparator",
            f"{PREFIX}comparator-config": {"model": "openai:judge"},
        },
        "kind": {
            "type": "string",
            f"{PREFIX}comparator": "SemanticComparator",
            f"{PREFIX}comparator-config": {"model_id": "openai:small"},
        },
    },
}


@pytest.fixture
def documents(tmp_path):
    """Write a schema and three pairs of documents; the last pair is wrong."""
    places = [tmp_path / name for name in ("schema.json", "gt.jsonl", "pred.jsonl")]
    gt = [{"street": f"Main St {number}", "kind": "car"} for number in range(3)]
    pred = [{"street": f"MAIN ST {number}", "kind": "automobile"} for number in range(2)]
    pred.append({"street": "Side St 2", "kind": "banana"})
    places[0].write_text(json.dumps(SCHEMA))
    places[1].write_text("".join(json.dumps(row) + "\n" for row in gt))
    places[2].write_text("".join(json.dumps(row) + "\n" for row in pred))
    return [str(place) for place in places]


def test_a_second_run_makes_no_call_and_gives_the_same_bytes(server, documents, capsys):
    assert main(["eval", *documents, "-f", "json"]) == 0
    first = capsys.readouterr()
    n_requests = len(server.requests)
    assert main(["eval", *documents, "-f", "json"]) == 0
    second = capsys.readouterr()

    assert n_requests == 1 + 3
    assert len(server.requests) == n_requests
    assert second.out == first.out
    assert "models: 4 calls, 0 answers from the cache, 339 tokens, cost unknown" in first.err
    assert "models: 0 calls, 6 answers from the cache" in second.err


def test_quiet_says_nothing_of_models(server, documents, capsys):
    assert main(["eval", *documents, "--quiet"]) == 0

    assert capsys.readouterr().err == ""


def test_the_judges_reason_stands_beside_the_error(server, documents, capsys):
    server.verdict = lambda first, other: (first.lower() == other.lower(), "another `street`")
    assert main(["eval", *documents, "--show-non-matches", "9", "-f", "table"]) == 0

    assert "below threshold (0.000 < 0.5): another `street`" in capsys.readouterr().out


def test_the_judges_reason_cannot_write_markdown(server, documents, capsys):
    server.verdict = lambda first, other: (False, "see [this](https://evil.example) <b>now</b>")
    assert main(["eval", *documents, "--show-non-matches", "9", "-f", "markdown"]) == 0

    out = capsys.readouterr().out
    (line, *_) = [line for line in out.splitlines() if "evil.example" in line]
    assert "[this]" not in line
    assert "<b>" not in line


def test_a_dry_run_tells_what_would_be_asked_and_asks_nothing(
    server, documents, capsys, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert main(["eval", *documents, "--dry-run"]) == 0

    out = capsys.readouterr().out
    assert server.requests == []
    assert out.startswith("A run would make 4 calls to models, and more if")
    rows = [line.split() for line in out.splitlines() if "Comparator" in line]
    # 3 texts of 1, 3 and 2 tokens; 3 pairs of some 40 characters and the instructions
    assert rows[0] == ["SemanticComparator", "openai:small", "0", "3", "1", "6"]
    assert rows[1][:5] == ["LLMComparator", "openai:judge", "0", "3", "3"]


def test_a_dry_run_without_models_or_questions_says_so(server, documents, capsys, tmp_path):
    plain = tmp_path / "plain.json"
    plain.write_text('{"type": "object", "properties": {"street": {"type": "string"}}}')
    assert main(["eval", str(plain), *documents[1:], "--dry-run"]) == 0
    assert capsys.readouterr().out == "No comparator in this schema asks a model.\n"

    assert main(["eval", documents[0], documents[1], documents[1], "--dry-run"]) == 0
    assert capsys.readouterr().out == "With these settings, a run calls no model.\n"
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"street": ""}\n')
    assert main(["eval", documents[0], str(empty), str(empty), "--dry-run"]) == 0
    assert capsys.readouterr().out == "With these settings, a run calls no model.\n"


def test_offline_a_miss_is_an_error_of_its_documents(server, documents, capsys):
    main(["eval", *documents, "--quiet"])
    n_requests = len(server.requests)
    with open(documents[2], "a", encoding="utf-8") as pred:  # noqa: PTH123 - one more line
        pred.write('{"street": "Long Rd", "kind": "car"}\n')
    with open(documents[1], "a", encoding="utf-8") as gt:  # noqa: PTH123 - one more line
        gt.write('{"street": "Long Road", "kind": "car"}\n')

    assert main(["eval", *documents, "--offline", "-f", "json"]) == 3
    result = capsys.readouterr()
    assert json.loads(result.out)["documents"]["evaluated"] == 3
    assert "the cache has no answer to this question" in result.out
    assert len(server.requests) == n_requests


def test_offline_without_the_cache_is_a_contradiction(documents, capsys):
    assert main(["eval", *documents, "--offline", "--no-cache"]) == 2

    assert "--offline: --no-cache is also given" in capsys.readouterr().err


def test_a_runaway_is_a_usage_error_before_anything_is_paid(server, documents, capsys):
    assert main(["eval", *documents, "--max-pairs", "2"]) == 2

    assert (
        "--max-pairs: judges would be asked about 3 pairs of the first 3 documents (0 more "
        "have saved answers); no model was asked, expected at most 2" in capsys.readouterr().err
    )
    assert server.requests == []


def test_of_standard_input_the_limit_is_kept_as_the_run_goes(
    server, documents, capsys, monkeypatch
):
    text = io.TextIOWrapper(io.BytesIO(Path(documents[2]).read_bytes()), "utf-8")
    monkeypatch.setattr(sys, "stdin", text)
    options = ["--max-pairs", "2", "-f", "json"]
    assert main(["eval", *documents[:2], "-", *options]) == 3

    result = capsys.readouterr()
    assert json.loads(result.out)["documents"]["evaluated"] == 2
    assert "the limit of 2 pairs (--max-pairs) has been reached" in result.out


def test_a_run_that_goes_on_does_not_count_again_what_it_has(server, documents, capsys, tmp_path):
    command = ["eval", *documents, "--no-cache", "--run-dir", str(tmp_path / "run"), "-q"]
    assert main([*command, "--max-pairs", "3"]) == 0
    assert main([*command, "--max-pairs", "0"]) == 0

    assert "--max-pairs" not in capsys.readouterr().err


def test_a_server_that_fails_fails_the_documents_and_tells_no_key(server, documents, capsys):
    server.faults += [400] * 99
    assert main(["eval", *documents, "-f", "json"]) == 3

    result = capsys.readouterr()
    assert "answered 400" in result.out
    assert KEY not in result.out + result.err


def test_a_refused_key_ends_the_run_and_says_which(server, documents, capsys):
    server.faults += [401] * 9
    assert main(["eval", *documents]) == 2

    result = capsys.readouterr()
    assert (
        "with the model openai:judge cannot be used: the model's server answered 401" in result.err
    )
    assert "is OPENAI_API_KEY set to an API key of this server?" in result.err
    assert result.out == ""
    assert KEY not in result.err
    assert len(server.requests) == 1


@pytest.fixture
def street_only(documents, tmp_path):
    """The documents with a schema of one field, which a judge compares."""
    schema = tmp_path / "street.json"
    schema.write_text(
        json.dumps({"type": "object", "properties": {"street": SCHEMA["properties"]["street"]}})
    )
    return [str(schema), *documents[1:]]


def test_what_failed_is_told(server, street_only, capsys):
    server.faults += [500, 500]
    options = ["--model-attempts", "2", "--model-concurrency", "1"]
    assert main(["eval", *street_only, *options, "--requests-per-minute", "60000"]) == 3

    summary = "models: 4 calls (2 failed, 1 asked again), 0 answers from the cache, 220 tokens"
    assert summary in capsys.readouterr().err


def test_a_budget_of_tokens_ends_the_asking_and_reports_what_there_is(server, street_only, capsys):
    options = ["--max-tokens", "110", "--model-concurrency", "1", "-f", "json"]
    assert main(["eval", *street_only, *options]) == 3

    result = capsys.readouterr()
    assert json.loads(result.out)["documents"]["evaluated"] == 1
    assert "the limit of 110 tokens (--max-tokens) has been reached" in result.out
    assert "models: 1 calls, 2 questions not asked, 0 answers from the cache" in result.err


def test_a_budget_of_dollars_needs_known_prices(server, documents, capsys, tmp_path):
    assert main(["eval", *documents, "--max-cost", "1"]) == 2
    error = capsys.readouterr().err
    assert "openai:small has no known price, so --max-cost cannot be enforced" in error
    assert server.requests == []

    titan = json.loads(json.dumps(SCHEMA))
    titan["properties"] = {"kind": titan["properties"]["kind"]}
    config = titan["properties"]["kind"][f"{PREFIX}comparator-config"]
    config["model_id"] = "amazon.titan-embed-text-v2:0"
    schema = tmp_path / "titan.json"
    schema.write_text(json.dumps(titan))
    options = ["--max-cost", "0.00000001", "--model-concurrency", "1"]
    assert main(["eval", str(schema), *documents[1:], *options]) == 3
    assert "the limit of --max-cost, $1e-08, has been reached" in capsys.readouterr().out
    assert len(server.requests) == 1


def test_each_model_has_its_own_server_and_key(server, documents, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/nowhere")
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("JUDGE_KEY", "a key for judges")
    endpoints = [f"--endpoint=openai:{name}={server.url}/{name}" for name in ("judge", "small")]
    assert main(["eval", *documents, *endpoints, "--key-from", "openai:judge=JUDGE_KEY"]) == 0

    keys = {path: headers["authorization"] for path, headers, _ in server.requests}
    assert keys == {
        "/judge/chat/completions": "Bearer a key for judges",
        "/small/embeddings": "Bearer none",
    }


def test_places_in_a_configuration_file_are_those_of_the_command_line(
    server, documents, tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.chdir(tmp_path)
    lines = [
        "no_cache = true",
        "model_attempts = 1",
        f'endpoint = ["openai:judge={server.url}/a", "openai:small={server.url}/b"]',
    ]
    (tmp_path / "stickler.toml").write_text("\n".join(lines))
    assert main(["eval", *documents]) == 0

    assert {path.split("/")[1] for path in server.paths} == {"a", "b"}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "--endpoint=openai:jugde=http://x/v1",
            "no field in the schema asks the model openai:jugde, expected",
        ),
        ("--endpoint=openai:judge", 'the value is "openai:judge", expected MODEL=URL'),
        (
            "--key-from=openai:judge=sk-12",
            "the value is not shown, because it may be a key",
        ),
        ("--model-concurrency=500", "expected a whole number from 1 to 128"),
        ("--max-cost=0", "expected a number above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(server, documents, capsys, option, message):
    assert main(["eval", *documents, option]) == 2

    assert message in " ".join(capsys.readouterr().err.split())
    assert server.requests == []


def test_a_missing_key_is_told_before_the_run(backends, documents, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    assert main(["eval", *documents]) == 2
    assert "needs a key in OPENAI_API_KEY" in capsys.readouterr().err


TOGETHER = ["--no-cache", "--no-config", "-f", "json"]


def in_processes(documents, jobs, *options):
    """Run `stickler eval` in a new process.

    This is needed because workers have the environment of the first worker that was started.
    """
    command = [sys.executable, "-m", "stickler_cli", "eval", *documents, *TOGETHER]
    return subprocess.run(
        [*command, "--jobs", jobs, *options],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def many_documents(documents, tmp_path):
    """Write 130 pairs of documents. Their kinds are 20 different texts, and all streets differ.

    Each of two processes takes 64 pairs, and meets all kinds. Two pairs are left for the process
    that is free first.
    """
    for name, convert in (("gt.jsonl", str), ("pred.jsonl", str.upper)):
        lines = [
            json.dumps(
                {"street": convert(f"{number} Main St"), "kind": convert(f"kind {number % 20}")}
            )
            for number in range(130)
        ]
        (tmp_path / name).write_text("\n".join(lines))
    return documents


def test_several_processes_give_the_same_and_ask_the_same_together(server, many_documents, capsys):
    # A single process needs no start of another one.
    assert main(["eval", *many_documents, *TOGETHER, "--jobs", "1"]) == 0
    single = capsys.readouterr()
    n_requests = len(server.requests)
    together = in_processes(many_documents, "2")

    assert together.returncode == 0
    assert together.stdout == single.out
    assert together.stderr == single.err
    assert "models: 131 calls, 0 answers from the cache" in single.err
    assert len(server.requests) == 2 * n_requests


def test_a_budget_is_that_of_all_processes(server, many_documents):
    options = ["--max-tokens", "2200", "--model-concurrency", "1"]
    run = in_processes(many_documents, "2", *options)

    assert run.returncode == 3
    assert "models: 20 calls, " in run.stderr
    assert "the limit of 2200 tokens (--max-tokens) has been reached" in run.stderr


def test_a_refused_key_ends_a_run_of_several_processes(server, many_documents):
    server.faults += [401] * 99
    run = in_processes(many_documents, "2")

    assert run.returncode == 2
    assert "cannot be used: the model's server answered 401" in run.stderr
    assert len(server.requests) <= 4  # each worker's, and once more what they could not do


def test_progress_tells_what_was_asked(server, documents, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["eval", *documents, "--progress"]) == 0

    assert "4 calls" in capsys.readouterr().err


@pytest.fixture
def one_pair(documents, tmp_path):
    """Write one pair of documents whose streets differ; return the paths of the schema and both."""
    places = [tmp_path / "gt.json", tmp_path / "pred.json"]
    places[0].write_text('{"street": "Main St", "kind": "car"}')
    places[1].write_text('{"street": "Side St", "kind": "automobile"}')
    return [documents[0], *map(str, places)]


def test_compare_tells_what_the_judge_says(server, one_pair, capsys):
    server.verdict = lambda first, other: (False, "another street")
    assert main(["compare", *one_pair]) == 0

    result = capsys.readouterr()
    assert "another street" in result.out
    assert "models: 2 calls" in result.err
    assert len(server.requests) == 2


def test_compare_as_json_has_the_judges_reason(server, one_pair, capsys):
    server.verdict = lambda first, other: (False, "another street")
    assert main(["compare", *one_pair, "-f", "json", "--no-cache"]) == 0

    street, kind = json.loads(capsys.readouterr().out)["places"][0]["parts"]
    assert street["reason"] == "another street"
    assert "reason" not in kind
    assert len(server.requests) == 2  # although pairs are looked at twice


def test_what_the_judge_says_cannot_write_markdown(server, one_pair, capsys):
    server.verdict = lambda first, other: (False, "see [this](https://evil.example) <b>now</b>")
    assert main(["compare", *one_pair, "-f", "markdown"]) == 0

    out = capsys.readouterr().out
    assert "evil.example" in out
    assert "[this]" not in out
    assert "<b>" not in out


def test_compare_offline_tells_what_is_missing(server, one_pair, capsys):
    assert main(["compare", *one_pair, "--offline"]) == 3

    assert "the cache has no answer to this question" in capsys.readouterr().err
    assert server.requests == []


def test_explaining_a_list_asks_no_judge_about_pairs_that_were_not_chosen(server, tmp_path, capsys):
    schema = {
        "type": "object",
        "properties": {"streets": {"type": "array", "items": SCHEMA["properties"]["street"]}},
    }
    names = ["First Street", "Second Street", "Third Street"]
    contents = [
        schema,
        {"streets": names},
        {"streets": [name.upper() for name in reversed(names)]},
    ]
    places = [tmp_path / f"{number}.json" for number in range(3)]
    for place, content in zip(places, contents, strict=True):
        place.write_text(json.dumps(content))
    assert main(["compare", *map(str, places), "--all", "--no-cache"]) == 0

    assert len(server.requests) == 3
    assert "case aside" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["-f", "json"], ["--show-non-matches", "9"], ["-f", "html"]])
def test_a_resumed_run_tells_the_reasons_of_a_judge(server, documents, capsys, tmp_path, options):
    server.verdict = lambda first, other: (False, f"{first} is \U0001f3e0 not {other}")
    first_folder, other = str(tmp_path / "one"), str(tmp_path / "other")
    main(["eval", *documents, "--run-dir", first_folder, *options])
    total_output = capsys.readouterr().out
    assert "not Side St 2" in (tmp_path / "one" / "non-matches.jsonl").read_text("utf-8")

    main(["eval", *documents, "--run-dir", other, *options])
    capsys.readouterr()
    (tmp_path / "other" / "run.json").unlink()
    main(["eval", *documents, "--run-dir", other, *options])
    assert capsys.readouterr().out == total_output.replace(
        first_folder, other
    )  # the next command names the run
    for name in ("run.json", "documents.jsonl", "non-matches.jsonl"):
        assert (tmp_path / "other" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
