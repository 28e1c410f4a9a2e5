"""The comparator of telephone numbers in any format."""

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.core.caching import lru_cache_of_short_texts
from stickler_cli.core.problems import Problem, UnavailableError, installing
from .base import BaseComparator, KeywordError, checked_flag, text_of

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber  # in the extra `phone`

_REGION: Final = re.compile(r"[A-Z]{2}")
_INTERNATIONAL: Final = re.compile(r"^[^\d+]*00(?=[\s1-9])")
"""The digits 00 before a country code. Most of the world dials them instead of `+`. Source: ITU-T
E.123, E.164."""
_TRUNK: Final = re.compile(r"^\s*\(?0\)?(?=[\s/.(-]*[1-9])")
_CODE: Final = re.compile(r"\s*\+\s*[1-9]")
MAX_COUNTRY_CODE_DIGITS: Final = 3
"""Maximum number of digits of a country code."""
MIN_NATIONAL_DIGITS: Final = 7
"""Minimum number of digits of a number without its country code, because no country has shorter
numbers. Source: E.164."""
MAX_LETTERS: Final = 250  # phonenumbers rejects longer texts


class PhoneComparator(BaseComparator):
    """Compare telephone numbers: equal numbers match, even if they are written differently."""

    same_value = True
    steps_of_letter = 300

    def __init__(
        self, threshold: float = 1.0, region: str | None = None, digits_only: bool = False
    ) -> None:
        """Choose how numbers are read.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            region: the region, such as `US`, that is assumed for numbers without country code.
            digits_only: whether to compare only digits. This needs no library. If only one side has
                a country code, the code is ignored. A 0 at the beginning of the other side is also
                ignored: `+49 30 1234567` matches `030 1234567`.
        """
        super().__init__(threshold)
        self.digits_only = checked_flag("digits_only", digits_only)
        if region is not None and not _REGION.fullmatch(str(region)):
            raise KeywordError.of("region", region, "two capital letters, such as US")
        self.region = region

    def require(self) -> None:
        """Raise `UnavailableError` if the library phonenumbers is needed but not installed."""
        if self.digits_only:
            return
        try:
            _library()
        except ImportError:
            finding = "PhoneComparator needs the package phonenumbers, which is not installed"
            raise UnavailableError([Problem("", finding, "", installing("phone"))]) from None

    def prepare(self, value: Any) -> str:
        """Return a value as text."""
        return text_of(value)

    def similarity(self, gt: str, pred: str) -> float:
        """Return 1.0 if two texts have the same telephone number and extension, else 0.0.

        If one of the two texts is not a valid number, only the digits of both texts are compared.
        This is also done if `digits_only` is set; one side may then lack the country code.
        """
        if self.digits_only:
            return float(_same_digits(gt, pred))
        self.require()
        gt_number, pred_number = _number(gt, self.region), _number(pred, self.region)
        if gt_number and not pred_number:
            pred_number = _number(pred, _region_of(gt_number))
        elif pred_number and not gt_number:
            gt_number = _number(gt, _region_of(pred_number))
        if gt_number and pred_number:
            return float(_line(gt_number) == _line(pred_number))
        digits = _digits(gt)
        is_same = digits == _digits(pred) if digits else gt.strip() == pred.strip()
        return float(is_same)


def _library() -> Any:
    import phonenumbers  # in the extra `phone`

    return phonenumbers


@lru_cache_of_short_texts(maxsize=4096)
def _number(text: str, region: str | None) -> "PhoneNumber | None":
    """Return the telephone number in a text; None if there is no valid number.

    `region` is the region to assume for a number without country code, or None.
    """
    phonenumbers = _library()
    if len(text) > MAX_LETTERS:
        return None
    if region is None:
        text = _INTERNATIONAL.sub("+", text)
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    return number if phonenumbers.is_valid_number(number) else None


def _region_of(number: "PhoneNumber") -> str | None:
    region: str | None = _library().region_code_for_number(number)
    return region


def _line(number: "PhoneNumber") -> tuple[str, str]:
    """Return (number in the format E.164, extension).

    An example of this format is `+4930123456`.
    """
    phonenumbers = _library()
    line = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return line, number.extension or ""


def _same_digits(gt: str, pred: str) -> bool:
    """Return whether two phone numbers have the same digits, apart from a country code on one side.

    If only one of the numbers has a country code, the code is ignored. A 0 at the beginning of the
    number without a code is also ignored: `+49 30 1234567` matches `030 1234567`. At least
    `MIN_NATIONAL_DIGITS` digits must then remain to be compared.

    If both texts have no digits, their letters are compared.
    """
    texts = [_INTERNATIONAL.sub("+", text).replace("(0)", "") for text in (gt, pred)]
    gt_digits, pred_digits = map(_digits, texts)
    if gt_digits == pred_digits:
        letters = (re.sub(r"[\W\d_]", "", text).casefold() for text in texts)
        return bool(gt_digits) or len({*letters}) == 1
    abroad, at_home = texts if _CODE.match(texts[0]) else texts[::-1]
    if not _CODE.match(abroad) or _CODE.match(at_home):
        return False
    national, international = _digits(_TRUNK.sub("", at_home, 1)), _digits(abroad)
    return (
        len(national) >= MIN_NATIONAL_DIGITS
        and international.endswith(national)
        and len(international) - len(national) <= MAX_COUNTRY_CODE_DIGITS
    )


def _digits(text: str) -> str:
    return "".join(str(unicodedata.digit(letter)) for letter in text if letter.isdigit())
