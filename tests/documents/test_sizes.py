import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.documents.sizes import bytes_of_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("4096", 4096),
        ("500kB", 500_000),
        ("500 k", 500_000),
        ("200MB", 200_000_000),
        ("1.5gb", 1_500_000_000),
        ("2TB", 2_000_000_000_000),
        ("1KiB", 1024),
        ("0.5 MiB", 524_288),
        ("8B", 8),
    ],
)
def test_a_size_is_read(text: str, size: int):
    assert bytes_of_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "0.1", "-5MB", "big", "5 PB", "1e6", "٣MB", "1,5MB"])
def test_what_is_no_size_is_refused(text: str):
    with pytest.raises(UsageError) as error:
        bytes_of_size(text)
    assert str(error.value) == (
        f"--max-document-size: the size is {text!r}, "
        "expected a number of bytes, such as 4096, 500kB or 1.5GB"
    )
