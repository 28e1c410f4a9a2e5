"""Documents that are under a key, and file names of which only a part is the id."""

import json
import re

import pytest

from stickler_cli.core.problems import UsageError, nearest_pair
from stickler_cli.documents import name_patterns
from stickler_cli.documents.document import FileReference
from stickler_cli.documents.document_pair import shape_of
from stickler_cli.documents.name_patterns import propose_pattern, rename_by_pattern
from stickler_cli.documents.name_search import name_by
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.roots import root_text
from stickler_cli.settings.deciding import DocumentOptions


def write(folder, **documents):
    folder.mkdir(exist_ok=True)
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return str(folder)


def pairs(tmp_path, gt, pred, **options):
    sides = write(tmp_path / "gt", **gt), write(tmp_path / "pred", **pred)
    return list(open_pairs(*sides, DocumentOptions(**options)))


@pytest.mark.parametrize(
    "root",
    [
        *("result", "/result", "/list/0", "/~1x~0/y", "list[0]", "deep.inside", "a.b", "/a.b"),
        *("text", "/text", "log.answer", "/log/answer", "log.list[1]", "my key"),
    ],
)
def test_a_document_stands_below_a_key_path_or_pointer(tmp_path, root):
    document = {
        "result": {"a": 1},
        "list": [{"a": 1}],
        "/x~": {"y": {"a": 1}},
        "deep": {"inside": {"a": 1}},
        "a.b": {"a": 1},
        "my key": {"a": 1},
        "text": '{"a": 1}',
        "log": json.dumps({"answer": {"a": 1}, "list": [0, '{"a": 1}']}),
    }
    (pair,) = pairs(tmp_path, {"d": {"a": 1}}, {"d": document}, pred_root=root)
    assert (pair.gt, pair.pred) == ({"a": 1}, {"a": 1})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"reslt": {}},
            (
                'the key "result" is missing, expected a document at the path given '
                "by --pred-root result; did"
            ),
        ),
        (
            {"result": [1]},
            "the value at --pred-root result is of type array, expected a JSON object",
        ),
        (
            {"result": None},
            "the value at --pred-root result is of type null, expected a JSON object",
        ),
        (
            {"result": "[1]"},
            "the value at --pred-root result is of type array, expected a JSON object",
        ),
        (
            {"result": "so"},
            '--pred-root result points to a string that is not JSON: "so", expected JSON',
        ),
    ],
)
def test_a_document_without_its_root_is_invalid_by_name(tmp_path, document, message):
    (pair,) = pairs(tmp_path, {"d": {}}, {"d": document}, pred_root="result")
    assert "pred/d.json: " + message in str(pair.pred)


def test_a_ground_truth_without_its_root_is_told(tmp_path):
    (pair,) = pairs(tmp_path, {"d": {}}, {"d": {}}, gt_root="label")
    assert 'gt/d.json: the key "label" is missing' in str(pair.gt)


def test_lines_have_their_id_beside_the_root(tmp_path):
    for side in ("gt", "pred"):
        line = {"id": 7, "result": {"a": side}}
        (tmp_path / f"{side}.jsonl").write_text(json.dumps(line))
    sides = str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl")
    options = DocumentOptions(id_field="id", gt_root="result", pred_root="result")
    (pair,) = open_pairs(*sides, options)
    assert (pair.id, pair.gt, pair.pred) == ("7", {"a": "gt"}, {"a": "pred"})


def test_a_text_below_a_root_is_read_leniently_too(tmp_path):
    text = "Sure:\n```json\n{'a': 1}\n```"
    (pair,) = pairs(
        tmp_path, {"d": {"a": 1}}, {"d": {"out": text}}, pred_root="out", lenient_json=True
    )
    assert pair.pred == {"a": 1}
    assert pair.remarks == ("lenient", "lenient_fence", "lenient_relaxed")
    (pair,) = pairs(tmp_path, {"d": {"a": 1}}, {"d": {"out": text}}, pred_root="out")
    assert "--lenient-json can read JSON in a Markdown code fence" in str(pair.pred)


@pytest.mark.parametrize("root", ["result", "/a/b", "/~1a~0", "/a.b", "my key"])
def test_a_root_is_written_as_it_is_read(root):
    assert root_text(shape_of(DocumentOptions(pred_root=root)).pred_root) == root


@pytest.mark.parametrize("pattern", [r"_(\d+)$", r"\d+$", r"\d+"])
def test_names_pair_by_what_a_pattern_finds(tmp_path, pattern):
    paired = pairs(tmp_path, {"gt_1": {}, "gt_2": {}}, {"p_2": {}, "p_1": {}}, pair_by=pattern)
    assert [(pair.id, pair.gt, pair.pred) for pair in paired] == [("1", {}, {}), ("2", {}, {})]


def test_a_name_without_the_pattern_stays_what_it_is(tmp_path):
    paired = pairs(tmp_path, {"gt_1": {}, "x": {}}, {"p_1": {}, "x": {}}, pair_by=r"_(\d+)$")
    assert [pair.id for pair in paired] == ["1", "x"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[", r'--pair-by: the pattern "\[" is not valid \(unterminated character set'),
        (
            "gt",
            (
                r"the pattern finds the same text, 'gt', in two ids of .*gt: 'gt_1' and 'gt_2', "
                r"expected a pattern that"
            ),
        ),
    ],
)
def test_a_pattern_that_is_none_or_too_coarse_is_refused(tmp_path, pattern, message):
    with pytest.raises(UsageError, match=message):
        pairs(tmp_path, {"gt_1": {}, "gt_2": {}}, {"p_1": {}}, pair_by=pattern)


def test_lines_that_pair_by_place_have_no_names(tmp_path):
    for side in ("gt", "pred"):
        (tmp_path / f"{side}.jsonl").write_text("{}")
    with pytest.raises(
        UsageError, match="give --id-field as well; --pair-by then applies to the ids"
    ):
        open_pairs(
            str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl"), DocumentOptions(pair_by="x")
        )


def test_names_that_nothing_pairs_have_no_pattern():
    assert propose_pattern(["a", "b"], ["x", "y"]) is None
    assert propose_pattern([], ["x"]) is None
    assert nearest_pair([], ["x"]) is None
    assert nearest_pair(["abc", "q"], ["xyz", "abd"]) == ("abc", "abd")


HOSTILE_NAMES = ["1" * 200_000 + "x", "_" * 200_000 + "\n_", "1" * 200_000 + "x1"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_pattern_is_looked_for_in_names_of_any_length(name):
    assert propose_pattern([name, "gt_1"], ["pred_1", "b"]) is None
    assert nearest_pair([name, "gt_1"], ["pred_1", "gt_2"]) == ("gt_1", "gt_2")


@pytest.mark.parametrize("side", ["gt", "pred"])
def test_an_id_that_is_too_long_for_a_pattern_is_named(tmp_path, side):
    for name in ("gt", "pred"):
        ids = ["a_1", HOSTILE_NAMES[0]] if name == side else ["b_1"]
        lines = (json.dumps({"id": document_id}) for document_id in ids)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    sources = [str(tmp_path / f"{name}.jsonl") for name in ("gt", "pred")]
    settings = DocumentOptions(id_field="id", pair_by=r"(\d+)$")

    with pytest.raises(
        UsageError, match=r'the id "1111.* has 200,001 characters, expected ids of at m'
    ):
        list(open_pairs(*sources, settings))


NESTED_REPEATS = [
    r"(\w+\s?)*$",
    r"(a|aa)+$",
    r"(a?){60}a{60}$",
    r"(?:a|a)(?:a|a)+b",
    r"(.*)(.*)(.*)(.*)(.*)(.*)b",
    r"^(([a])+)+$",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "side"),
    # Both sides are searched by the same function: one pattern shows it for gt.
    [(NESTED_REPEATS[0], "gt"), *((pattern, "pred") for pattern in NESTED_REPEATS)],
)
def test_a_search_that_would_not_end_is_ended_and_names_the_id(
    tmp_path, monkeypatch, pattern, side
):
    hostile = "a" * 120 + "!"
    monkeypatch.setattr(name_patterns, "SEARCH_SECONDS", 1)
    for name in ("gt", "pred"):
        ids = ["x", *([hostile] if name == side else []), "y"]
        lines = (json.dumps({"id": document_id}) for document_id in ids)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    sources = [str(tmp_path / f"{name}.jsonl") for name in ("gt", "pred")]
    settings = DocumentOptions(id_field="id", pair_by=pattern)

    with pytest.raises(UsageError) as caught:
        list(open_pairs(*sources, settings))
    (problem,) = caught.value.problems
    assert problem.source == "--pair-by"
    assert f'the id "{"a" * 20}' in problem.found
    assert f"{side}.jsonl for the pattern takes more than" in problem.found


def test_parts_of_many_names_are_found_in_another_process_as_in_this_one(tmp_path):
    names = [f"{number:04}-\ud800é-gt" for number in range(250)]
    for pattern in (r"^\D*(\d+)", r"(?<!\d)(\d{4})|x", r"^(?:(0)|(\d\d\d\d))-", "z|y"):
        compiled = re.compile(pattern)
        references = [(name, FileReference(name, 1)) for name in names]
        if pattern.startswith("^(?:"):
            references = references[:1]
        renamed = rename_by_pattern(lambda references=references: references, compiled, "gt")
        expected = [(name_by(compiled, name), reference) for name, reference in references]
        assert list(renamed) == expected
