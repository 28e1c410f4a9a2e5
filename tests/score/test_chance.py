"""Causes name another field only if its values occur there more often than by chance."""

import random
from itertools import islice

import pytest

from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors import chance
from stickler_cli.score.errors.causes import Causes
from stickler_cli.score.errors.chance import (
    N_BUCKETS,
    ValueCounts,
    bucket_of,
    is_text_of_counts,
    upper_tail,
)
from stickler_cli.score.evaluation import Evaluation
from .batches import a_list, an_object, batch

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
NAMES = [f"s{number}" for number in range(6)]
PLAN = compile_schema(an_object(**dict.fromkeys(NAMES, EXACT)))
STATES = ("yes", "no", "unknown", "pending")
LONG_STATES = ("Not Applicable", "Not Yet Known", "Answer Is Pending", "Answered With Yes")


def random_errors(seed, states, rate=0.2):
    """Return documents with six fields; each field is wrong with the probability `rate`."""
    chosen = random.Random(seed)  # noqa: S311 - no secret
    pairs = {}
    for number in range(200):
        gt = {name: chosen.choice(states) for name in NAMES}
        pred = {
            name: chosen.choice([state for state in states if state != value])
            if chosen.random() < rate
            else value
            for name, value in gt.items()
        }
        pairs[f"d{number:03}"] = gt, pred
    return pairs


def evaluated(pairs, plan=PLAN, chunk=1_000):
    names, evaluation = [*pairs], Evaluation()
    for first in range(0, len(names), chunk):
        evaluation.add(batch(plan, {name: pairs[name] for name in names[first : first + chunk]}))
    return evaluation


def chance_figures(evaluation):
    causes = evaluation.fold(Causes)
    return {
        (origin.field, origin.of)
        for told_together in causes.numbered()
        for origin, _ in causes.telling_origins_of(told_together)
    }


@pytest.mark.parametrize("states", [STATES, LONG_STATES])
def test_fields_of_four_values_hold_each_other_by_chance_alone(states):
    for seed in range(5):
        assert chance_figures(evaluated(random_errors(seed, states))) == set()


def test_short_values_of_few_are_never_swapped():
    classes = evaluated(random_errors(0, STATES)).errors.overall()

    assert "swapped" not in classes
    assert classes.total() > 200


def test_a_field_that_holds_another_is_told_among_errors_by_chance():
    pairs = random_errors(0, LONG_STATES)
    for number, (gt, pred) in enumerate(pairs.values()):
        gt["s0"], gt["s1"] = f"N-{number + 1001}", f"N-{number + 5001}"
        pred["s0"], pred["s1"] = gt["s0"], gt["s1"] if number % 10 else gt["s0"]

    assert chance_figures(evaluated(pairs)) == {(("s1",), (("s0",),))}


def test_what_is_told_does_not_depend_on_chunks_or_the_order_of_merging():
    pairs = dict(islice(random_errors(1, LONG_STATES).items(), 60))
    expected = evaluated(pairs).to_dict()
    assert expected["value_counts"]["wrong"]
    assert read_evaluation(expected).to_dict() == expected
    for chunk in (1, 7, 40):
        assert evaluated(pairs, chunk=chunk).to_dict() == expected

    parts = [evaluated({name: pair}) for name, pair in pairs.items()]
    for seed in (1, 7, 100):
        random.Random(seed).shuffle(parts)  # noqa: S311 - no secret
        merged = Evaluation()
        for part in parts:
            merged.merge(part)
        assert merged.to_dict() == expected


def counts_of(gt, wrong):
    """Return the counts of true and of wrong values of fields, given by name."""
    counts = ValueCounts()
    for name, values in wrong.items():
        for value in values:
            counts.add_wrong((name,), value)
    counts.gt = {(name,): counts.wrong.pop((name,)) for name in gt}
    return counts


def test_chance_is_that_of_the_other_field_permuted():
    # Of 11 ground truths two are equal. Each of three errors is one of these: without the value of
    # its own document, one of ten others has it.
    truths = ["N-1001", "N-1001", *(f"N-{number}" for number in range(2001, 2010))]
    counts = ValueCounts()
    for value in truths:
        counts.add_wrong(("code",), value)
    counts.gt[("code",)] = counts.wrong.pop(("code",))
    for value in ("N-1001",) * 3:
        counts.add_wrong(("number",), value)
    # 3 errors x 2 equal values - 3 hits = 3, of 10 others and 3 tries.
    assert counts.p_of_hits(("number",), ("code",), 3) == pytest.approx(0.1**3)
    assert counts.p_of_hits(("number",), ("code",), 2) == pytest.approx(
        3 * (4 / 30) ** 2 * (26 / 30) + (4 / 30) ** 3
    )


def test_fewer_hits_than_expected_are_certain_although_exactly_that_many_are_not():
    # Of 1000 tries, 100 are expected to hit. Exactly 10 hits have a probability of e**-71 or less.
    assert upper_tail(10, 1000, 0.1) == pytest.approx(1.0, abs=1e-9)


def test_chance_is_corrected_for_the_fields_tried():
    counts = ValueCounts()
    for name in ("code", "other", "third"):
        for value in (f"{name} 1001", f"{name} 2002"):
            counts.add_wrong((name,), value)
    counts.gt, counts.wrong = counts.wrong, {}
    for value in ("code 1001", "code 2002", "x 3003"):
        counts.add_wrong(("number",), value)

    # All three values of the field are rare; 2 equal pairs - 1 hit = 1, of 1 other and 3 tries.
    assert counts.p_of_hits(("number",), ("code",), 1) == 1.0
    assert counts.p_of_hits(("number",), ("code",), 2) == 0.0


def test_objects_are_never_there_by_chance_and_what_was_not_counted_may_be():
    counts = ValueCounts()
    assert counts.p_of_hits(("buyer",), ("seller",), 3) == 0.0
    counts.add_wrong(("buyer",), "N-1001")
    assert counts.p_of_hits(("buyer",), ("seller",), 3) == 1.0
    counts.gt[("seller",)] = counts.wrong[("buyer",)]
    counts.wrong[("buyer",)] = counts.wrong[("buyer",)] * 0
    assert counts.p_of_hits(("buyer",), ("seller",), 3) == 1.0


def test_keys_of_maps_are_one_field():
    rates = {"type": "object", "additionalProperties": EXACT}
    plan = compile_schema(an_object(rates=rates, code=EXACT))
    gts = [
        {"rates": {f"k{number}": f"N-{number + 1001}"}, "code": f"M-{number}"}
        for number in range(5)
    ]
    pairs = {
        f"{number}": (gt, {**gt, "code": gt["rates"][f"k{number}"]})
        for number, gt in enumerate(gts)
    }
    counts = evaluated(pairs, plan).fold(Causes).values

    assert sorted(counts.gt) == [("code",), ("rates", "*")]
    assert counts.p_of_hits(("code",), ("rates", "k9"), 5) == 0.0


def test_fields_beyond_the_room_are_the_same_in_any_order(monkeypatch):
    monkeypatch.setattr(chance, "MAX_FIELDS", 2)
    first, second = ValueCounts(), ValueCounts()
    for counts, names in ((first, "bdc"), (second, "ab")):
        for name in names:
            counts.add_wrong((name,), "N-1001")
        counts.settle()
    assert [*first.wrong] == [("b",), ("c",)]
    views = []
    for one, other in ((first, second), (second, first)):
        merged = ValueCounts()
        merged.merge(one)
        merged.merge(other)
        merged.settle()
        views.append(merged.view())

    bucket = bucket_of("N-1001")
    assert views[0] == views[1]
    assert views[0]["wrong"] == {"a": f"{bucket}", "b": f"{bucket}:2"}


def test_values_of_lists_are_counted_and_absent_ones_are_not():
    plan = compile_schema(an_object(tags=a_list(EXACT), code=EXACT, state=EXACT))
    gt = {"tags": ["N-1001", "N-2002"], "code": None, "state": "pending"}
    counts = evaluated({"a": (gt, {}), "b": (gt, gt)}, plan).fold(Causes).values

    # A document without errors is not counted, nor a value that is not telling.
    assert counts.view()["ground_truth"] == {
        "tags": " ".join(map(str, sorted([bucket_of("N-1001"), bucket_of("N-2002")])))
    }
    assert 0 <= bucket_of("N-1001") < N_BUCKETS
    assert bucket_of({"a": "N-1001"}) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("3 17:2", True), ("255", True), ("256", False), ("3  4", False), ("x", False), (3, False)],
)
def test_counts_in_files_are_hashes_with_counts(value, expected):
    assert is_text_of_counts(value) is expected


@pytest.mark.parametrize(
    ("hits", "tries", "share", "expected"),
    [
        (1, 2, 0.5, 0.75),
        (2, 2, 0.5, 0.25),
        (3, 2, 0.5, 0.0),
        (2, 4, 0.25, 1 - 0.75**4 - 4 * 0.25 * 0.75**3),
    ],
)
def test_a_tail_is_the_chance_of_as_many_or_more(hits, tries, share, expected):
    assert upper_tail(hits, tries, share) == pytest.approx(expected)


def test_a_tail_of_many_tries_is_summed_as_far_as_it_matters():
    assert upper_tail(20_000, 100_000, 0.2) == pytest.approx(0.5, abs=0.01)
    assert upper_tail(30_000, 100_000, 0.2) < 1e-300
