"""Models of Amazon Bedrock: embeddings, and language models that judge."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.embeddings import NamedEmbedder, Vector, priced, vector_of
from stickler_cli.clients.model import GarbledError, Model, Reply

if TYPE_CHECKING:
    from botocore.session import Session

BEDROCK_URL: Final = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


class BedrockEmbedder(NamedEmbedder):
    """Titan, or a model of Cohere's; one text a call, as Titan takes no more."""

    @property
    def identity(self) -> Mapping[str, object]:
        """The service and the model; of what region it is makes no difference."""
        return {"backend": "bedrock", "server": bedrock_address(), "model": self.name}

    def require(self) -> None:
        """Raise without the package `boto3`, a region or credentials."""
        self.require_package("boto3", "bedrock")
        require_aws(self)

    def call(
        self, questions: Sequence[str], connections: Connections, timeout: float
    ) -> Reply[Vector]:
        """Embed one text."""
        (text,) = questions
        is_cohere = "cohere.embed" in self.name
        request: dict[str, object] = {"inputText": text}
        if is_cohere:
            request = {"texts": [text], "input_type": "clustering"}
        runtime = bedrock_runtime(connections, timeout)
        answer = runtime.invoke_model(modelId=self.name, body=json.dumps(request))
        try:
            content = json.loads(answer["body"].read())
            raw = content["embeddings"][0] if is_cohere else content["embedding"]
            tokens = int(content.get("inputTextTokenCount") or 0)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise GarbledError(f"the answer holds no embedding ({error!r})") from None
        return Reply([vector_of(raw)], priced("aws", self.name, tokens))


def bedrock_chat(name: str, connections: Connections, timeout: float) -> Any:
    """Return pydantic-ai's model of a name; a request may take `timeout` seconds."""
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    provider = BedrockProvider(bedrock_client=bedrock_runtime(connections, timeout))
    return BedrockConverseModel(name, provider=provider)


def require_aws(model: Model[Any, Any]) -> None:
    """Make sure that there are a region and credentials.

    Raises:
        UnavailableError: one of them is missing, or the configuration cannot be read.
    """
    from botocore.exceptions import BotoCoreError

    try:
        session = _session()
        region = session.get_config_variable("region")
        missing = "" if region else "region"
        if not missing and session.get_credentials() is None:
            missing = "credentials"
    except BotoCoreError as error:
        missing = f"configuration that can be read ({error})"
    if missing:
        hint = (
            "set AWS_REGION, and AWS_PROFILE or credentials; SemanticComparator also takes "
            "openai:, st: and model2vec: models"
        )
        raise model.unavailable(f"finds no {missing} for Amazon Bedrock", hint=hint)


def bedrock_address() -> str:
    """Return the address of a server that stands in for Bedrock; empty for Bedrock itself."""
    return os.environ.get(BEDROCK_URL) or os.environ.get("AWS_ENDPOINT_URL") or ""


def bedrock_runtime(connections: Connections, timeout: float) -> Any:
    """Return boto3's client, which never tries again by itself; `timeout` is in seconds."""

    def make() -> Any:
        from botocore.config import Config

        config = Config(
            connect_timeout=timeout,
            read_timeout=timeout,
            retries={"mode": "standard", "total_max_attempts": 1},
            max_pool_connections=32,
        )
        return _session().create_client("bedrock-runtime", config=config)

    state = tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))
    return connections.opened(("bedrock", state, timeout), make, lambda made: made.close())


def _session() -> "Session":
    """Return a session; its region is also taken from AWS_REGION, as other SDKs do."""
    from botocore.session import Session

    session = Session()
    region = os.environ.get("AWS_REGION")
    if region:
        session.set_config_variable("region", region)
    return session
