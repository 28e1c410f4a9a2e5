"""What a run may ask of models, and what the engine compares with."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.clients.allowance import DEFAULT_POLICY, Policy, Retry
from stickler_cli.compare.field_listing import comparators
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.settings.deciding import ComparisonOptions, LimitedOptions
from stickler_cli.settings.running import ModelOptions

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.clients.models.model import Model

ENDPOINT: Final = "--endpoint"
KEY_FROM: Final = "--key-from"


def comparing(plan: Plan, settings: ComparisonOptions, client: "Client | None") -> Options:
    """Return the options of the engine, for comparators that are known to work here."""
    for comparator in comparators(plan):
        if client is None or not comparator.asks_models:
            comparator.require()
        elif client.policy.may_ask:
            comparator.require_by(client)
    if client is not None:
        _check_placed(client.policy, {model.title for model in models_of(plan)})
    limit = settings.work_limit if isinstance(settings, LimitedOptions) else None
    return Options(settings.pairing_floor, settings.extra_fields, client, limit)


def models_of(plan: Plan) -> "list[Model[Any, Any]]":
    """Return the models that the comparators of a plan ask."""
    asked = (comparator.asked_model for comparator in comparators(plan))
    return [model for model in asked if model is not None]


def client_of(plan: Plan, policy: Policy = DEFAULT_POLICY) -> "Client | None":
    """Return what asks the models of a plan; None where there are none."""
    if not plan.asks_models:
        return None
    from stickler_cli.clients.client import Client  # other runs do not load it

    return Client(policy)


def policy_of(settings: ModelOptions, *, dry_run: bool = False) -> Policy:
    """Return what a run may ask of models."""
    if settings.no_cache and settings.offline:
        found = "--no-cache is given too, which leaves nothing to answer from"
        raise UsageError([Problem("--offline", found, "one of the two")])
    endpoints = _by_model(ENDPOINT, settings.endpoint, r"https?://\S+", "MODEL=URL")
    return Policy(
        not settings.no_cache,
        settings.offline,
        dry_run,
        settings.max_pairs,
        settings.model_concurrency,
        Retry(settings.model_attempts, timeout=settings.model_timeout),
        settings.requests_per_minute,
        settings.max_cost,
        settings.max_tokens,
        endpoints,
        _by_model(KEY_FROM, settings.key_from, r"[A-Za-z_]\w*", "MODEL=VARIABLE"),
    )


def _by_model(option: str, said: Sequence[str], pattern: str, expected: str) -> dict[str, str]:
    """Return what an option says of models, by their names."""
    found: dict[str, str] = {}
    for text in said:
        model, _, value = text.partition("=")
        if not model or not re.fullmatch(pattern, value):
            raise UsageError([Problem(option, f"it is {brief(text)}", expected)])
        if model in found:
            raise UsageError([Problem(option, f"{model} has two", "one for each model")])
        found[model] = value
    return found


def _check_placed(policy: Policy, asked: Iterable[str]) -> None:
    """Refuse places and keys of models that nothing asks: a name that is misspelt."""
    known = sorted(asked)
    for option, said in ((ENDPOINT, policy.endpoints), (KEY_FROM, policy.keys)):
        for model in said:
            if model not in known:
                found, hint = f"no field asks {model}", did_you_mean(model, known)
                raise UsageError([Problem(option, found, f"one of {', '.join(known)}", hint)])
