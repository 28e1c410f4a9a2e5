"""`docs/ci.md`, `action.yml` and the pre-commit hooks can be parsed, and their commands work."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
WITH_ACTION, WITHOUT_ACTION, GITLAB, PRE_COMMIT = BLOCKS
INSTALL, EVALUATE = ACTION["runs"]["steps"]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
DEFAULTS = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}


@pytest.fixture
def workspace(tmp_path):
    """A directory as the page assumes: `schema.json`, `gt` and `pred`."""
    (tmp_path / "schema.json").symlink_to(PROJECT / "schemas" / "receipt.json")
    for side in ("gt", "pred"):
        (tmp_path / side).symlink_to(PROJECT / "fixtures" / "receipt" / side)
    return tmp_path


def run(script, folder, **environment):
    """Run a shell script as the runner of a CI job does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    variables = {"HOME": str(folder), "PATH": f"{folder / 'bin'}{os.pathsep}{PATH}"}
    variables |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return subprocess.run(
        command,
        cwd=folder,
        env={**variables, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def replace_program(folder, name, script):
    """Let scripts that run in a folder have a shell script instead of a program."""
    program = folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def stickler_commands():
    """Return all commands of this project in the scripts and console blocks of the page."""
    scripts = [step["run"] for step in steps(WITHOUT_ACTION) if "run" in step]
    scripts += next(iter(GITLAB.values()))["script"]
    scripts += re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
    return [script for script in scripts if script.startswith("stickler ")]


def test_the_page_shows_commands_for_github_gitlab_and_by_hand():
    assert [command.split()[1] for command in stickler_commands()] == ["eval", "eval", "check"]


@pytest.mark.parametrize("command", stickler_commands())
def test_a_command_of_the_page_runs_and_writes_the_files_that_it_names(command, workspace):
    result = run(command, workspace)

    assert result.returncode == 0, result.stderr
    words = shlex.split(command)
    for name in (words[n + 1] for n, word in enumerate(words) if word == "-o"):
        assert (workspace / name).stat().st_size > 0


def test_the_console_block_shows_what_the_command_prints(workspace):
    ((command, output),) = re.findall(r"```console\n\$ (.*)\n(.*\n)```", PAGE)

    assert run(command, workspace).stdout == output


def test_what_gitlab_collects_is_what_its_script_writes():
    (job,) = GITLAB.values()
    written = {word for line in job["script"] for word in shlex.split(line)}

    artifacts = job["artifacts"]
    assert {*artifacts["reports"].values(), *artifacts["paths"]} <= written


@pytest.mark.parametrize("workflow", [WITH_ACTION, WITHOUT_ACTION])
def test_a_github_workflow_has_what_github_asks_of_one(workflow):
    assert workflow[True] == "pull_request"  # YAML 1.1 reads the key `on` so
    assert workflow["permissions"]["contents"] == "read"
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_no_script_has_an_expression_in_it():
    scripts = [step["run"] for step in steps(WITHOUT_ACTION) if "run" in step]

    for script in (*scripts, INSTALL["run"], EVALUATE["run"]):
        assert "${{" not in script


def test_the_page_lists_the_inputs_and_outputs_of_the_action():
    rows = re.findall(r"^\| ((?:`[a-z0-9-]+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(.*?)`", row)]

    assert {*ACTION["inputs"], *ACTION["outputs"]} <= set(named)


def test_the_workflow_gives_the_action_only_inputs_that_it_has():
    (step,) = [step for step in steps(WITH_ACTION) if "stickler@" in step.get("uses", "")]
    required = {name for name, entry in ACTION["inputs"].items() if entry.get("required")}

    assert required <= set(step["with"]) <= set(ACTION["inputs"])
    words = shlex.split(step["with"]["args"])
    assert words == ["--fail-under", "0.85", "--gate", "total.f1>=0.5"]


def evaluated(workspace, **inputs):
    """Run the step of the action that evaluates; return its result and its outputs."""
    by_input = DEFAULTS | {"schema": "schema.json", "ground-truth": "gt", "predictions": "pred"}
    by_input |= {name.replace("_", "-"): value for name, value in inputs.items()}
    environment = {
        name: by_input[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)[1]]
        for name, expression in EVALUATE["env"].items()
    }
    outputs = workspace / "outputs"
    result = run(
        EVALUATE["run"],
        workspace,
        GITHUB_OUTPUT=str(outputs),
        GITHUB_STEP_SUMMARY=str(workspace / "summary.md"),
        **environment,
    )
    lines = outputs.read_text(encoding="utf-8").splitlines() if outputs.exists() else []
    return result, dict(line.split("=", 1) for line in lines)


def test_the_action_evaluates_and_tells_f1_verdict_and_report(workspace):
    result, outputs = evaluated(workspace)

    assert result.returncode == 0, result.stderr
    record = json.loads((workspace / "stickler.json").read_text(encoding="utf-8"))
    f1 = record["confusion_matrix"]["leaves"]["derived"]["cm_f1"]
    assert outputs == {"f1": str(f1), "verdict": "passed", "report": "stickler.json"}
    assert result.stdout.startswith("::notice title=")
    assert (workspace / "summary.md").read_text(encoding="utf-8").startswith("<!-- stickler -->")


@pytest.mark.parametrize(
    ("inputs", "code", "verdict"),
    [
        ({"args": "--fail-under 0.99 --gate 'total.f1>=0.5'"}, 1, "failed"),
        ({"args": "--no-such-option"}, 2, "error"),
        ({"schema": "none.json"}, 2, "error"),
        ({"predictions": "empty", "args": "--strict"}, 3, "incomplete"),
    ],
)
def test_the_action_ends_with_the_code_and_tells_the_verdict(workspace, inputs, code, verdict):
    (workspace / "empty").mkdir()
    result, outputs = evaluated(workspace, **inputs)

    assert result.returncode == code, result.stderr
    assert outputs["verdict"] == verdict
    assert bool(outputs["report"]) == bool(outputs["f1"]) == (verdict != "error")


def test_a_report_of_an_earlier_run_is_not_taken_for_one_of_this(workspace):
    (workspace / "stickler.json").write_text("{}", encoding="utf-8")

    assert evaluated(workspace, schema="none.json")[1]["report"] == ""


@pytest.mark.parametrize("args", ["--help", "--version --help"])
def test_what_evaluates_nothing_has_no_report_of_an_earlier_run(workspace, args):
    (workspace / "stickler.json").write_text('{"format": "stickler-run/1"}', encoding="utf-8")

    _, outputs = evaluated(workspace, args=args)

    assert outputs == {"f1": "", "verdict": "error", "report": ""}
    assert not (workspace / "stickler.json").exists()


def test_f1_is_empty_where_nothing_was_evaluated(workspace):
    (workspace / "empty").mkdir()
    result, outputs = evaluated(workspace, ground_truth="empty", predictions="empty")

    assert result.returncode == 3, result.stderr
    assert (outputs["f1"], outputs["verdict"]) == ("", "incomplete")


@pytest.mark.parametrize(("summary", "place"), [("true", "{0}/summary.md"), ("false", "unset")])
def test_the_summary_is_written_unless_it_is_left_out(workspace, summary, place):
    replace_program(workspace, "stickler", 'echo "${GITHUB_STEP_SUMMARY-unset}"')
    result, _ = evaluated(workspace, summary=summary)

    assert result.stdout == place.format(workspace) + "\n"


@pytest.mark.parametrize(
    "text", ["$(touch pwned)", "; touch pwned", "`touch pwned`", "x'; touch pwned; '"]
)
def test_nothing_in_an_input_is_run(workspace, text):
    # Print the arguments and write the report, whose time has to be later than the beginning.
    script = """printf '%s\\n' "$@"; sleep 0.1; echo '{"documents": {"evaluated": 0}}' > "$5" """
    replace_program(workspace, "stickler", script)
    args = f"--gate {shlex.quote(text)}"
    result, outputs = evaluated(workspace, schema=text, args=args, report=f"{text}.json")

    assert not (workspace / "pwned").exists()
    assert outputs == {"f1": "", "verdict": "passed", "report": f"{text}.json"}
    words = ["eval", "--format", "github", "--output", f"{text}.json", "--gate", text]
    assert result.stdout.splitlines() == [*words, "--", text, "gt", "pred"]


def test_arguments_that_are_not_quoted_well_are_a_usage_error(workspace):
    result, outputs = evaluated(workspace, args="--gate 'f1")

    assert result.returncode == 2
    assert result.stdout == "::error title=stickler::args: No closing quotation\n"
    assert outputs == {"f1": "", "verdict": "error", "report": ""}


def test_an_argument_may_have_any_character(workspace):
    result, _ = evaluated(workspace, args="--gate 'f1 >= 0.5\n' --gate \"\" -q")

    assert result.returncode == 2
    assert "error: --gate:" in result.stderr
    assert "--gate f1" not in result.stderr


def test_no_module_of_the_checkout_runs(workspace):
    for name in ("shlex", "json", "os", "pip"):
        (workspace / f"{name}.py").write_text(f"raise SystemExit({name!r})", encoding="utf-8")
    result, outputs = evaluated(workspace, args="--fail-under 0.5")

    assert result.returncode == 0, result.stderr
    assert outputs["verdict"] == "passed"
    installed = run("python -I -m pip --version", workspace)
    assert installed.returncode == 0, installed.stderr


def test_every_python_of_the_action_is_isolated():
    scripts = INSTALL["run"] + EVALUATE["run"]

    assert re.findall(r"\bpython\b(?! -I )", scripts) == []


@pytest.mark.parametrize("report", ["gt/a.json", "schema.json", "./gt/../schema.json"])
def test_a_report_that_is_an_input_is_refused_and_nothing_is_removed(workspace, report):
    for side in ("gt", "pred"):
        (workspace / side).unlink()
        (workspace / side).mkdir()
        (workspace / side / "a.json").write_text("{}", encoding="utf-8")
    before = (workspace / report).read_bytes()
    result, outputs = evaluated(workspace, report=report)

    assert result.returncode == 2
    assert "would overwrite " in result.stderr
    assert (workspace / report).read_bytes() == before
    assert outputs == {"f1": "", "verdict": "error", "report": ""}


def test_a_report_of_another_format_is_refused(workspace):
    result, outputs = evaluated(workspace, report="stickler.csv")

    assert result.returncode == 2
    assert "report: expected the name of a file that ends in .json" in result.stdout
    assert outputs["verdict"] == "error"


@pytest.mark.parametrize(
    ("version", "extras", "installed"),
    [
        ("", "", "/action"),
        ("", "semantic,llm", "/action[semantic,llm]"),
        ("1.2", "", "stickler-cli==1.2"),
        ("1.2", "parquet", "stickler-cli[parquet]==1.2"),
    ],
)
def test_the_action_installs_itself_or_the_version_asked_for(tmp_path, version, extras, installed):
    replace_program(tmp_path, "python", 'echo "$@"')
    inputs = {"VERSION": version, "EXTRAS": extras, "ACTION": "/action"}

    words = run(INSTALL["run"], tmp_path, **inputs).stdout.split()
    assert words[:4] == ["-I", "-m", "pip", "install"]
    assert words[-1] == installed


def test_the_hooks_of_the_page_are_those_that_there_are():
    (repo,) = PRE_COMMIT["repos"]

    assert [hook["id"] for hook in repo["hooks"]] == [hook["id"] for hook in HOOKS]


def test_a_hook_runs_with_the_arguments_of_the_page(workspace):
    (repo,) = PRE_COMMIT["repos"]
    for hook, use in zip(HOOKS, repo["hooks"], strict=True):
        files = ["schema.json"] if hook.get("pass_filenames", True) else []
        command = shlex.join([*hook["entry"].split(), *use.get("args", []), *files])
        result = run(command, workspace)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert re.search(use["files"], "schema.json")


@pytest.mark.parametrize(
    ("file", "is_schema"),
    [
        ("schema.json", True),
        ("schemas/receipt.json", True),
        ("a/schemas/receipt.json", True),
        ("a/invoice.schema.json", True),
        ("package.json", False),
        ("myschemas/x.json", False),
        ("schemas/deep/x.json", False),
    ],
)
def test_the_schema_hook_looks_at_schemas_alone(file, is_schema):
    pattern = HOOKS[0]["files"]

    assert bool(re.search(pattern, file)) == is_schema
