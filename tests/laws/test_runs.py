"""Laws for any documents of a run."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.json_values import is_absent
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.score.document_result import Status
from .accounts import compare, outline, tally
from .strategies import LEAVES, Scope, X, cases, json_objects

ANYTHING = Scope(wrong=True)
EVERYTHING = OutputsRequested(
    document_lines=True, non_match_lines=True, first_non_matches=3, accounts=True, document=True
)
FITTING = Scope(
    kinds=(*LEAVES, "object", "list", "tuple", "map", "recursion"),
    aggregate=False,
    undeclared=False,
)
PROBLEM = Problem("x.json", "it is empty")


@given(cases(ANYTHING, sides=2), json_objects, json_objects)
def test_a_chunk_has_a_line_for_each_document_whatever_is_in_them(case, gt, pred):
    sides = [
        *zip(case.gts, case.preds, strict=True),
        *((gt, pred), (case.gt, pred), (gt, case.pred), (case.gt, None)),
        *((PROBLEM, pred), (gt, PROBLEM), (None, pred)),
    ]
    pairs = [DocumentPair(str(number), *side) for number, side in enumerate(sides)]

    chunk = evaluate_chunk(Job(case.plan, case.options, requested=EVERYTHING), pairs)

    lines = [json.loads(line) for line in chunk.document_lines.splitlines()]
    assert [line["document"] for line in lines] == chunk.ids == [pair.id for pair in pairs]
    assert [line["status"] for line in lines] == [
        *[Status.EVALUATED] * 5,
        *(Status.MISSING, Status.FAILED, Status.INVALID, Status.UNMATCHED),
    ]
    assert all(json.loads(line) for line in chunk.non_match_lines.splitlines())


@given(cases(ANYTHING, sides=3))
def test_what_is_kept_of_a_document_is_the_same_in_any_company(case):
    sides = enumerate(zip(case.gts, case.preds, strict=True))
    pairs = [DocumentPair(str(number), *side) for number, side in sides]
    job = Job(case.plan, case.options, requested=replace(EVERYTHING, value_lines=True))
    together = evaluate_chunk(job, pairs)
    single_evaluations = [evaluate_chunk(job, [pair]) for pair in pairs]

    for name in ("document_lines", "non_match_lines", "value_lines"):
        assert b"".join(getattr(evaluation, name) for evaluation in single_evaluations) == getattr(
            together, name
        )
    assert together.evaluation.ledger.blocks.view() == [
        record
        for evaluation in single_evaluations
        for record in evaluation.evaluation.ledger.blocks.view()
    ]


@given(st.data(), cases(ANYTHING))
def test_the_order_of_keys_changes_nothing(data, case):
    gt, pred = data.draw(rekeyed(case.gt)), data.draw(rekeyed(case.pred))
    usual = compare(case.plan, case.gt, case.pred, case.options)
    other = compare(case.plan, gt, pred, case.options)

    # A map adds its fields up in the order in which the documents name them.
    assert abs(other.similarity - usual.similarity) < 1e-12
    assert outline(tally(other)) == outline(tally(usual))


@st.composite
def rekeyed(draw, value):
    """Draw a copy of a value in which the keys of all objects are in another order."""
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        return {name: draw(rekeyed(value[name])) for name in names}
    if isinstance(value, list):
        return [draw(rekeyed(child)) for child in value]
    return value


def unit_count(schema, document):
    """Return the number of units of a document in `overall`, computed from the schema alone.

    The document fits the schema.
    """
    return sum(field_units(schema["properties"][name], value) for name, value in document.items())


def field_units(schema, value):
    if is_absent(value):
        return 0
    if schema.get("type") == "array" and X + "comparator" not in schema:
        return sum(not is_absent(element) for element in value)
    return 1


@given(cases(FITTING))
def test_every_unit_is_right_wrong_or_else_missed_or_invented(case):
    counts = tally(compare(case.plan, case.gt, case.pred, case.options)).counts("overall")

    assert counts.tp + counts.fd + counts.fn == unit_count(case.schema, case.gt)
    assert counts.tp + counts.fd + counts.fa == unit_count(case.schema, case.pred)
