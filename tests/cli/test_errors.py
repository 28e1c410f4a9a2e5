"""`stickler errors`: the errors of a finished or a new run, filtered and sorted."""

import json
import re
from pathlib import Path

import pytest

from stickler_cli.reports import row_reports
from .conftest import write

SOURCES = ("schema.json", "gt", "pred")
OTHER = {"id": "A-2", "total": 9.5, "lines": [{"sku": "mouse", "qty": 7}]}


@pytest.fixture
def kept_run(stickler, data: Path) -> Path:
    """A run directory of three documents; the last one has other errors."""
    write(data / "gt" / "three.json", json.loads((data / "gt" / "one.json").read_text()))
    write(data / "pred" / "three.json", OTHER)
    stickler("eval", *SOURCES, "--run-dir", "night", "-q")
    return data / "night"


def paths(result) -> list[str]:
    return [json.loads(line)["path"] for line in result.out.splitlines()]


@pytest.mark.parametrize("sources", [("night",), SOURCES])
def test_all_errors_are_those_of_the_run(stickler, kept_run, sources):
    result = stickler("errors", *sources, "-f", "jsonl")

    assert (result.code, result.err) == (0, "")
    assert result.out == (kept_run / "non-matches.jsonl").read_text()
    assert len(result.out.splitlines()) > 4


def test_quiet_prints_the_list_and_verbose_the_reason_of_each_error(stickler, kept_run):
    quiet, verbose = (stickler("errors", "night", *flags) for flags in (["-q"], ["-q", "-v"]))

    assert (quiet.code, quiet.err) == (verbose.code, verbose.err) == (0, "")
    assert quiet.out == stickler("errors", "night").out != ""
    assert "below threshold" in verbose.out
    assert "below threshold" not in quiet.out


def test_without_a_schema_the_ground_truth_tells_it(stickler, kept_run):
    result = stickler("errors", "gt", "pred", "-f", "jsonl")

    stickler("eval", "gt", "pred", "-q", "--non-matches", "inferred.jsonl")
    assert result.code == 0
    assert result.out == Path("inferred.jsonl").read_text() != ""
    assert "inferred" in result.err


def test_sources_may_stand_in_the_configuration(stickler, kept_run):
    write(Path("stickler.toml"), 'schema = "schema.json"\ngt = "gt"\npred = "none"\n')

    fresh, finished = (stickler("errors", name, "-f", "jsonl") for name in ("pred", "night"))

    assert fresh.out == finished.out == (kept_run / "non-matches.jsonl").read_text()


def test_errors_of_a_field_with_and_without_indexes(stickler, kept_run):
    def errors_of(field):
        return paths(stickler("errors", "night", "-f", "jsonl", "--field", field))

    all_paths = paths(stickler("errors", "night", "-f", "jsonl"))
    assert errors_of("total") == ["total", "total"]
    assert errors_of("lines.*") == [
        path for path in all_paths if path.startswith("lines[") if "." in path
    ]
    assert set(errors_of("lines[1].sku")) == {"lines[1].sku"}
    assert errors_of("l*") == [path for path in all_paths if path.startswith("lines")]


def test_errors_of_a_class_in_any_spelling(stickler, kept_run):
    def errors_of(name):
        return stickler("errors", "night", "-f", "jsonl", "--class", name).out

    assert errors_of("invented_item") == errors_of("invented item") == errors_of("Invented-Item")
    (error,) = map(json.loads, errors_of("invented_item").splitlines())
    assert (error["document"], error["path"]) == ("two", "lines[1]")


def test_errors_of_documents(stickler, kept_run):
    def errors_of(name):
        out = stickler("errors", "night", "-f", "jsonl", "--document", name).out
        return {json.loads(line)["document"] for line in out.splitlines()}

    assert errors_of("two") == {"two"}
    assert errors_of("t*") == {"two", "three"}
    assert errors_of("one") == set()


def test_errors_in_other_orders_are_the_same_errors(stickler, kept_run):
    def by(order):
        out = stickler("errors", "night", "-f", "jsonl", "--sort", order).out
        return [json.loads(line) for line in out.splitlines()]

    all_errors = by("document")
    for order in ("field", "class", "similarity"):
        assert sorted(map(str, by(order))) == sorted(map(str, all_errors))
    likeness = [error.get("similarity", 2) for error in by("similarity")]
    assert likeness == sorted(likeness)
    assert likeness != [error.get("similarity", 2) for error in all_errors]
    names = [error["field"] for error in by("field")]
    assert names == sorted(names)
    assert by("class")[0]["class"] == "invented_item"


def test_the_table_says_how_many_of_how_many(stickler, kept_run):
    total = len((kept_run / "non-matches.jsonl").read_text().splitlines())

    lines = stickler("errors", "night", "--field", "total").out.splitlines()

    assert lines[0] == f"2 of {total} errors, in 2 documents"
    assert lines[2] == "2  2  total: 2 wrong, no two alike (three, two)"
    assert lines[3].split() == ["document", "field", "gt", "pred"]
    assert lines[4].split()[:2] == ["three", "total"]
    flat = stickler("errors", "night", "--field", "total", "--sort", "document").out.splitlines()
    assert flat[2].split() == ["document", "field", "outcome", "class", "gt", "pred", "reason"]
    assert flat[3].split()[:3] == ["three", "total", "FD"]
    none = stickler("errors", "night", "--document", "one")
    assert (none.code, none.out) == (0, f"0 of {total} errors\n")
    sentence = "2 of these errors lie inside items or objects that are also listed as errors"
    by_class = ("errors", "night", "--class", "invented_value")
    assert sentence in stickler(*by_class, "--sort", "document").out
    assert sentence not in stickler(*by_class).out  # it lists them


def test_an_item_of_a_cause_counts_as_one_error(stickler, kept_run):
    lines = stickler("errors", "night", "--cause", "1").out.splitlines()

    assert lines[0] == "1 error, in 1 document"
    assert lines[2].startswith("1  2  lines: 1 item invented in 1 document")


def test_a_class_of_a_cause_chooses_among_the_values_in_its_items(stickler, kept_run):
    # The invented item of cause 1 has two values.
    result = stickler("errors", "night", "--cause", "1", "--class", "invented value")

    assert result.out.startswith("2 errors, in 1 document\n")
    assert "without a cause" not in result.out


def test_many_errors_are_written_in_pieces(stickler, kept_run, monkeypatch):
    outputs = {
        form: stickler("errors", "night", "-f", form).out for form in ("csv", "tsv", "jsonl")
    }
    monkeypatch.setattr(row_reports, "PIECE", 100)

    assert {form: stickler("errors", "night", "-f", form).out for form in outputs} == outputs
    reason = "pyarrow IS NOT INSTALLED: no Parquet"
    parquet = pytest.importorskip("pyarrow.parquet", reason=reason)
    stickler("errors", "night", "-q", "-o", "e.parquet")
    table = parquet.read_table("e.parquet")
    assert table.num_rows == len(outputs["jsonl"].splitlines())


def test_the_run_file_of_one_document_has_its_errors(stickler, kept_run):
    sources = ("schema.json", "gt/two.json", "pred/two.json")
    stickler("eval", *sources, "-q", "-o", "one.json")

    assert (
        stickler("errors", "one.json", "-f", "jsonl").out
        == stickler("errors", *sources, "-f", "jsonl").out
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run.json",), "a run file does not contain individual errors, expected a run directory"),
        (("nowhere",), "there is no such file or directory"),
        (("gt",), "this directory does not contain run.json"),
        (("night", "--class", "digitslip"), "unknown class digitslip"),
        (("night", "--class", "digitslip"), "did you mean digit_slip?"),
        (("night", "--field", "totl"), "there is no field totl; did you mean total?"),
        (("night", "--document", "twoo"), "there is no document twoo; did you mean two?"),
        ((*SOURCES, "--document", "twoo"), "there is no document twoo; did you mean two?"),
        (("night", "-o", "e.html"), "the file name is e.html"),
        (("night", "--sort", "name"), "--sort"),
    ],
)
def test_what_cannot_be_listed_is_refused(stickler, kept_run, arguments, message):
    stickler("eval", *SOURCES, "-q", "-o", "run.json")

    result = stickler("errors", *arguments)

    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_documents_that_cannot_be_evaluated_are_told(stickler, kept_run):
    write(Path("gt/two.json"), "{")

    result = stickler("errors", *SOURCES, "-f", "jsonl")

    assert result.code == 3
    assert "1 of 3 documents could not be evaluated" in result.err
    assert {json.loads(line)["document"] for line in result.out.splitlines()} == {"three"}


def test_a_broken_line_of_a_run_directory_is_named(stickler, kept_run):
    write(kept_run / "non-matches.jsonl", "{\n")

    result = stickler("errors", "night")

    assert result.code == 2
    assert "non-matches.jsonl:1" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("sources", [("night",), SOURCES])
def test_the_errors_of_a_cause_are_listed_by_its_number(stickler, kept_run, sources):
    stickler("eval", *SOURCES, "-q", "-o", "run.json")
    causes = json.loads(Path("run.json").read_text())["causes"]
    for number in {cause["number"] for cause in causes}:
        result = stickler("errors", *sources, "-f", "jsonl", "--cause", str(number))
        errors = [json.loads(line) for line in result.out.splitlines()]
        chosen_causes = [cause for cause in causes if cause["number"] == number]
        assert {error["document"] for error in errors} == {
            name for cause in chosen_causes for name in cause["document_ids"]
        }
        assert {error["field"] for error in errors} == {cause["field"] for cause in chosen_causes}
        assert len({cause["text"] for cause in chosen_causes}) == 1

    result = stickler("errors", *sources, "--cause", "99")
    assert result.code == 2
    assert "--cause: the run has" in result.err


def test_the_table_has_a_part_for_each_cause_and_an_item_is_one_row(stickler, data):
    line = {"sku": "mouse", "qty": 14, "price": 30, "amount": 420}
    kinds = {"sku": {"type": "string"}, **{name: {"type": "number"} for name in [*line][1:]}}
    lines = {"type": "array", "items": {"type": "object", "properties": kinds}}
    write(data / "schema.json", {"type": "object", "properties": {"lines": lines, "a": {}}})
    # Three different prices: as many fields as are told apart from chance.
    for name, price in (("one", 30.5), ("two", 31.5), ("three", 62.5), ("four", None)):
        gt = {**line, "price": price or 30.5, "amount": round(14 * (price or 30.5))}
        pred = {**gt, "price": gt["amount"], "amount": 14 * gt["amount"]}
        write(data / "gt" / f"{name}.json", {"lines": [gt], "a": "mouse mat"})
        write(data / "pred" / f"{name}.json", {"lines": [pred] if price else [], "a": "mouse"})

    out = stickler("errors", *SOURCES, "--width", "80").out
    assert max(map(len, out.splitlines())) <= 80
    title = "lines: price and amount wrong in 3 items of 3 documents (one, three, two)"
    assert title in " ".join(out.split())
    assert out.count("has the true value of amount") == 1
    assert (
        "  price has the true value of amount in 3 cases\n"
        "  predicted amount = predicted price times predicted qty in 3 cases"
    ) in out
    (row,) = (text for text in out.splitlines() if text.startswith("one ") and "lines[0]" in text)
    assert re.split(" {2,}", row) == [
        *("one", "lines[0]", "price 30.5, amount 427", "price 427, amount 5978")
    ]
    assert "lines[0].price" not in out
    # Two values are wrong in each of three items, four in a missed item, and `a` in all documents.
    assert out.startswith(
        "18 of 18 errors, in 4 documents\n"
        "= 14 errors in values + 4 errors in whole items or objects\n"
        "10 of these errors lie inside items or objects that are wrong as a whole. Such\n"
        "  an item or object is listed once, which leaves 8 rows. To list every error,\n"
        "  use --sort document\n"
    )
    flat = stickler("errors", *SOURCES, "--sort", "document").out
    assert "lines[0].price" in flat
    # What is asked for by itself is shown.
    assert "lines[0].price" in stickler("errors", *SOURCES, "--field", "lines.price").out


def test_what_the_title_of_a_cause_states_is_not_repeated_at_each_error(stickler, data):
    kinds = {key: {"type": "number"} for key in ("no", "total", "tax")}
    names = {key: {"type": "string"} for key in "abcd"}
    write(data / "schema.json", {"type": "object", "properties": {**kinds, **names}})
    truth = {"no": 1, "total": 3200, "tax": 48.75, **dict.fromkeys(names, "x")}
    wrong = {"one": {**truth, "total": -3200}, "two": {**truth, "tax": 49.75}}
    wrong["three"] = {**truth, "tax": -48.75}
    wrong["four"] = {"no": 1, "total": 3200, "tax": 48.75}  # a, b, c and d are missed
    for name, pred in wrong.items():
        write(data / "gt" / f"{name}.json", truth)
        write(data / "pred" / f"{name}.json", pred)

    out = stickler("errors", *SOURCES, "-v", "--width", "80").out
    assert out.count("nothing is predicted after tax") == 1
    # The two slips in `tax` differ, so each error has its own; the slip in `total` is alone.
    assert out.count("off by 1; below threshold") == 1
    assert out.count("the sign differs; below threshold") == 2
    title = "1 document ends early: nothing is predicted after tax (four)"
    assert title in out
