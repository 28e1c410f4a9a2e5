"""Hints name an option that helps, and the option does help."""

import json
import re
import shlex

import pytest

from stickler_cli.cli import main
from stickler_cli.runs.value_hints import hint_id_field

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
    """Return a function that writes and evaluates documents.

    It returns exit code, mean score and messages.
    """
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
            for k, v in document.items()
        }
        for document in TRUTH
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preds", "options", "advice"),
    [
        ([{"result": document, "model": "x"} for document in TRUTH], (), "--pred-root result"),
        ([{"data": {"a/b": document}} for document in TRUTH], (), "--pred-root /data/a~1b"),
        (wrapped(("val", "score")), (), "--wrapped val:score"),
        (wrapped(("answer", "confidence")), (), "--wrapped answer:confidence"),
        (wrapped(("value", "confidence")), ("--wrapped", "none"), "--wrapped auto"),
    ],
)
def test_a_hint_about_the_shape_of_predictions_helps(score_of, preds, options, advice):
    code, score, hint = score_of(preds, *options)
    assert (code, score < 0.5) == (0, True)
    assert f"hint: try `{advice}`: " in hint
    code, score, hint = score_of(preds, *shlex.split(advice))
    assert (code, score) == (0, 1.0)
    assert "hint" not in hint


def test_a_hint_about_the_shape_of_ground_truths_helps(score_of):
    gts = [{"label": document} for document in TRUTH]
    _, _, hint = score_of(TRUTH, gts=gts)
    assert (
        "hint: try `--gt-root label`: in every ground truth, the schema's fields are under this "
        "key" in hint
    )
    assert score_of(TRUTH, "--gt-root", "label", gts=gts)[1] == 1.0


@pytest.mark.slow
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
    code, _, hint = score_of(TRUTH, names=names)
    assert code == 3
    assert (
        "error: no ground truth was paired with a prediction: 6 ground truths, 6 "
        "predictions; the most similar names"
    ) in hint
    match = re.search(r"--pair-by '(.*)'` would pair (\d+)", hint)
    assert (int(match[2]) if match else 0) == paired
    if match:
        assert score_of(TRUTH, "--pair-by", match[1], names=names)[:2] == (0, 1.0)


def test_the_nearest_names_are_told_with_quiet_too(score_of):
    _, _, hint = score_of(TRUTH[:2], "-q", gts=TRUTH[:2], names=("alpha{}", "alphq{}"))
    assert 'the most similar names are "alpha0" and "alphq0"' in hint


def test_keys_in_another_case_are_told_once(score_of):
    preds = [
        {key.title().replace("_", ""): value for key, value in document.items()}
        for document in TRUTH
    ]
    _, _, advice = score_of(preds)
    (hint,) = [line for line in advice.splitlines() if line.startswith("hint")]
    assert "'InvoiceNo' for 'invoice_no', 'Note' for 'note'" in hint
    assert (
        "and 1 more. Keys must be equal to be compared; rename keys with --rename OLD=NEW" in hint
    )


def test_one_document_of_another_shape_gives_no_hint(score_of):
    odd = [{"result": TRUTH[0]}, {"Total": 1}, *TRUTH[2:]]
    assert "hint" not in score_of(odd)[2]


def test_there_are_no_hints_with_quiet(score_of):
    assert score_of([{"result": document} for document in TRUTH], "-q")[2] == ""


@pytest.fixture
def hints_of(tmp_path, monkeypatch, capsys):
    """Return a function that evaluates lines of documents, and returns the hints."""
    monkeypatch.chdir(tmp_path)

    def run(gts, preds, *options, schema=None):
        for name, documents in (("gt", gts), ("pred", preds)):
            (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, documents)))
        if schema is not None:
            (tmp_path / "s.json").write_text(json.dumps(schema))
        sources = [*(["s.json"] if schema else []), "gt.jsonl", "pred.jsonl"]
        main(["eval", *sources, "-f", "json", *options])
        error_lines = capsys.readouterr().err.splitlines()
        return [line.removeprefix("hint: ") for line in error_lines if line.startswith("hint: ")]

    return run


ORDERS = [
    {"n": n, "meta": {"doc_id": f"d-{n}"}, "name": f"Firm {n}", "kind": "order"} for n in range(6)
]


def test_the_field_that_pairs_shuffled_lines_is_named(hints_of):
    shuffled = ORDERS[2:] + ORDERS[:2]
    (hint,) = hints_of(ORDERS, shuffled)
    assert hint.startswith("try `--id-field meta.doc_id` to pair documents")
    assert hints_of(ORDERS, shuffled, "--id-field", "meta.doc_id") == []


@pytest.mark.parametrize(
    "change",
    [
        lambda order: {**order, "meta": {"doc_id": "x"}, "name": "y", "n": 9},  # nothing identifies
        lambda order: {**order, "name": "y", "kind": "z"},  # lines are in order
    ],
)
def test_lines_that_no_field_would_pair_give_no_hint(hints_of, change):
    assert not any("--id-field" in hint for hint in hints_of(ORDERS, [*map(change, ORDERS)]))


def test_texts_that_stand_for_absent_values_are_named(hints_of):
    gts = [{"po": None, "lines": [{"note": "N/A"}], "n": n} for n in range(3)]
    preds = [{"po": "-", "lines": [{"note": None}], "n": n} for n in range(3)]
    (hint,) = hints_of(gts, preds)
    assert hint.startswith('the texts "-", "N/A" occur where the other side')
    assert "(6 times, in po, lines.note)" in hint


def test_texts_that_the_schema_calls_absent_are_not_named(hints_of):
    po = {"type": "string", "x-aws-stickler-absent-values": ["-"]}
    schema = {"type": "object", "properties": {"po": po, "n": {"type": "integer"}}}
    assert hints_of([{"n": 1}], [{"po": "-", "n": 2}], schema=schema) == []


@pytest.mark.parametrize(
    ("pred", "expected"),
    [("the BRONCOS", True), ("Kansas City Chiefs", False), (["The Broncos"], False)],
)
def test_lists_of_acceptable_values_are_named(hints_of, pred, expected):
    gts = [{"answer": {"text": ["Denver Broncos", "The Broncos"]}}]
    hints = hints_of(gts, [{"answer": {"text": pred}}])
    assert any("add x-aws-stickler-any-of to the schema" in hint for hint in hints) is expected
    assert all("answer.text" in hint for hint in hints)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [({"type": "array", "items": {"type": "string"}}, False), ({"type": "string"}, True)],
)
def test_a_value_where_a_list_of_one_is_declared_is_right_and_needs_no_annotation(
    hints_of, declared, expected
):
    schema = {"type": "object", "properties": {"tags": declared}}
    hints = hints_of([{"tags": ["office"]}], [{"tags": "office"}], schema=schema)
    assert any("add x-aws-stickler-any-of to the schema" in hint for hint in hints) is expected


@pytest.mark.parametrize(
    ("wrap", "advice"),
    [
        (lambda truth: {"out": truth, "id": 3}, "--pred-root out"),
        (lambda truth: {"out": json.dumps(truth), "cost": 0.1}, "--pred-root out"),
        # a key beside it has a declared name
        (lambda truth: {"out": truth, "note": "by model x"}, "--pred-root out"),
        (
            lambda truth: {"choices": [{"message": {"content": json.dumps(truth)}}]},
            "--pred-root /choices/0/message/content",
        ),
    ],
)
def test_the_root_is_found_through_texts_and_beside_other_keys(score_of, wrap, advice):
    _, score, hint = score_of([*map(wrap, TRUTH)])
    assert score < 0.5
    assert f"hint: try `{advice}`: " in hint
    assert score_of([*map(wrap, TRUTH)], *shlex.split(advice))[1] == 1.0


def test_the_root_of_ground_truths_is_found_without_a_schema(hints_of):
    gts = [{"gt_parse": order, "meta": "x"} for order in ORDERS]
    (hint,) = hints_of(gts, ORDERS)
    assert hint.startswith("try `--gt-root gt_parse`: ")
    assert hints_of(gts, ORDERS, "--gt-root", "gt_parse") == []


def test_a_run_that_is_mostly_right_has_no_hints(hints_of):
    gts = [{"a": n, "b": n, "c": n, "d": n, "e": n, "f": n, "g": n, "h": None} for n in range(3)]
    preds = [{**gt, "h": "N/A"} for gt in gts]  # 7 of 7 right, 1 invented: F1 is 14 / 15
    assert hints_of(gts, preds) == []


def test_pairs_of_a_table_are_pairs_whatever_identifies_documents(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"gt": gt, "pred": pred} for gt, pred in zip(ORDERS, ORDERS[::-1], strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    main(["eval", "--pairs", "log.jsonl", "-f", "json"])
    assert "--id-field" not in capsys.readouterr().err


def test_files_whose_ids_stand_under_other_names_are_told():
    documents = [{"number": f"INV-{number}", "total": 5} for number in range(4)]
    rotated = [*documents[1:], documents[0]]

    (hint,) = hint_id_field([*zip(documents, rotated, strict=True)], by_name=True)
    assert hint == (
        "the field number seems to identify documents: 100% of its values occur on both sides, "
        "most of them in files with different names. Files are paired by name. Rename "
        "the files, or use JSON Lines with --id-field"
    )
    assert [*hint_id_field([*zip(documents, documents, strict=True)], by_name=True)] == []


def test_a_field_whose_common_values_are_at_equal_positions_is_not_named():
    streets = [{"street": name} for name in ("Elm St 1", "Oak St 2", "Ash St 3", "Fir St 4")]
    misread = [{"street": "Elm Street 1"}, {"street": "Oak Street 2"}, *streets[2:]]

    # Two of four values are on both sides, both of them in the same document.
    assert [*hint_id_field([*zip(streets, misread, strict=True)])] == []
