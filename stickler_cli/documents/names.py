"""Ids that look the same and are not: what a person, or a file system, took for one name."""

import unicodedata


def folded(name: str) -> str:
    """Give what is left of a name without case and Unicode form.

    >>> folded("R\u00c9SUM\u00c9") == folded("re\u0301sume\u0301")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def difference(name: str, other: str | None) -> str:
    """Say how two names differ whose folded forms are the same; nothing where there is no other."""
    if other is None:
        return ""
    same_form = unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other)
    # Escaped, since the two forms look alike.
    shown = ascii(other) if same_form else repr(other)
    what = f"Unicode form (here {name!a})" if same_form else "case"
    return f"there is {shown}, which differs only in {what}; ids pair by their exact characters"
