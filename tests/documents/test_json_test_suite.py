"""The public conformance suite for JSON parsers, evaluated in one run.

`json_test_suite.json` has the files of github.com/nst/JSONTestSuite, `test_parsing`, in base64,
since many are not text. Its licence is in `json_test_suite.LICENSE`. Two large files are made here.
"""

import base64
import json
from itertools import product
from pathlib import Path

import pytest

from stickler_cli.cli import main

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
FILES = {
    name: base64.b64decode(content)
    for name, content in json.loads((HERE / "json_test_suite.json").read_text()).items()
} | {
    "n_structure_100000_opening_arrays": b"[" * 100_000,
    "n_structure_open_array_object": b'[{"":' * 50_000 + b"\n",
}
NO_OBJECT = "the document is of type"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The record of a run with each file as ground truth, as prediction, and as a field of both."""
    root = tmp_path_factory.mktemp("suite")
    (root / "schema.json").write_text('{"type": "object", "properties": {"v": {}}}')
    for name, content in FILES.items():
        wrapped = b'{"v": ' + content + b"}"
        for document, gt, pred in (
            (f"gt-{name}", content, b"{}"),
            (f"pred-{name}", b"{}", content),
            (f"field-{name}", wrapped, wrapped),
        ):
            for side, data in (("gt", gt), ("pred", pred)):
                (root / side).mkdir(exist_ok=True)
                (root / side / f"{document}.json").write_bytes(data)
    output = root / "run.json"
    arguments = [str(root / "schema.json"), str(root / "gt"), str(root / "pred")]
    documents = str(root / "documents.jsonl")
    code = main(["eval", *arguments, "-q", "-o", str(output), "--documents", documents])
    lines = [json.loads(line) for line in Path(documents).read_text().splitlines()]
    return {
        "code": code,
        "run": json.loads(output.read_text()),
        "documents": {line["document"]: line for line in lines},
    }


def test_there_are_all_files_of_the_suite():
    kinds = [name[0] for name in FILES]
    assert {kind: kinds.count(kind) for kind in "yni"} == {"y": 95, "n": 188, "i": 35}


def test_the_run_goes_on_to_the_end_and_its_code_says_that_ground_truth_is_missing(record):
    assert record["code"] == 3
    assert len(record["documents"]) == record["run"]["documents"]["total"] == 3 * len(FILES)


@pytest.mark.parametrize("kind", "yni")
def test_each_file_has_the_outcome_that_the_suite_asks_for(record, kind):
    documents, names = record["documents"], [name for name in FILES if name[0] == kind]
    for name, (side, bad) in product(names, (("gt", "failed"), ("pred", "invalid"))):
        line = documents[f"{side}-{name}"]
        reason = " ".join(line["problems"])
        if kind == "y":
            is_object = isinstance(json.loads(FILES[name]), dict)
            assert line["status"] == ("evaluated" if is_object else bad), name
            assert (NO_OBJECT in reason) == (not is_object), name
            assert documents[f"field-{name}"]["overall_score"] == 1, name
        elif kind == "n":
            assert line["status"] == bad, name
            assert reason, name
            assert NO_OBJECT not in reason, name
        else:
            assert line["status"] in {"evaluated", bad}, name
            assert (line["status"] == bad) == bool(reason), name


def test_duplicate_keys_are_those_of_the_files_named_after_them(record):
    warned = {
        name.partition("-")[2]
        for name, line in record["documents"].items()
        if "duplicate_keys" in line["remarks"]
    }
    assert warned == {"y_object_duplicated_key", "y_object_duplicated_key_and_value"}
