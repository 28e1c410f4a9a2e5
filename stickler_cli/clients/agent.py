"""One question to a language model, by pydantic-ai. It is loaded by those alone who ask."""

import asyncio
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.settings import ModelSettings

from stickler_cli.clients.model import GarbledError


class Answer(BaseModel):
    """Whether the two values are equivalent, and why; anything else a model says is no answer."""

    model_config = ConfigDict(extra="forbid")
    equivalent: StrictBool
    reason: StrictStr = Field(description="At most 20 words.")


async def answer(chat: Any, instructions: str, message: str, seconds: float) -> Any:
    """Return what a model says to a message; it is asked once more where that is no answer.

    Args:
        chat: the model, as pydantic-ai knows it.
        instructions: what it is told before.
        message: the question.
        seconds: how long this may take.

    Raises:
        GarbledError: it gave no answer.
        TimeoutError: it took too long.
    """
    agent: Agent[None, Answer] = Agent(
        chat,
        output_type=Answer,
        instructions=instructions,
        model_settings=ModelSettings(temperature=0.0),
        retries=1,
    )
    try:
        async with asyncio.timeout(seconds):
            return await agent.run(message)
    except (UnexpectedModelBehavior, AttributeError, KeyError, TypeError) as error:
        # The latter where a client takes what it reads to be of the protocol, and it is not.
        raise GarbledError(f"the answer is no verdict ({error})") from None
