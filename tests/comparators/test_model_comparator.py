"""`ask`: a model comparator gets answers for pairs of values from the client of the run."""

import json
import pickle

import pytest

from stickler_cli.clients.client import Client
from stickler_cli.clients.judge import Verdict
from stickler_cli.clients.model_policy import Policy
from stickler_cli.comparators import (
    BERTComparator,
    ExactComparator,
    LLMComparator,
    SemanticComparator,
)
from stickler_cli.core.problems import ModelError, Problem, UnavailableError

VECTORS = {"east": [2, 0], "north": [0, 3], "north-east": [1, 1], "none": [0, 0]}


class Known:
    """A client with some cached answers, as in a dry run; it records its questions."""

    def __init__(self, **answers):
        self.known = answers
        self.asked = []

    def answers(self, model, questions):
        questions = list(dict.fromkeys(questions))
        self.asked.append(questions)
        names = {question: "|".join(question[:2]) for question in questions}
        return {q: self.known[name] for q, name in names.items() if name in self.known}


class Panel:
    """A client that answers each question with the next of the given verdicts."""

    def __init__(self, *said):
        self.verdicts = [Verdict(*arguments) for arguments in said]
        self.temperature = None

    def answers(self, model, questions):
        self.temperature = model.temperature
        return dict(zip(questions, self.verdicts, strict=True))


def test_embeddings_are_compared_element_by_element():
    client = Client(Policy(cache=False))
    comparator = SemanticComparator(embedding_function=VECTORS.__getitem__)
    answers = comparator.ask(
        client, ["east", "east", " ", "", "none"], ["east", "north-east", "", "east", "none"]
    )

    assert answers.similarities == pytest.approx([1.0, 0.5**0.5, 1.0, 0.0, 0.0], abs=1e-12)
    assert answers.reasons is None
    assert client.usage.calls == 3  # a function takes one text; blank ones need no model


def test_a_client_is_asked_once_for_all_pairs_of_a_call():
    client = Known(**{"a|b": 0.25, "a|c": 0.1234567})
    answers = BERTComparator().ask(client, ["b", "a", " c", "x", ""], ["a", "b", "a", "x ", "y"])

    assert client.asked == [[("a", "b"), ("a", "c")]]
    assert answers.similarities.tolist() == [0.25, 0.25, 0.123457, 1.0, 0.0]


def test_a_judge_gives_a_reason_for_each_pair():
    client = Known(**{'"A"|"a"': Verdict(equivalence=True, reason="case aside")})
    answers = LLMComparator("openai:m").ask(client, ["a", "A", "a", "a"], ["A", "a", "a", "b"])

    assert client.asked == [[('"A"', '"a"', 0), ('"a"', '"b"', 0)]]
    assert answers.similarities.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert answers.reasons == ["case aside", "case aside", "both values are the same", ""]


@pytest.mark.parametrize(
    ("votes", "similarity", "reason"),
    [
        ([(True, "alike"), (False, "no"), (True, "the same")], 1.0, "2 of 3 votes: alike"),
        ([(True, "alike"), (False, "no"), (False, "never")], 0.0, "2 of 3 votes: no"),
        ([(False, "no"), (False, "never"), (False, "not")], 0.0, "no"),
        ([(True, "case aside")] * 5, 1.0, "case aside"),
    ],
)
def test_what_most_votes_say_counts_with_the_reason_of_the_first_that_says_so(
    votes, similarity, reason
):
    panel = Panel(*votes)
    answers = LLMComparator("openai:m", votes=len(votes)).ask(panel, ["a"], ["b"])

    assert answers.similarities.tolist() == [similarity]
    assert answers.reasons == [reason]
    assert panel.temperature == 1


def test_of_grades_the_one_in_the_middle_counts():
    panel = Panel((0.9, "it is 0.9"), (0.25, "it is 0.25"), (0.6, "it is 0.6"))
    answers = LLMComparator("openai:m", scale="0-1", votes=3).ask(panel, ["a"], ["b"])

    assert answers.similarities.tolist() == [0.6]
    assert answers.reasons == ["the score is the median of 0.9, 0.25, 0.6: it is 0.6"]


def test_a_judge_that_is_asked_once_is_asked_at_temperature_0():
    panel = Panel((True, "yes"))
    LLMComparator("openai:m").ask(panel, ["a"], ["b"])

    assert panel.temperature == 0


def test_the_details_tell_what_was_asked_and_answered():
    comparator = LLMComparator("openai:m", "Case matters.")
    comparator.client = Panel((True, "case aside"))
    details = comparator.get_comparison_details("b", "A")

    assert details["model_id"] == "openai:m"
    assert details["comparison_result"] == 1.0
    assert json.loads(details["llm_response"]) == {"equivalent": True, "reason": "case aside"}
    assert "Case matters." in details["prompt"]
    assert details["prompt"].endswith('\n\n{"ground_truth": "b", "prediction": "A"}')


def test_the_details_of_a_grade_tell_the_grade():
    comparator = LLMComparator("openai:m", scale="0-1")
    comparator.client = Panel((0.75, "near"))
    details = comparator.get_comparison_details("b", "A")

    assert details["comparison_result"] == 0.75
    assert json.loads(details["llm_response"]) == {"score": 0.75, "reason": "near"}
    assert details["prompt"].endswith('\n\n{"one": "A", "other": "b"}')


def test_the_details_of_what_the_judge_does_not_answer_have_no_reason():
    comparator = LLMComparator("openai:m")
    comparator.client = Known()
    details = comparator.get_comparison_details("a", "b")

    assert json.loads(details["llm_response"]) == {"equivalent": False, "reason": ""}


def test_values_that_are_no_texts_are_scored_as_texts():
    comparator = BERTComparator()
    comparator.client = Known(**{"12|twelve": 0.5})

    assert comparator.compare(12, "twelve") == 0.5
    assert comparator.compare(12, " 12 ") == 1.0
    assert comparator.client.asked == [[("12", "twelve")], []]


def test_the_model_that_a_comparator_asks_is_told():
    assert SemanticComparator("openai:m").asked_model.title == "openai:m"
    assert LLMComparator("ollama:n").asked_model.title == "ollama:n"
    assert BERTComparator(model_type="some/model").asked_model.title == "some/model"
    assert ExactComparator().asked_model is None


def vector_from_server(text):
    """Stand for a function that gets the embedding of a text from a server."""
    return VECTORS[text]


class Elsewhere(Client):
    """A client that cannot reach any model."""

    def require(self, model):
        raise UnavailableError(
            [
                Problem(
                    source="",
                    found=f"the model {model.title} cannot be reached",
                    hint="check that its server is running",
                )
            ]
        )


def test_whether_a_model_can_be_asked_is_for_the_client_to_say():
    comparator = SemanticComparator("openai:m", embedding_function=vector_from_server)
    comparator.require()

    with pytest.raises(UnavailableError) as caught:
        comparator.require_by(Elsewhere())
    assert str(caught.value) == (
        "the model vector_from_server cannot be reached; check that its server is running"
    )
    with pytest.raises(UnavailableError) as caught:
        LLMComparator("ollama:llama3.2").require_by(Elsewhere())
    assert str(caught.value) == (
        "the model ollama:llama3.2 cannot be reached; check that its server is running"
    )


@pytest.mark.parametrize(
    "comparator", [SemanticComparator("openai:m"), BERTComparator(), LLMComparator("openai:m")]
)
def test_what_a_dry_run_does_not_know_is_not_alike(comparator):
    answers = comparator.ask(Known(), ["a", "b"], ["b", "c"])

    assert answers.similarities.tolist() == [0.0, 0.0]


def test_no_pairs_have_no_similarities():
    assert SemanticComparator("openai:m").ask(Known(), [], []).similarities.shape == (0,)


def test_sides_of_different_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        BERTComparator().ask(Known(), ["a"], [])


def test_a_question_without_an_answer_is_an_error_that_tells_its_pair():
    comparator = SemanticComparator(embedding_function=VECTORS.__getitem__)

    with pytest.raises(ModelError, match=r"^KeyError: 'west'$") as caught:
        comparator.ask(Client(Policy(cache=False)), ["east", "east"], ["north", "west"])
    assert caught.value.at == 1
    assert repr(pickle.loads(pickle.dumps(caught.value))) == repr(caught.value)  # noqa: S301


def test_embeddings_of_different_sizes_are_an_error_that_tells_its_pair():
    vectors = {"a": [1], "b": [1], "c": [1, 2]}
    comparator = SemanticComparator(embedding_function=vectors.__getitem__)

    with pytest.raises(ModelError, match="embeddings of different lengths, 1 and 2") as caught:
        comparator.ask(Client(Policy(cache=False)), ["a", "a"], ["b", "c"])
    assert caught.value.at == 1


def test_without_a_run_a_comparator_asks_by_a_client_of_its_own():
    requested = []

    def embedding(text):
        requested.append(text)
        return VECTORS[text]

    comparator = SemanticComparator(embedding_function=embedding)
    comparator.ask(None, ["east"], ["north"])
    comparator.ask(None, ["east"], ["none"])

    assert requested == ["east", "north", "none"]
    assert comparator.client.usage.calls == 3
    assert comparator == SemanticComparator(embedding_function=embedding)


def test_a_comparator_that_has_asked_can_be_sent_to_another_process():
    comparator = BERTComparator()
    comparator.client = Client(Policy(cache=False, max_pairs=3))
    sent = pickle.loads(pickle.dumps(comparator))  # noqa: S301 - our own

    assert sent == comparator
    assert sent.client.policy == comparator.client.policy


class Shorter(LLMComparator):
    """A judge that compares only first letters."""

    def compare(self, gt, pred):
        return super().compare(gt[:1], pred[:1]) / 2


class Halved(LLMComparator):
    """A judge that halves the inherited answer."""

    def similarity(self, gt, pred):
        return super().similarity(gt, pred) / 2


@pytest.mark.parametrize(("cls", "expected"), [(Shorter, [0.5, 0.5]), (Halved, [0.0, 0.5])])
def test_what_a_subclass_overrides_is_not_bypassed_and_asks_the_same_client(cls, expected):
    yes = Verdict(equivalence=True, reason="yes")
    client = Known(**{'"a"|"b"': yes, '"c"|"d"': yes})
    comparator = cls("openai:m")
    answers = comparator.ask(client, ["ax", "c"], ["by", "d"])

    assert answers.similarities.tolist() == expected
    assert answers.reasons is None
    assert comparator.client is None
