import pytest

from stickler_cli.schema.defaults import BY_FORMAT
from stickler_cli.schema.formats import CHECKER


def test_every_format_with_a_default_of_its_own_is_asserted():
    assert set(CHECKER.checkers) == set(BY_FORMAT)


@pytest.mark.parametrize("name", sorted(BY_FORMAT))
def test_a_value_that_is_no_string_has_no_format(name):
    assert CHECKER.conforms(12, name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("date", "2024-02-29"),
        ("date-time", "2024-02-29T12:30:00Z"),
        ("date-time", "2024-02-29 12:30:00+01:00"),
        ("date-time", "2024-02-29t12:30z"),
        ("email", "a.b@example.org"),
        ("hostname", "example-1.org"),
        ("ipv4", "192.0.2.1"),
        ("ipv6", "2001:db8::1"),
        ("time", "00:00"),
        ("time", "12:30:00.5z"),
        ("uri", "https://example.org/a?b#c"),
        ("uri", "urn:isbn:0451450523"),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000"),
    ],
)
def test_a_string_of_the_format_conforms(name, value):
    assert CHECKER.conforms(value, name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("date", "n/a"),
        ("date", "2023-02-29"),
        ("date", "20240229"),
        ("date-time", "2024-02-29"),
        ("date-time", "2024-02-29T25:00:00Z"),
        ("email", "example.org"),
        ("email", "@example.org"),
        ("email", "a b@example.org"),
        ("hostname", "-a.org"),
        ("hostname", "a..org"),
        ("hostname", "a" * 64),
        ("hostname", ".".join(["a" * 60] * 5)),
        ("ipv4", "192.0.2.256"),
        ("ipv6", "192.0.2.1"),
        ("ipv6", "fe80::1%eth0"),
        ("time", "noon"),
        ("time", "25:00"),
        ("uri", "example.org"),
        ("uri", "https://exa mple.org"),
        ("uri", "https://["),
        ("uuid", "123e4567"),
    ],
)
def test_another_string_does_not(name, value):
    assert not CHECKER.conforms(value, name)
