"""Cache results for texts of documents, which may have any length."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar, cast

LONGEST_KEPT: Final = 1000
"""Maximum length of a text whose result is cached. 65,536 such texts take 65 MB, or 262 MB in rare
writing systems."""

C = TypeVar("C", bound=Callable[..., Any])


def lru_cache_of_short_texts(maxsize: int) -> Callable[[C], C]:
    """Return a decorator like `lru_cache` that caches only if the first argument is short.

    Results for long texts are computed each time, because a cache full of long texts would fill the
    memory.
    """

    def decorate(function: C) -> C:
        cached: Any = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str, *arguments: Any) -> Any:
            compute = cached if len(text) <= LONGEST_KEPT else function
            return compute(text, *arguments)

        return cast("C", call)

    return decorate
