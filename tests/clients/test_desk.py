"""Rounds: what is asked together, in which order, and what a dry run counts."""

from collections import Counter

import pytest

from stickler_cli.clients.desk import close_desk, desk
from stickler_cli.clients.model import Model, ModelError, Reply, Usage
from stickler_cli.clients.policy import Policy
from stickler_cli.clients.rounds import ROUND, Pending, answered


class Capitals(Model):
    """Gives each text in capitals, and notes how it was asked."""

    kind = "embedding"
    batch_size = 2

    title = "capitals"

    def __init__(self, name="capitals", *, is_judge=False):
        self.title = name
        self.is_judge = is_judge
        self.batches = []

    @property
    def identity(self):
        return {"model": self.title}

    def require(self):
        """Need nothing."""

    def call(self, questions, connections, timeout):
        self.batches.append(sorted(questions))
        if "bad" in questions:
            raise ValueError("bad is not taken")
        return Reply([text.upper() for text in questions], Usage(input_tokens=len(questions)))

    def text(self, question):
        return question

    def pack(self, answer):
        return answer.encode()

    def unpack(self, packed):
        return packed.decode()

    @property
    def asked(self):
        return Counter(text for batch in self.batches for text in batch)


def each(model, *texts):
    """Ask one by one, as fields of a document do; a text without an answer is a dash."""

    def one(text):
        try:
            answer = ROUND.answers(model, [text])[text]
        except Pending:
            return "-"
        return "!" if isinstance(answer, ModelError) else answer

    return [one(text) for text in texts]


def test_outside_of_a_round_questions_are_asked_at_once(asking):
    model = Capitals()
    with asking():
        assert each(model, "a", "b", "a") == ["A", "B", "A"]
    assert model.batches == [["a"], ["b"]]


def test_what_a_piece_of_work_asks_is_asked_together_and_once(asking):
    model, seen = Capitals(), []

    def work():
        seen.append(each(model, "a", "b", "a", "c"))
        return seen[-1]

    with asking():
        assert answered(work) == ["A", "B", "A", "C"]
    assert seen[0] == ["-"] * 4
    assert len(seen) == 2
    assert sorted(model.batches) == [["a", "b"], ["c"]]


def test_work_that_asks_nothing_is_done_once(asking):
    done = []
    with asking():
        assert answered(lambda: done.append(1) or "result") == "result"
    assert done == [1]


def test_work_inside_work_is_part_of_it(asking):
    model = Capitals()
    with asking():
        result = answered(lambda: [answered(lambda: each(model, "a")), each(model, "b")])

    assert result == [["A"], ["B"]]
    assert model.batches == [["a", "b"]]


def test_pairs_are_settled_before_a_judge_is_asked_about_them(asking):
    first, judge = Capitals("first"), Capitals("judge", is_judge=True)

    def work():
        (known,) = each(first, "a")
        return each(judge, f"pair of {known}")

    with asking():
        assert answered(work) == ["PAIR OF A"]
    assert judge.asked == {"pair of A": 1}


def test_a_failure_is_known_and_not_asked_again_in_the_same_work(asking):
    model = Capitals()
    with asking():
        assert answered(lambda: each(model, "bad", "bad", "a", "b")) == ["!", "!", "!", "B"]
        assert model.asked["bad"] == 1


def test_an_error_of_the_work_ends_it(asking):
    model = Capitals()

    def work():
        each(model, "a")
        raise KeyError("the work's own")

    with asking():
        with pytest.raises(KeyError):
            answered(work)

        assert each(model, "a") == ["A"]  # the round is over
    assert model.batches == [["a"]]


def test_a_dry_run_counts_and_asks_nothing(asking):
    model = Capitals()
    with asking():
        each(model, "a")
    with asking(dry_run=True) as counting:
        answered(lambda: each(model, "a", "b", "c", "b"))
        answered(lambda: each(model, "c", "d"))
        (need,) = counting.needs

    assert model.batches == [["a"]]
    assert (need.questions, need.calls, need.cached, need.tokens) == (3, 2, 1, 3)


def test_a_dry_run_counts_judged_pairs_as_far_as_it_can_tell(asking):
    first, judge = Capitals("first"), Capitals("judge", is_judge=True)

    def work():
        each(first, "a")
        each(judge, "x or y")

    with asking(dry_run=True) as counting:
        answered(work)
        needs = [(need.model.title, need.questions) for need in counting.needs]

    assert needs == [("first", 1), ("judge", 1)]
    assert judge.batches == []


def test_a_dry_run_goes_on_where_the_cache_has_what_pairs_depend_on(asking):
    first, judge = Capitals("first"), Capitals("judge", is_judge=True)

    def work():
        return each(judge, *(f"pair of {known}" for known in each(first, "a")))

    with asking():
        each(first, "a")
    with asking(dry_run=True) as counting:
        assert answered(work) == ["-"]
        assert [need.questions for need in counting.needs] == [0, 1]
    assert judge.batches == []


def test_a_question_of_a_dry_run_outside_of_a_round_has_no_answer(asking):
    with asking(dry_run=True):
        assert each(Capitals(), "a") == ["-"]


def test_a_policy_holds_for_its_block(asking):
    before = desk().policy
    with asking(offline=True):
        assert desk().policy.offline
        assert not desk().policy.may_ask
    assert desk().policy == before == Policy()
    close_desk()
    close_desk()


def test_usages_add_and_say_what_they_are():
    priced = Usage(calls=1, cached=2, input_tokens=3, output_tokens=4, nano_dollars=2_000_000)
    unpriced = Usage(calls=1, unpriced=1)

    assert str(priced) == "1 calls, 2 answers from the cache, 7 tokens, $0.0020"
    assert str(priced + unpriced) == (
        "2 calls, 2 answers from the cache, 7 tokens, at least $0.0020"
    )
    assert str(unpriced) == "1 calls, 0 answers from the cache, cost unknown"
