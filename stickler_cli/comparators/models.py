"""Comparators that ask a model. All questions of one call are sent together."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from statistics import median_low
from typing import Any, ClassVar, Final

import numpy as np

from stickler_cli.clients.client import Client
from stickler_cli.clients.embeddings import (
    BertScore,
    Embedder,
    FunctionEmbedder,
    TextPair,
    Vector,
    embedder,
)
from stickler_cli.clients.judge import VOTING_TEMPERATURE, Judge, Pair, Verdict, json_text
from stickler_cli.clients.model import Model
from stickler_cli.core.problems import ModelError
from .base import (
    DEFAULT_THRESHOLD,
    Answers,
    BaseComparator,
    KeywordError,
    Similarities,
    checked_choice,
    checked_flag,
    checked_text,
    text_of,
)
from .texts import LevenshteinComparator, digits_of


class ModelComparator(BaseComparator):
    """The base class of comparators that ask a model.

    A subclass says which model to ask, and turns the model's answers into similarities.
    """

    asks_models: ClassVar[bool] = True

    client: Client | None = None
    """The comparator's own client, which is used if a run has no client. If it is None, a client is
    created when one is needed."""

    @property
    @abstractmethod
    def asked_model(self) -> Model[Any, Any]:
        """The model that the comparator asks."""

    _digits: int | None = None
    """Number of decimal places to which similarities are rounded; None for no rounding."""

    @abstractmethod
    def _questions(self, gt: Any, pred: Any) -> Sequence[Any]:
        """Return the questions to ask the model about two prepared values.

        Empty if the similarity is clear without asking the model.
        """

    def _prepare_answer(self, answer: Any) -> Any:
        """Convert an answer to the form that `_score_answers` takes.

        This is called only once for each distinct question.
        """
        return answer

    @abstractmethod
    def _score_answers(self, gt: Any, pred: Any, answers: Sequence[Any]) -> tuple[float, str]:
        """Return (similarity of two prepared values, reason), computed from the answers.

        The caller then sets a similarity outside [0, 1] to 0 or 1.
        """

    def require(self) -> None:
        """Raise `UnavailableError` if a library, a setting or a file is missing."""
        self.asked_model.require()

    def require_by(self, client: Client) -> None:
        """Raise `UnavailableError` if the client cannot ask the model.

        The client cannot ask the model if a library or an access key is missing. If the run has a
        budget in dollars, the client also cannot ask a model whose price is unknown.
        """
        client.require(self.asked_model)

    def ask(self, client: Client | None, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        """Return the similarities of pairs.

        All distinct questions to which the client has no answer yet are asked together. In a dry
        run, these questions are not asked, and the pairs that need the answers get similarity 0.

        Raises:
            ModelError: a question has no usable answer. The error says why, and its attribute
                `at` is the index of the pair.
            UsageError: the cache cannot be used.
        """
        if self._overrides("compare", "_score_answers") or self._overrides(
            "similarity", "_score_answers"
        ):
            # A subclass overrides the comparison, which may ask the model itself.
            own_client, self.client = self.client, client or self.client
            try:
                return Answers(self.similarities(gts, preds))
            finally:
                self.client = own_client
        return self._ask_together(client or self._own_client(), gts, preds)

    def _ask_together(self, client: Client, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        """Ask all questions about the pairs in one call, and score each pair by the answers."""
        pairs = list(zip(gts, preds, strict=True))
        questions_by_pair = [self._questions(gt, pred) for gt, pred in pairs]
        answer_by_question = client.answers(
            self.asked_model, chain.from_iterable(questions_by_pair)
        )
        read_answers = {
            question: self._prepare_answer(answer)
            for question, answer in answer_by_question.items()
            if not isinstance(answer, ModelError)
        }
        scores: list[tuple[float, str]] = []
        for (gt, pred), questions in zip(pairs, questions_by_pair, strict=True):
            answers = [read_answers[question] for question in questions if question in read_answers]
            if len(answers) < len(questions):
                for question in questions:
                    if isinstance(failure := answer_by_question.get(question), ModelError):
                        raise ModelError(str(failure), len(scores))
                scores.append((0.0, ""))  # a dry run leaves questions unanswered
                continue
            try:
                scores.append(self._score_answers(gt, pred, answers))
            except ModelError as error:
                raise ModelError(str(error), len(scores)) from None
        similarities = np.array([similarity for similarity, _ in scores], dtype=np.float64)
        if self._digits is not None:
            similarities = np.round(similarities, self._digits)
        reasons = [reason for _, reason in scores]
        return Answers(np.clip(similarities, 0.0, 1.0), reasons if any(reasons) else None)

    def _own_client(self) -> Client:
        if self.client is None:
            self.client = Client(remembers_failures=False)  # a second call tries again
        return self.client

    def similarity(self, gt: Any, pred: Any) -> float:
        """Return the similarity of two prepared values, using the comparator's own client."""
        return float(self._ask_together(self._own_client(), [gt], [pred]).similarities[0])

    def similarities(self, gts: Sequence[Any], preds: Sequence[Any]) -> Similarities:
        """Return the similarities of pairs, using the comparator's own client."""
        return self._ask_together(self._own_client(), gts, preds).similarities


class BERTComparator(ModelComparator):
    """Compare two texts by BERTScore F1, the similarity of their words in context."""

    same_value = True
    _digits = 6  # later digits depend on the other texts of a batch

    def __init__(  # noqa: PLR0913, PLR0917 - each keyword is one that a schema may set
        self,
        threshold: float = 0.7,
        model_type: str | None = None,
        num_layers: int | None = None,
        rescale_with_baseline: bool = False,
        lang: str = "en",
        same_digits: bool = False,
    ) -> None:
        """Choose the model. The arguments have the same names as in the library bert-score.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            model_type: the name or path of a model; None uses the library's model for the language.
            num_layers: the layer of the model to use, counted from 1. It must be given if the
                library does not know the model.
            rescale_with_baseline: whether to spread the scores over a wider range. Otherwise, they
                are all near 1.
            lang: the language of the texts, such as `en`.
            same_digits: whether texts score 0.0 if their digits, or signs before digits, differ.
        """
        super().__init__(threshold)
        self.model_type = None if model_type is None else checked_text("model_type", model_type)
        self.num_layers = num_layers
        if num_layers is not None and (type(num_layers) is not int or num_layers < 1):
            raise KeywordError.of("num_layers", num_layers, "a whole number of at least 1")
        self.rescale_with_baseline = checked_flag("rescale_with_baseline", rescale_with_baseline)
        self.lang = checked_text("lang", lang)
        self.same_digits = checked_flag("same_digits", same_digits)

    @property
    def asked_model(self) -> BertScore:
        """The model that the comparator asks."""
        return BertScore(
            name=self.model_type,
            layers=self.num_layers,
            rescaled=self.rescale_with_baseline,
            language=self.lang,
        )

    def prepare(self, value: Any) -> str:
        """Return a value as text."""
        return text_of(value)

    def _questions(self, gt: str, pred: str) -> Sequence[TextPair]:
        """Return one question, which is the pair of texts, or no question.

        In three cases, the model is not asked: the texts are equal; one of them is blank, which
        would crash the library; or `same_digits` is set and the digits of the two texts differ.
        """
        gt, pred = gt.strip(), pred.strip()
        if not gt or not pred or gt == pred:
            return ()
        if self.same_digits and digits_of(gt) != digits_of(pred):
            return ()
        return ((gt, pred) if gt <= pred else (pred, gt),)

    def _score_answers(self, gt: str, pred: str, answers: Sequence[float]) -> tuple[float, str]:
        """Return the model's score of two texts.

        If the model was not asked, equal texts score 1.0, and all others 0.0.
        """
        return answers[0] if answers else float(gt.strip() == pred.strip()), ""


BertComparator = BERTComparator
"""The name of the comparator in older schemas."""


SIM_FUNCTIONS: Final = ("cosine_similarity",)


class SemanticComparator(ModelComparator):
    """Compare meanings: the cosine of the embeddings of two texts; a negative cosine is 0."""

    same_value = True

    def __init__(
        self,
        model_id: str = "amazon.titan-embed-text-v2:0",
        sim_function: str = SIM_FUNCTIONS[0],
        embedding_function: Callable[[str], Sequence[float]] | None = None,
        threshold: float = 0.7,
        same_digits: bool = False,
    ) -> None:
        """Choose the source of embeddings.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            model_id: `openai:NAME`, `st:PATH_OR_NAME`, `model2vec:PATH_OR_NAME`, or the name of a
                model on Amazon Bedrock. It is not used if a function is given.
            sim_function: `cosine_similarity`.
            embedding_function: function that returns the embedding of a text. It can be given only
                in Python.
            same_digits: whether texts score 0.0 if their digits, or signs before digits, differ.
        """
        super().__init__(threshold)
        self.model_id = checked_text("model_id", model_id)
        self.sim_function = checked_choice("sim_function", sim_function, SIM_FUNCTIONS)
        if embedding_function is not None and not callable(embedding_function):
            raise KeywordError.of(
                "embedding_function",
                embedding_function,
                "a Python function, which only Python code can give",
            )
        self.embedding_function = embedding_function
        self.same_digits = checked_flag("same_digits", same_digits)
        # The seventh digit of a text's embedding may depend on its batch.
        self._digits = 6 if embedding_function is None else None

    @property
    def asked_model(self) -> Embedder:
        """The model that the comparator asks."""
        if self.embedding_function is None:
            return embedder(self.model_id)
        return FunctionEmbedder(self.embedding_function)

    def prepare(self, value: Any) -> str:
        """Return a value as text."""
        return text_of(value)

    def _questions(self, gt: str, pred: str) -> Sequence[str]:
        if self.same_digits and digits_of(gt) != digits_of(pred):
            return ()
        return (gt, pred) if gt.strip() and pred.strip() else ()

    def _prepare_answer(self, answer: Vector) -> Vector:
        """Return an embedding scaled to length 1. If all its numbers are 0, return it unchanged."""
        largest = np.abs(answer).max()
        if largest == 0:
            return answer
        scaled: Vector = answer / largest  # so that no square overflows
        direction: Vector = scaled / np.linalg.norm(scaled)
        return direction

    def _score_answers(self, gt: str, pred: str, answers: Sequence[Vector]) -> tuple[float, str]:
        """Return the cosine of two embeddings.

        Two blank texts score 1.0. One blank text scores 0.0.
        """
        if not answers:
            return float(not gt.strip() and not pred.strip()), ""
        gt_vector, pred_vector = answers
        if gt_vector.size != pred_vector.size:
            raise ModelError(
                f"the model returned embeddings of different lengths, {gt_vector.size} and "
                f"{pred_vector.size}"
            )
        # Compute pair by pair: the rounding of matrix products depends on their shape.
        return float(gt_vector.dot(pred_vector)), ""


SCALES: Final = ("0-1",)


def _checked_model_name(model: object) -> str:
    """Return the name of a model; raise `KeywordError` for anything else."""
    if model is None or isinstance(model, str | int | float | list | dict):
        return checked_text("model", model)
    finding = f"model is an instance of {type(model).__name__}"
    hint = "docs/model-comparators.md lists the possible names"
    raise KeywordError("model", finding, "a name such as openai:gpt-5-mini", hint)


class LLMComparator(ModelComparator):
    """Ask a language model whether two values are equivalent: 1.0 or 0.0, or a grade."""

    pairing: ClassVar[BaseComparator | None] = LevenshteinComparator()

    def __init__(
        self,
        model: str,
        eval_guidelines: str | None = None,
        scale: str | None = None,
        votes: int = 1,
    ) -> None:
        """Set the model that judges, and its instructions.

        Args:
            model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or the name of a model on Amazon
                Bedrock.
            eval_guidelines: what makes two values equivalent, in words.
            scale: `0-1` asks for a grade, which is the similarity; None asks for yes or no.
            votes: how often to ask; an odd number. The majority decides, or the median if there are
                grades.
        """
        # Without a scale, the judge's verdict is 1.0 or 0.0.
        super().__init__(threshold=1.0 if scale is None else DEFAULT_THRESHOLD)
        self.model = _checked_model_name(model)
        self.eval_guidelines = (
            None if eval_guidelines is None else checked_text("eval_guidelines", eval_guidelines)
        )
        self.scale = None if scale is None else checked_choice("scale", scale, SCALES)
        if type(votes) is not int or votes < 1 or votes % 2 == 0:
            raise KeywordError.of("votes", votes, "an odd whole number of at least 1")
        self.votes = votes

    @property
    def asked_model(self) -> Judge:
        """The model that the comparator asks."""
        temperature = VOTING_TEMPERATURE if self.votes > 1 else 0
        return Judge(self.model, self.eval_guidelines, self.scale is not None, temperature)

    def _questions(self, gt: Any, pred: Any) -> Sequence[Pair]:
        judge = self.asked_model
        pair = judge.question(gt, pred)
        if pair.gt == pair.pred:
            return ()
        return [pair._replace(vote=vote) for vote in range(self.votes)]

    def _score_answers(self, gt: Any, pred: Any, answers: Sequence[Verdict]) -> tuple[float, str]:
        """Return (similarity of the values, reason).

        The similarity is the verdict of the majority, or the median if the answers are grades. The
        reason is taken from the first answer that has this verdict or grade.
        """
        if not answers:  # both values have the same text
            return 1.0, "both values are the same"
        grades = [float(answer.equivalence) for answer in answers]
        middle = median_low(grades)  # for verdicts, the majority
        reason = answers[grades.index(middle)].reason
        if len({*grades}) == 1:
            return middle, reason
        if self.scale is not None:
            listed = ", ".join(f"{grade:g}" for grade in grades)
            return middle, f"the score is the median of {listed}: {reason}"
        return middle, f"{grades.count(middle)} of {self.votes} votes: {reason}"

    def get_comparison_details(self, gt: Any, pred: Any) -> dict[str, object]:
        """Compare two values; return `prompt`, `llm_response`, `model_id` and `comparison_result`.

        Raises:
            ModelError: the model gave no verdict. The error says why.
        """
        judge = self.asked_model
        answers = self._ask_together(self._own_client(), [gt], [pred])
        similarity, reason = float(answers.similarities[0]), (answers.reasons or [""])[0]
        verdict = {"equivalent": similarity == 1.0} if self.scale is None else {"score": similarity}
        return {
            "prompt": f"{judge.instructions}\n\n{judge.message(judge.question(gt, pred))}",
            "llm_response": json_text({**verdict, "reason": reason}),
            "model_id": self.model,
            "comparison_result": similarity,
        }
