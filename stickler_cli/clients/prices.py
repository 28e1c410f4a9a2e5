"""What a call costs, as far as a list of prices knows."""

from stickler_cli.clients.backend import Usage


def priced(provider: str | None, model: str, tokens: int) -> Usage:
    """Give the usage of one call for embeddings; without a provider nobody knows the price."""
    dollars = None if provider is None else _dollars(provider, model, tokens)
    if dollars is None:
        return Usage(input_tokens=tokens, unpriced=1)
    return Usage(input_tokens=tokens, nano_dollars=round(dollars * 10**9))


def _dollars(provider: str, model: str, tokens: int) -> float | None:
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:  # comes with the judge's client, which embeddings do not need
        return None
    try:
        return float(
            calc_price(Tokens(input_tokens=tokens), model, provider_id=provider).total_price
        )
    except LookupError:
        return None
