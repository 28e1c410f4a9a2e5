"""`stickler accept`: policies that are made, applied and checked, and gates on confidences."""

import json
from pathlib import Path

import pytest

from .conftest import write

FIXTURE = Path(__file__).parents[2] / "fixtures" / "confidence"
SCHEMA = str(FIXTURE / "schema.json")
LABELLED = (str(FIXTURE / "calibration-gt.jsonl"), str(FIXTURE / "calibration-pred.jsonl"))
FRESH = (str(FIXTURE / "check-gt.jsonl"), str(FIXTURE / "check-pred.jsonl"))
BY_ID = ("--id-field", "id")


@pytest.fixture
def accept(stickler):
    def run(*arguments: str):
        return stickler("accept", SCHEMA, *LABELLED, *BY_ID, "-o", "policy.json", *arguments)

    return run


def policy(data) -> dict:
    return json.loads((data / "policy.json").read_text())


def test_a_policy_has_a_threshold_for_each_field_that_has_one(accept, data):
    result = accept("--max-error", "0.1", "-o", "policy.txt")
    assert result.code == 0
    promise, _, _ = (data / "policy.txt").read_text().partition("\n")
    assert promise == (
        "limit for each field: at most 10% of its accepted values are wrong, as an average over "
        "documents; probability that a field stays within this limit: at least 0.95; based on 240 "
        "labelled documents"
    )
    fields = {field["field"]: field for field in policy(data)["fields"]}
    assert fields["total"]["threshold"] is None
    assert fields["date"]["threshold"] == 0.88
    assert fields["date"]["error"] < fields["date"]["bound"] <= 0.1
    assert fields["date"]["accepted"] == pytest.approx(178 / 240)


@pytest.mark.slow
def test_together_and_a_smaller_error_let_less_pass(accept, data):
    def passing(*arguments: str) -> float:
        assert accept(*arguments).code == 0
        return sum(field["accepted"] for field in policy(data)["fields"])

    usual = passing("--max-error", "0.1")
    assert passing("--max-error", "0.1", "--together") < usual
    assert passing("--max-error", "0.05") < usual
    assert passing("--max-error", "0.1", "--assurance", "0.999") < usual


def test_the_same_documents_give_the_same_policy(accept, data):
    accept()
    first = (data / "policy.json").read_bytes()
    accept("-j", "2")
    assert (data / "policy.json").read_bytes() == first


@pytest.mark.slow
def test_what_passes_is_what_the_check_counts(accept, stickler, data):
    accept("--max-error", "0.1")
    assert (
        stickler("accept", "--apply", "policy.json", FRESH[1], *BY_ID, "-o", "routed.jsonl").code
        == 0
    )
    routed = [json.loads(line) for line in (data / "routed.jsonl").read_text().splitlines()]
    assert len(routed) == 160
    passing = [path for line in routed for path in line["pass"]]
    applied = ("accept", "--apply", "policy.json", FRESH[1], *BY_ID)
    rows = stickler(*applied, "-f", "csv").out.splitlines()
    assert (rows[0], len(rows)) == ("document,pass,review,problem", 161)
    page = stickler(*applied, "-o", "routed.html")
    assert (page.code, "ends in .csv, .tsv, .jsonl" in page.err) == (2, True)
    assert not (data / "routed.html").exists()
    assert stickler(*applied, "-o", "/dev/null").code == 0
    result = stickler("eval", SCHEMA, *FRESH, *BY_ID, "--policy", "policy.json", "-f", "json")
    outcome = result.json["policy"]
    assert sum(field["accepted"] for field in outcome["fields"]) == len(passing)
    assert outcome["overlap"] == 0
    assert all("id" in line["review"] and "total" in line["review"] for line in routed)


@pytest.mark.slow
def test_a_check_by_the_same_documents_is_warned_of(accept, stickler):
    accept()
    result = stickler("eval", SCHEMA, *LABELLED, *BY_ID, "--policy", "policy.json")
    assert "240 of these documents were also used to make the policy" in result.out


@pytest.mark.slow
def test_a_group_has_a_threshold_of_its_own(stickler, data):
    rows = [f"slip-{n:03},{'odd' if n % 2 else 'even'}" for n in range(1, 401)]
    (data / "known.csv").write_text("\n".join(["id,kind", *rows]))
    by = ("--by", "@kind", "--by-file", "known.csv")
    accepted = stickler(
        "accept", SCHEMA, *LABELLED, *BY_ID, *by, "--max-error", "0.2", "-o", "policy.json"
    )
    assert accepted.code == 0
    assert {field["group"] for field in policy(data)["fields"]} == {"odd", "even"}
    routed = stickler("accept", "--apply", "policy.json", FRESH[1], *BY_ID, *by)
    assert (routed.code, len(routed.out.splitlines())) == (0, 160)
    without = stickler("accept", "--apply", "policy.json", FRESH[1], *BY_ID)
    assert without.code == 2
    assert "the policy was made with --by @kind" in without.err
    checked = stickler("eval", SCHEMA, *FRESH, *BY_ID, *by, "--policy", "policy.json")
    assert "items.amount (even)" in checked.out


def test_a_prediction_that_cannot_be_read_goes_to_review_as_a_whole(accept, stickler, data):
    accept()
    (data / "new.jsonl").write_text('{"id": {"_value": "a"}, "date": "2026-01-01"}\nno JSON\n[1]\n')
    result = stickler("accept", "--apply", "policy.json", "new.jsonl")
    first, *other_records = map(json.loads, result.out.splitlines())
    assert first == {"document": "line 1", "pass": [], "review": ["id", "date"]}
    assert all("problem" in line for line in other_records)
    assert result.code == 3
    assert "2 predictions cannot be used" in result.err


def test_predictions_without_a_usable_id_are_named_by_side_and_line(accept, stickler, data):
    accept()
    (data / "new.jsonl").write_text('{"id": "a", "date": "2026-01-01"}\nno JSON\n{"id": "a"}\n')
    result = stickler("accept", "--apply", "policy.json", "new.jsonl", *BY_ID)
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [line["document"] for line in lines] == ["a", "pred line 2", "a"]
    assert "the id 'a' is also on line 1" in lines[2]["problem"]
    assert "2 predictions cannot be used" in result.err


def test_predictions_may_stand_below_a_key(accept, stickler, data):
    accept("--max-error", "0.1")
    lines = Path(FRESH[1]).read_text().splitlines()
    (data / "below.jsonl").write_text("\n".join(f'{{"result": {line}}}' for line in lines))
    arguments = ("accept", "--apply", "policy.json")
    completed = stickler(*arguments, "below.jsonl", "--pred-root", "result")
    plain = stickler(*arguments, FRESH[1])
    assert (completed.code, completed.out) == (0, plain.out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--by", "merchant"), "--by merchant: this key is a field of the ground truth"),
        (
            ("--by", "@directory", "--by", "@x", "--by-file", "f"),
            "--by: the option is given 2 times",
        ),
        (("--max-error", "1"), "--max-error"),
        (("--assurance", "95"), "did you mean 0.95?"),
        (
            ("--max-error", "0.001"),
            "only 240 documents have confidences, expected at least 2995",
        ),
        (("--wrapped", "none"), "no prediction has a confidence"),
    ],
)
def test_what_cannot_be_asked_is_refused(accept, arguments, message):
    result = accept(*arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_what_is_missing_is_named(stickler):
    assert "-o policy.json" in stickler("accept", SCHEMA, *LABELLED, *BY_ID).err
    result = stickler("accept", LABELLED[1])
    assert result.code == 2
    assert "GT is missing, expected stickler accept [SCHEMA] GT PRED" in result.err


def test_a_schema_that_is_left_out_is_inferred(stickler, data):
    result = stickler("accept", *LABELLED, *BY_ID, "-o", "policy.json")
    assert (result.code, "no schema given: inferred one" in result.err) == (0, True)
    assert json.loads((data / "policy.json").read_text())["fields"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.update(format="other"), "this is not a policy"),
        (
            lambda record: record.update(semantics=2),
            "the policy was made with version 2 of the semantics",
        ),
        (lambda record: record.pop("semantics"), 'the key "semantics" is missing'),
        (
            lambda record: record["fields"][0].update(threshold=0.1),
            "the policy file was changed by hand",
        ),
        (lambda record: record.pop("asked"), 'the key "asked" is missing'),
    ],
)
def test_a_policy_that_is_none_is_refused(accept, stickler, data, change, message):
    accept()
    record = policy(data)
    change(record)
    write(data / "policy.json", record)
    result = stickler("accept", "--apply", "policy.json", FRESH[1], *BY_ID)
    assert result.code == 2
    assert message in result.err


def test_a_policy_is_for_one_schema_and_the_same_options(accept, stickler, data):
    accept()
    other = json.loads(Path(SCHEMA).read_text())
    other["description"] = "another"
    write(data / "other.json", other)
    arguments = (*FRESH, *BY_ID, "--policy", "policy.json")
    assert "made with a different schema" in stickler("eval", "other.json", *arguments).err
    result = stickler("eval", SCHEMA, *arguments, "--extra-fields", "ignore")
    assert "made with different options: extra_fields was 'fa'" in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "code", "message"),
    [
        ("confidence.auroc>=0.5", 0, ""),
        ("confidence.auroc.lower>=0.65", 1, "confidence.auroc.lower 0.5"),
        ("confidence.total.ece<=0.04", 1, "confidence.total.ece 0.048"),
        ("confidence.log_loss<=2", 0, ""),
        ("confidence.*.ece<=0.045", 1, "in total, the worst of 3 matching fields"),
        (
            "confidence.items.name.auroc>=0.5",
            1,
            "there must be both right and wrong values",
        ),
        ("auroc>=0.5", 2, "did you mean confidence.auroc>=0.5?"),
        ("confidence.date.aurocc>=0.5", 2, "did you mean confidence.date.auroc>=0.5?"),
        ("confidence.nope.ece<=0.1", 2, "names the field nope, which does not exist"),
        ("confidence.ece<=5", 2, "a number between 0 and 1"),
    ],
)
def test_gates_ask_how_far_confidences_can_be_trusted(stickler, gate, code, message):
    result = stickler("eval", SCHEMA, *FRESH, *BY_ID, "-q", "--gate", gate)
    assert result.code == code
    assert message in result.err


def test_a_gate_on_confidences_fails_where_there_are_none(stickler):
    result = stickler("eval", "schema.json", "gt", "pred", "--gate", "confidence.auroc>=0.5")
    assert result.code == 1
    assert "no predicted value has a confidence" in result.err


def test_a_policy_has_a_picture(accept, data, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = accept("--max-error", "0.1", "-o", "policy.html")
    page = (data / "policy.html").read_text()
    assert page.count("<svg") == 5
    assert page.count("<circle") == 4  # nothing of total may pass
    assert "no value can skip review, because too many confident values are wrong" in page
    lines = {
        line.split()[0]: line.split()[1]
        for line in result.out.splitlines()
        if "▁" in line or "▆" in line
    }
    assert lines["merchant"].endswith("|")
    assert lines["total"].startswith("|")
    assert len(set(map(len, lines.values()))) == 1


@pytest.mark.slow
def test_a_page_shows_how_far_confidences_can_be_trusted(stickler, data):
    arguments = (*FRESH, *BY_ID, "-q", "-o", "run.html")
    assert stickler("eval", SCHEMA, *arguments).code == 0
    page = (data / "run.html").read_text()
    assert "Reliability" in page
    assert "Share of right values by confidence, for 1,120 values" in page
    assert "Share of wrong values among the most confident values" in page
    assert stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "plain.html").code == 0
    assert "Reliability" not in (data / "plain.html").read_text()


def test_a_policy_has_every_format_of_a_study(accept, data):
    assert accept("-o", "p.html", "-o", "p.md", "-o", "p.csv", "-o", "p.txt").code == 0
    fields = policy(data)["fields"]
    page = (data / "p.html").read_text()
    assert page.count('<svg class="trust"') == len(fields)
    # The title, and the heading.
    assert page.count("of its accepted values are wrong, as an average over documents; ") == 2
    text = (data / "p.md").read_text()
    assert all(
        f"- {field['field']}&#58; " in text or f"- {field['field']}: " in text for field in fields
    )
    header, *rows = (data / "p.csv").read_text().splitlines()
    assert header == "field,values,documents,threshold,accepted,error,bound"
    assert [row.split(",")[0] for row in rows] == [field["field"] for field in fields]
    assert "in the order of their confidence" not in (data / "p.txt").read_text()
