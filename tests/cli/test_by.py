"""`--by`: groups of documents by a field, a directory or a metadata file."""

import csv
import io
import json
from pathlib import Path

import pytest

from .conftest import BAD, GOOD, SCHEMA, write

EVAL = ("eval", "schema.json", "gt", "pred")


@pytest.fixture
def vendors(data: Path) -> Path:
    """Six right documents of Acme, six of Bolt (three are wrong), and one without a vendor."""
    for number in range(12):
        vendor = "Acme" if number < 6 else "Bolt"
        write(
            data / "gt" / vendor / f"{number}.json", {**GOOD, "vendor": vendor, "paid": number > 8}
        )
        write(data / "pred" / vendor / f"{number}.json", BAD if number > 8 else GOOD)
    for side in ("gt", "pred"):
        for name in ("one", "two"):
            (data / side / f"{name}.json").unlink()
        write(data / side / "other.json", GOOD)
    return data


def test_groups_of_a_field_stand_beside_the_whole(vendors, stickler):
    record = stickler(*EVAL, "-f", "json", "--by", "vendor").json
    groups = record["by"]["vendor"]

    assert list(groups) == ["(none)", "Acme", "Bolt"]
    assert [group["documents"]["evaluated"] for group in groups.values()] == [1, 6, 6]
    # Three right documents with 3 units each, three with 2 right, a wrong total, an invented line.
    bolt = groups["Bolt"]["confusion_matrix"]["overall"]
    assert (bolt["tp"], bolt["fd"], bolt["fa"], bolt["fn"]) == (15, 3, 3, 0)
    assert groups["Bolt"]["confusion_matrix"]["fields"]["total"]["overall"]["fd"] == 3
    # Of weights 1, 2 and 1 the wrong ones have 1 for the id and half of 1 for the lines.
    assert groups["Bolt"]["overall_score"] == (3 + 3 * 0.375) / 6
    assert groups["Bolt"]["error_classes"]["total"] > 0
    assert groups["Acme"]["overall_score"] == 1.0
    assert {entry["by"]["vendor"] for entry in record["per_document"]} == set(groups)


def test_groups_add_up_to_the_whole(vendors, stickler):
    record = stickler(*EVAL, "-f", "json", "--by", "vendor", "--by", "@directory").json

    for groups in record["by"].values():
        for name in ("tp", "fd", "fa", "fn", "tn"):
            leaves = (group["confusion_matrix"]["leaves"][name] for group in groups.values())
            assert sum(leaves) == record["confusion_matrix"]["leaves"][name]
        assert sum(int(group["score_sum"]) for group in groups.values()) == int(record["score_sum"])


def test_groups_by_directory(vendors, stickler):
    groups = stickler(*EVAL, "-f", "json", "--by", "@directory").json["by"]["@directory"]

    assert list(groups) == [".", "Acme", "Bolt"]


def test_values_that_are_no_text_are_written_as_json(vendors, stickler):
    by = ("--by", "paid", "--by", "lines[0].qty", "--by", "lines", "--by", "id.part")
    groups = stickler(*EVAL, "-f", "json", *by).json["by"]

    assert list(groups["paid"]) == ["(none)", "false", "true"]
    assert list(groups["lines[0].qty"]) == ["1"]
    assert list(groups["lines"]) == list(groups["id.part"]) == ["(none)"]


def test_the_table_shows_the_worst_group_first(vendors, stickler):
    lines = stickler(*EVAL, "--by", "vendor").out.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("by vendor"))

    assert lines[start].split("  ")[0] == "by vendor"
    assert [line.split()[0] for line in lines[start + 1 : start + 4]] == ["Bolt", "(none)", "Acme"]
    # 21 right, 3 wrong, 6 invented: 42 / (42 + 9); one document shows next to nothing.
    bolt, nobody = lines[start + 1].split(), lines[start + 2].split()
    assert bolt[1:4] == ["6", "3", "0.82"]
    assert nobody[1:4] == ["1", "1", "1.00"]
    # Groups of so few documents have no interval.
    assert "[" not in "".join(lines[start : start + 4])


def test_without_intervals_the_groups_have_none(vendors, stickler):
    out = stickler(*EVAL, "--by", "vendor", "--ci", "none").out

    assert "CI" not in out
    assert "  Bolt" in out


def test_markdown_and_csv_have_the_groups(vendors, stickler):
    assert "| `Bolt` | 6 | 3 | 0.82 |" in stickler(*EVAL, "--by", "vendor", "-f", "markdown").out
    rows = list(csv.DictReader(io.StringIO(stickler(*EVAL, "--by", "vendor", "-f", "csv").out)))
    wholes = [row for row in rows if row["kind"] == "document"]
    assert [(row["by"], row["group"]) for row in wholes] == [
        ("", ""),
        ("vendor", "(none)"),
        ("vendor", "Acme"),
        ("vendor", "Bolt"),
    ]
    (total,) = (row for row in rows if (row["field"], row["group"]) == ("total", "Bolt"))
    assert total["fd"] == "3"


@pytest.mark.parametrize("name", ["meta.csv", "meta.jsonl"])
def test_groups_of_a_metadata_file(vendors, stickler, name):
    rows = [("Acme/0", "de", 1), ("Acme/1", "de", 2), ("Bolt/9", "fr", 2), ("unknown", "xx", 3)]
    text = "id,language,pages\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    lines = [json.dumps({"id": a, "language": b, "pages": c}) + "\n" for a, b, c in rows]
    write(vendors / name, text if name.endswith("csv") else "".join(lines))
    by = ("--by-file", name, "--by", "@language", "--by", "@pages")
    groups = stickler(*EVAL, "-f", "json", *by).json["by"]

    totals = {
        key: {name: group["documents"]["total"] for name, group in of_key.items()}
        for key, of_key in groups.items()
    }
    assert totals == {
        "@language": {"(none)": 10, "de": 2, "fr": 1},
        "@pages": {"(none)": 10, "1": 1, "2": 2},
    }


def test_a_document_whose_ground_truth_cannot_be_read_is_in_no_group(vendors, stickler):
    write(vendors / "gt" / "Acme" / "0.json", "{")
    groups = stickler(*EVAL, "-f", "json", "--by", "vendor", "--by", "@directory").json["by"]

    assert groups["vendor"]["(none)"]["documents"]["failed"] == 1
    assert groups["@directory"]["Acme"]["documents"]["failed"] == 1


def test_too_many_groups_are_refused(data, stickler):
    write(data / "schema.json", SCHEMA)
    for number in range(201):
        write(data / "gt" / f"{number}.json", {"id": str(number)})
        write(data / "pred" / f"{number}.json", {"id": str(number)})
    result = stickler(*EVAL, "--by", "id")

    assert result.code == 2
    assert (
        "--by id: the key gives more than 200 groups, expected a key with fewer values"
        in result.err
    )


def test_a_key_that_no_document_has_is_noted(vendors, stickler):
    out = stickler(*EVAL, "--by", "vndor").out

    assert "note: --by vndor: no document has this field or key" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--by", ""),
            "--by: the value is [''], expected a text that is not blank; leave the option out to",
        ),
        (("--by", "a..b"), "--by a..b: 'a..b' is not a field path"),
        (("--by", "@language"), "--by @language: @language is a column of the --by-file, but --by"),
        (("--by", "a", "--by", "a"), "--by: the key 'a' is given twice"),
        (
            ("--by-file", "meta.csv"),
            "--by-file meta.csv: neither --by nor --schema-by uses a",
        ),
        (
            ("--by-file", "meta.csv", "--by", "@lang"),
            'meta.csv: there is no column "lang", expected one of id, language',
        ),
        (("--by-file", "none.csv", "--by", "@lang"), "none.csv: cannot be read"),
    ],
)
def test_what_cannot_be_grouped_by_is_refused(vendors, stickler, options, message):
    write(vendors / "meta.csv", "id,language\nAcme/0,de\n")
    result = stickler(*EVAL, *options)

    assert result.code == 2
    assert message in result.err


def test_a_narrow_terminal_shows_the_worst_groups_only(vendors, stickler):
    from stickler_cli.reports.formats import render
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.runs.saved import load_run

    for number in range(30):
        write(vendors / "gt" / f"{number}.json", {"id": "x", "vendor": f"v{number}"})
        write(vendors / "pred" / f"{number}.json", {"id": "y"})
    stickler(*EVAL, "-qo", "run.json", "--by", "vendor")
    text = render("table", load_run("run.json"), TableStyle(width=60, plain=False))

    assert "and 13 more; the JSON report lists all of them" in text
    assert max(map(len, text.splitlines())) <= 60
