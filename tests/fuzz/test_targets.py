"""Targets of the fuzzer: the seeds break no rule, reach much code, and broken rules are found."""

from pathlib import Path

import orjson
import pytest

from fuzz import targets
from fuzz.targets import TARGETS, BrokenRuleError
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.documents.document import read_text
from stickler_cli.schema.compiler import compile_schema

FUZZ = Path(targets.__file__).parent
SEEDS = {name: sorted((FUZZ / name).iterdir()) for name in TARGETS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [pytest.param(name, seed, id=seed.name) for name in SEEDS for seed in SEEDS[name]],
)
def test_a_seed_breaks_no_rule(name, seed):
    TARGETS[name](seed.read_bytes())


def test_schemas_that_compile_and_one_that_does_not_are_among_the_seeds():
    verdicts = {}
    for seed in SEEDS["schema"]:
        try:
            compile_schema(orjson.loads(seed.read_bytes()))
        except SchemaError:
            verdicts[seed.stem] = False
        else:
            verdicts[seed.stem] = True

    assert verdicts == dict.fromkeys(verdicts, True) | {"faults": False}


def test_documents_that_can_be_read_and_others_are_among_the_seeds():
    values = [read_text(seed.read_bytes(), "").value for seed in SEEDS["document"]]

    assert {isinstance(value, Problem) for value in values} == {True, False}


def test_an_error_without_a_problem_is_noticed(monkeypatch):
    def compile_nothing(*_):
        raise SchemaError([])

    monkeypatch.setattr(targets, "compile_schema", compile_nothing)
    with pytest.raises(BrokenRuleError, match="has no problem"):
        TARGETS["schema"](b"{}")


def test_a_document_that_is_read_otherwise_is_noticed(monkeypatch):
    monkeypatch.setattr(targets.json, "loads", lambda _: {})
    with pytest.raises(BrokenRuleError, match="standard library"):
        TARGETS["document"](b'{"a": 1}')


def test_more_memory_than_documents_account_for_is_noticed(monkeypatch):
    monkeypatch.setattr(targets, "BASE_MEMORY", 0)
    monkeypatch.setattr(targets, "MOST_BYTES", 0)
    with pytest.raises(BrokenRuleError, match="bytes of memory, more than 0"):
        TARGETS["comparison"]((FUZZ / "comparison" / "union_trees.json").read_bytes())
