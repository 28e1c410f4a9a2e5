"""Help texts: panels, width of the terminal, exit codes of each command; and the man page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stickler_cli.cli.command import PANELS
from stickler_cli.cli.commands import USUAL, commands, groups, settings_of_commands
from stickler_cli.cli.console import ExitCode
from stickler_cli.core.option import options_of

MANUAL = Path(__file__).parents[2] / "docs" / "stickler.1"


@pytest.fixture
def show_help(stickler, monkeypatch):
    def run(*command, columns=80, option="--help"):
        monkeypatch.setenv("COLUMNS", str(columns))
        return stickler(*command, option).out

    return run


def section(text, title):
    (content,) = re.findall(rf"^{title}:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    return content


def test_options_stand_in_panels_in_one_order(show_help):
    text = show_help("eval", option="--help-all")
    titles = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert titles == [
        *("Arguments", "Input", "Output", "Counting", "Gates", "Statistics", "Run", "Models"),
        *("Engine", "Examples"),
    ]
    assert "--fail-under" in section(text, "Gates")
    assert "--seed" in section(text, "Statistics")
    assert "--run-dir" in section(text, "Run")
    assert "--scheduler" in section(text, "Engine")


def flags_of(text):
    return set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE))


def test_help_of_eval_has_the_options_that_most_runs_use_and_help_all_every_one(show_help):
    usual = {options_of(settings_of_commands()["eval"])[name].flag for name in USUAL["eval"]}
    assert len(usual) == 17
    assert flags_of(show_help("eval")) == {*usual, "--help-all", "--help"}
    flags = {
        option.flag
        for option in options_of(settings_of_commands()["eval"]).values()
        if not option.argument
    }
    special_flags = {"--help-all", "--help", "--config", "--no-config"}
    assert flags_of(show_help("eval", option="--help-all")) == flags | special_flags


def test_commands_are_listed_in_groups_each_once_with_a_summary_that_is_not_cut(show_help):
    text = show_help()
    for title, names in groups().items():
        lines = section(text, title).splitlines()
        assert [line.split()[0] for line in lines if line] == [*names]
    assert sorted(name for names in groups().values() for name in names) == sorted(commands())
    assert "..." not in text.partition("\n")[2]


@pytest.mark.parametrize(
    "command", [name for name in settings_of_commands() if name not in {"check", "init", "view"}]
)
def test_every_command_that_draws_takes_a_width(command):
    assert "width" in options_of(settings_of_commands()[command])


@pytest.mark.parametrize("command", settings_of_commands())
def test_every_option_has_a_panel_that_there_is(command):
    panels = {
        option.panel
        for option in options_of(settings_of_commands()[command]).values()
        if not option.argument
    }
    assert panels - {""} <= set(PANELS)


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_help_is_wrapped_to_the_terminal(show_help, columns):
    text = show_help("check", columns=columns)
    assert max(map(len, text.splitlines())) <= columns
    if columns == 100:
        assert max(map(len, text.splitlines())) > 80


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("eval", [0, 1, 2, 3, 4, 130, 143]),
        ("compare", [0, 2, 3, 4, 130, 143]),
        ("check", [0, 2, 4, 130, 143]),
        ("report", [0, 2, 4, 130, 143]),
        ("lint", [0, 1, 2, 4, 130, 143]),
        ("comparators", [0, 2, 4, 130, 143]),
    ],
)
def test_the_exit_codes_of_a_command_are_its_own(show_help, command, codes):
    listed = section(show_help(command), "Exit codes")
    assert [int(code) for code in re.findall(r"^  (\d+) ", listed, re.MULTILINE)] == codes


def test_a_command_says_what_its_codes_mean(show_help):
    assert "no documents were paired" in " ".join(
        section(show_help("eval", columns=120), "Exit codes").split()
    )
    assert "no problems" in section(show_help("check"), "Exit codes")
    codes = section(show_help(), "Exit codes")
    assert all(f"  {code.value} " in codes for code in ExitCode)


def test_the_manual_has_every_command_and_option():
    text = MANUAL.read_text("utf-8").replace("\\-", "-")
    for name in commands():
        assert f"\n.SS stickler {name}" in text
        for option in (
            options_of(settings_of_commands()[name]).values()
            if name in settings_of_commands()
            else ()
        ):
            assert option.argument or re.search(rf"^\.B .*{option.flag}( |$)", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("groff") is None, reason="GROFF IS NOT INSTALLED")
def test_the_manual_can_be_read():
    result = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", "-P-c", MANUAL],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    assert "stickler - compare predicted JSON documents with ground truth" in result.stdout
    assert r"For example, (\d+)$ pairs gt_1 with pred_1" in " ".join(result.stdout.split())
