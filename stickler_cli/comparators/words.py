"""Compare the words of two similar texts, to find differences that change the meaning.

A *slip* is a misread or misspelt form of a word. Slips are distinguished from other words mostly by
their form: `North` and `South` differ in too many letters for a slip, and `unmarried` and `married`
differ in a prefix. Only numbers, units, days and months are recognized by their meaning.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from stickler_cli.core.caching import lru_cache_of_short_texts
from stickler_cli.core.match_differences import OTHER_WORDS, MatchDifference
from .base import charge
from .quantities import meanings_as_unit
from .vocabulary import FUNCTION_WORDS, LINK_WORDS, fixed_meanings

ALIKE: Final = 0.75
"""Minimum similarity of a word and a misread form of it. `north` and `south` have only 0.6, so
neither is a misread form of the other."""
SAME: Final = 0.95
"""Two texts that differ only in punctuation, accents and abbreviations have at least this
similarity."""
STEM: Final = 4
"""A prefix is recognized only if at least this many letters follow it."""
SHORT_WORD: Final = 3
"""In words of this length, one letter may be misread, even if the similarity is then below
`ALIKE`."""
WORDS_PER_REPLACED: Final = 50
"""A text must have this many content words for each replaced word that is tolerated. Source:
docs/comparators.md."""
MAX_REPLACED: Final = 2
"""Maximum number of replaced content words that are tolerated in any text. Source:
docs/comparators.md."""
MAX_PAIRS_OF_WORDS: Final = 40_000
"""Maximum number of pairs of words that are tested for slips, such as 200 different words on each
side. If there are more pairs, all words count as replaced."""
STEPS_OF_PAIR_OF_WORDS: Final = 400
"""Nanoseconds to test whether one word is a misread form of another."""
SHARE_OF_SHORT_FORM: Final = 2 / 3
"""A short form is an abbreviation only if it has at most this share of the letters of the word.
For example, `ford` has 4 of the 5 letters of `fjord`, so it is not an abbreviation."""
MAX_ABBREVIATION: Final = 4
"""A short form with at most this many letters is certainly an abbreviation, such as `corp` of
`corporation`."""
MAX_ORDERED_WORDS: Final = 2_000
"""Exchanged words are searched only in texts with at most this many words."""
MAX_EXCHANGED_WORDS: Final = 3
"""At most this number of neighbouring words count as exchanged for other words. If more
neighbouring words are replaced, they count as a sentence that was moved."""
STEPS_OF_ORDERED_WORD: Final = 1_000
"""Nanoseconds to align the words of two texts, for each word of the longer text. They count towards
the work limit."""
MAX_JOINED_WORDS: Final = 3
"""Maximum number of words that may be written as one word."""

_NEGATIONS: Final = frozenset(
    (
        *("anti", "aucun", "aucune", "geen", "jamais", "kein", "keine", "keinen", "nao"),
        *("neither", "nenhum", "nessun", "nessuna", "never", "nicht", "niemals", "niet", "ningun"),
        *("ninguna", "no", "non", "nooit", "nor", "not", "nunca", "ohne", "pas", "sans", "sem"),
        *("semi", "senza", "sin", "tanpa", "tidak", "bukan", "without", "zonder"),
    )
)
"""Words that negate, such as `not`, in English, German, French, Spanish, Italian, Portuguese, Dutch
and Indonesian."""
_EXCEPTIONS: Final = frozenset(
    (
        *("excl", "except", "excepted", "excepting", "excluding", "only", "unless", "ausgenommen"),
        *("ausser", "nur", "excepte", "hormis", "sauf", "uniquement", "excepto", "salvo"),
        *("unicamente", "eccetto", "tranne", "exceto", "behalve", "tenzij", "uitgezonderd"),
        *("hanya", "kecuali"),
    )
)
"""Words that limit what a text says, such as `only`, in the same languages as `_NEGATIONS`."""
_PREFIXES: Final = (
    *("", "a", "ab", "ad", "an", "ante", "anti", "ap", "bi", "brady", "con", "contra", "de", "di"),
    *("dis", "down", "east", "endo", "ex", "exo", "extra", "hemi", "hetero", "homo", "hyper"),
    *("hypo", "il", "im", "in", "infra", "inter", "intra", "ir", "macro", "micro", "mis", "mono"),
    *("multi", "non", "nord", "normo", "north", "ost", "out", "over", "post", "pre", "pro", "re"),
    *("semi", "sub", "sud", "south", "super", "supra", "tachy", "tri", "un", "under", "uni", "up"),
    "west",
)
"""Prefixes that change the meaning of a word, such as `un` and `pre`. Two words that differ only in
such a prefix have different meanings."""
_PARTIES: Final = re.compile(r"(.{3,})(?:[eo]r|ee)")
_NUMERAL: Final = re.compile(r"[ivx]{1,4}[a-e]?")
_CONTRACTION: Final = re.compile(r"\bcannot\b|\b(?:ca|wo)n't\b|n't\b|(?<!\w)w/o(?!\w)")
_WORD: Final = re.compile(
    r"[\u3400-\u9fff]|(?<![^\W_])[a-z](?:\+\+|#(?![^\W_]))|[^\W\d_\u3400-\u9fff]+"
)
"""Pattern of a word: letters, a single ideograph, or `c++` and `c#`."""
SPELT_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae", "å": "aa"})
_NO_NUMBER: Final = re.compile(r"\bn[or][.:#]?\s*(?=\d)")
_LEFT_OUT: Final = re.compile(r"[.,;:!?'\"()\u2019‘“”\s]+|(?<![^\s(])\+(?=\d)")  # noqa: RUF001
_SIGN: Final = re.compile(
    r"->|<-|(?<=\s)[<>](?=\s)|\+/[-\u2212]|[\u2190-\u2193+\u00b1%\u2030$\u20ac\u00a3\u00a5=\u2260\u2610-\u2612\u2713\u2714\u2705\u2717\u2718\u274c]"
    r"|(?<=\d)\s?[mM](?=[WVAHPJNeB\u03a9\u2126])"
    r"|(?<=\()[-\u2212](?=\))|(?<=[^\W_])[-\u2212](?![^\s,;./)])|\[[ x]\]"
)
"""Pattern of a sign that has a meaning. Some characters are signs only in certain places: a minus
in brackets, `(-)`, or at the end of a word, `ER-`; `<` and `>` between spaces; the prefix of a unit
after a number, `5 mW`. Prefixes of units are not found in a text that was converted to lower
case."""
_CHECKBOX_AND_WORD: Final = re.compile(
    r"([\u2610-\u2612\u2713\u2714\u2705\u2717\u2718\u274c]|\[[ x]\])\s*([^\W\d_]+)"
)
_SIGNS_OF_ONE_KIND: Final = (
    ("+", "-\u2212", "\u00b1"),  # plus, minus, plus or minus
    ("%", "\u2030"),  # percent, per mille
    ("$", "\u20ac", "\u00a3", "\u00a5"),  # dollar, euro, pound, yen
    ("m", "M"),  # milli, mega
    ("=", "\u2260"),  # equal, unequal
    ("<", ">"),  # less, greater
    ("\u2191", "\u2193"),  # up, down
    ("\u2192", "\u2190"),  # right, left
    ("\u2610", "\u2611\u2612\u2713\u2714\u2705\u2717\u2718\u274c"),  # an empty box, and a mark
    ("\u2611\u2713\u2714\u2705", "\u2717\u2718\u274c"),  # a tick, a cross
)
"""Groups of signs that may be misread as each other, such as + as -. A group has one text for each
meaning, and this text has all signs with the meaning. For example, the last group has a text with
all ticks and a text with all crosses."""
_MEANINGS_OF_SIGNS: Final = {
    (sign, kind): meaning
    for kind, meanings in enumerate(_SIGNS_OF_ONE_KIND)
    for meaning, signs in enumerate(meanings)
    for sign in signs
}
_SIGNS_IN_LETTERS: Final = {
    "+/-": "\u00b1",
    "+/\u2212": "\u00b1",
    "[ ]": "\u2610",
    "[x]": "\u2611",
    "->": "\u2192",
    "<-": "\u2190",
}
_BETWEEN_ITEMS: Final = re.compile(
    r"[,;:.|\n\u2022]+|\b(?:and|or|und|oder|et|ou|y|e|o|en|of|dan)\b"
)
"""What separates the items of an enumeration, or two sentences: punctuation, `and`, `or`."""
_HYPHEN: Final = re.compile(r"(?<=\w)[-\u2010\u2013/](?=\w)")


_LONG_NEGATIONS: Final = {
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
    "w/o": "without",
}


class Words:
    """The words of a text, for comparisons with the words of another text."""

    __slots__ = ("counts", "is_address", "parts", "sequence", "text")

    def __init__(self, text: str, *, is_address: bool) -> None:
        self.parts = frozenset(text.split())
        self.text = text.replace(" & ", " and ")
        self.is_address = is_address
        """Whether the text is a mail or web address, in which every character counts."""
        spelt = _CONTRACTION.sub(_spell_out, self.text.replace("\u2019", "'"))
        self.sequence = _WORD.findall(_NO_NUMBER.sub("", spelt.replace("'", "")))
        self.counts = Counter(self.sequence)

    def without(self, other: "Words") -> list[str]:
        """Return the distinct words, in order, that occur more often here than in another text."""
        return [word for word, count in self.counts.items() if count > other.counts.get(word, 0)]

    def neighbours(self, word: str) -> frozenset[tuple[int, str]]:
        """Return the words beside each occurrence of a word: (-1, word before) and (1, word after).

        An empty word stands for the start or the end of the text.
        """
        neighbours = set()
        for before, after in pairwise(("", *self.sequence, "")):
            if before == word:
                neighbours.add((1, after))
            if after == word:
                neighbours.add((-1, before))
        return frozenset(neighbours)

    @property
    def without_hyphens(self) -> frozenset[str]:
        """The distinct words without hyphens and apostrophes: `checkin` for `check-in`."""
        return frozenset(_WORD.findall(_HYPHEN.sub("", self.text.replace("'", ""))))

    @property
    def ordered_words(self) -> list[str]:
        """The words in order, without function words and single letters."""
        return [
            word
            for word in self.sequence
            if word not in FUNCTION_WORDS and not (len(word) == 1 and word.isascii())
        ]

    @property
    def items(self) -> list[str]:
        """The items of enumerations and the sentences of the text, without outer white space."""
        return list(filter(None, map(str.strip, _BETWEEN_ITEMS.split(self.text))))

    @property
    def n_content_words(self) -> int:
        """Number of words that are not function words."""
        return sum(count for word, count in self.counts.items() if word not in FUNCTION_WORDS)


def _spell_out(contraction: re.Match[str]) -> str:
    return _LONG_NEGATIONS.get(contraction[0], " not")


def list_signs(text: str) -> list[tuple[int, int]]:
    """Return the signs of a text, such as `+`, in the order in which they occur.

    Each is (kind, meaning). `kind` is the index of a group in `_SIGNS_OF_ONE_KIND`, and `meaning`
    is the index in this group.
    """
    signs = [_SIGNS_IN_LETTERS.get(sign, sign.strip()) for sign in _SIGN.findall(text)]
    kinds = range(len(_SIGNS_OF_ONE_KIND))
    keys = [(sign, kind) for sign in signs for kind in kinds if (sign, kind) in _MEANINGS_OF_SIGNS]
    return [(kind, _MEANINGS_OF_SIGNS[sign, kind]) for sign, kind in keys]


def signs_of(text: str) -> Counter[tuple[int, int]]:
    """Count the signs of a text; the keys are those of `list_signs`.

    >>> signs_of("HER2 (+)") == signs_of("+ HER2"), signs_of("pre-test")
    (True, Counter())
    """
    return Counter(list_signs(text))


def checkboxes_by_word(text: str) -> dict[str, tuple[int, int]]:
    r"""Map each word that follows a checkbox to the sign of this checkbox.

    A sign is given as (kind, meaning), as in `list_signs`. Ticked checkboxes have the same meaning,
    however they are written.

    >>> ticked, unticked = checkboxes_by_word("[x] single [ ] married").values()
    >>> ticked == checkboxes_by_word("\u2611 single")["single"], ticked == unticked
    (True, False)
    """
    checkbox_by_word: dict[str, tuple[int, int]] = {}
    for sign, word in _CHECKBOX_AND_WORD.findall(text):
        letter = _SIGNS_IN_LETTERS.get(sign, sign)
        checkbox_by_word[word] = next(
            (kind, meaning)
            for (sign_of_kind, kind), meaning in _MEANINGS_OF_SIGNS.items()
            if sign_of_kind == letter
        )
    return checkbox_by_word


def have_replaced_signs(gt: Counter[tuple[int, int]], pred: Counter[tuple[int, int]]) -> bool:
    """Return whether a sign of the ground truth became another sign of the same kind.

    For example, `+` and `-` are of the same kind, and so are `$` and `€`. `gt` and `pred` are
    counts of signs, as `signs_of` returns them.
    """
    kinds_gone = {kind for kind, _ in gt - pred}
    return any(kind in kinds_gone for kind, _ in pred - gt)


def find_sign_difference(
    gt: Counter[tuple[int, int]], pred: Counter[tuple[int, int]]
) -> MatchDifference | None:
    """Return the signs in which two texts differ; None if both texts have the same signs.

    If each text has a sign that the other text lacks, the result has one sign of each text.
    """
    missed, added = ([*map(_sign_of, sorted(signs))] for signs in (gt - pred, pred - gt))
    if not (missed or added):
        return None
    return MatchDifference("a sign more or less", "".join(missed[:1]), "".join(added[:1]))


def _sign_of(key: tuple[int, int]) -> str:
    kind, meaning = key
    return _SIGNS_OF_ONE_KIND[kind][meaning][0]


def find_moved_words(gt: Words, pred: Words) -> MatchDifference | None:
    """Find the words that are in another order in the prediction.

    The result has a part of each text: from the first position at which the words of the texts
    differ to the last such position. Return None if the texts have different words, or the same
    words in the same order. Also return None if the only difference is the order of sentences or of
    the items of an enumeration.
    """
    if gt.sequence == pred.sequence or gt.counts != pred.counts:
        return None
    if sorted(gt.items) == sorted(pred.items):
        return None
    n_words, pairs = len(gt.sequence), [*zip(gt.sequence, pred.sequence, strict=True)]
    start = next(index for index, (word, other) in enumerate(pairs) if word != other)
    end = next(index for index in range(n_words, 0, -1) if len({*pairs[index - 1]}) > 1)
    moved, other_order = (" ".join(side.sequence[start:end]) for side in (gt, pred))
    return MatchDifference("another order", moved, other_order)


def similarity_by_words(
    similarity: float, gt: Words, pred: Words, *, same_letters: bool = False
) -> float:
    """Correct the similarity of two similar texts, after a comparison of their words.

    The result is 0.0 if the words have different meanings, or if both texts are mail or web
    addresses. The result is at least `SAME` if the texts differ only in punctuation, accents and
    abbreviations. In all other cases, `similarity` is returned unchanged.

    `same_letters` adds two cases in which the result is 0.0: a word has a wrong letter, or a word
    is replaced in a text so long that this would otherwise be tolerated.
    """
    are_addresses = gt.is_address and pred.is_address
    if are_addresses or (same_letters and _have_other_words(gt, pred)):
        return 0.0
    missed, added = gt.without(pred), pred.without(gt)
    if "".join(missed) == "".join(added):
        is_same = _without_signs(gt.text) == _without_signs(pred.text)
        return max(similarity, SAME) if is_same else similarity

    # Words that one text joins, or shortens to initials, are in both texts.
    only_gt, only_pred = _without_joined(missed, added)
    only_pred, only_gt = _without_joined(only_pred, only_gt)
    if not _NEGATIONS.isdisjoint((*only_gt, *only_pred)):
        return 0.0
    if _EXCEPTIONS.isdisjoint(only_gt) is not _EXCEPTIONS.isdisjoint(only_pred):
        return 0.0
    if _are_replaced(gt, pred, only_gt, only_pred) or _have_opposites(only_gt, only_pred):
        return 0.0

    are_abbreviations = len(missed) == len(added) and all(
        _is_short_form(*words) or _is_plural(*words) for words in zip(missed, added, strict=True)
    )
    are_plurals = "".join(missed).removesuffix("s") == "".join(added).removesuffix("s")
    have_context = are_plurals or any(word not in missed for word in gt.sequence)
    return max(similarity, SAME) if are_abbreviations and have_context else similarity


def find_word_difference(gt: Words, pred: Words) -> MatchDifference | None:
    """Return the most serious difference between the words of two texts; None if there is none."""
    missed, added = gt.without(pred), pred.without(gt)
    if "".join(missed) == "".join(added):
        return _find_joined_words(gt, pred)
    only_gt, only_pred = _without_joined(missed, added)
    only_pred, only_gt = _without_joined(only_pred, only_gt)
    replaced = _first_replaced(only_gt, only_pred, 1)
    replacing = _first_replaced(only_pred, only_gt, 1)
    if replaced and replacing:
        return MatchDifference("another word", replaced[0], replacing[0])

    other_letters = _find_other_letters(only_gt, only_pred)
    if other_letters is not None:
        return other_letters
    if replaced or replacing:  # one word, of one text
        return MatchDifference("a word more or less", "".join(replaced), "".join(replacing))

    gt_links = [word for word in only_gt if word in LINK_WORDS]
    pred_links = [word for word in only_pred if word in LINK_WORDS]
    if gt_links and pred_links:
        return MatchDifference("another word", gt_links[0], pred_links[0])
    return _find_joined_words(gt, pred)


def _find_joined_words(gt: Words, pred: Words) -> MatchDifference | None:
    """Return the first words that are joined in only one text: `database` and `data base`.

    Return None if there are no such words. A hyphen makes no difference: `check-in` equals
    `checkin`.
    """
    split = _find_joined_run(gt, pred)
    if split is not None:
        return MatchDifference("words joined or split", split, split.replace(" ", ""))
    split = _find_joined_run(pred, gt)
    if split is not None:
        return MatchDifference("words joined or split", split.replace(" ", ""), split)
    return None


def _find_joined_run(text: Words, other: Words) -> str | None:
    """Find successive words in `text` that are written as one word in `other`.

    Return these words, separated by spaces, such as `data base` if the other text has `database`.
    If there are several such sequences, return the one with the fewest words; if several are
    equally short, the first of them. Return None if there are no such words.
    """
    joined_words = {word for word in other.without(text) if word not in text.without_hyphens}
    for length in range(2, MAX_JOINED_WORDS + 1) if joined_words else ():
        for start in range(len(text.sequence) - length + 1):
            run = text.sequence[start : start + length]
            are_initials = max(map(len, run)) == 1  # `P.O.` and `PO` are the same
            if not are_initials and "".join(run) in joined_words:
                return " ".join(run)
    return None


def _find_other_letters(words: Sequence[str], candidates: Sequence[str]) -> MatchDifference | None:
    """Return the first content word whose only similar candidate is a misread form of it.

    The result has both forms. Return None if there is no such word.
    """
    for word in words:
        if word in FUNCTION_WORDS:
            continue
        charge(STEPS_OF_PAIR_OF_WORDS * len(candidates))
        if not any(_is_one_word(word, candidate) for candidate in candidates):
            slips = (candidate for candidate in candidates if is_slip(word, candidate))
            if slip := next(slips, ""):
                return MatchDifference("other letters", word, slip)
    return None


def _have_other_words(gt: Words, pred: Words) -> bool:
    """Return whether the texts differ in a word, or in a letter of a word."""
    difference = find_word_difference(gt, pred)
    return difference is not None and difference.difference in OTHER_WORDS


def _is_one_word(first: str, second: str) -> bool:
    """Return whether two words certainly mean the same: an abbreviation, a plural or a translation.

    An abbreviation is certain only if it is short. `typhi` may be another word than
    `typhimurium`.
    """
    is_abbreviated = _is_short_form(first, second) and (
        min(len(first), len(second)) <= MAX_ABBREVIATION
    )
    is_spelling = is_abbreviated or _is_plural(first, second)
    return is_spelling or not meanings_of(first).isdisjoint(meanings_of(second))


def _without_signs(text: str) -> str:
    return _HYPHEN.sub("", _LEFT_OUT.sub("", text))


def _without_joined(words: list[str], candidates: list[str]) -> tuple[list[str], list[str]]:
    """Drop words that are written apart in `words` and as one word in `candidates`.

    The one word has all letters of the separate words (`database` for `data base`), or only their
    initials (`eu` for `european union`). Both lists are returned without these words.
    """
    wanted = frozenset(candidates)
    kept: list[str] = []
    joined: set[str] = set()
    index = 0
    while index < len(words):
        for length in range(MAX_JOINED_WORDS, 1, -1):
            run = words[index : index + length]
            spellings = {"".join(run), "".join(word[0] for word in run)} & wanted
            if len(run) == length and spellings:
                joined |= spellings
                index += length
                break
        else:
            kept.append(words[index])
            index += 1
    return kept, [word for word in candidates if word not in joined]


def _are_replaced(gt: Words, pred: Words, only_gt: list[str], only_pred: list[str]) -> bool:
    """Return whether so many words are replaced that the texts have different meanings.

    One replaced word is tolerated for each `WORDS_PER_REPLACED` content words, up to
    `MAX_REPLACED`. If the texts differ in length, the text with fewer content words decides. A
    replaced word that contradicts a word of the other text is never tolerated. `only_gt` and
    `only_pred` are the words that only one of the texts has.
    """
    if not only_gt or not only_pred:
        return False
    n_content_words = min(gt.n_content_words, pred.n_content_words)
    n_tolerated = min(n_content_words // WORDS_PER_REPLACED, MAX_REPLACED)
    replaced = _first_replaced(only_gt, only_pred, n_tolerated + 1)
    replacing = _first_replaced(only_pred, only_gt, n_tolerated + 1)
    n_replaced = min(len(replaced), len(replacing))
    if n_replaced <= n_tolerated and _have_other_meanings(replaced, replacing):
        return True
    if n_replaced <= n_tolerated:
        # A function word counts as replaced only if a neighbour of the content word is the same.
        n_replaced += _are_at_one_position(gt, only_gt, pred, replacing[n_replaced:])
        n_replaced += _are_at_one_position(pred, only_pred, gt, replaced[n_replaced:])
    return n_replaced > n_tolerated


def _have_other_meanings(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether a word of one text contradicts a word of the other text.

    `words` and `others` are the words of the two texts that have no misread form in the other text.
    Two words contradict each other if they mean different things of the same kind, such as two
    numbers or two days, or if they are spelt similarly. One contradiction is enough to make a text
    of any length wrong.
    """
    kinds, other_kinds = (
        {_kind_of(meaning) for word in side for meaning in meanings_of(word)}
        for side in (words, others)
    )
    scorer = Levenshtein.normalized_similarity
    return not kinds.isdisjoint(other_kinds) or any(
        process.extractOne(word, others, scorer=scorer, score_cutoff=ALIKE) for word in words
    )


def _kind_of(meaning: str) -> str:
    """Return the kind of a meaning, which is its first word: `day` for the meaning `day 0`.

    The meaning of a plain word begins with `word`, followed by a word. In this case, return the
    word that follows.
    """
    kind, _, name = meaning.partition(" ")
    return name if kind == "word" else kind


def _are_at_one_position(
    text: Words, words: Sequence[str], other: Words, replacing: Sequence[str]
) -> bool:
    """Return whether `other` has a content word at a position where `text` has a function word.

    The position is the same if the word before it, or the word after it, is the same in both texts.
    Function words are taken from `words`, content words from `replacing`.
    """
    neighbours = [text.neighbours(word) for word in words if word in FUNCTION_WORDS]
    return any(
        not neighbours_of_word.isdisjoint(other.neighbours(word))
        for word in replacing
        for neighbours_of_word in neighbours
    )


def _first_replaced(words: Sequence[str], candidates: Sequence[str], count: int) -> list[str]:
    """Return the first content words that have no similar word among the candidates.

    At most `count` words are returned. If there are more than `MAX_PAIRS_OF_WORDS` pairs to test,
    the first `count` words are returned without a test.
    """
    if len(words) * len(candidates) > MAX_PAIRS_OF_WORDS:
        return [*words[:count]]
    replaced: list[str] = []
    for word in words:
        if word in FUNCTION_WORDS:
            continue
        charge(STEPS_OF_PAIR_OF_WORDS * len(candidates))
        if not _has_slip(word, candidates):
            replaced.append(word)
            if len(replaced) == count:
                break
    return replaced


def _has_slip(word: str, candidates: Sequence[str]) -> bool:
    """Return whether a candidate is a misread form, an abbreviation or a synonym of a word."""
    scorer = Levenshtein.normalized_similarity
    least = ALIKE if len(word) > SHORT_WORD else 0.5
    alike = process.extract(word, candidates, scorer=scorer, score_cutoff=least, limit=None)
    if any(is_slip(word, candidate) for candidate, _, _ in alike):
        return True
    if any(word[0] == candidate[0] and is_slip(word, candidate) for candidate in candidates):
        return True
    meanings = meanings_of(word)
    return bool(meanings) and any(
        not meanings.isdisjoint(meanings_of(candidate)) for candidate in candidates
    )


def is_slip(first: str, second: str) -> bool:
    """Return whether two words may be the same: an abbreviation, a plural, or a misread word."""
    if _NUMERAL.fullmatch(first) or _NUMERAL.fullmatch(second):
        return False
    first_meanings, second_meanings = meanings_of(first), meanings_of(second)
    if first_meanings and second_meanings:
        return not first_meanings.isdisjoint(second_meanings)
    if _is_short_form(first, second) or _is_plural(first, second):
        return True
    if _have_endings_of_two_genders(first, second):
        return False
    if Levenshtein.normalized_similarity(first, second) >= ALIKE:
        return True
    return len(first) == len(second) == SHORT_WORD and Levenshtein.distance(first, second) == 1


@lru_cache_of_short_texts(maxsize=65536)
def meanings_of(word: str) -> frozenset[str]:
    """Return the numbers, units, days and months that a word may stand for.

    The result is empty for other words.
    """
    meanings = meanings_as_unit(word)
    return meanings | {fixed_meanings()[word]} if word in fixed_meanings() else meanings


def _is_short_form(first: str, second: str) -> bool:
    """Return whether one word abbreviates the other and has at most two thirds of its letters."""
    shorter, longer = sorted((len(first), len(second)))
    return shorter <= SHARE_OF_SHORT_FORM * longer and abbreviates(first, second)


def _have_endings_of_two_genders(first: str, second: str) -> bool:
    """Return whether two words differ only in a final `a` or `o`: `maria` and `mario`."""
    return {first[-1], second[-1]} == {"a", "o"} and first[:-1] == second[:-1]


def have_exchanged_words(gt: Words, pred: Words) -> bool:
    """Return whether two content words have changed places, as in `A pays B` and `B pays A`.

    It does not count if a whole phrase was moved, or if the items of an enumeration are in another
    order.
    """
    gt_words, pred_words = gt.ordered_words, pred.ordered_words
    longest = max(len(gt_words), len(pred_words))
    if gt_words == pred_words or longest > MAX_ORDERED_WORDS:
        return False
    charge(STEPS_OF_ORDERED_WORD * longest)
    replaced = [
        (position, old, new)
        for edit in Levenshtein.opcodes(gt_words, pred_words)
        if edit.tag == "replace" and edit.dest_end - edit.dest_start <= MAX_EXCHANGED_WORDS
        for position, old, new in zip(
            range(edit.src_start, edit.src_end),
            gt_words[edit.src_start : edit.src_end],
            pred_words[edit.dest_start : edit.dest_end],
            strict=True,
        )
    ]
    # Two exchanged neighbours are a phrase that moved, not an exchange: `blue large box`.
    positions_of_old: dict[str, list[int]] = {}
    for position, old, _ in replaced:
        positions_of_old.setdefault(old, []).append(position)
    # A word found again more than one position away has been exchanged with another.
    is_exchanged = any(
        abs(position - old_position) > 1
        for position, _, new in replaced
        if new in positions_of_old
        for old_position in (positions_of_old[new][0], positions_of_old[new][-1])
    )
    return is_exchanged and sorted(gt.items) != sorted(pred.items)


def _is_plural(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return longer in {f"{shorter}s", f"{shorter}es"}


def _have_opposites(gone: Sequence[str], come: Sequence[str]) -> bool:
    """Return whether a word of one text is the opposite of a word of the other text.

    Opposites differ only in a prefix, such as `paid` and `unpaid`, or name the two parties of a
    contract, such as `lessor` and `lessee`.
    """
    stems_gone = frozenset(chain.from_iterable(map(_stems, gone)))
    if not stems_gone.isdisjoint(chain.from_iterable(map(_stems, come))):
        return True
    parties_gone = {*map(_party, gone)}
    counterparts = {(stem, not is_passive) for stem, is_passive in filter(None, map(_party, come))}
    return not parties_gone.isdisjoint(counterparts)


@lru_cache_of_short_texts(maxsize=65536)
def _stems(word: str) -> frozenset[str]:
    stems = (word[len(prefix) :] for prefix in _PREFIXES if word.startswith(prefix))
    return frozenset(stem for stem in stems if len(stem) >= STEM)


@lru_cache_of_short_texts(maxsize=65536)
def _party(word: str) -> tuple[str, bool] | None:
    """Return the stem of a party such as `lessee`, and whether it ends in `ee`.

    Return None for other words.
    """
    party = _PARTIES.fullmatch(word)
    return party and (party[1], word.endswith("ee"))


def abbreviates(first: str, second: str) -> bool:
    """Return whether one word has the letters of the other in the same order: `st` in `street`.

    Both must begin with the same letter.
    """
    short, long = sorted((first, second), key=len)
    if len(long) < STEM or short[0] != long[0] or _NUMERAL.fullmatch(long):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)
