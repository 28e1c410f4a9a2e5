"""Hints name what would help, and what they name helps."""

import json
import re
import shlex

import pytest

from stickler_cli.cli import main

SCHEMA = {
    "type": "object",
    "properties": {
        "invoice_no": {"type": "string"},
        "total": {"type": "number"},
        "note": {"type": "string"},
        "vendor": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
TRUTH = [
    {"invoice_no": f"A-{n}", "total": n + 0.5, "note": "soon", "vendor": {"name": f"Firm {n}"}}
    for n in range(6)
]


@pytest.fixture
def score_of(tmp_path, monkeypatch, capsys):
    """Write both sides, evaluate, and give the code, the mean score and what was told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))

    def run(preds, *options, gts=TRUTH, names=("{}", "{}")):
        for side, documents, name in zip(("gt", "pred"), (gts, preds), names, strict=True):
            folder = tmp_path / side
            for number, document in enumerate(documents):
                file = folder / f"{name.format(number)}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(document))
        code = main(["eval", "schema.json", "gt", "pred", "-f", "json", *options])
        captured = capsys.readouterr()
        return code, json.loads(captured.out)["overall_score"], captured.err

    return run


def wrapped(keys):
    return [
        {
            k: v if isinstance(v, dict) else dict(zip(keys, (v, 0.9), strict=True))
            for k, v in it.items()
        }
        for it in TRUTH
    ]


@pytest.mark.parametrize(
    ("preds", "options", "advice"),
    [
        ([{"result": it, "model": "x"} for it in TRUTH], (), "--pred-root result"),
        ([{"data": {"a/b": it}} for it in TRUTH], (), "--pred-root /data/a~1b"),
        (wrapped(("val", "score")), (), "--wrapped val:score"),
        (wrapped(("answer", "confidence")), (), "--wrapped answer:confidence"),
        (wrapped(("value", "confidence")), ("--wrapped", "none"), "--wrapped auto"),
    ],
)
def test_a_hint_about_the_shape_of_predictions_helps(score_of, preds, options, advice):
    code, score, told = score_of(preds, *options)
    assert (code, score < 0.5) == (0, True)
    assert f"hint: {advice}: " in told
    code, score, told = score_of(preds, *shlex.split(advice))
    assert (code, score) == (0, 1.0)
    assert "hint" not in told


def test_a_hint_about_the_shape_of_ground_truths_helps(score_of):
    gts = [{"label": it} for it in TRUTH]
    _, _, told = score_of(TRUTH, gts=gts)
    assert "hint: --gt-root label: every ground truth has the fields of the schema there" in told
    assert score_of(TRUTH, "--gt-root", "label", gts=gts)[1] == 1.0


@pytest.mark.parametrize(
    ("names", "paired"),
    [
        (("gt_{}", "pred_{}"), 6),
        (("{}.gt", "{}.pred"), 6),
        (("{}-truth", "{}-model-a"), 6),
        (("a/{}x", "b/{}x"), 6),
        (("doc{}", "out0{}"), 0),
    ],
)
def test_the_pattern_that_is_proposed_pairs(score_of, names, paired):
    code, _, told = score_of(TRUTH, names=names)
    assert code == 3
    assert "error: nothing was paired: 6 ground truths, 6 predictions; the nearest names" in told
    found = re.search(r"--pair-by '(.*)' would pair (\d+)", told)
    assert (int(found[2]) if found else 0) == paired
    if found:
        assert score_of(TRUTH, "--pair-by", found[1], names=names)[:2] == (0, 1.0)


def test_the_nearest_names_are_told_with_quiet_too(score_of):
    _, _, told = score_of(TRUTH[:2], "-q", gts=TRUTH[:2], names=("alpha{}", "alphq{}"))
    assert 'the nearest names are "alpha0" and "alphq0"' in told


def test_keys_in_another_case_are_told_once(score_of):
    preds = [{key.title().replace("_", ""): value for key, value in it.items()} for it in TRUTH]
    _, _, told = score_of(preds)
    (hint,) = [line for line in told.splitlines() if line.startswith("hint")]
    assert "'InvoiceNo' for 'invoice_no', 'Note' for 'note'" in hint
    assert "and 1 more; rename them" in hint


def test_one_document_of_another_shape_gives_no_hint(score_of):
    odd = [{"result": TRUTH[0]}, {"Total": 1}, *TRUTH[2:]]
    assert "hint" not in score_of(odd)[2]


def test_there_are_no_hints_with_quiet(score_of):
    assert score_of([{"result": it} for it in TRUTH], "-q")[2] == ""
