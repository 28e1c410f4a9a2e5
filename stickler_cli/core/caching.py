"""Cache results for texts of documents, which may have any length."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar, cast

LONGEST_KEPT: Final = 1000
"""Length of texts up to which results are cached: 65,536 such texts take 65 MB, or 262 MB in rare
writing systems."""

C = TypeVar("C", bound=Callable[..., Any])


def lru_cache_of_short_texts(maxsize: int) -> Callable[[C], C]:
    """Return a decorator that caches results as `lru_cache` does, if the first argument is short.

    Results for long texts are computed each time: a full cache of them would fill the memory.
    """

    def decorate(function: C) -> C:
        cached: Any = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str, *arguments: Any) -> Any:
            compute = cached if len(text) <= LONGEST_KEPT else function
            return compute(text, *arguments)

        return cast("C", call)

    return decorate
