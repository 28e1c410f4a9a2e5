"""Recognize chemical formulas, in which capitals count: `CO` is not `Co`."""

import re
from typing import Any, Final

from stickler_cli.core.match_differences import MatchDifference
from .base import text_of

_SYMBOL: Final = (
    "(?:He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr"
    "|Nb|Mo|Tc|Ru|Rh|Pd|Ag|Cd|In|Sn|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Pm|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb"
    "|Lu|Hf|Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Po|At|Rn|Fr|Ra|Ac|Th|Pa|Np|Pu|Am|Cm|[HBCNOFPSKVYIWU])"
)
"""Pattern of the symbols of elements up to curium. Symbols with two letters come first. Source:
IUPAC."""
_ATOM: Final = re.compile(f"{_SYMBOL}[0-9]{{0,2}}")
_FORMULA: Final = re.compile(rf"(?:{_ATOM.pattern}){{1,12}}")
_COUNT_OR_SYMBOL: Final = re.compile(r"[0-9a-z]")
_NO_FORMULAS: Final = frozenset(("no", "in", "os", "si"))
"""Common words and codes that could be read as formulas."""


def is_formula(text: str) -> bool:
    """Return whether a text is certainly a chemical formula of several atoms.

    >>> is_formula("CO2"), is_formula("NaCl"), is_formula("CO"), is_formula("PO4501")
    (True, True, False, False)
    """
    if not _FORMULA.fullmatch(text):  # a long text is refused at once
        return False
    return len(_ATOM.findall(text)) > 1 and _COUNT_OR_SYMBOL.search(text) is not None


def find_other_capitals(gt: Any, pred: Any) -> MatchDifference | None:
    """Return the difference of two formulas that differ only in capitals, else None."""
    texts = [text_of(value).strip() for value in (gt, pred)]
    are_formulas = all(map(_FORMULA.fullmatch, texts)) and texts[0].lower() not in _NO_FORMULAS
    if not are_formulas or _ATOM.findall(texts[0]) == _ATOM.findall(texts[1]):
        return None
    return MatchDifference("other capitals", *texts)
