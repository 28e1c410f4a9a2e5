"""`stickler audit`: suspected labels, places to check, and results of verdicts on them."""

import csv
import html
import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from stickler_cli.cli import main

FOLDER = Path(__file__).parents[2] / "fixtures" / "audit"
RUNS = [str(FOLDER / f"{name}.jsonl") for name in "abc"]
SOURCES = [str(FOLDER / "schema.json"), str(FOLDER / "gt.jsonl"), *RUNS, "--id-field", "id"]
VERDICTS = ["--verdicts", str(FOLDER / "verdicts.jsonl")]


def read_lines(file):
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


def write_lines(file, records):
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


MARKED = read_lines(FOLDER / "verdicts.jsonl")


def record_of(*more):
    """Return what the audit of the fixture finds, for several tests."""
    with redirect_stdout(io.StringIO()) as out:
        assert main(["audit", *SOURCES, "-f", "json", *more]) == 0
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def unjudged():
    return record_of()


@pytest.fixture(scope="module")
def judged():
    return record_of(*VERDICTS)


@pytest.fixture
def audit(stickler):
    def run(*more, verdicts=None, sources=SOURCES, code=0):
        if verdicts is not None:
            write_lines(Path("v.jsonl"), verdicts)
            more += ("--verdicts", "v.jsonl")
        result = stickler("audit", *sources, "-f", "json", *more)
        assert result.code == code, result.err
        return json.loads(result.out)

    return run


def test_planted_mistakes_are_the_first_suspects(unjudged):
    planted = {
        *(("slip-251", "total"), ("slip-258", "items[1].name"), ("slip-261", "total")),
        *(("slip-261", "items[0].amount"), ("slip-277", "date"), ("slip-284", "merchant")),
        ("slip-289", "items[0].name"),
    }
    suspects = [(suspect["document"], suspect["path"]) for suspect in unjudged["suspects"]]
    assert {*suspects[:7]} == planted
    # Seven of eight: all runs share the last one.
    assert ("slip-276", "items[1].amount") not in suspects
    assert unjudged["whole"]["wrong"] is None
    assert [run_record["f1"] is not None for run_record in unjudged["runs"]] == [True] * 3
    deposit = next(
        suspect for suspect in unjudged["suspects"] if suspect["path"] == "items.+0.name"
    )
    assert deposit["others"] == [{"answer": "deposit", "runs": [0, 2]}]


def test_f1_as_it_is_is_that_of_eval(unjudged, stickler):
    run = stickler("eval", *SOURCES[:3], *SOURCES[5:], "-f", "json").json
    expected = run["confusion_matrix"]["leaves"]["derived"]["cm_f1"]
    assert unjudged["runs"][0]["f1"] == pytest.approx(expected, abs=1e-12)


def test_verdicts_say_how_much_is_wrong_and_what_runs_would_have(judged):
    total = judged["whole"]
    assert total["looked_at"] == 100
    # Eight of 402 values are wrong; in items that only runs have there are eight places more.
    assert total["wrong_interval"][0] <= 8 / 410 <= total["wrong_interval"][1]
    assert all(run_record["right_f1"] > run_record["f1"] for run_record in judged["runs"])
    assert sum(field["looked_at"] for field in judged["fields"]) == 100


@pytest.mark.slow
def test_what_is_drawn_can_be_marked_and_read(audit, stickler, data):
    drawn = stickler("audit", *SOURCES, "--draw", "100")
    lines = [json.loads(line) for line in drawn.out.splitlines()]
    assert len(lines) == 100
    assert [(line["document"], line["path"]) for line in lines] == [
        (record["document"], record["path"]) for record in MARKED
    ]
    assert {line["verdict"] for line in lines} == {None}
    assert sum(1 / line["probability"] for line in lines) == pytest.approx(410)
    (data / "none.jsonl").write_text(drawn.out, "utf-8")
    record = audit("--verdicts", "none.jsonl")
    assert record["whole"]["looked_at"] == 0


@pytest.mark.slow
def test_few_verdicts_give_a_share_or_nothing(audit, stickler, data):
    drawn = stickler("audit", *SOURCES, "--draw", "20").out
    for outcome in ("neither", "prediction_right", "both_acceptable"):
        (data / "v.jsonl").write_text(
            drawn.replace('"verdict":null', f'"verdict":"{outcome}"'), "utf-8"
        )
        for run in audit("--verdicts", "v.jsonl")["runs"]:
            value, ends = run["right_f1"], run["right_f1_interval"]
            assert (value is ends is None) or 0 <= ends[0] <= value <= ends[1] <= 1, outcome


def test_what_is_drawn_says_where_it_stands_in_its_source(stickler, data):
    schema = {"type": "object", "properties": {"total": {"type": "number"}}}
    (data / "s.json").write_text(json.dumps(schema), "utf-8")
    total = {"_value": 1, "_bbox": [0.1, 0.2, 0.3, 0.4], "_page": 2}
    (data / "gt.jsonl").write_text(json.dumps({"total": total}) + '\n{"total": 1}\n', "utf-8")
    (data / "a.jsonl").write_text('{"total": 2}\n{"total": 3}\n', "utf-8")
    (data / "b.jsonl").write_text('{"total": 4}\n{"total": 5}\n', "utf-8")
    files = ("s.json", "gt.jsonl", "a.jsonl", "b.jsonl")
    lines = map(json.loads, stickler("audit", *files, "--draw", "2").out.splitlines())
    places_by_document = {line["document"]: (line["page"], line["box"]) for line in lines}
    assert places_by_document == {"line 1": ("2", [0.1, 0.2, 0.3, 0.4]), "line 2": (None, None)}


@pytest.mark.slow
def test_places_may_be_marked_in_a_page(audit, stickler, data):
    assert stickler("audit", *SOURCES, "--draw", "100", "-o", "places.html").out == ""
    page = (data / "places.html").read_text("utf-8")
    lines = [html.unescape(line) for line in re.findall('data-line="([^"]*)"', page)]
    buttons = page.partition("<fieldset")[2].partition("</fieldset>")[0]
    pressed = html.unescape(re.findall('data-more="([^"]*)"', buttons)[1])
    assert json.loads(pressed) == {"verdict": "ground_truth_wrong", "right": "bread"}
    right = [json.loads(line) | {"verdict": "ground_truth_right"} for line in lines]
    right[0] |= json.loads(pressed)
    total = audit(verdicts=right)["whole"]
    assert (total["looked_at"], total["wrong"]) == (100, pytest.approx(1 / 410))
    # Suspects of the report were not drawn; as many are listed as are announced.
    report = stickler("audit", *SOURCES, "-f", "html").out
    assert report.count("<fieldset") == 16
    assert "16 suspects among 410 values" in report
    assert "probability" not in report
    rows = stickler("audit", *SOURCES, "--draw", "2", "-f", "csv").out
    assert rows.startswith("document,path,page")
    other = stickler("audit", *SOURCES, "--draw", "2", "-o", "p.parquet")
    assert (other.code, "ends in .csv, .tsv" in other.err) == (2, True)
    two_outputs = stickler("audit", *SOURCES, "--draw", "9", "-o", "p.html", "-o", "p.csv")
    assert (two_outputs.code, "there are 2, expected at most one" in two_outputs.err) == (2, True)


@pytest.mark.slow
def test_places_may_be_marked_in_a_spreadsheet(audit, judged, stickler, data):
    stickler("audit", *SOURCES, "--draw", "100", "-o", "places.csv")
    rows = [*csv.DictReader((data / "places.csv").read_text("utf-8").splitlines())]
    verdicts = {(record["document"], record["path"]): record for record in MARKED}
    for row in rows:
        known_verdict = verdicts[row["document"], row["path"]]
        row["verdict"] = known_verdict["verdict"]
        row["right"] = json.dumps(known_verdict["right"]) if "right" in known_verdict else ""
    rows[0]["right"] = rows[0]["verdict"] and "bread"
    with (data / "places.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    assert audit("--verdicts", "places.csv")["runs"] == judged["runs"]
    result = stickler("audit", *SOURCES, "--verdicts", "none.csv")
    assert result.code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "between"), [("csv", ","), ("tsv", "\t")])
def test_ids_that_look_like_formulas_are_found_again(audit, stickler, data, suffix, between):
    for name in ("gt", "a", "b", "c"):
        text = (FOLDER / f"{name}.jsonl").read_text("utf-8").replace("slip-", "=")
        (data / f"{name}.jsonl").write_text(text, "utf-8")
    sources = [SOURCES[0], *(f"{name}.jsonl" for name in ("gt", "a", "b", "c")), "--id-field", "id"]
    places = f"places.{suffix}"
    stickler("audit", *sources, "--draw", "9", "-o", places)
    text = (data / places).read_text("utf-8")
    assert "'=" in text
    lines = [
        f"{line[:-1]}ground_truth_right{between}" if index else line
        for index, line in enumerate(text.splitlines())
    ]
    (data / places).write_text("\n".join(lines), "utf-8")
    assert audit("--verdicts", places, sources=sources)["whole"]["looked_at"] == 9


@pytest.mark.slow
def test_verdicts_of_the_page_of_a_run_are_read(audit, judged):
    page = MARKED[5] | {"format": "stickler-verdict/1", "pred": "Nagoya Noodles"}
    page["document"], page["path"] = place = ("slip-284", "merchant")
    others = [mark for mark in MARKED if (mark["document"], mark["path"]) != place]
    assert audit(verdicts=[*others, page])["whole"]["wrong"] == judged["whole"]["wrong"]


@pytest.mark.slow
def test_it_continues_from_its_directory(audit, unjudged, stickler, data):
    record = audit("--run-dir", "kept")
    assert record == unjudged
    assert sorted(path.name for path in (data / "kept").iterdir()) == ["0", "1", "2"]
    again = stickler("audit", *SOURCES, "-f", "json", "--run-dir", "kept")
    assert json.loads(again.out) == record
    assert again.err.count("60 documents are already finished") == 3


def verdict(document, path, outcome, **more):
    drawn = {"document": document, "path": path, "probability": 1, "verdict": outcome}
    return drawn | more


@pytest.mark.slow
def test_each_verdict_says_who_is_right(audit):
    verdicts = [*MARKED]

    def f1(*lines):
        right = (
            verdict(mark["document"], mark["path"], "ground_truth_right") for mark in verdicts[7:]
        )
        record = audit(verdicts=[*right, *lines])
        return [
            round(run_record["right_f1"] - run_record["f1"], 5) for run_record in record["runs"]
        ], record["whole"]

    (_, _, _), total = f1(verdict("slip-284", "merchant", "neither"))
    assert total["wrong"] > 0
    (a, b, c), total = f1(verdict("slip-284", "merchant", "both_acceptable"))
    assert (a > 0, b > 0, c > 0).count(True) == 2
    assert total["wrong"] == 0
    gains, _ = f1(verdict("slip-284", "merchant", "ground_truth_wrong", right="notebook"))
    assert [gain > 0 for gain in gains].count(True) == 1
    # A value instead of another one, or where there should be none, are alike to F1.
    gone, _ = f1(verdict("slip-284", "merchant", "ground_truth_wrong", right=None))
    assert gone == [0, 0, 0]
    agreed = verdicts.pop()
    gone, _ = f1(verdict(agreed["document"], agreed["path"], "ground_truth_wrong", right=None))
    assert all(gain < 0 for gain in gone)
    absent = verdict("slip-247", "items.+0.name", "ground_truth_wrong", right="deposit")
    (a, b, c), _ = f1(absent)
    assert (a > 0, b < 0, c > 0) == (True, True, True)


@pytest.mark.slow
def test_the_ground_truth_is_written_as_it_should_be(audit, stickler, data):
    lines = [
        verdict("slip-284", "merchant", "both_acceptable"),
        verdict("slip-261", "total", "prediction_right", right=1.5),
        verdict("slip-267", "items[2].amount", "ground_truth_wrong"),
        verdict("slip-251", "total", "neither", right=7),
        verdict("slip-277", "date", "ground_truth_wrong", right=None),
        verdict("slip-289", "items[0].name", "neither"),
        verdict("slip-247", "items.+0.name", "ground_truth_wrong"),
        verdict("slip-247", "items.+0.amount", "ground_truth_wrong", right=0.5),
        verdict("slip-252", "items.+0.name", "both_acceptable"),
        verdict("slip-300", "date", "ground_truth_right"),
    ]
    notes = audit("--write-gold", "gold", verdicts=lines)["notes"]
    assert "1 wrong values were not corrected, because no verdict gives the right value" in notes

    expected = {truth["id"]: truth for truth in read_lines(SOURCES[1])}
    expected["slip-284"]["merchant"] = {"_value": "paint", "_alternatives": ["Nagoya Noodles"]}
    expected["slip-261"]["total"] = {"_value": 55.87, "_alternatives": [1.5]}
    expected["slip-267"]["items"][2]["amount"] = 31.06
    expected["slip-251"]["total"] = 7
    expected["slip-277"].pop("date")
    expected["slip-247"]["items"].append({"name": "deposit", "amount": 0.5})
    files = [*(data / "gold").iterdir()]
    gold = {file.stem: json.loads(file.read_text("utf-8")) for file in files}
    assert gold == expected

    again = stickler("audit", *SOURCES, "--verdicts", "v.jsonl", "--write-gold", "gold")
    assert (again.code, "gold has files" in again.err) == (2, True)
    none = stickler("audit", *SOURCES, "--write-gold", "other")
    assert (none.code, "no verdicts are given" in none.err) == (2, True)


@pytest.mark.slow
def test_what_is_wrong_in_wrappers_is_mended_in_them(audit, data):
    truths = read_lines(SOURCES[1])
    for truth in truths:
        truth["total"] = {
            "_value": truth["total"],
            "_page": 2,
            "_alternatives": [1],
            "_confidence": 1,
        }
        truth["items"] = {"_value": truth["items"], "_page": 3}
    write_lines(data / "gt.jsonl", truths)
    lines = [
        verdict("slip-251", "total", "ground_truth_wrong"),
        verdict("slip-258", "total", "ground_truth_wrong", right=None),
        verdict("slip-247", "items.+0.name", "ground_truth_wrong"),
    ]
    sources = [SOURCES[0], "gt.jsonl", *SOURCES[2:]]
    audit("--write-gold", "gold", verdicts=lines, sources=sources)
    ids = ("slip-251", "slip-258", "slip-247")
    mended, gone, added = (
        json.loads((data / f"gold/{document}.json").read_text()) for document in ids
    )
    assert mended["total"] == {"_value": 49.97, "_page": 2}
    assert "total" not in gone
    assert (added["items"]["_page"], added["items"]["_value"][-1]) == (3, {"name": "deposit"})


@pytest.mark.slow
def test_a_verdict_is_on_the_values_that_were_seen(audit, judged, stickler, data):
    """A mended ground truth is right where it was wrong; another value was not judged."""
    drawn = map(json.loads, stickler("audit", *SOURCES, "--draw", "100").out.splitlines())
    lines = [line | said for line, said in zip(drawn, MARKED, strict=True)]
    before = audit("--write-gold", "gold", verdicts=lines)["whole"]
    assert before == judged["whole"]
    sources = [SOURCES[0], "gold", *SOURCES[2:]]
    after = audit("--verdicts", "v.jsonl", sources=sources)
    assert (after["whole"]["wrong"], after["whole"]["looked_at"]) == (0, 100)
    other = Path(SOURCES[1]).read_text("utf-8").replace("50.87", "60.87")
    (data / "other.jsonl").write_text(other, "utf-8")
    record = audit("--verdicts", "v.jsonl", sources=[SOURCES[0], "other.jsonl", *SOURCES[2:]])
    assert "skipped: 1 verdict on values that this ground truth does not have" in record["notes"]


@pytest.mark.slow
def test_the_answer_that_was_seen_is_right_whoever_gives_more_votes(audit, data):
    page = {"format": "stickler-verdict/1", "gt": "paint"}
    place = ("slip-284", "merchant")

    def mended(*lines):
        folder = f"gold{len([*data.iterdir()])}"
        notes = audit("--write-gold", folder, verdicts=lines)["notes"]
        return json.loads((data / folder / "slip-284.json").read_text("utf-8")), notes

    gold, _ = mended(verdict(*place, "prediction_right", pred="notebook", **page))
    assert gold["merchant"] == {"_value": "paint", "_alternatives": ["notebook"]}
    gold, _ = mended(verdict(*place, "ground_truth_wrong", gt="paint", others=[{"answer": "tea"}]))
    assert gold["merchant"] == "tea"
    # A value that the page had to cut is not in the verdict; nor is what an invented item is.
    gold, notes = mended(verdict(*place, "ground_truth_wrong", **page))
    assert (gold["merchant"], any("no verdict gives" in note for note in notes)) == ("paint", True)
    invented = verdict(
        "slip-284", "items[0].name", "ground_truth_wrong", **page | {"gt": None, "pred": "fee"}
    )
    gold, notes = mended(invented)
    assert gold["items"][0]["name"] != "fee"
    assert "skipped: 1 verdict on values that this ground truth does not have" in notes


def test_an_item_that_is_wholly_wrong_hides_that_runs_have_the_right_one(audit, data):
    slip = {"id": "x", "merchant": "Blue Door", "items": [{"name": "tea", "amount": 1.5}]}
    right = slip | {"items": [{"name": "bread", "amount": 40.0}]}
    for name, answer in (("gt", slip), ("a", right), ("b", right)):
        (data / f"{name}.jsonl").write_text(json.dumps(answer) + "\n", "utf-8")
    lines = [
        verdict("x", "merchant", "ground_truth_right"),
        verdict("x", "items[0].name", "ground_truth_wrong", right="bread"),
        verdict("x", "items[0].amount", "ground_truth_wrong", right=40),
        verdict("x", "items.+0.name", "ground_truth_right"),
        verdict("x", "items.+0.amount", "ground_truth_right"),
    ]
    sources = [SOURCES[0], "gt.jsonl", "a.jsonl", "b.jsonl", *SOURCES[5:]]
    for run in audit(verdicts=lines, sources=sources)["runs"]:
        assert (run["f1"], run["right_f1"]) == (pytest.approx(1 / 3), 1)


@pytest.mark.slow
def test_places_that_were_not_drawn_stand_for_no_others(audit, unjudged, judged):
    drawn = {(mark["document"], mark["path"]) for mark in MARKED}
    suspects = {(suspect["document"], suspect["path"]) for suspect in unjudged["suspects"]}
    places = [(truth["id"], "date") for truth in read_lines(SOURCES[1])]
    unknown = [place for place in places if place not in drawn | suspects][:3]
    lines = [verdict(*place, "ground_truth_wrong", probability=None) for place in unknown]
    record = audit(verdicts=[*MARKED, *lines])
    # None that was drawn from their stratum is wrong.
    expected = judged["whole"]["wrong"] + 3 / record["whole"]["places"]
    assert record["whole"]["wrong"] == pytest.approx(expected, abs=1e-9)
    assert any(
        ("not drawn at random; these say nothing about other values") in note
        for note in record["notes"]
    )
    assert audit(verdicts=lines)["whole"]["wrong"] is None


@pytest.mark.slow
def test_gates_are_on_shares_and_their_ends(audit, stickler):
    passing = ["agreement>=0.8", "items.amount.agreement>=0.5", "items.*.alpha>=0.5"]
    gates = [
        argument
        for gate in (*passing, "wrong.upper<=0.2", "date.pairwise.lower>=0.5")
        for argument in ("--gate", gate)
    ]
    assert [gate["passed"] for gate in audit(*VERDICTS, *gates)["gates"]] == [True] * 5
    result = stickler("audit", *SOURCES, *VERDICTS, "--gate", "wrong.upper<=0.02")
    assert result.code == 1
    assert "gate failed: wrong.upper" in result.err
    unknown = stickler("audit", *SOURCES, "--gate", "wrong<=0.02")
    assert (unknown.code, "undefined" in unknown.err) == (1, True)
    wrong_name = stickler("audit", *SOURCES, "--gate", "f1>=0.02")
    assert (wrong_name.code, "one of wrong, agreement" in wrong_name.err) == (2, True)
    assert stickler("audit", *SOURCES, "--gate", "dat.wrong<=0.02").code == 2


@pytest.mark.slow
def test_the_table_names_runs_that_share_answers(stickler, data):
    lines = read_lines(RUNS[0])
    for record in lines[::2]:
        record["merchant"] += " and a name of its own"
    write_lines(data / "a2.jsonl", lines)
    lines[1]["merchant"] = "another"
    write_lines(data / "d.jsonl", lines)
    sources = [*SOURCES[:2], "a2.jsonl", "d.jsonl", *SOURCES[3:]]
    result = stickler("audit", *sources)
    assert (
        "a2.jsonl and d.jsonl give the same answer, different from the ground truth" in result.out
    )
    page = stickler("audit", *SOURCES, *VERDICTS, "-f", "html").out
    assert "the ground truth is wrong for" in page
    rows = stickler("audit", *SOURCES, "-f", "csv").out.splitlines()
    assert rows[0].startswith("field,places,suspects")


def test_without_intervals_there_are_none(audit):
    record = audit(*VERDICTS, "--ci", "none")
    assert record["level"] is None
    assert record["whole"]["wrong_interval"] is None
    assert record["whole"]["agreement_interval"] is None


@pytest.mark.slow
def test_verdicts_that_fit_nothing_are_told(audit, stickler, data):
    notes = audit(verdicts=[verdict("slip-999", "total", "neither")])["notes"]
    assert "skipped: 1 verdict on values that this ground truth does not have" in notes
    notes = audit(verdicts=[verdict("slip-251", "total", "neither")])["notes"]
    assert "no estimate: one group of the drawn values (stratum) has no verdict" in notes
    last = json.dumps(verdict("a", "b", "c"))
    (data / "v.jsonl").write_text(f'{{"document": 1}}\nno json\n{last}\n', "utf-8")
    result = stickler("audit", *SOURCES, "--verdicts", "v.jsonl")
    assert (result.code, result.err.count("v.jsonl")) == (2, 3)


def test_a_run_that_has_fewer_documents_says_nothing_of_the_others(audit, data):
    write_lines(data / "some.jsonl", read_lines(RUNS[0])[:20])
    record = audit(sources=[*SOURCES[:2], "some.jsonl", *SOURCES[3:]])
    assert record["whole"]["places"] > 390
    assert record["runs"][0]["f1"] is not None


def test_two_runs_are_needed_and_each_once(stickler):
    for sources, message in (
        (
            SOURCES[:3],
            "1 run given, expected two runs or more: stickler audit [SCHEMA] GT RUN RUN...",
        ),
        (
            [*SOURCES[:3], SOURCES[2]],
            (f"'{SOURCES[2]}' is given twice, expected GT and each run given only"),
        ),
    ):
        result = stickler("audit", *sources)
        assert (result.code, message in result.err) == (2, True)


def test_what_cannot_be_evaluated_makes_it_incomplete(audit):
    record = audit("--work-limit", "0.0000001", code=3)
    assert record["whole"]["places"] == 0
    assert record["whole"]["alpha"] is None


def test_a_missing_answer_is_one_too(audit, data):
    records = read_lines(RUNS[0])
    for record in records:
        record.pop("date")
    for name in ("a.jsonl", "b.jsonl"):
        write_lines(data / name, records)
    right = verdict("slip-251", "date", "ground_truth_wrong", right=None)
    sources = [*SOURCES[:2], "a.jsonl", "b.jsonl", *SOURCES[5:]]
    record = audit(verdicts=[right], sources=sources)
    first = next(suspect for suspect in record["suspects"] if suspect["field"] == "date")
    assert (first["votes"], first["others"][0]["answer"]) == (2, None)


def test_an_item_that_the_same_runs_dropped_is_one_suspect(stickler, data):
    item = {"type": "object", "properties": {"name": {}, "amount": {"type": "number"}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    (data / "s.json").write_text(json.dumps(schema))
    kept, dropped = {"name": "tea", "amount": 2.5}, {"name": "a pot of jam", "amount": 7.25}
    for name, items in (("t", [kept, dropped]), ("x", [kept]), ("y", [kept])):
        (data / f"{name}.jsonl").write_text(json.dumps({"items": items}) + "\n")

    record = stickler("audit", "s.json", "t.jsonl", "x.jsonl", "y.jsonl", "-f", "json").json
    (suspect,) = record["suspects"]
    assert (suspect["path"], suspect["field"], suspect["gt"]) == ("items[1]", "items", dropped)
    assert (suspect["votes"], suspect["others"]) == (2, [{"answer": None, "runs": [0, 1]}])
    out = stickler("audit", "s.json", "t.jsonl", "x.jsonl", "y.jsonl").out
    assert (
        "2 suspects among 4 values, in 1 row (the values of a list item can share a row)\n" in out
    )


def test_without_a_schema_the_ground_truth_shows_it(stickler, data):
    gt, *runs = SOURCES[1:4]
    record = stickler("audit", gt, *runs, "--id-field", "id", "-f", "json").json

    assert (record["gt"], record["schema"]) == (gt, f"inferred from {gt}")
    assert [run_record["run"] for run_record in record["runs"]] == runs
    assert record["whole"]["suspects"] > 0
    refused = stickler("audit", gt, runs[0], "--id-field", "id")
    assert refused.code == 2
