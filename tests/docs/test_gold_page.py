"""`docs/gold.md`: its example, and its program on files in the format of ExtractBench."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "gold.md").read_text(encoding="utf-8")
GT, SCHEMA, PRED = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
(PROGRAM,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


def evaluated(capsys, *arguments):
    assert main(["eval", *map(str, arguments), "-f", "json", "--no-config"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_example_comes_to_what_its_table_says(tmp_path, capsys):
    files = [tmp_path / f"{name}.json" for name in ("schema", "gt", "pred")]
    for file, contents in zip(files, (SCHEMA, GT, PRED), strict=True):
        file.write_text(json.dumps(contents), encoding="utf-8")

    result = evaluated(capsys, *files, "--infer", "never", "--show-non-matches", "99")

    leaves = {
        name: {key: node["leaves"][key] for key in ("tp", "fd", "fa", "fn", "tn")}
        for name, node in result["confusion_matrix"]["fields"].items()
    }
    assert {
        name: {key: n for key, n in counts.items() if n} for name, counts in leaves.items()
    } == {
        "vendor": {"tp": 1},
        "country": {"tp": 1},
        "paid": {"tn": 1},
        "items": {"tp": 3},
        "steps": {"tp": 1, "fa": 1, "fn": 1},
    }
    errors = [error for error in result["non_matches"] if "inside" not in error]
    assert {error["class"] for error in errors} == {"moved"}


def evidence(*values):
    return [
        {"page": 1, "bbox": [0.1, 0.1, 0.2, 0.1], "quote": str(value), "value": value}
        for value in values
    ]


def nullable(kind):
    return {"anyOf": [{"type": kind}, {"type": "null"}], "default": None}


SIDECAR = {
    "tags": ["kind:order"],
    "data_schema": {
        "type": "object",
        "properties": {
            "firm": nullable("string"),
            "phone": nullable("string"),
            "paid": nullable("boolean"),
            "note": nullable("string"),
            "rows": {
                "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Row"}}, {"type": "null"}]
            },
            "days": {"type": "array", "items": {"type": "string"}},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {
            "Row": {
                "type": "object",
                "properties": {
                    "code": nullable("string"),
                    "amount": nullable("number"),
                    "parts": {"type": "array", "items": {"type": "string"}},
                },
            }
        },
    },
    "expected_output": {
        "firm": "ACME Inc.",
        "phone": "+1 (415) 555-2671",
        "paid": False,
        "note": "No Returns",
        "rows": [
            {"code": "A1", "amount": 1, "parts": ["x"]},
            {"code": "B2", "amount": 2, "parts": []},
        ],
        "days": ["Mon", "Tue"],
        "tags": ["a", "a"],
    },
    "_field_rules": {
        "firm": {"evidence": evidence("ACME Inc.", "Acme Incorporated"), "comparator": "exact"},
        "phone": {"evidence": [], "normalizers": ["phone_digits"]},
        "paid": {"evidence": None, "normalizers": ["null_equals_false"]},
        "note": {"normalizers": ["punctuation_spacing", "case_insensitive"], "verified": True},
        "rows": {"structural": "match_by:code", "exhaustive": False, "evidence": []},
        "rows[0].amount": {"evidence": evidence(1, 1.5)},
        "rows[0].parts": {"structural": "multiset", "exhaustive": False},
        "days": {"structural": "ordered"},
        "tags": {"structural": "set", "expected_min": 1},
    },
    "_eval_row_identity": {"rows": {"identity_key": "code"}},
}
PREDICTED = {
    "firm": "ACME INCORPORATED",
    "phone": "415-555-2671",
    "note": "no returns.",
    "rows": [{"code": "Z9", "amount": 9}, {"code": "a1", "amount": 1.5, "parts": ["y", "x"]}],
    "days": ["Tue", "Mon"],
    "tags": ["a"],
}


def test_the_program_has_at_most_forty_lines():
    assert len(PROGRAM.splitlines()) <= 40


@pytest.fixture
def converted(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "order.test.json").write_text(json.dumps(SIDECAR), encoding="utf-8")
    (tmp_path / "convert.py").write_text(PROGRAM, encoding="utf-8")
    folders = [str(tmp_path / name) for name in ("in", "out")]
    subprocess.run([sys.executable, tmp_path / "convert.py", *folders], check=True)
    return tmp_path / "out"


def test_rules_of_extractbench_become_annotations(converted):
    schema = json.loads((converted / "schemas" / "order.json").read_text(encoding="utf-8"))

    def annotations_of(place):
        prefix = "x-aws-stickler-"
        return {
            key.removeprefix(prefix): annotation
            for key, annotation in place.items()
            if key.startswith(prefix)
        }

    fields = schema["properties"]
    assert {name: annotations_of(place) for name, place in fields.items()} == {
        "firm": {},
        "phone": {"comparator": "PhoneComparator"},
        "paid": {"absent-values": [False]},
        "note": {"comparator": "NormalizedComparator"},
        "rows": {"key": "code", "exhaustive": False},
        "days": {"ordered": True},
        "tags": {"distinct": True},
    }
    assert annotations_of(schema["$defs"]["Row"]["properties"]["parts"]) == {"exhaustive": False}


def test_what_extractbench_accepts_is_right_here(converted, tmp_path, capsys):
    (tmp_path / "pred" / "order").mkdir(parents=True)
    (tmp_path / "pred" / "order" / "order.json").write_text(json.dumps(PREDICTED))

    folders = [converted / "schemas", converted / "gt", tmp_path / "pred"]
    result = evaluated(capsys, *folders, "--schema-by", "@directory", "--infer", "always")

    (node,) = result["confusion_matrix"]["fields"].values()
    counts = {
        name: {key: n for key in ("tp", "fd", "fa", "fn", "tn") if (n := counts["leaves"][key])}
        for name, counts in node["fields"].items()
    }
    assert counts == {
        "firm": {"tp": 1},
        "phone": {"tp": 1},
        "paid": {"tn": 1},
        "note": {"tp": 1},
        "rows": {"tp": 3, "fn": 2},
        "days": {"tp": 1, "fa": 1, "fn": 1},
        "tags": {"tp": 1},
    }
