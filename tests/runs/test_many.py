"""Many documents in the Python API: the same result for any number of workers."""

import json
import math
import multiprocessing
import pickle
import signal
import subprocess
import sys
from collections import OrderedDict, namedtuple
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest
from pydantic import BaseModel

from stickler_cli.api.many import evaluate_many
from stickler_cli.cli import main
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import Problem, SchemaError, UnavailableError, UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.runs import chunk
from stickler_cli.runs.chunk import ChunkResult
from stickler_cli.runs.evaluate import chunk_results
from stickler_cli.runs.executors import pool
from stickler_cli.runs.executors.executor import CHUNK, PARTS_AHEAD
from stickler_cli.runs.job import Job, Workers
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.judging import MOST_LEVELS
from .conftest import Here

ROOT = Path(__file__).parents[2]
SETS = ("bank-statement", "invoice", "receipt", "resume")
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "n": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "open": {"type": "object"},
    },
}
PLAN = compile_schema(SCHEMA)
PAIRS = (
    ({"a": "x", "n": 1}, {"a": "x", "n": 2}),
    ({"a": "x", "tags": ["p", "q"]}, {"a": "y", "tags": ["q", "r"]}),
    ({"open": {"k": [1, {"z": 2}]}, "undeclared": 1}, {"open": {"k": [1], "m": None}, "more": 1}),
    ({"n": 10**30}, {"n": 10**30 + 1}),
    ({"a": "x"}, None),
    (None, {"a": "x"}),
    ({"a": "x"}, "no object"),
    (7, {"a": "x"}),
)


def text_of(evaluation):
    return json_line(evaluation.to_dict())  # integers of any size


def problems_of(*pairs, schema=PLAN, **options):
    """Evaluate pairs, and return the texts of their problems, in order."""
    return [entry.problem for entry in sorted(evaluate_many(schema, pairs, **options).problems)]


# --- the same result


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_fixtures_give_what_the_command_line_prints(name, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    schema, folder = f"schemas/{name}.json", f"fixtures/{name}"
    assert (
        main(["eval", schema, f"{folder}/gt", f"{folder}/pred", "-f", "json", "--ci", "none"]) == 0
    )
    printed = json.loads(capsys.readouterr().out)
    del printed["per_document"]  # only a run keeps accounts of its documents
    for cause in printed["causes"]:
        del cause["text"]  # only reports have sentences
    pairs = [(pair.id, pair.gt, pair.pred) for pair in open_pairs(f"{folder}/gt", f"{folder}/pred")]

    evaluation = evaluate_many(schema, pairs)

    record = evaluation.to_dict()
    assert {**printed, **record}.keys() == printed.keys()
    for key in record.keys() - {"format", "options"}:
        assert orjson.dumps(record[key]) == orjson.dumps(printed[key]), key
    assert printed["options"] == {**record["options"], "strict": False, "rows": "auto"}
    assert read_evaluation(printed) == evaluation


@pytest.mark.slow
def test_processes_take_documents_as_deep_as_this_one_does():
    deep = {"a": "x"}
    for _ in range(300):
        deep = {"open": deep}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        evaluation = evaluate_many(SCHEMA, [(deep, deep)], infer="never", workers=2)
    finally:
        sys.setrecursionlimit(limit)

    assert evaluation.evaluated == 1


def test_options_are_kept_and_decide():
    pairs = [({"a": "x"}, {"a": "xyz", "z": 1}), ({"a": "x"}, None)]

    evaluation = evaluate_many(
        SCHEMA,
        pairs,
        infer="never",
        extra_fields="ignore",
        missing="skip",
        recall_with_fd=True,
        pairing_floor=0,
        counting="overall",
    )

    # One document is left: a is wrong (similarity 1/3), z does not count, nothing else is there.
    record = evaluation.to_dict()
    overall = record["confusion_matrix"]["overall"]
    assert evaluation.documents["evaluated"] == 1
    assert (overall["fd"], overall["fa"], overall["fn"]) == (1, 0, 0)
    assert record["options"] == {
        "pairing_floor": 0.0,
        "recall_with_fd": True,
        "partial_gt": False,
        "extra_fields": "ignore",
        "missing": "skip",
        "lenient_json": False,
        "work_limit": 20.0,
        "wrapped": "auto",
        "ignore": [],
        "rename": [],
        "counting": "overall",
    }
    assert [field["field"] for field in record["fields"]] == ["a", "n", "tags", "open", "open.*"]


# --- schemas


class Invoice:
    @classmethod
    def comparison_plan(cls):
        return PLAN


def test_a_schema_may_be_a_file_its_contents_a_plan_or_a_class(tmp_path):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA), encoding="utf-8")

    texts = {
        text_of(evaluate_many(source, PAIRS, infer="never"))
        for source in (file, str(file), SCHEMA, PLAN)
    }
    texts.add(text_of(evaluate_many(Invoice, PAIRS)))

    assert len(texts) == 1


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (3, "of type integer"),
        (Invoice(), "of type Invoice"),
        (int, "<class 'int'>"),
    ],
)
def test_what_is_no_schema_is_refused(schema, found):
    with pytest.raises(UsageError) as caught:
        evaluate_many(schema, [])

    expected = "a schema file, a parsed schema, or a pydantic class"
    assert str(caught.value) == f"argument 'schema': the value is {found}, expected {expected}"


def test_without_a_schema_and_a_ground_truth_nothing_is_inferred():
    with pytest.raises(UsageError, match="there is no ground truth to infer one from"):
        evaluate_many(None, [])


def test_a_schema_that_cannot_be_compiled_says_so_before_any_pair_is_read():
    def pairs():
        raise AssertionError
        yield

    with pytest.raises(SchemaError):
        evaluate_many({"type": "string"}, pairs())


class Lacks(BaseComparator):
    def compare(self, gt, pred):
        return 1.0

    def require(self):
        raise UnavailableError([Problem("", "the model m cannot be reached")])


def plan_with(comparator):
    leaf = LeafNode(threshold=0.5, comparator=comparator)
    return Plan(ObjectNode(threshold=0.7, fields=(Field("a", leaf),)), "Doc")


def test_a_comparator_that_cannot_work_here_ends_the_run_before_it_begins():
    with pytest.raises(UnavailableError, match="the model m cannot be reached"):
        evaluate_many(plan_with(Lacks()), [])


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("pairing_floor", 1, "a number in [-1, 1)"),
        ("pairing_floor", math.nan, "a number in [-1, 1)"),
        ("extra_fields", "ignored", "one of fa, ignore; did you mean ignore?"),
        ("missing", None, "one of fn, skip, error"),
        ("workers", 0, "a whole number of at least 1, or auto"),
        ("workers", 2.0, "a whole number of at least 1, or auto"),
        ("chunk_size", 0, "a whole number of at least 1"),
    ],
)
def test_an_option_out_of_range_is_refused(option, value, expected):
    with pytest.raises(UsageError) as caught:
        evaluate_many(PLAN, [], **{option: value})

    place = f"argument '{option}'"
    assert str(caught.value) == f"{place}: the value is {value!r}, expected {expected}"


# --- pairs


class Model(BaseModel):
    a: str | None = None
    when: OrderedDict | None = None


class Valued:
    """An object like a StructuredModel, with a field that hides the method of the same name."""

    def __init__(self, values):
        self.comparison_values = values

    def comparison_values(self):
        return self.__dict__["comparison_values"]


class Breaks:
    def comparison_values(self):
        raise ZeroDivisionError("no")


class Color(StrEnum):
    RED = "red"


Row = namedtuple("Row", "gt pred")  # noqa: PYI024 - as data frames give them


def test_a_side_may_be_an_instance():
    sides = [{"a": "x"}, Model(a="x"), Valued({"a": "x"}), OrderedDict(a="x")]
    for gt in sides:
        for pred in sides:
            assert evaluate_many(PLAN, [(gt, pred)]).overall_score == 1.0


def test_a_pair_may_be_any_sequence_of_two_or_three():
    pairs = [
        ({}, 1),
        [{}, 2],
        Row({}, 3),
        ("id", {}, 4),
        (5, {}, 5),
        (None, {}, 6),
        DocumentPair("read", {}, None),
    ]

    evaluation = evaluate_many(PLAN, pairs)

    ids = sorted(entry.document for entry in evaluation.problems)
    assert ids == ["0", "1", "2", "5", "5", "id", "read"]


@pytest.mark.parametrize("pair", [{"gt": 1, "pred": 2}, "xy", 3, (1,), (1, 2, 3, 4), None])
def test_a_pair_that_is_none_is_a_failed_document(pair):
    evaluation = evaluate_many(PLAN, [({}, {}), pair])

    (problem,) = evaluation.problems
    assert (problem.status, problem.document) == ("failed", "1")
    assert problem.problem.endswith(", expected a pair (gt, pred) or a triple (id, gt, pred)")
    assert evaluation.documents["evaluated"] == 1


def circle():
    document = {}
    document["open"] = [document]
    return document


A_VALUE = 'expected a JSON value; use model_dump(mode="json"), which returns JSON values'


@pytest.mark.parametrize(
    ("side", "problem"),
    [
        (
            "{}",
            (
                "document 0: the {} is of type string, expected a JSON object; to read text as "
                "JSON, use json.loads"
            ),
        ),
        ([{}], "document 0: the {} is of type array, expected a JSON object"),
        ({1, 2}, "document 0: the {} is of type set, expected a JSON object"),
        (
            MappingProxyType({}),
            "document 0: the {} is of type mappingproxy, expected a JSON object",
        ),
        (
            Model,
            "document 0: the {} is the class Model, not an instance of it, expected a JSON object",
        ),
        (Valued(3), "document 0: the {} is of type Valued, expected a JSON object"),
        (Breaks(), "document 0: the {} cannot be turned into JSON values (ZeroDivisionError: no)"),
        (
            {"open": {"k": [0, {1}]}},
            f"document 0#/open/k/1: a value of the {{}} is of type set, {A_VALUE}",
        ),
        ({"tags": ("x",)}, f"document 0#/tags: a value of the {{}} is of type tuple, {A_VALUE}"),
        ({"a": Color.RED}, f"document 0#/a: a value of the {{}} is of type Color, {A_VALUE}"),
        (
            {"a": Color},
            (
                "document 0#/a: a value of the {} is the class Color, not an instance of it, "
                f"{A_VALUE}"
            ),
        ),
        ({"n": math.nan}, f"document 0#/n: a value of the {{}} is nan, {A_VALUE}"),
        ({"open": {1: "x"}}, "document 0#/open: a key of the {} is of type int, expected a string"),
        (circle(), f"document 0: the {{}} is nested more than {MOST_LEVELS} levels deep"),
    ],
)
def test_a_side_that_is_no_document_is_that_document_s_problem(side, problem):
    assert problems_of(({}, side)) == [problem.format("prediction")]
    assert problems_of((side, {})) == [problem.format("ground truth")]
    assert evaluate_many(PLAN, [({}, side)]).documents["invalid"] == 1
    assert evaluate_many(PLAN, [(side, {})]).documents["failed"] == 1


def test_what_the_pairs_raise_ends_the_run():
    def pairs():
        yield {}, {}
        raise ZeroDivisionError

    for count in (1, 2):
        with pytest.raises(ZeroDivisionError):
            evaluate_many(PLAN, pairs(), workers=count, chunk_size=1)
    assert multiprocessing.active_children() == []


# --- memory


def test_one_process_holds_one_chunk_of_pairs_at_a_time():
    read, given_out = [], []

    def pairs():
        for number in range(1000):
            read.append(number)
            assert len(read) - len(given_out) <= CHUNK.documents
            yield DocumentPair(str(number), {"a": "x"}, {"a": "x"})

    for result in chunk_results(Job(PLAN, Options()), pairs(), Workers(1)):
        given_out += result.ids

    assert given_out == [str(number) for number in range(1000)]


def test_no_more_than_a_few_chunks_are_held_for_each_worker(in_process, monkeypatch):
    read, given_out = [], []

    def pairs():
        for number in range(160):
            read.append(number)
            assert len(read) - len(given_out) <= 3 * PARTS_AHEAD * 4
            yield DocumentPair(str(number), {"a": "x"}, {"a": "x"})

    for result in chunk_results(Job(PLAN, Options()), pairs(), Workers(3, 4), total=160):
        given_out += result.ids

    assert given_out == [str(number) for number in range(160)]


# --- what cannot be sent


def test_a_comparator_that_cannot_be_sent_is_named():
    class Local(BaseComparator):
        def compare(self, gt, pred):
            return 1.0

    with pytest.raises(UsageError) as caught:
        evaluate_many(plan_with(Local()), [({}, {})], workers=4)

    (problem,) = caught.value.problems
    assert problem.source == "workers=4"
    assert problem.found.startswith("Local cannot be sent to another process (")
    assert problem.hint == "or use --jobs 1"


def test_a_plan_that_cannot_be_sent_for_another_reason_says_so():
    message = "--jobs: the schema cannot be sent to another process .*; or use --jobs 1"
    with pytest.raises(UsageError, match=message):
        next(chunk_results(Job(PLAN, lambda: None), [], Workers(2)))


class Unsendable(dict):
    """A document that cannot be pickled."""

    def __reduce__(self):
        raise RecursionError


class Unreadable(dict):
    """A document that other processes cannot read."""

    def __reduce__(self):
        return pickle.loads, (b"cnowhere\nThing\n.",)


@pytest.mark.parametrize("document", [Unsendable, Unreadable])
def test_what_cannot_be_sent_to_a_worker_or_read_by_it_is_evaluated_here(in_process, document):
    pairs = [(document(a="x"), {"a": "x"})]

    assert evaluate_many(PLAN, pairs, workers=2).overall_score == 1.0


def test_what_a_worker_cannot_send_back_is_evaluated_here(in_process, monkeypatch):
    class Stuck(ChunkResult):
        __slots__ = ()

        def __reduce__(self):
            raise RecursionError

    monkeypatch.setattr(chunk, "ChunkResult", Stuck)

    assert evaluate_many(PLAN, [("a", {}, {})], workers=2).evaluated == 1


def test_a_worker_that_cannot_read_the_plan_says_so(in_process, monkeypatch):
    def unreadable(connection):
        ours, theirs = multiprocessing.Pipe()
        pool.work(theirs, b"cnowhere\nThing\n.")
        return ours.recv_bytes()

    monkeypatch.setattr(Here, "recv_bytes", unreadable)
    # What a worker sets for its process is not to last in this one.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "setrecursionlimit", lambda _: None)

    with pytest.raises(UsageError) as caught:
        evaluate_many(PLAN, [({}, {})], workers=2)

    (problem,) = caught.value.problems
    assert problem.found == "a worker cannot read the schema (No module named 'nowhere')"
    assert problem.hint == "or use --jobs 1"


# --- workers


@pytest.mark.parametrize(
    ("schema", "pairs", "settings", "kind", "message"),
    [
        ({1: 2}, [], {}, SchemaError, "a key of the schema is of type int, expected a string"),
        ({"enum": [object()]}, [], {}, SchemaError, "a value of the schema is of type object"),
        (SCHEMA, None, {}, UsageError, "argument 'pairs': the value is of type null, expected"),
        (SCHEMA, 5, {}, UsageError, "argument 'pairs': the value is of type integer, expected"),
        (SCHEMA, [], {"client": 3}, UsageError, "argument 'client': the value is of type integer"),
        ("no.json", [], {}, SchemaError, "no.json: the schema cannot be read"),
    ],
)
def test_what_cannot_be_used_raises_what_is_promised(schema, pairs, settings, kind, message):
    assert kind.__name__ in evaluate_many.__doc__
    with pytest.raises(kind, match=message):
        evaluate_many(schema, pairs, **settings)


SCRIPT = """
import threading

from stickler_cli.api.many import evaluate_many

# A process with a second thread cannot be forked; its workers read the script again.
threading.Thread(target=threading.Event().wait, daemon=True).start()
evaluate_many({"type": "object", "properties": {"a": {"type": "string"}}}, [({}, {})], workers=2)
"""


@pytest.mark.slow
def test_a_script_that_starts_itself_again_is_told_what_to_do(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=300
    )

    assert done.returncode != 0
    assert 'call stickler only under `if __name__ == "__main__":`' in done.stderr
    assert done.stderr.count("Traceback") == 1  # that of the main process


def test_a_report_is_what_the_command_prints(tmp_path, capsys):
    schema = {"properties": {"a": {"type": "string", "x-aws-stickler-threshold": 0.9}}}
    pairs = [({"a": "x"}, {"a": "x"}), ({"a": "x"}, {"a": "y"})]
    (tmp_path / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    for side, name in enumerate(("gt.jsonl", "pred.jsonl")):
        lines = [json.dumps(pair[side]) for pair in pairs]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("s.json", "gt.jsonl", "pred.jsonl")]

    report = evaluate_many(schema, pairs).report(title="s", width=80)
    main(["eval", *files, "--width", "80"])

    assert "F1 0.67 (2 documents are too few for an interval)" in report
    assert capsys.readouterr().out.startswith(report)


GUARDED = SCRIPT.replace("\nevaluate_many", '\nif __name__ == "__main__":\n    evaluate_many')


@pytest.mark.slow
def test_workers_load_no_module_from_the_working_directory(tmp_path):
    script, directory = tmp_path / "program" / "script.py", tmp_path / "working"
    script.parent.mkdir()
    directory.mkdir()
    script.write_text(GUARDED, encoding="utf-8")
    (directory / "orjson.py").write_text("open('loaded', 'w')", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0
    assert [path.name for path in directory.iterdir()] == ["orjson.py"]


def test_keys_of_maps_without_end_are_counted_together():
    text = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
    values = {"type": "object", "additionalProperties": text}
    schema = {"type": "object", "properties": {"m": values}, "x-aws-stickler-match-threshold": 0.7}
    sides = [
        {"m": {f"{outer_key}-{inner_key}": "x" for inner_key in range(10)}}
        for outer_key in range(30)
    ]

    with pytest.warns(UserWarning, match=r"m\.\* are 100 keys beyond the 200 most frequent keys"):
        evaluation = evaluate_many(schema, [(side, side) for side in sides])

    fields = evaluation.to_dict()["confusion_matrix"]["fields"]["m"]["fields"]
    assert len(fields) == 201
    assert fields["*"]["leaves"]["tp"] == 100
