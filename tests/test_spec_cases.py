"""Rows of `tests/cases/documents.jsonl` and `gold.jsonl`: results for pairs of documents.

Numbers must agree within 1e-9, and everything else exactly. A result may have more keys than its
row expects.
"""

import json
from pathlib import Path

import pytest

from stickler_cli import Scorer, StructuredModel, evaluate_many
from stickler_cli.cli import main
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.loading import loaded
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view

CASES = Path(__file__).parent / "cases"


def rows_of(name):
    """Read the rows of a file as parameters."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["name"]) for row in map(json.loads, lines)]


PLAIN = rows_of("documents.jsonl")
GOLD = rows_of("gold.jsonl")
ROWS = [*PLAIN, *GOLD]


def differences(expected, found, place=""):
    """Return the places in which a result differs from what its row expects."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key in found:
                yield from differences(value, found[key], f"{place}/{key}")
            else:
                yield f"{place}/{key}: expected {value!r}, found nothing"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, value in enumerate(expected):
            yield from differences(value, found[index], f"{place}/{index}")
    elif not same(expected, found):
        yield f"{place}: expected {expected!r}, found {found!r}"


def same(expected, found):
    """Return whether two single values are equal; 3 equals 3.0, but true does not equal 1."""
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return expected is found or (type(expected) is type(found) and expected == found)
    return type(found) in (int, float) and abs(expected - found) <= 1e-9


def options_of(row):
    """Return the options of a case."""
    options = row.get("options", {})
    return Options(
        pairing_floor=options.get("pairing_floor", 0.2),
        extra_fields=options.get("extra_fields", "fa"),
        partial_gt=options.get("partial_gt", False),
    )


def result_of(row, size=1, position=0):
    """Compare the documents of a row together with other documents.

    `size` is the number of documents, and `position` the position of this pair among them.
    """
    options = row.get("options", {})
    plan = compile_schema(row["schema"])
    bare = Unwrapper(plan.root)(row["gt"], is_truth=True)
    sides = [bare.value, {}, bare.value], [row["pred"], row["pred"], {}], [bare.gold, None] * 2
    gts, preds, gold = ([side[(slot - position) % 3] for slot in range(size)] for side in sides)
    account = compare(plan, gts, preds, options_of(row), gold=gold)
    batch = batch_of_unit(tree_of(account, position))
    result = comparison_view(batch, recall_with_fd=options.get("recall_with_fd", False))
    result["non_matches"] = listed_errors(result["non_matches"])
    return result


def listed_errors(errors):
    """Return the errors that are not inside another error; rows list only these."""
    kept = [error for error in errors if "inside" not in error]
    for error in kept:
        error.pop("values", None)
    return sorted(kept, key=lambda entry: (entry["field_path"], entry["non_match_type"]))


def field_nodes(node):
    """Yield all fields of a confusion matrix, also fields inside fields."""
    yield set(node.get("fields", {}))
    for child in node.get("fields", {}).values():
        yield from field_nodes(child)


@pytest.mark.anywhere
@pytest.mark.parametrize("row", ROWS)
def test_a_comparison_gives_what_its_case_expects(row):
    result = result_of(row)

    assert list(differences(row["expect"], result)) == []
    assert result["field_scores"].keys() == row["expect"]["field_scores"].keys()
    assert list(field_nodes(result["confusion_matrix"])) == list(
        field_nodes(row["expect"]["confusion_matrix"])
    )


@pytest.mark.parametrize(
    ("size", "position"),
    [
        pytest.param(7, 3, marks=pytest.mark.anywhere),
        pytest.param(32, 26, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("row", GOLD)
def test_a_case_is_the_same_among_others_of_a_chunk(row, size, position):
    assert list(differences(row["expect"], result_of(row, size=size, position=position))) == []


@pytest.mark.slow
@pytest.mark.parametrize("row", GOLD)
def test_a_case_is_the_same_in_batches_of_python(row):
    options = row.get("options", {})
    scorer = Scorer(loaded(row["schema"], "case", when="never"), options=options_of(row))
    pair, other = (row["gt"], row["pred"]), (row["pred"], row["pred"])
    record = scorer.evaluate_batch([other, pair, other])[1].to_dict()
    run = evaluate_many(row["schema"], [pair], infer="never", **options).to_dict()

    expected = row["expect"]["confusion_matrix"]
    assert list(differences(expected, record["confusion_matrix"])) == []
    assert list(differences(expected, run["confusion_matrix"])) == []


@pytest.mark.anywhere
def test_case_names_are_unique():
    assert len({row.id for row in ROWS}) == len(ROWS)


def command_line_options(options):
    """Return the options of a row as arguments of the command line."""
    arguments = ["--infer", "never"]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        arguments += [option] if value is True else [option, str(value)]
    return arguments


@pytest.mark.parametrize("row", ROWS)
def test_the_command_line_gives_what_its_case_expects(row, tmp_path, capsys):
    files = {name: tmp_path / f"{name}.json" for name in ("schema", "gt", "pred")}
    for name, file in files.items():
        file.write_text(json.dumps(row[name]), encoding="utf-8")
    arguments = command_line_options(row.get("options", {}))

    code = main(["eval", *map(str, files.values()), "-f", "json", "--no-config", *arguments])

    result = json.loads(capsys.readouterr().out)
    result["non_matches"] = listed_errors(result["non_matches"])
    assert code == 0
    assert list(differences(row["expect"], result)) == []
    # A run lists the keys that only documents name in their own order.
    assert sorted(map(sorted, field_nodes(result["confusion_matrix"]))) == sorted(
        map(sorted, field_nodes(row["expect"]["confusion_matrix"]))
    )


@pytest.mark.anywhere
@pytest.mark.parametrize(
    "row", [*PLAIN, *(pytest.param(*row.values, id=row.id, marks=pytest.mark.slow) for row in GOLD)]
)
def test_a_model_made_of_the_schema_gives_what_its_case_expects(row):
    options = row.get("options", {})
    model = StructuredModel.from_json_schema(row["schema"])
    gt, pred = (model.from_json(row[side]) for side in ("gt", "pred"))

    result = gt.compare_with(
        pred,
        include_confusion_matrix=True,
        recall_with_fd=options.get("recall_with_fd", False),
        options=options_of(row),
    )

    expected = {key: value for key, value in row["expect"].items() if key != "non_matches"}
    assert list(differences(expected, result)) == []
