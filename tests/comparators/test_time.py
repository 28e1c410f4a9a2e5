import pytest

from stickler_cli.comparators.time import TimeComparator, time_of

SAME = TimeComparator()


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("16:05", "4:05 PM"),
        ("12:00 am", "0:00"),
        ("12 p.m.", "12:00"),
        ("8.15 Uhr", "08:15:00"),
        ("7h30", "07:30"),
        ("9:00 AM - 5 PM", "09:00–17:00"),  # noqa: RUF001
        ("10 to 12", "10TO 12"),
        ("16:05Z", "16:05 UTC"),
        ("16:05", "16:05 CET"),
    ],
)
def test_times_are_the_same_however_written(gt, pred):
    assert SAME.compare(gt, pred) == SAME.compare(pred, gt) == 1.0
    first, other = SAME.keys([SAME.prepare(gt), SAME.prepare(pred)]).tolist()
    assert first == other


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("16:05", "4:05 AM"),
        ("16:05", "16:50"),
        ("16:05 UTC", "16:05+02:00"),
        ("16:05", "16:05-17:00"),
        ("16:05", "noon"),
        ("13 pm", "1 pm"),
    ],
)
def test_other_times_are_unlike(gt, pred):
    assert SAME.compare(gt, pred) == SAME.compare(pred, gt) == 0.0


@pytest.mark.parametrize("text", ["14", "24:00", "12:60", "0 am", "later", ""])
def test_no_time_is_read_from(text):
    assert time_of(text) is None
