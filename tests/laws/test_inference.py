"""Laws for inference on any schema."""

from unittest import mock

from hypothesis import given

from stickler_cli.compare.engine import compare
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.core.locations import ANY_KEY
from stickler_cli.schema.annotations import TEXT
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.dialects import walk
from stickler_cli.schema.inference import choices, infer
from stickler_cli.score.comparison_view import sums_view
from stickler_cli.score.counts import count_units
from stickler_cli.score.sums import sum_counts
from .strategies import KINDS, Scope, X, cases

SILENT = Scope(kinds=tuple(kind for kind in KINDS if kind != "recursion"))
"""A scope in which names of fields tell nothing: they are a, b and c. Trees are left out, since
they have a field `name`."""

TELLING = {
    "a": "amount",
    "b": "due_dates",
    "c": "bbox",
    "d e": "invoice no",
    "name": "vendorName",
    "children": "notes",
}
ADDED = {X + "comparator", X + "comparator-config", X + "threshold"}
SAYS_HOW = {*ADDED, X + "clip-under-threshold"}


def telling(value):
    """Return a schema whose fields have names that tell something, such as `amount`."""
    match value:
        case dict():
            return {
                key: {TELLING[name]: telling(child) for name, child in inner.items()}
                if key == "properties" and not set(inner) - set(TELLING)
                else telling(inner)
                for key, inner in value.items()
            }
        case list():
            return [telling(child) for child in value]
        case _:
            return value


@given(cases(Scope()))
def test_nothing_changes_but_for_annotations_where_nothing_said_how(case):
    schema = telling(case.schema)

    before, after = dict(walk(schema)), dict(walk(infer(schema).schema))

    assert list(before) == list(after)
    for path, sub_schema in before.items():
        added = {key: value for key, value in after[path].items() if key not in sub_schema}
        assert set(added) <= ADDED
        assert not (added and SAYS_HOW & set(sub_schema))
        kept = {
            key: after[path][key]
            for key in sub_schema
            if not isinstance(sub_schema[key], dict | list)
        }
        assert kept == {key: sub_schema[key] for key in kept}


def counted(table):
    """Return the counts of a document as JSON values."""
    return sums_view(sum_counts(count_units(table)))


@given(cases(SILENT))
def test_names_that_say_nothing_change_no_result(case):
    # But for texts of which nothing is known: they must be more alike than by default.
    with mock.patch.object(choices, "ANY_TEXT", TEXT):
        plan = compile_schema(infer(case.schema).schema)

    before, after = (
        compare(plan_, [case.gt], [case.pred], case.options) for plan_ in (case.plan, plan)
    )

    assert before.document_scores.tolist() == after.document_scores.tolist()
    assert counted(before) == counted(after)


@given(cases(Scope()))
def test_what_was_inferred_once_is_left_alone(case):
    schema = infer(telling(case.schema)).schema

    assert infer(schema).schema == schema


@given(cases(Scope()))
def test_the_list_of_fields_says_what_the_plan_does(case):
    schema, fields, *_ = infer(telling(case.schema))

    listed = {}
    for field in fields:
        listed.setdefault(field.path, []).append(field)

    for row in field_listing(compile_schema(schema)):
        if row.kind == "any" and ANY_KEY in row.field:
            continue
        entries = listed[row.field]
        if any(entry.reason.startswith("as ") for entry in entries):
            continue
        comparators = {entry.comparator for entry in entries} - {""}
        assert set(row.comparator.split(" | ")) - {""} <= comparators
        assert row.weight in {entry.weight for entry in entries}
        if row.threshold is not None:
            assert row.threshold in {entry.threshold for entry in entries}
