"""`stickler merge`: merged shards equal one whole run, and runs that do not fit are named."""

import json
import re
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from stickler_cli.cli import main
from .conftest import BAD, GOOD, SCHEMA, write

OPTIONS = ("-f", "json", "--gate", "f1>=0.95", "--gate", "f1.lower>=0.1", "--by", "@directory")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The files of `shards`."""
    folder = tmp_path_factory.mktemp("shards")
    write(folder / "schema.json", SCHEMA)
    for number in range(20):
        name = f"{'ab'[number % 2]}/{number:02}.json"
        for place in ("all", str(number % 3)):
            write(folder / place / "gt" / name, GOOD if number else {**GOOD, "clerk": "Cy"})
            if number != 7:
                write(folder / place / "pred" / name, BAD if number % 4 == 3 else GOOD)
    with chdir(folder):
        for place in ("all", "0", "1", "2"):
            sources = ("schema.json", f"{place}/gt", f"{place}/pred")
            assert main(["eval", *sources, *OPTIONS, "-q", "-o", f"{place}.json"]) in (0, 1)
    return folder


@pytest.fixture
def shards(data: Path, finished) -> Path:
    """Twenty documents in two directories; the whole run is all.json, its shards are 0.json etc."""
    return shutil.copytree(finished, data, dirs_exist_ok=True)


def without_provenance(text: str) -> str:
    """Return the text of a run file without the parts that shards cannot have in common.

    These are the sources of documents, and the note on repeated ground truths.
    """
    text, count = re.subn(r'  "provenance": \[\n.*?\n  \],\n', "", text, flags=re.DOTALL)
    assert count == 1
    note = r'\n    "[^"\n]* documents have the same ground truth[^"\n]*"(,|\n  (?=\]))'
    return re.sub(note, "", text)


def test_the_runs_of_shards_come_to_the_run_of_the_whole_to_the_byte(shards, stickler):
    result = stickler("merge", "2.json", "0.json", "1.json", "-f", "json", "-o", "out.json")

    assert result.code == 1  # 106 of 117 is below 0.95
    assert without_provenance(result.out) == without_provenance((shards / "all.json").read_text())
    assert [provenance["gt"] for provenance in json.loads(result.out)["provenance"]] == [
        "0/gt",
        "1/gt",
        "2/gt",
    ]
    assert (shards / "out.json").read_text() == result.out
    assert json.loads(result.out)["documents"]["total"] == 20


@pytest.mark.slow
def test_every_format_can_be_written(shards, stickler):
    for name in ("table", "csv", "markdown"):
        evaluated = stickler("eval", "schema.json", "all/gt", "all/pred", "-f", name, *OPTIONS[2:])
        merged = stickler("merge", "0.json", "1.json", "2.json", "-f", name)
        whole = evaluated.out.partition("\nnext: ")[0].rstrip("\n") + "\n"
        # The shards have fewer repeated ground truths, too few for a note.
        lines = whole.splitlines(keepends=True)
        assert merged.out == "".join(line for line in lines if "same ground truth" not in line)


def test_gates_that_are_given_take_the_place_of_those_of_the_runs(shards, stickler):
    result = stickler("merge", "0.json", "1.json", "--gate", "f1>=0.5", "-f", "json")

    assert result.code == 0
    assert [gate["gate"] for gate in result.json["gates"]] == ["f1>=0.5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0.json", "--gate", "totl.f1>=0.5"), "did you mean total.f1>=0.5?"),
        (("0.json", "schema.json"), "schema.json: this is not a run"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(shards, stickler, arguments, message):
    result = stickler("merge", *arguments)

    assert result.code == 2
    assert message in result.err


def test_one_run_alone_stays_what_it_is(stickler):
    stickler("eval", "schema.json", "gt/two.json", "pred/two.json", "-q", "-o", "one.json")

    assert stickler("merge", "one.json", "-f", "json").out == Path("one.json").read_text()


def test_runs_of_single_pairs_come_to_a_run_of_documents(stickler):
    for name in ("one", "two"):
        stickler(
            "eval", "schema.json", f"gt/{name}.json", f"pred/{name}.json", "-qo", f"{name}.json"
        )
    record = stickler("merge", "one.json", "two.json", "-f", "json").json

    assert record["documents"]["evaluated"] == 2
    assert "field_scores" not in record


def test_documents_that_two_runs_have_are_named(shards, stickler):
    result = stickler("merge", "0.json", "all.json")

    assert result.code == 3
    assert (
        "error: all.json: 'a/00', 'a/06', 'a/12', 'a/18', 'b/03' and 2 more are also in 0.json"
        in (result.err)
    )
    assert result.out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run.update(version="9"), 'the setting \'version\' is "9", but it is "'),
        (
            lambda run: run["schema"].update(digest="sha256:" + "0" * 64),
            "the setting 'schema digest' is \"sha256:000",
        ),
        (
            lambda run: run["options"].update(missing="skip"),
            'the setting \'option missing\' is "skip", but it is "fn" in 0.json',
        ),
        (
            lambda run: run["options"].update(strict=True),
            "the setting 'option strict' is true, but it is false",
        ),
        (lambda run: run["intervals"].update(seed=5), "the setting 'intervals' is {"),
        (lambda run: run["fields"].pop(), "this run and 0.json have schemas with different fields"),
        (
            lambda run: run.pop("by"),
            "the setting 'breakdown' is [], but it is [\"@directory\"] in 0.json",
        ),
        (
            lambda run: run.pop("per_document"),
            "the run does not record which documents it contains",
        ),
    ],
)
def test_runs_that_do_not_go_together_are_refused_with_what_differs(
    shards, stickler, change, message
):
    record = json.loads((shards / "1.json").read_text())
    change(record)
    write(shards / "1.json", record)
    result = stickler("merge", "0.json", "1.json")

    assert result.code == 3
    assert f"error: 1.json: {message}" in result.err
    assert result.out == ""


def test_an_interrupted_shard_makes_the_whole_partial(shards, stickler):
    record = {**json.loads((shards / "1.json").read_text()), "partial": True}
    write(shards / "1.json", record)

    assert stickler("merge", "0.json", "1.json", "-f", "json").json["partial"] is True


def test_a_gate_on_an_interval_needs_runs_with_intervals(stickler):
    stickler("eval", "schema.json", "gt", "pred", "-qo", "run.json", "--ci", "none")
    result = stickler("merge", "run.json", "--gate", "f1.lower>0")

    assert result.code == 2
    assert "needs a confidence interval" in result.err


@pytest.mark.slow
def test_of_keys_of_maps_the_whole_has_as_many_as_a_run_has(data, stickler):
    values = {"type": "object", "additionalProperties": {"type": "string"}}
    write(data / "map.json", {"type": "object", "properties": {"m": values}})
    for shard in range(2):
        for side in ("gt", "pred"):
            keys = {f"{shard}-{index}": side for index in range(150 + shard * 100)}
            write(data / str(shard) / side / f"{shard}.json", {"m": {**keys, "-both": "x"}})
        run = ("map.json", f"{shard}/gt", f"{shard}/pred", "--gate", f"m.{shard}-7.fd>=1")
        assert stickler("eval", *run, "--no-config", "-q", "-o", f"{shard}.json").code == 0

    merged = stickler("merge", "0.json", "1.json", "-f", "json", "--gate", "m.0-7.fd>=1")

    assert merged.code == 0  # of a key whose figures go to the others afterwards
    fields = merged.json["confusion_matrix"]["fields"]["m"]["fields"]
    assert len(fields) == 201
    assert fields["-both"]["leaves"]["tp"] == 2
    assert sum(field["leaves"]["fd"] for field in fields.values()) == 400
    assert merged.json["notes"] == ["m.* are keys beyond the 200 most frequent keys"]
