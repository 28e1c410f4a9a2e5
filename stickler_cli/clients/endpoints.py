"""Where servers are and who asks: what the environment says, in the clients' own variables."""

import os
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.clients.clients import client
from stickler_cli.core.problems import Problem, UnavailableError

if TYPE_CHECKING:
    from botocore.session import Session

OPENAI_URL: Final = "OPENAI_BASE_URL"
OPENAI_KEY: Final = "OPENAI_API_KEY"

BEDROCK_URL: Final = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"

NO_KEY: Final = "none"
"""What a server that needs no key is told; the client insists on one."""


def require_openai_key(comparator: str, model: str) -> None:
    """Make sure that there is a key, or a server of one's own, which may need none.

    Raises:
        UnavailableError: there is neither.
    """
    if not os.environ.get(OPENAI_KEY) and not os.environ.get(OPENAI_URL):
        hint = f"set it, or set {OPENAI_URL} for a server of your own"
        raise UnavailableError(
            [Problem("", f"{comparator} with {model} needs a key in {OPENAI_KEY}", "", hint)]
        )


def require_aws(comparator: str, model: str) -> None:
    """Make sure that there are a region and credentials.

    Raises:
        UnavailableError: one of them is missing, or the configuration cannot be read.
    """
    from botocore.exceptions import BotoCoreError

    try:
        session = _session()
        region = session.get_config_variable("region")
        missing = "" if region else "a region"
        if not missing and session.get_credentials() is None:
            missing = "credentials"
    except BotoCoreError as error:
        missing = f"a configuration that can be read ({error})"
    if missing:
        found = (
            f"{comparator} with {model} finds no {missing.removeprefix('a ')} for Amazon Bedrock"
        )
        hint = (
            "set AWS_REGION, and AWS_PROFILE or credentials; SemanticComparator also takes "
            "openai:, st: and model2vec: models"
        )
        raise UnavailableError([Problem("", found, "", hint)])


def bedrock_server() -> str:
    """Give the address of a server that stands in for Bedrock; empty for Bedrock itself."""
    return os.environ.get(BEDROCK_URL) or os.environ.get("AWS_ENDPOINT_URL") or ""


def bedrock_client(timeout: float) -> Any:
    """Give the client for Bedrock, which never tries again by itself; `timeout` is in seconds."""

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
    return client(("bedrock", state, timeout), make, lambda made: made.close())


def _session() -> "Session":
    """Make a session; the region is also taken from AWS_REGION, as other SDKs do."""
    from botocore.session import Session

    session = Session()
    region = os.environ.get("AWS_REGION")
    if region:
        session.set_config_variable("region", region)
    return session
