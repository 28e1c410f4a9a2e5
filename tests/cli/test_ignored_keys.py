"""`--ignore` and `--rename`: misspelt names, and groups by keys that are ignored."""

import pytest

from .conftest import write


@pytest.fixture
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        gt = {"vendor": name, "total": {"value": 5, "confidence": 0.5}, "lines": [{"qty": 1}]}
        pred = {"seller": name, "total": 5, "lines": [{"count": 1, "note": "x"}]}
        write(tmp_path / "own" / "gt" / f"{name}.json", gt)
        write(tmp_path / "own" / "pred" / f"{name}.json", pred)
    monkeypatch.chdir(tmp_path / "own")


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            ("--ignore", "totl"),
            (
                "`--ignore totl` has no effect, because no document has a key with this path; did "
                "you mean total?"
            ),
        ),
        (
            ("--ignore", "qty"),
            (
                "`--ignore qty` has no effect, because no document has a key with this path; did "
                "you mean lines.qty?"
            ),
        ),
        (
            ("--ignore", "unlike"),
            "`--ignore unlike` has no effect, because no document has a key with this path\n",
        ),
        (
            ("--rename", "sellr=vendor"),
            "`--rename sellr=vendor` has no effect, because no document has a key with this path",
        ),
        (("--rename", "lines.cont=qty"), "`--rename lines.cont=qty` has no effect, "),
    ],
)
def test_a_pattern_that_names_no_key_is_told(stickler, documents, options, note):
    assert note in stickler("eval", "gt", "pred", *options).err


@pytest.mark.parametrize(
    "options",
    [
        ("--ignore", "**.note", "--ignore", "lines.qty", "--ignore", "total"),
        ("--rename", "lines=rows", "--rename", "lines.count=qty", "--ignore", "rows.note"),
        ("--ignore", "vendor", "--rename", "seller=vendor"),
        (),
    ],
)
def test_a_pattern_that_names_a_key_is_not(stickler, documents, options):
    assert "has a key with this path" not in stickler("eval", "gt", "pred", *options).err


def test_a_key_that_is_left_out_may_group_documents(stickler, documents):
    run = stickler("eval", "gt", "pred", "--ignore", "vendor", "--by", "vendor", "-f", "json")

    assert sorted(run.json["by"]["vendor"]) == ["a", "b"]
