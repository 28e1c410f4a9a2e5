"""No output of a command overwrites one of its inputs, under whatever name."""

import gzip
import json
from pathlib import Path

import pytest

from stickler_cli.cli.app import main
from stickler_cli.cli.commands import settings_of_commands
from stickler_cli.core.option import options_of
from stickler_cli.runs.whole_files import JOURNAL, PARTIAL, RESULTS

OPTIONS = {command: options_of(settings) for command, settings in settings_of_commands().items()}
PAIRS = [
    (command, output.name, named.name)
    for command, options in OPTIONS.items()
    for output in options.values()
    for named in options.values()
    if output.role == "output" and named.role == "input"
]
NEITHER = {
    ("init", "output"),  # --force lets it take the place of any file
    *((command, "sources") for command in ("eval", "report", "view")),  # pictures, never written
}


def test_every_option_that_names_a_file_says_what_happens_to_it():
    files = {"FILE", "DIR", "DIR|FILE", "DIR|URL", "PRED...", "RUN...", "RUN", "POLICY"}
    unsaid = {
        (command, option.name)
        for command, options in OPTIONS.items()
        for option in options.values()
        if (option.is_path or option.argument or option.metavar in files) and not option.role
    }

    assert unsaid == NEITHER
    assert ("eval", "documents", "repeat") in PAIRS
    assert ("report", "output", "by_file") in PAIRS
    assert ("plan", "output", "new") in PAIRS
    assert ("eval", "output", "policy") in PAIRS


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output", "named"), PAIRS)
def test_an_output_that_is_an_input_is_refused(
    command, output, named, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    shared = tmp_path / "shared.json"
    for file in (shared, tmp_path / "other.json"):
        file.write_text(json.dumps({"n": 1}))
    options = OPTIONS[command]
    words, flags = command.split(), [options[output].flag, "./shared.json"]
    for option in options.values():
        value = "shared.json" if option.name == named else "other.json"
        if option.argument:
            words.append(value)
        elif option.name == named:
            flags.append(f"{option.flag}={value}")
    if options[named].instead_of:  # a table of pairs stands for GT and PRED
        words = [word for word in words if word != "other.json"]

    assert main(words + flags) == 2
    error_output = capsys.readouterr().err
    assert f"{options[output].flag} ./shared.json: the output would overwrite " in error_output
    assert shared.read_text() == '{"n": 1}'


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "schema.json", "gt.json", "gt.json", "-o", "parts.json"],
        ["eval", "of_lines.json", "gt.json", "gt.json", "--documents", "lines.jsonl"],
        ["compare", "schema.json", "gt.json", "gt.json", "-o", "parts.json"],
        ["lint", "schema.json", "gt.json", "-o", "parts.json"],
        ["eval", "schemas/", "gt/", "gt/", "--schema-by", "@id", "-o", "parts.json"],
        ["eval", "gt.json", "gt.json", "--config", "options.json", "-o", "options.json"],
        ["eval", "gt/", "gt.json", "-o", "linked.json"],
        ["eval", "gt/", "gt.json", "--values", "lines.jsonl"],
        ["eval", "gt/", "gt.json", "-o", "gt/new.json"],
        ["eval", "gt.json", "gt/", "--documents", "gt/a.json"],
        ["eval", "gt.json", "night/pred.json", "--run-dir", "night"],
        ["eval", "gt.json", "x.csv.partial", "--documents", "x.csv"],
    ],
)
def test_inputs_that_no_option_names_are_not_overwritten(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    properties = {"n": {"type": "integer"}}
    schema = {"type": "object", "properties": {"n": {"$ref": "parts.json#/n"}}}
    files = {"gt.json": {"n": 1}, "linked.json": {"n": 1}, "schema.json": schema}
    files |= {"parts.json": properties, "gt/a.json": {"n": 1}, "night/pred.json": {"n": 1}}
    files |= {"schemas/a.json": {**schema, "properties": {"n": {"$ref": "../parts.json#/n"}}}}
    of_lines = {"type": "object", "properties": {"n": {"$ref": "lines.jsonl#/n"}}}
    files |= {"of_lines.json": of_lines}
    files |= {"x.csv.partial": {"n": 1}}
    for name, contents in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(contents))
    (tmp_path / "options.json").write_text("quiet = true\n")
    (tmp_path / "lines.jsonl").write_text(json.dumps(properties))
    (tmp_path / "gt" / "c.json").symlink_to(tmp_path / "lines.jsonl")
    (tmp_path / "gt" / "b.json").symlink_to(tmp_path / "linked.json")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    assert main(arguments) == 2
    assert "would overwrite " in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("as_url", ["input", "output"])
def test_a_file_is_the_same_by_its_url(as_url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt.json").write_text('{"n": 1}')
    url = (tmp_path / "gt.json").as_uri()
    named, output = (url, "gt.json") if as_url == "input" else ("gt.json", url)

    assert main(["eval", named, "gt.json", "-o", output]) == 2
    assert "would overwrite " in capsys.readouterr().err
    assert (tmp_path / "gt.json").read_text() == '{"n": 1}'


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Finished runs of three files: a run directory, and run files of three kinds."""
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    for side, numbers in {"gt": [1, 2], "pred": [1, 3]}.items():
        (tmp_path / f"{side}.json").write_text(json.dumps({"n": numbers[0]}))
        (tmp_path / f"{side}s").mkdir()
        for number in numbers:
            (tmp_path / f"{side}s" / f"{number}.json").write_text(json.dumps({"n": number}))
    (tmp_path / "known.json").write_text(json.dumps({"n": 0.5}))
    arguments = ["eval", "schema.json", "gt.json", "pred.json", "-q", "--confidence", "known.json"]
    assert main([*arguments, "--run-dir", "night", "-o", "run.json"]) == 0
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress((tmp_path / "run.json").read_bytes()))
    assert main(["eval", "schema.json", "gts", "preds", "-q", "-o", "many.json"]) == 0
    return tmp_path


ON_RUNS = [
    *(["report", run, "-o"] for run in ("night", "run.json", "packed.json.gz")),
    ["report", "night", "run.json", "-o"],
    ["merge", "night", "-o"],
    ["diff", "night", "run.json", "-o"],
    ["diff", "--base", "run.json", "--new", "night", "-o"],
    ["plan", "run.json", "--half-width", "0.1", "-o"],
    ["compare", "night", "--document", "pred", "-o"],
    ["errors", "night", "-o"],
]


def refuse_to_overwrite(capsys, command, source, finding):
    """Check that a command refuses to write to a file, and leaves it as it is."""
    before = Path(source).read_bytes()
    capsys.readouterr()

    assert main([*command, source]) == 2, source
    assert f"--output {source}: the output would overwrite {finding}" in capsys.readouterr().err
    assert Path(source).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("command", ON_RUNS)
def test_what_a_finished_run_names_is_not_overwritten(finished, capsys, command):
    # A run file does not name confidences.
    for source in ("schema.json", "gt.json", "pred.json", *["known.json"][: "night" in command]):
        refuse_to_overwrite(capsys, command, source, "the ")


def test_documents_in_directories_of_a_finished_run_are_not_overwritten(finished, capsys):
    assert main(["report", "many.json", "-o", "gts/1.json"]) == 2
    assert "overwrite the ground truth of the run 'many.json'" in capsys.readouterr().err
    assert main(["report", "many.json", "-o", "again.json"]) == 0


REFERENCE = {"type": "object", "properties": {"n": {"$ref": "../parts.json#/n"}}}


@pytest.fixture
def referring(tmp_path, monkeypatch):
    """Finished runs whose schemas refer to a file that refers to another file."""
    monkeypatch.chdir(tmp_path)
    files = {"schemas/1.json": REFERENCE, "parts.json": {"n": {"$ref": "deep.json#/m"}}}
    files |= {"deep.json": {"m": {"type": "integer"}}, "gt/1.json": {"n": 1}}
    for name, contents in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(contents))
    arguments = ["eval", "schemas/1.json", "gt", "gt", "-q"]
    assert main([*arguments, "--run-dir", "night", "-o", "run.json"]) == 0
    several = ["eval", "schemas", "gt", "gt", "-q", "--schema-by", "@id", "-o", "several.json"]
    assert main(several) == 0
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["report", "several.json", "-o"],
        *(command for command in ON_RUNS if "packed.json.gz" not in command),
    ],
)
def test_what_the_schema_of_a_finished_run_refers_to_is_not_overwritten(referring, capsys, command):
    command = ["1" if word == "pred" else word for word in command]
    for source in ("parts.json", "deep.json"):
        finding = "a file that the schema of the run '"
        refuse_to_overwrite(capsys, command, source, finding)


@pytest.mark.parametrize("contents", [None, "{", "[]", '{"$ref": "http://[/x"}', "directory"])
def test_a_schema_that_a_run_names_may_be_gone_or_broken(referring, contents):
    schema = referring / "schemas" / "1.json"
    schema.unlink()
    if contents == "directory":
        schema.mkdir()
    elif contents:
        schema.write_text(contents)

    assert main(["report", "run.json", "-o", "again.json"]) == 0


@pytest.mark.parametrize(
    ("source", "output", "message"),
    [
        ("schemas/1.json", "parts.json", "a file that the schema refers to"),
        ("schemas/1.json", "deep.json", "a file that the schema refers to"),
        ("gt/1.json", "gt/1.json", "the ground truth"),
        ("gt", "gt/1.json", "the ground truth"),
        ("gt", "gt/schema.json", "the ground truth"),
    ],
)
def test_init_overwrites_no_input_but_the_schema_it_annotates(
    referring, capsys, source, output, message
):
    before = {path: path.read_bytes() for path in referring.rglob("*") if path.is_file()}

    assert main(["init", source, "--force", "-o", output]) == 2
    expected = f"--output {output}: the output would overwrite {message}"
    assert expected in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in referring.rglob("*") if path.is_file()}
    assert main(["init", "schemas/1.json", "--force", "-o", "schemas/1.json"]) == 0


OWN_FILES = [
    *(name for result in RESULTS for name in (result, result + PARTIAL)),
    JOURNAL,
    "view-errors.sqlite",
    "view-documents.sqlite",
]
SPELLINGS = ["./night", "gt/../night", "link", "{url}/night"]
FILES_OF_RUN_DIR = [
    *(f"night/{name}" for name in (*OWN_FILES, *map(str.upper, OWN_FILES), "journal/a.json")),
    *(f"{folder}/run.json" for folder in SPELLINGS),
]
WITH_RUN_DIR = [
    (command, option.name)
    for command, options in OPTIONS.items()
    if "run_dir" in options
    for option in options.values()
    if option.role == "output" and option.name not in {"run_dir", "documents", "non_matches"}
]  # beside --run-dir, --documents and --non-matches are refused altogether


@pytest.mark.slow
@pytest.mark.parametrize("is_finished", [True, False])
@pytest.mark.parametrize(("command", "output"), WITH_RUN_DIR)
def test_no_output_is_a_file_of_the_run_directory(
    is_finished, command, output, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt").mkdir()
    (tmp_path / "gt" / "1.json").write_text('{"n": 1}')
    if is_finished:
        (tmp_path / "night").mkdir()
        for own_name in OWN_FILES:
            (tmp_path / "night" / own_name).write_text("precious")
    # A directory that is there tells whether the file system ignores case.
    is_another = is_finished and not (tmp_path / "NIGHT").exists()
    (tmp_path / "link").symlink_to("night")
    flag = OPTIONS[command][output].flag

    for spelling in (*FILES_OF_RUN_DIR, *([] if is_another else ["NIGHT/run.json"])):
        file = spelling.format(url=tmp_path.as_uri())
        assert main([command, "gt", "gt", "--run-dir", "night", flag, file]) == 2, file
        assert "this is a file of the run directory itself" in capsys.readouterr().err
    if is_finished:
        files = (tmp_path / "night").iterdir()
        assert {file.read_text() for file in files} == {"precious"}


def test_a_link_to_a_file_of_the_run_directory_is_no_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt.json").write_text('{"n": 1}')
    words = ["eval", "gt.json", "gt.json", "--run-dir", "night", "-q", "-o", "night/report.html"]
    assert main(words) == 0
    before = (tmp_path / "night" / "run.json").read_bytes()
    (tmp_path / "again.json").symlink_to("night/run.json")

    assert main([*words, "-o", "again.json"]) == 2
    assert (tmp_path / "night" / "run.json").read_bytes() == before
    assert main([*words, "-o", "run.json"]) == 0
