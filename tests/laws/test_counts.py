"""Counting loses nothing: each value of each side has exactly one outcome."""

from hypothesis import given

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import is_absent
from stickler_cli.score.sums import Counts
from .accounts import compare, tally, units
from .strategies import LEAVES, TREE, Scope, X, cases

ANYTHING = Scope(wrong=True)
FITTING = Scope(
    kinds=(*LEAVES, "object", "list", "tuple", "map", "recursion"),
    aggregate=False,
    undeclared=False,
)


def leaf_count(schema, value):
    """Return the number of single values in a value, computed from its schema alone.

    The value fits the schema.
    """
    if is_absent(value):
        return 0
    schema = TREE if "$ref" in schema else schema
    if schema.get("type") == "object":
        return sum(leaf_count(property_of(schema, name), child) for name, child in value.items())
    if schema.get("type") == "array" and X + "comparator" not in schema:
        positions = schema.get("prefixItems", [])
        return sum(
            leaf_count(positions[index] if index < len(positions) else schema["items"], child)
            for index, child in enumerate(value)
        )
    return 1


def property_of(schema, name):
    if name in schema["properties"]:
        return schema["properties"][name]
    patterns = schema.get("patternProperties", {})
    if name.startswith("n_") and "^n_" in patterns:
        return patterns["^n_"]
    return schema["additionalProperties"]


def accounted(case):
    comparison = compare(case.plan, case.gt, case.pred, case.options)
    return comparison, tally(comparison)


@given(cases(FITTING))
def test_every_leaf_is_right_wrong_or_else_missed_or_invented(case):
    counts = accounted(case)[1].counts("leaves")

    assert counts.tp + counts.fd + counts.fn == leaf_count(case.schema, case.gt)
    assert counts.tp + counts.fd + counts.fa == leaf_count(case.schema, case.pred)


@given(cases(ANYTHING))
def test_the_overall_of_the_root_is_the_sum_of_its_fields_and_extra_keys(case):
    comparison, root = accounted(case)

    expected = sum(
        (child.counts("overall") for child in root.fields.values()),
        Counts(fa=len(comparison.extra_keys)),
    )
    assert root.counts("overall") == expected


@given(cases(ANYTHING))
def test_what_an_object_counts_is_the_sum_of_its_fields_and_extra_keys(case):
    for comparison, node in objects_in(*accounted(case)):
        names = {entry.name for entry in comparison.fields}
        names_in_aggregate = {entry.name for entry in comparison.fields if entry.in_aggregate}
        for mode, counted in (("leaves", names), ("aggregate", names_in_aggregate)):
            expected = sum(
                (node.fields[name].counts(mode) for name in counted),
                Counts(fa=len(comparison.extra_keys)),
            )
            assert node.counts(mode) == expected


def objects_in(comparison, node):
    """Yield (unit, counts) for the document, and for each object in it that both sides have.

    Objects in lists are left out.
    """
    yield comparison, node
    for entry in comparison.fields:
        place = entry
        if place.shape == "object" and place.outcome in (Outcome.TP, Outcome.FD):
            yield from objects_in(place, node.fields[entry.name])


@given(cases(ANYTHING))
def test_a_nested_object_is_one_unit_of_its_own(case):
    comparison, root = accounted(case)
    for parent, node in objects_in(comparison, root):
        for entry in parent.fields:
            if entry.shape in ("object", "mismatch"):
                assert node.fields[entry.name].counts("overall") == count_one(entry.outcome)


def count_one(outcome):
    return Counts(*[int(kind is outcome) for kind in Outcome])


@given(cases(Scope(wrong=True), kind="list"))
def test_a_list_counts_each_of_its_elements_once(case):
    comparison, root = accounted(case)
    units_of_list = comparison.fields[0]
    elements = [element.outcome for element in units_of_list.items]
    expected = sum(map(count_one, elements), Counts()) if elements else Counts(tn=1)

    assert root.fields["x"].counts("overall") == expected


LISTS = Scope(kinds=("text", "number", "list", "object", "tuple"), wrong=True, aggregate=False)


@given(cases(LISTS, kind="list"))
def test_the_aggregate_of_items_is_that_of_their_fields_and_one_for_each_not_looked_into(case):
    comparison, root = accounted(case)
    elements = comparison.fields[0].items
    if all(element.shape == "object" for element in elements) and elements:
        node = root.fields["x"]
        expected = sum((child.counts("aggregate") for child in node.fields.values()), Counts())
        for element in elements:
            if element.outcome.name == "TP":
                expected += Counts(fa=len(element.extra_keys))
            else:
                expected += count_one(element.outcome)

        assert node.counts("aggregate") == expected


@given(cases(LISTS, kind="list"))
def test_no_missed_or_invented_element_vanishes_from_an_aggregate(case):
    comparison, root = accounted(case)
    aggregate = root.counts("aggregate")
    outcomes = [element.outcome for element in comparison.fields[0].items]

    assert aggregate.fn >= outcomes.count(Outcome.FN)
    assert aggregate.fa >= outcomes.count(Outcome.FA)
    assert aggregate.fd >= outcomes.count(Outcome.FD)


@given(cases(ANYTHING))
def test_every_element_of_both_lists_is_in_one_unit(case):
    for unit in units(compare(case.plan, case.gt, case.pred, case.options)):
        if unit.shape == "list":
            gts = [item.gt_index for item in unit.items if item.gt_index is not None]
            preds = [item.pred_index for item in unit.items if item.pred_index is not None]
            assert sorted(gts) == present(unit.gt)
            assert sorted(preds) == present(unit.pred)


def present(value):
    """Return the indexes of a list that have a value; a single value counts as a list of one."""
    elements = value if isinstance(value, list) else [value]
    return [index for index, element in enumerate(elements) if not is_absent(element)]
