"""No option or argument of any command takes a blank text for a path, a pattern or a name."""

import json

import pytest

from stickler_cli.cli.app import main
from stickler_cli.cli.commands import settings_of_commands
from stickler_cli.core.option import TEXTS, options_of

TEXT_OPTIONS = [
    pytest.param(command, option, id=f"{command} {option.name}")
    for command, settings in settings_of_commands().items()
    for option in options_of(settings).values()
    if option.values is TEXTS or option.kind in (str, str | None)
]
N_ARGUMENTS = {"init": 1, "show": 1, "view": 1, "plan": 1, "lint": 2, "judge-check": 2, "split": 2}
SCHEMA = {"type": "object", "properties": {"n": {"type": "string"}}}


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, contents in {"s": SCHEMA, "gt": {"n": "a"}, "pred": {"n": "b"}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(contents))


@pytest.mark.parametrize(
    ("command", "option", "blank"),
    [
        *(pytest.param(*row.values, " \t", id=row.id) for row in TEXT_OPTIONS),
        *(
            pytest.param(*row.values, "", id=f"{row.id}, empty")
            for row in TEXT_OPTIONS
            if row.values[0] == "eval"
        ),
    ],
)
def test_a_blank_text_is_refused_with_the_name_of_the_option(
    sources, capsys, command, option, blank
):
    arguments = ["s.json", "gt.json", "pred.json"][: N_ARGUMENTS.get(command, 3)]
    if option.argument:
        arguments = [blank] * len(arguments)
    else:
        arguments += [option.flag, blank]

    code = main([*command.split(), *arguments])

    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert ("argument of the command is blank" if option.argument else option.flag) in captured.err


def test_an_option_that_is_left_out_has_its_default(sources):
    assert main(["eval", "s.json", "gt.json", "pred.json", "-q", "-o", "run.json"]) == 0
    assert main(["eval", "gt.json", "pred.json", "-q", "-o", "inferred.json"]) == 0
