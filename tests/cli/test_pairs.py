import json
from pathlib import Path
from threading import Event

import pytest

from stickler_cli.cli.app import main
from stickler_cli.cli.eval import compare_command
from stickler_cli.core.problems import UsageError
from stickler_cli.documents import sources
from stickler_cli.documents.pairs import open_pairs, pairs_of_table
from stickler_cli.documents.sources import list_directory
from stickler_cli.settings.of_commands import EvalSettings

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a table with four pairs; the schema and the single documents are beside it."""
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    rows = [{"id": f"d{n}", "ground_truth": {"n": n}, "prediction": {"n": n % 3}} for n in range(4)]
    Path("pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for name, key in (("gt", "ground_truth"), ("pred", "prediction")):
        lines = (json.dumps({"id": row["id"], **row[key]}) for row in rows)  # type: ignore[dict-item]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    return "pairs.jsonl"


def printed(capsys: pytest.CaptureFixture[str], *asked: str, code: int = 0) -> str:
    assert main([*asked, "--no-config"]) == code
    out, err = capsys.readouterr()
    return out or err


def test_a_table_of_pairs_gives_the_figures_of_its_two_sides(
    table: str, capsys: pytest.CaptureFixture[str]
):
    options = [
        "-f",
        "csv",
        "--ci",
        "none",
    ]  # lines without ids have other ones, which intervals see
    without_id = ["--extra-fields", "ignore"]
    of_pairs = printed(capsys, "eval", "schema.json", "--pairs", table, *options, *without_id)
    two = printed(capsys, "eval", "schema.json", "gt.jsonl", "pred.jsonl", *options, *without_id)
    assert of_pairs == two


def test_every_command_of_two_sources_takes_a_table(table: str, capsys: pytest.CaptureFixture[str]):
    compared = printed(capsys, "compare", "schema.json", "--pairs", table, "--document", "d3")
    assert "d3" in compared
    assert "d3" in printed(capsys, "errors", "schema.json", "--pairs", table)


def test_what_explains_a_document_of_a_table_names_the_table():
    settings = EvalSettings(schema="s.json", gt="t.jsonl", pred="t.jsonl", pairs="t.jsonl")
    assert compare_command(settings) == "stickler compare s.json --pairs t.jsonl"


def test_a_schema_is_inferred_of_the_ground_truth_of_a_table(
    table: str, capsys: pytest.CaptureFixture[str]
):
    assert "4 documents, 3 wholly right" in printed(capsys, "eval", "--pairs", table)


def test_what_is_said_to_keep_an_inferred_schema_keeps_it(
    table: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["eval", "--pairs", table, "--no-config"]) == 0
    out, err = capsys.readouterr()
    _, command, _ = err.split("`")
    assert command == "stickler init pairs.jsonl --gt-root ground_truth -o schema.json"
    Path("schema.json").unlink()
    assert main([*command.split()[1:], "--no-config"]) == 0
    capsys.readouterr()
    assert main(["eval", "schema.json", "--pairs", table, "--no-config"]) == 0
    assert capsys.readouterr().out.splitlines()[-6:-1] == out.splitlines()[-6:-1]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            ["gt.jsonl", "pred.jsonl"],
            "--pairs: pred.jsonl is also given, expected either --pairs or GT and",
        ),
        (
            ["--repeat", "pred.jsonl"],
            "--repeat: --pairs is also given, expected either --repeat or --pairs",
        ),
        (
            ["--pair-by", "x"],
            "--pair-by: --pairs already pairs the documents, expected either --pair-by or --pairs",
        ),
    ],
)
def test_what_does_not_go_with_a_table_of_pairs_is_refused(
    table: str, message: list[str], expected: str, capsys: pytest.CaptureFixture[str]
):
    assert expected in printed(capsys, "eval", "schema.json", *message, "--pairs", table, code=2)


@pytest.mark.parametrize("has_id", [{0, 1, 2}, set(), {2}, {0}])
def test_pairs_without_an_id_are_known_by_their_line(tmp_path: Path, has_id: set[int]):
    rows = [
        {"ground_truth": {"n": n}} | ({"id": "line 1"} if n in has_id else {}) for n in range(3)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    names = [ref.id for ref in pairs_of_table(str(tmp_path / "t.jsonl"), 100).refs()]
    assert len(set(names)) == 3
    if not has_id:
        assert names == ["line 1", "line 2", "line 3"]


def test_a_policy_is_applied_to_predictions_alone(table: str, capsys: pytest.CaptureFixture[str]):
    arguments = ["accept", "--apply", "policy.json", "--pairs", table]
    assert (
        "--pairs gives ground truth and predictions, but a policy is applied to predictions alone"
        in printed(capsys, *arguments, code=2)
    )


def test_a_directory_that_takes_long_to_list_is_told_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "a.json").write_bytes(b"{}")
    sentences: list[str] = []
    twice = Event()

    def tell(line: str) -> None:
        sentences.append(line)
        if len(sentences) == 2:
            twice.set()

    real = sources.id_of_file

    def slow(name: str) -> str | None:
        assert twice.wait(60)
        return real(name)

    for name in ("PATIENCE", "REMINDER"):
        monkeypatch.setattr(sources, name, 0)
    monkeypatch.setattr(sources, "id_of_file", slow)
    assert [*list_directory(str(tmp_path), 100, tell).documents] == ["a"]
    assert sentences[0] == (
        f"still listing the files of {tmp_path}; the comparison starts when the list is complete"
    )
    listed = len(sentences)
    assert list_directory(str(tmp_path), 100).documents
    assert len(sentences) == listed


NAMES = [
    ("gt", "pred"),
    ("ground_truth", "prediction"),
    ("expected", "output"),
    ("expected_output", "actual"),
    ("reference", "actual_output"),
    ("target", "response"),
    ("label", "pred"),
]


def read_pairs(file: Path, **options: str) -> list[tuple[object, object]]:
    settings = EvalSettings(pairs=str(file), **options)
    return [(pair.gt, pair.pred) for pair in open_pairs("", "", settings)]


@pytest.mark.parametrize(("gt", "pred"), NAMES)
def test_the_usual_names_of_columns_are_recognised(tmp_path: Path, gt: str, pred: str):
    row = {"input": "..", gt: {"n": 1}, pred: '{"n": 2}'}
    (tmp_path / "log.jsonl").write_text(json.dumps(row))
    (tmp_path / "log.json").write_text(json.dumps([row]))
    (tmp_path / "log.csv").write_text(f'{pred},{gt}\n"{{""n"": 2}}","{{""n"": 1}}"\n')
    for name in ("log.jsonl", "log.json", "log.csv"):
        assert read_pairs(tmp_path / name) == [({"n": 1}, {"n": 2})]


def test_the_first_of_several_names_counts(tmp_path: Path):
    sides = [[name for name, _ in NAMES], ["pred", "prediction", "output", "actual"]]
    row = {name: {"n": name} for names in sides for name in reversed(names)}
    (tmp_path / "log.jsonl").write_text(json.dumps(row))
    assert read_pairs(tmp_path / "log.jsonl") == [({"n": "gt"}, {"n": "pred"})]


@pytest.mark.parametrize(
    ("gt_column", "pred_column"),
    [
        ("vars.truth", "response.output"),
        ("vars.truth", "choices[0].text"),
        ("best.truth", "text"),  # a name that has a dot itself
    ],
)
def test_columns_are_named_by_paths_through_texts_of_json(
    tmp_path: Path, gt_column: str, pred_column: str
):
    text = json.dumps({"n": 2})
    row = {
        "vars": {"truth": {"n": 1}},
        "best.truth": '{"n": 1}',
        "response": json.dumps({"output": text}),
        "choices": [{"text": text}],
        "text": text,
        "output": {"n": 9},
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(row))
    columns = {"gt_column": gt_column, "pred_column": pred_column}
    assert read_pairs(tmp_path / "log.jsonl", **columns) == [({"n": 1}, {"n": 2})]


def test_columns_of_an_arrow_table_are_named_by_paths(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"row": [{"truth": {"n": 1}, "answer": '{"a": {"n": 2}}'}]})
    parquet.write_table(table, tmp_path / "t.parquet")
    columns = {"gt_column": "row.truth", "pred_column": "row.answer.a"}
    assert read_pairs(tmp_path / "t.parquet", **columns) == [({"n": 1}, {"n": 2})]
    with pytest.raises(UsageError, match='the table has no column "rwo", which --gt-column names'):
        read_pairs(tmp_path / "t.parquet", gt_column="rwo.truth")


def test_a_row_without_a_named_column_lacks_its_document(tmp_path: Path):
    rows = [{"a": {"n": 1}, "b": {"n": 2}}, {"a": {"n": 3}}]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pairs = read_pairs(tmp_path / "log.jsonl", gt_column="a", pred_column="b")
    assert pairs == [({"n": 1}, {"n": 2}), ({"n": 3}, None)]


def test_a_column_of_what_is_no_table_is_refused(table: str, capsys: pytest.CaptureFixture[str]):
    error = printed(
        capsys, "eval", "schema.json", "gt.jsonl", "pred.jsonl", "--pred-column", "a", code=2
    )
    assert (
        "--pred-column: PRED is a JSON Lines, CSV or TSV file, expected a .parquet or .arrow "
        "table; if documents are "
        "inside a larger JSON object, use --pred-root" in error
    )
