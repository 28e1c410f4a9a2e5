"""Differences of alike texts that are no slip: other digits and signs, and words of another sense.

Known by form, not by meaning: that `North` is not `South` shows in how far the two are apart, and
that `unmarried` is not `married` in what stands before the same letters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein

from stickler_cli.core.pattern import pattern
from .base import Similarities

_THOUSANDS: Final = pattern(
    r"(?<![\d.,])\d{1,3}([.,'\u2019\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?!\d)"
)
_RUN: Final = pattern(r"(?:(?<![^\s(])([-\u2212\u2013]|[<>≤≥]=?\s?)[$€£¥.]?)?(\d+)")
_MINUS: Final = str.maketrans("\u2212\u2013", "--")

SHORT: Final = 40
"""Letters of a text in which each word counts; a longer one may be worded in another way."""
ALIKE: Final = 0.75
"""How like words must be that are one word with a slip in it; `north` and `south` are 0.6."""
SAME: Final = 0.95
"""The least similarity of texts that differ in punctuation, accents and abbreviations only."""
LOOKED_AT: Final = 0.5
"""Similarity from which on words are looked at; below it, texts are unlike anyway."""
STEM: Final = 4
"""Letters at least behind a prefix."""

_NEGATIONS: Final = frozenset(
    (
        *("anti", "aucun", "aucune", "cannot", "geen", "jamais", "kein", "keine", "keinen", "nao"),
        *("neither", "nenhum", "nessun", "nessuna", "never", "nicht", "niemals", "niet", "ningun"),
        *("ninguna", "no", "non", "nooit", "nor", "not", "nunca", "ohne", "pas", "sans", "sem"),
        *("semi", "senza", "sin", "without", "zonder"),
    )
)
"""In the languages of the rules for names."""
_PREFIXES: Final = (
    *("", "a", "ab", "ad", "an", "ante", "anti", "bi", "brady", "con", "contra", "de", "di", "dis"),
    *("down", "east", "endo", "ex", "exo", "extra", "hemi", "hetero", "homo", "hyper", "hypo"),
    *("il", "im", "in", "infra", "inter", "intra", "ir", "macro", "micro", "mis", "mono", "multi"),
    *("non", "nord", "normo", "north", "ost", "out", "over", "post", "pre", "pro", "re", "semi"),
    *("sub", "sud", "south", "super", "supra", "tachy", "tri", "un", "under", "uni", "up", "west"),
)
"""Of two words with the same letters behind unequal ones of these, neither is the other."""
_PARTIES: Final = pattern(r"(.{3,})(?:[eo]r|ee)")
_NUMERAL: Final = pattern(r"[ivx]{1,4}[a-e]?")
_WORD: Final = pattern(r"[^\W\d_]+")
_SPELT_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae", "å": "aa"}
)
_NO_NUMBER: Final = pattern(r"\bn[or][.:#]?\s*(?=\d)")
_LEFT_OUT: Final = pattern(r"[.,;:!?'\"()\u2019‘“”\s]+|(?<![^\s(])\+(?=\d)")  # noqa: RUF001
_HYPHEN: Final = pattern(r"(?<=\w)[-\u2010\u2013/](?=\w)")


@lru_cache(maxsize=65536)
def digits_of(text: str) -> str:
    """Return the runs of digits of a text, each with its sign; thousands are no runs of their own.

    >>> digits_of("INV-1001 of 1,200.50 (-5)"), digits_of("ten")
    ('1001 1200 50 -5', '')
    """
    if not text.isascii():
        text = _THOUSANDS.sub(lambda found: "".join(filter(str.isdecimal, found[0])), text)
        text = unicodedata.normalize("NFKC", text).translate(_MINUS)
        text = "".join(str(unicodedata.digit(it)) if it.isdecimal() else it for it in text)
    text = _THOUSANDS.sub(lambda found: "".join(filter(str.isdecimal, found[0])), text)
    return " ".join(f"{(it[1] or '').strip()}{it[2]}" for it in _RUN.finditer(text))


def without_slips(
    found: Similarities, gts: Sequence[str], preds: Sequence[str], *, digits: bool, words: bool
) -> Similarities:
    """Return similarities of texts, 0 where the difference is no slip."""
    for index in np.flatnonzero((found > 0) & (found < 1)).tolist():
        gt, pred = gts[index], preds[index]
        if digits and digits_of(gt) != digits_of(pred):
            found[index] = 0.0
        elif words and found[index] >= LOOKED_AT:
            found[index] = _by_words(found[index], gt, pred)
    if digits:  # words in another order, as 3 of 12 and 12 of 3
        for index in np.flatnonzero(found == 1).tolist():
            found[index] = digits_of(gts[index]) == digits_of(preds[index])
    return found


def folded(text: str) -> str:
    """Return a text without accents and cases: `Straße` is `strasse`."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _by_words(similarity: float, gt: str, pred: str) -> float:
    if _is_address(gt) and _is_address(pred):
        return 0.0
    gt, pred = _spelt_alike(gt, pred)
    gt, pred = gt.replace(" & ", " and "), pred.replace(" & ", " and ")
    gone, come = _unlike(gt, pred)
    if "".join(gone) == "".join(come):
        same = _bare(gt) == _bare(pred)
        return max(similarity, SAME) if same else similarity
    if {*gone, *come} & _NEGATIONS or any(_apart(one, other) for one in gone for other in come):
        return 0.0
    if max(len(gt), len(pred)) > SHORT:
        return similarity
    left = [word for word in gone if not any(_is_slip(word, other) for other in come)]
    more = [word for word in come if not any(_is_slip(word, other) for other in gone)]
    if left and more:
        return 0.0
    short = len(gone) == len(come) and all(map(abbreviates, gone, come))
    plural = "".join(gone).removesuffix("s") == "".join(come).removesuffix("s")
    shared = plural or any(word not in gone for word in _WORD.findall(gt))
    return max(similarity, SAME) if short and shared else similarity


def _is_address(text: str) -> bool:
    """Return whether a text is an address of mail or on the web, where each sign counts."""
    return ("@" in text or "://" in text) and not any(map(str.isspace, text.strip()))


def _spelt_alike(gt: str, pred: str) -> tuple[str, str]:
    """Return two folded texts, and one with `ü` as `ue` where the other writes it so."""
    texts = [folded(gt), folded(pred)]
    for at, text in enumerate((gt, pred)):
        spelt = folded(text.casefold().translate(_SPELT_OUT))
        if spelt != texts[at] and {*spelt.split()} & {*texts[1 - at].split()} - {
            *texts[at].split()
        }:
            texts[at] = spelt
    return texts[0], texts[1]


def _bare(text: str) -> str:
    return _HYPHEN.sub("", _LEFT_OUT.sub("", text))


def _unlike(gt: str, pred: str) -> tuple[list[str], list[str]]:
    """Return the words of each text that the other does not have, in order."""
    texts = [_WORD.findall(_NO_NUMBER.sub("", re.sub(r"['\u2019]", "", it))) for it in (gt, pred)]
    left, more = Counter(texts[0]), Counter(texts[1])
    apart = []
    for words, unlike in zip(texts, (left - more, more - left), strict=True):
        apart.append([word for word in dict.fromkeys(words) if unlike[word]])
    return apart[0], apart[1]


def _apart(one: str, other: str) -> bool:
    """Return whether two words are the same behind unequal prefixes, or two parties of one deed."""
    if _stems(one) & _stems(other):
        return True
    parties = _PARTIES.fullmatch(one), _PARTIES.fullmatch(other)
    return bool(parties[0] and parties[1] and parties[0][1] == parties[1][1]) and (
        one.endswith("ee") != other.endswith("ee")
    )


@lru_cache(maxsize=65536)
def _stems(word: str) -> frozenset[str]:
    stems = (word[len(it) :] for it in _PREFIXES if word.startswith(it))
    return frozenset(stem for stem in stems if len(stem) >= STEM)


def _is_slip(one: str, other: str) -> bool:
    if _NUMERAL.fullmatch(one) or _NUMERAL.fullmatch(other):
        return False
    return abbreviates(one, other) or Levenshtein.normalized_similarity(one, other) >= ALIKE


def abbreviates(one: str, other: str) -> bool:
    """Return whether one word has some letters of the other, in order: `st` of `street`."""
    short, long = sorted((one, other), key=len)
    if len(long) < STEM or short[0] != long[0] or _NUMERAL.fullmatch(long):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)
