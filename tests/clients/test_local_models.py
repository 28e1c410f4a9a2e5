"""Models that run in this process: a real model2vec model, and stand-ins for those that need torch.

`test_real_weights.py` tests the real models that need torch.
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from stickler_cli.clients.embeddings import BertScore
from stickler_cli.comparators import BERTComparator, SemanticComparator
from stickler_cli.core.problems import UnavailableError

NO_MODEL = "model2vec IS NOT INSTALLED: no such model is asked"
WORDS = {"car": [1, 0, 0], "automobile": [0.8, 0.6, 0], "banana": [0, 0, 1]}


@pytest.fixture(scope="module")
def static_model(tmp_path_factory):
    """The directory of a static model that knows three words."""
    pytest.importorskip("model2vec", reason=NO_MODEL)
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    vocabulary = {"[UNK]": 0, **{word: number for number, word in enumerate(WORDS, 1)}}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.array([[0, 0, 0], *WORDS.values()], dtype=np.float32)
    place = tmp_path_factory.mktemp("static") / "model"
    StaticModel(vectors, tokenizer, config={"normalize": False}).save_pretrained(str(place))
    return place


def test_a_static_model_compares_meanings(static_model, asking):
    with asking() as client:
        comparator = SemanticComparator(f"model2vec:{static_model}")
        comparator.require()

        assert comparator.compare("car", "automobile") == 0.8
        answers = comparator.ask(None, ["car", "banana"], ["banana", "banana"])
        assert answers.similarities.tolist() == [0.0, 1.0]
        # one batch of car and automobile, one of banana alone
        assert (client.usage.calls, client.usage.cached, client.usage.unpriced) == (2, 0, 0)


def test_a_model_whose_files_changed_is_another_model(static_model, asking, tmp_path):
    import shutil

    place = tmp_path / "copy"
    shutil.copytree(static_model, place)
    with asking():
        SemanticComparator(f"model2vec:{place}").compare("car", "banana")
    (place / "README.md").write_text("another state")
    with asking() as client:
        SemanticComparator(f"model2vec:{place}").compare("car", "banana")

        assert client.usage.cached == 0


class SentenceTransformer:
    """A stand-in for the class of this name. It knows three words, and counts its instances."""

    constructed = 0

    def __init__(self, name):
        type(self).constructed += 1
        self.name = name

    def encode(self, texts, **_):
        return np.array([WORDS[text] for text in texts], dtype=np.float32)


class BERTScorer:
    """A stand-in for the class of this name. F1 is the share of common letters."""

    constructed: list = []  # noqa: RUF012 - of the tests of this module

    def __init__(self, **keywords):
        self.constructed.append(keywords)

    def score(self, firsts, seconds, batch_size):
        sys.stderr.write("Warning: something that the library says\n")
        f1 = [
            len({*first} & {*other}) / len({*first} | {*other})
            for first, other in zip(firsts, seconds, strict=True)
        ]
        return None, None, f1


@pytest.fixture
def on_torch(monkeypatch):
    """Replace the libraries that need torch by stand-ins."""

    def module(name, **parts):
        module_made = ModuleType(name)
        module_made.__spec__ = SimpleNamespace(name=name)
        vars(module_made).update(parts)
        monkeypatch.setitem(sys.modules, name, module_made)
        return module_made

    logging = SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    utils = module("transformers.utils", logging=logging)
    module("transformers", utils=utils)
    module("sentence_transformers", SentenceTransformer=SentenceTransformer)
    scores = module("bert_score.utils", model2layers={"known-model": 5})
    module("bert_score", BERTScorer=BERTScorer, utils=scores)
    SentenceTransformer.constructed = 0
    BERTScorer.constructed = []


def test_a_model_of_sentence_transformers_is_loaded_once(on_torch, asking):
    with asking(cache=False):
        comparator = SemanticComparator("st:a-model-for-this-test")
        comparator.require()

        assert comparator.compare("car", "automobile") == pytest.approx(0.8)
        assert comparator.compare("car", "banana") == 0.0
    assert SentenceTransformer.constructed == 1


@pytest.mark.parametrize("prefix", ["st", "model2vec"])
def test_a_path_that_leads_nowhere_is_refused(on_torch, prefix):
    if prefix == "model2vec":
        pytest.importorskip("model2vec", reason=NO_MODEL)
    with pytest.raises(UnavailableError, match=r"finds no model in \./nowhere, expected the dir"):
        SemanticComparator(f"{prefix}:./nowhere").require()


def test_a_bert_score_is_the_f1_of_the_library(on_torch, asking, capsys):
    with asking() as client:
        comparator = BERTComparator(model_type="known-model", lang="de")
        comparator.require()

        assert comparator.compare("abc", "abd") == 0.5
        assert comparator.compare("abd", "abc") == 0.5
        assert comparator.compare("abc", "abc") == 1.0
    assert BERTScorer.constructed == [
        {
            "model_type": "known-model",
            "num_layers": None,
            "lang": "de",
            "rescale_with_baseline": False,
        }
    ]
    assert (client.usage.calls, client.usage.cached) == (1, 0)
    assert capsys.readouterr().err == ""


def test_blank_texts_have_no_bert_score_and_are_alike(on_torch, asking):
    comparator = BERTComparator(model_type="known-model", num_layers=2)
    with asking():
        assert comparator.compare(" ", "") == 1.0
        assert comparator.compare(" ", "abc") == 0.0
    assert BERTScorer.constructed == []


def test_bert_scores_each_distinct_pair_once(on_torch, asking, all_pairs):
    with asking(cache=False) as client:
        comparator = BERTComparator(model_type="known-model")
        matrix = all_pairs(comparator, ["ab", "b", "ab"], ["b", "ab"])

        assert matrix == [[0.5, 1.0], [1.0, 0.5], [0.5, 1.0]]
        assert client.usage.calls == 1


def test_the_librarys_own_model_needs_no_name(on_torch, asking):
    with asking():
        comparator = BERTComparator()
        comparator.require()

        assert comparator.compare("ab", "abcd") == 0.5
    assert BertScore(None, None, rescaled=False, language="en").title == (
        "bert-score's default model for en"
    )


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"model_type": "./nowhere"}, "BERTComparator finds no model in ./nowhere"),
        (
            {"model_type": "my-model"},
            "does not know which layer of my-model to use; set num_layers",
        ),
        (
            {"model_type": "my-model", "num_layers": 3, "rescale_with_baseline": True},
            "no baseline for my-model; set rescale_with_baseline to false",
        ),
    ],
)
def test_what_the_library_cannot_do_is_refused(on_torch, keywords, message):
    with pytest.raises(UnavailableError, match=message):
        BERTComparator(**keywords).require()


def test_a_model_that_the_library_does_not_know_can_be_used_with_a_layer(on_torch):
    BERTComparator(model_type="my-model", num_layers=3).require()


@pytest.mark.parametrize(
    ("comparator", "package", "hint"),
    [
        (SemanticComparator(), "boto3", ".[bedrock]"),
        (SemanticComparator("openai:m"), "openai", ".[openai]"),
        (SemanticComparator("st:m"), "sentence_transformers", ".[semantic]"),
        (SemanticComparator("model2vec:m"), "model2vec", ".[model2vec]"),
        (BERTComparator(), "bert_score", ".[bert]"),
    ],
    ids=str,
)
def test_without_its_extra_a_comparator_says_what_to_install(
    monkeypatch, comparator, package, hint
):
    monkeypatch.setattr("stickler_cli.clients.model.find_spec", {}.get)

    with pytest.raises(UnavailableError) as caught:
        comparator.require()
    assert f"needs the package {package}, which is not installed" in str(caught.value)
    assert f"pip install '{hint}'" in str(caught.value)
