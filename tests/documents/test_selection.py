"""Selected documents: the first ones, or a sample that depends only on ids."""

import json
import random

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.documents.document_pair import PairRef
from stickler_cli.documents.pairs import Pairs, open_pairs, selected
from stickler_cli.settings.deciding import SelectionOptions

IDS = [f"doc-{number}" for number in range(200)]


def ids(pairs):
    return [ref.id for ref in pairs.refs()]


def pairs_of(names, total=True):
    refs = [PairRef(name, object(), None) for name in names]
    return Pairs(lambda: iter(refs), len(refs) if total else None)


def test_the_first_documents_are_those_of_the_listing():
    chosen = selected(pairs_of(IDS), SelectionOptions(limit=3), 0)
    assert (ids(chosen), chosen.total) == (IDS[:3], 3)
    assert str(chosen.problems[0]) == "--limit: evaluated only the first 3 of 200 documents"


def test_a_sample_is_the_same_in_any_order_and_keeps_the_order_of_the_run():
    shuffled = random.Random(1).sample(IDS, len(IDS))  # noqa: S311
    sample = ids(selected(pairs_of(IDS), SelectionOptions(sample=40), 7))
    other = ids(selected(pairs_of(shuffled), SelectionOptions(sample=40), 7))
    assert len(set(sample)) == 40
    assert sample == sorted(sample, key=IDS.index)
    assert other == sorted(other, key=shuffled.index)
    assert set(sample) == set(other)


def test_another_seed_draws_other_documents():
    draws = {
        tuple(ids(selected(pairs_of(IDS), SelectionOptions(sample=20), seed))) for seed in range(20)
    }
    assert len(draws) == 20


def test_every_document_is_drawn_about_as_often():
    counts = dict.fromkeys(IDS, 0)
    for seed in range(400):
        for name in ids(selected(pairs_of(IDS), SelectionOptions(sample=50), seed)):
            counts[name] += 1
    # 400 draws with probability 1/4: mean 100, standard deviation 8.7; five of them
    assert min(counts.values()) > 100 - 44
    assert max(counts.values()) < 100 + 44


def test_a_sample_takes_predictions_without_ground_truth_last():
    lonely = [PairRef(name, None, object()) for name in IDS[:150]]
    refs = [PairRef(name, object(), None) for name in IDS[150:]] + lonely
    chosen = ids(selected(Pairs(lambda: iter(refs), 200), SelectionOptions(sample=60), 0))
    assert chosen[:50] == IDS[150:]
    assert len(chosen) == 60


def test_more_than_there_are_is_all_and_no_remark():
    chosen = selected(pairs_of(IDS), SelectionOptions(sample=200), 0)
    assert (ids(chosen), chosen.problems) == (IDS, ())


def test_of_a_stream_nobody_knows_the_length(tmp_path):
    for side in ("gt", "pred"):
        lines = "".join(json.dumps({"id": number}) + "\n" for number in range(9))
        (tmp_path / f"{side}.jsonl").write_text(lines)
    pairs = open_pairs(str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl"))
    chosen = selected(pairs, SelectionOptions(sample=4), 0)
    assert chosen.total is None
    assert len(ids(chosen)) == 4
    sentence = "--sample: evaluated only a random sample of 4 documents (seed 0)"
    assert str(chosen.problems[0]) == sentence


def test_both_at_once_are_refused():
    with pytest.raises(UsageError, match="--limit is also given"):
        selected(pairs_of(IDS), SelectionOptions(limit=1, sample=1), 0)
