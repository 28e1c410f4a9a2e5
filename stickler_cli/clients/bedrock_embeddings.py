"""Embeddings of Amazon Bedrock."""

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from stickler_cli.clients.backend import GarbledError, Reply, require_package
from stickler_cli.clients.embeddings import Embedder, Vector, vector_of
from stickler_cli.clients.endpoints import bedrock_client, bedrock_server, require_aws
from stickler_cli.clients.prices import priced


class BedrockEmbedder(Embedder):
    """A model of Amazon Bedrock: Titan, or Cohere's; one text a call, as Titan takes no more."""

    batch_size: ClassVar[int] = 1

    def __init__(self, name: str, model: str) -> None:
        self.model = model
        self._name = name
        self._is_cohere = "cohere.embed" in name

    @property
    def identity(self) -> Mapping[str, object]:
        """Name the service and the model; of what region it is makes no difference."""
        return {"backend": "bedrock", "server": bedrock_server(), "model": self._name}

    def require(self) -> None:
        """Raise without the package `boto3`, a region or credentials.

        Raises:
            UnavailableError: with what to install or to set.
        """
        require_package("boto3", "bedrock", "SemanticComparator", self.model)
        require_aws("SemanticComparator", self.model)

    def call(self, questions: Sequence[str], timeout: float) -> Reply[Vector]:
        """Embed one text.

        Raises:
            GarbledError: the answer is not what the model's documentation says.
        """
        (text,) = questions
        request: dict[str, object] = {"inputText": text}
        if self._is_cohere:
            request = {"texts": [text], "input_type": "clustering"}
        answer = bedrock_client(timeout).invoke_model(modelId=self._name, body=json.dumps(request))
        try:
            content = json.loads(answer["body"].read())
            raw = content["embeddings"][0] if self._is_cohere else content["embedding"]
            tokens = int(content.get("inputTextTokenCount") or 0)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise GarbledError(f"the answer holds no embedding ({error!r})") from None
        return Reply([vector_of(raw)], priced("aws", self._name, tokens))
