"""What the formats of strings mean, as far as they decide how a string is compared.

Formats are asserted where a union leaves the choice, so that "date or text" reads `n/a` as text.
Source: docs/schema.md; JSON Schema Validation 2020-12, section 7.3.
"""

import re
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from urllib.parse import urlsplit

from jsonschema import FormatChecker

CHECKER: Final = FormatChecker(formats=())

_FULL_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d.*", re.ASCII)
_LABEL: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_LONGEST_HOSTNAME: Final = 253
"""Source: RFC 1123, section 2.1, less the dot at the end."""


@CHECKER.checks("date", raises=ValueError)
def _is_date(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(_FULL_DATE.fullmatch(value)) and bool(date.fromisoformat(value))


@CHECKER.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    """Say so of RFC 3339 and of its near relatives: a blank for the T, no time zone."""
    if not isinstance(value, str):
        return True
    return bool(_DATE_TIME.fullmatch(value)) and bool(datetime.fromisoformat(value.upper()))


@CHECKER.checks("time", raises=ValueError)
def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(_TIME.fullmatch(value)) and time.fromisoformat(value.upper()) is not None


@CHECKER.checks("email")
def _is_email(value: object) -> bool:
    if not isinstance(value, str):
        return True
    name, _, domain = value.rpartition("@")
    return bool(name) and bool(domain) and not any(letter.isspace() for letter in value)


@CHECKER.checks("hostname")
def _is_hostname(value: object) -> bool:
    if not isinstance(value, str):
        return True
    labels = value.split(".")
    return len(value) <= _LONGEST_HOSTNAME and all(_LABEL.fullmatch(label) for label in labels)


@CHECKER.checks("ipv4", raises=ValueError)
def _is_ipv4(value: object) -> bool:
    return not isinstance(value, str) or bool(str(IPv4Address(value)))


@CHECKER.checks("ipv6", raises=ValueError)
def _is_ipv6(value: object) -> bool:
    return not isinstance(value, str) or ("%" not in value and bool(str(IPv6Address(value))))


@CHECKER.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    parts = urlsplit(value)
    return bool(parts.scheme) and not any(letter.isspace() for letter in value)


@CHECKER.checks("uuid")
def _is_uuid(value: object) -> bool:
    return not isinstance(value, str) or bool(_UUID.fullmatch(value))
