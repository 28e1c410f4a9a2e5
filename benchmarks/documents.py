"""Make random values, and predictions of them with the mistakes that extraction makes.

stickler-eval and this project compare every such value in the same way, because these documents
have no unclear cases. Ground-truth items lack no field. Exact values differ in more than case or
punctuation. Predictions drop items but invent none, so that the best pairing of two lists is
unique.
"""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import Any, Final

Record = dict[str, Any]

_SYLLABLES: Final = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "qui",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "xo",
    "yu",
    "zan",
    "bel",
    "cor",
    "dur",
    "fen",
    "gal",
    "hir",
    "jor",
    "kel",
    "lam",
    "mor",
    "nis",
    "pol",
    "ran",
    "ser",
    "tul",
    "vor",
    "win",
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_CODE: Final = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_DATE_STYLES: Final = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d/%m/%Y")


def make_words(random: Random, minimum: int, maximum: int) -> str:
    """Return a text of `minimum` to `maximum` made-up words; it begins with a capital letter."""
    count = random.randint(minimum, maximum)
    made_up = ("".join(random.choices(_SYLLABLES, k=random.randint(1, 3))) for _ in range(count))
    return " ".join(made_up).capitalize()


def make_code(random: Random, length: int = 8) -> str:
    """Return an identifier of capital letters and digits."""
    return "".join(random.choices(_CODE, k=length))


def make_amount(random: Random, maximum: int = 5000) -> float:
    """Return a random amount of money below `maximum`, in whole cents."""
    return random.randint(100, maximum * 100) / 100


def make_day(random: Random, styles: int = len(_DATE_STYLES)) -> str:
    """Return a date within five years as text, in one of the first `styles` date formats."""
    when = date(2020, 1, 1) + timedelta(days=random.randrange(5 * 365))
    return when.strftime(_DATE_STYLES[random.randrange(styles)])


def misread(random: Random, text: str, maximum: int = 3) -> str:
    """Return a text with up to `maximum` changed, dropped or added characters."""
    letters = list(text)
    for _ in range(random.randint(1, maximum)):
        position = random.randrange(len(letters))
        letters[position] = random.choice(("", random.choice(_LETTERS), letters[position] * 2))
    return "".join(letters) or text


def predict_value(
    random: Random, value: Any, another: Callable[[], Any], *, missing: float = 0.03
) -> Any:
    """Return a prediction of one value: mostly right, sometimes wrong, and rarely None.

    A wrong prediction is another value, which `another` makes. Words can also be misread: they then
    have up to three wrong characters.
    """
    chance = random.random()
    if chance < missing:
        return None
    if chance < missing + 0.07:
        return another()
    if chance < missing + 0.25 and isinstance(value, str) and value.replace(" ", "").isalpha():
        return value if value.isupper() else misread(random, value)
    return value


def predict_items(
    random: Random, items: list[Any], predict: Callable[[Any], Any], dropped: float = 0.05
) -> list[Any]:
    """Return a prediction of a list: some items are dropped, the others predicted and shuffled."""
    read = (predict(item) for item in items if random.random() >= dropped)
    kept = [item for item in read if item] or items[:1]  # an empty item does not count
    random.shuffle(kept)
    return kept


def predict_record(random: Random, record: Record, makers: dict[str, Callable[[], Any]]) -> Record:
    """Return a prediction of a record.

    `makers` has, for each field to predict, a function that makes another value. Other fields are
    left out.
    """
    pairs = ((name, predict_value(random, record[name], maker)) for name, maker in makers.items())
    return {name: value for name, value in pairs if value is not None}
