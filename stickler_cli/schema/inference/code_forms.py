"""Recognize texts that are not prose: SQL, markup, formulas, source code, molecules and others.

Prose and code may contain the same words. The patterns therefore look for signs that prose does not
have.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from stickler_cli.comparators.formulas import is_formula

CHEMICAL_FORMULA: Final = "a chemical formula"
PATH_OR_KEY: Final = "a path or key"
CODE_LANGUAGES: Final = {
    "SQL": "sql",
    "HTML or XML": "markup",
    "a Markdown table": "markdown",
    "LaTeX": "latex",
    "source code": "code",
    "a command": "code",
    "a regular expression": "code",
    PATH_OR_KEY: "code",
    "a molecule": "letters",
    "a sequence": "letters",
    CHEMICAL_FORMULA: "letters",
}
"""Maps each form of texts, such as `SQL`, to the `language` argument of CodeComparator."""

_keywords: Final = partial(re.compile, flags=re.ASCII | re.IGNORECASE)
_QUERY_IN_CAPITALS: Final = re.compile(
    r"\s*(?:\(\s*)?(?:WITH\b.*\bAS\s*\(|SELECT\b.*\bFROM\b)", re.DOTALL
)
_QUERY: Final = _keywords(
    r"\s*select\s+(?:distinct\s+)?(?:[\w.*\"`()\[\]]+\s*,\s*)*[\w.*\"`()\[\]]+\s+from\s"
)
_SIGNS_OF_QUERY: Final = _keywords(r"[=*;<>]|\w\(|\w,\s*\w+\s+from\b")
_STATEMENT: Final = _keywords(
    r"\s*(?:with\s+\w+\s+as\s*\(|insert\s+into\s+\S+\s*(?:\(|values\b|select\b)"
    r"|update\s+\S+\s+set\s+\S+\s*=|delete\s+from\s+\S+\s*(?:where\b|;|$)"
    r"|(?:alter|drop|truncate)\s+table\s+\S+"
    r"|create\s+(?:or\s+replace\s+)?(?:table|view|index|unique|function|procedure)\b.*\()"
)
_FIRST_TAG: Final = re.compile(
    r"\s*<(?:[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?|![A-Za-z-][^<>]*|\?xml[^<>]*)>"
)
_CLOSING_TAG: Final = re.compile(r"</[A-Za-z][\w:.-]*\s*>|/>")
_RULE_OF_TABLE: Final = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?|\|\s*:?-{3,}:?\s*\|")
_COMMAND: Final = re.compile(
    r"\\(?:begin|end|frac|dfrac|sqrt|sum|prod|int|lim|text|math[a-z]+|left|right|cdot|times|pm|mp|leq?|geq?|neq"
    r"|infty|partial|nabla|alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|tau|phi|omega|Delta"
    r"|Sigma|Omega|log|ln|sin|cos|tan|exp|to|rightarrow|Rightarrow|in|forall|exists|hat|bar|vec|overline|binom"
    r"|ce)(?![A-Za-z])"
)
_SCRIPT: Final = re.compile(r"[\w)}][_^]\{[^{}\s]")
_FORMULA: Final = re.compile(
    r"(?=[^=]*=)(?=[^^]*\^)(?:[A-Za-z]{1,3}(?![A-Za-z])|[\d\s+\-*/=^_(){}\[\]|<>.,!'])+"
)
_STATEMENT_OF_CODE: Final = re.compile(
    r"^\s*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:{]|from\s+[\w.]+\s+import\s|import\s+[\w.]+\s*;?\s*$"
    r"|#include\s*[<\"]|(?:public|private|protected|static)\s+(?:[\w<>\[\]]+\s+){1,4}\w+\s*[(=;]"
    r"|(?:export\s+)?(?:async\s+)?function\s*\w*\s*\(|(?:const|let|var)\s+\w+\s*=|fn\s+\w+\s*\(|func\s+\w+\s*\("
    r"|return\b[^;\n]*;\s*$|(?:if|for|while)\s*\([^\n]*\)\s*\{|(?:if|for|while|elif)\s[^\n]*:\s*$"
    r"|@\w+(?:\([^\n]*\))?\s*$|\w+(?:\.\w+)*\s*[-+*/]?=\s*[^=\s][^\n]*;\s*$)"
    r"|=>\s*[{(\w]|\b(?:console\.log|System\.out\.print(?:ln)?|printf|println!)\s*\(",
    re.MULTILINE,
)
_CALL_OF_METHOD: Final = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)+\(")
_COMMAND_WITH_OPTION: Final = re.compile(
    r"(?:\$ )?(?:sudo )?[a-z][a-z0-9_.+-]*(?= )[^\n]*? (?:-[A-Za-z]{1,4}|--[a-z][\w-]+)(?![^\s=])"
)
"""Pattern of a command with options: a program in lower case, followed somewhere by an option such
as `-r` or `--all`."""
_INDENTED_BLOCK: Final = re.compile(r":[^\S\n]*\n[^\S\n]+\S")
_PATTERN: Final = re.compile(
    r"\\[dwsDWSbB](?:[+*?{)\]$\\-]|$)|\[\^?[^\]\s]{1,40}\][+*?{]|\(\?[:=!<P]|\\[dwsDWS]\\"
)
_ATOMS: Final = re.compile(
    r"(?:Br|Cl|Si|Se|[BCNOPSFIHbcnops]|\[[^\[\]\s]+\]|%\d\d|[-=#:/\\.()\d@+*$])+"
)
_SIGNS_OF_MOLECULE: Final = re.compile(r"[=#()@\[]|c\d")
_NAME_OF_FILE: Final = (
    r"[^\s/\\:<>\"|?*][^/\\:<>\"|?*\n]{0,200}\.(?:pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|rtf|json|jsonl|xml"
    r"|ya?ml|html?|zip|gz|tar|png|jpe?g|gif|tiff?|svg|webp|mp3|mp4|wav|py|js|ts|java|sql|sh|log|parquet)"
)
_PATH: Final = re.compile(
    rf"(?:~|\.\.?)?(?:/[\w.@%+,=-]+)+/?|[A-Za-z]:[\\/][^<>\"|?*\n]*|\\\\[\w.$-]+\\[^<>\"|?*\n]+"
    rf"|(?:[\w.@%+-]+[/\\])+[\w.@%+-]+\.[A-Za-z]\w{{0,5}}|{_NAME_OF_FILE}",
    re.IGNORECASE,
)
"""Pattern of a file name, of a file path, or of the path in a web address, such as `/docs/page`."""
_KEY: Final = re.compile(r"(?=.*\d)[A-Za-z0-9_+/=-]{10,}", re.ASCII)
_RUN_IN_KEY: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
MAX_MEAN_RUN: Final = 2.5
"""A random key changes often between capitals, small letters and digits. Its groups of letters or
digits are at most this long on average. The groups of `iPhone15Pro256GB` are longer: 16 characters
in 6 groups."""
_BASES: Final = re.compile(r"(?:>[^\n]*\n)?\s*(?:[ACGTUN\s-]{10,}|[acgtun\s-]{10,})\*?")
_RESIDUES: Final = re.compile(
    r"(?:>[^\n]*\n)?\s*[ACDEFGHIKLMNPQRSTVWYX]{8,}(?:\s+[ACDEFGHIKLMNPQRSTVWYX]+)*\*?"
)
MAX_BLANKS: Final = 200
"""Maximum number of consecutive blanks and line breaks. Longer sequences are shortened before a
search, because the patterns need time that grows with the square of this length."""
_LONG_BLANKS: Final = re.compile(rf"(\s{{{MAX_BLANKS}}})\s+")
SHORTEST_MOLECULE: Final = 5  # characters, with at least three atoms
SHORTEST_PROTEIN: Final = 20  # residues


def code_form(text: str) -> str | None:
    """Return the form of a text, such as `SQL`, or None for prose.

    Forms are the keys of `CODE_LANGUAGES`.

    >>> code_form("SELECT a FROM t WHERE b > 3"), code_form("Select one from the list below")
    ('SQL', None)
    """
    text = text.strip()
    if len(text) > MAX_BLANKS:
        text = _LONG_BLANKS.sub(r"\1", text)
    return next((form for form, has_form in _TESTS_OF_FORMS if has_form(text)), None)


def _is_random_key(text: str) -> bool:
    """Return whether a text mixes capitals, small letters and digits, as random keys do."""
    has_both_cases = not (text.islower() or text.isupper())
    if not (has_both_cases and _KEY.fullmatch(text)):
        return False
    return len(_RUN_IN_KEY.findall(text)) * MAX_MEAN_RUN > len(text)


def _is_query(text: str) -> bool:
    if _STATEMENT.match(text) or _QUERY_IN_CAPITALS.match(text):
        return True
    return _QUERY.match(text) is not None and _SIGNS_OF_QUERY.search(text) is not None


def _has_symbols(text: str) -> bool:
    """Return whether a text has `(`, `{`, `=` or `;`, or begins with `import` or `from`."""
    return any(sign in text for sign in ("(", "{", "=", ";")) or text.startswith(("import", "from"))


def _is_markup(text: str) -> bool:
    if not (_FIRST_TAG.match(text) and text.endswith(">")):
        return False
    return _CLOSING_TAG.search(text) is not None


def _has_table(text: str) -> bool:
    lines = text.splitlines() if "|" in text else []
    return any(_RULE_OF_TABLE.fullmatch(line.strip()) for line in lines)


def _is_latex(text: str) -> bool:
    patterns = (_COMMAND.search, _SCRIPT.search, _FORMULA.fullmatch)
    return any(has_pattern(text) for has_pattern in patterns)


def _is_source_code(text: str) -> bool:
    """Return whether a text has statements, or is a call of a method, such as `s.split(" ")`."""
    if _CALL_OF_METHOD.match(text) and text.endswith((")", ");")) and "\n" not in text:
        return True
    has_statement = _STATEMENT_OF_CODE.search(text) is not None
    return has_statement and (_INDENTED_BLOCK.search(text) is not None or _has_symbols(text))


def _is_path_or_key(text: str) -> bool:
    return _PATH.fullmatch(text) is not None or _is_random_key(text)


def _is_molecule(text: str) -> bool:
    if len(text) < SHORTEST_MOLECULE or not _ATOMS.fullmatch(text):
        return False
    n_atoms = sum(letter.isalpha() for letter in text)
    has_enough_atoms = n_atoms * 3 >= len(text) and n_atoms >= 3
    return has_enough_atoms and _SIGNS_OF_MOLECULE.search(text) is not None


def _is_sequence(text: str) -> bool:
    is_protein = len(text) >= SHORTEST_PROTEIN and _RESIDUES.fullmatch(text) is not None
    return is_protein or _BASES.fullmatch(text) is not None


_TESTS_OF_FORMS: Final[Sequence[tuple[str, Callable[[str], object]]]] = (
    ("SQL", _is_query),
    ("HTML or XML", _is_markup),
    ("a Markdown table", _has_table),
    ("LaTeX", _is_latex),
    ("source code", _is_source_code),
    ("a command", _COMMAND_WITH_OPTION.match),
    (PATH_OR_KEY, _is_path_or_key),
    ("a regular expression", _PATTERN.search),
    ("a molecule", _is_molecule),
    ("a sequence", _is_sequence),
    (CHEMICAL_FORMULA, is_formula),
)
"""A test for each form. A text has the first form whose test returns a true value."""
