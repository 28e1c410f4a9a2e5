"""No command prints a secret in a URL, and odd URLs cause no internal error."""

import json

import pytest

from stickler_cli.cli.app import main
from stickler_cli.cli.commands import settings_of_commands
from stickler_cli.cli.console import shell_command
from stickler_cli.core.option import TEXTS, options_of
from stickler_cli.core.remote import hide_secrets

pytest.importorskip("fsspec")

MALFORMED = "http://KEY:abc/def@[/a.json"
MISSPELT = (
    "https:/KEY:abc/def@host/a.json",
    "https:KEY:abc/def@host/a.json",
    "https///KEY:abc/def@host/a.json",
    "s3:/KEY:abc/def@bucket",
    "https:///KEY:abc/def@host/a.json",
    "//KEY:abc/def@host/a.json",
    "HTTPS:\\\\KEY:abc/def@host/a.json",
)
SECRETS = ("KEY", "abc", "def")

WORDS = {"TEXT", "NAME", "NAMES", "KEY", "REGEX", "PATH", "FORM", "GLOB", "EXPR", "ID", "ID|GLOB"}
WORDS |= {"CLASS", "RULE", "WIDTHxHEIGHT", "FIGURE", "MODEL=VARIABLE"}

OPTIONS = [
    (command, option.name)
    for command, settings in settings_of_commands().items()
    for option in options_of(settings).values()
    if (option.values is TEXTS or option.kind in (str, str | None)) and option.metavar not in WORDS
]


def test_options_that_name_files_or_servers_are_tried():
    assert ("eval", "gt") in OPTIONS
    assert ("diff", "base") in OPTIONS
    assert ("init", "output") in OPTIONS
    assert ("eval", "endpoint") in OPTIONS


# Each option has one of the other spellings, too.
SPELT = [(*option, MALFORMED) for option in OPTIONS] + [
    (*option, MISSPELT[index % len(MISSPELT)]) for index, option in enumerate(OPTIONS)
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "name", "url"), SPELT)
def test_a_malformed_url_ends_a_command_in_words_without_its_secrets(
    command, name, url, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for file in ("schema.json", "gt.json", "pred.json"):
        (tmp_path / file).write_text(json.dumps({"n": 1}))
    options = options_of(settings_of_commands()[command])
    option = options[name]
    needed = [option for option in options.values() if option.argument and option.needed]
    arguments = [
        url if option.name == name else "pred.json" if option.name == "pred" else "gt.json"
        for option in options.values()
        if option.argument and (option in needed or option.name == name)
    ]
    words = [*command.split(), *arguments]
    if not option.argument:
        words += [option.flag, url]

    code = main(words)
    printed = "".join(capsys.readouterr())

    assert code in {0, 1, 2, 3}, printed
    assert not [secret for secret in SECRETS if secret in printed], printed


@pytest.mark.slow
@pytest.mark.parametrize("url", [MALFORMED, *MISSPELT])
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["eval", "a", "b", "c"],
        ["eval", "--nonsense"],
        ["report", "--port"],
        ["plan", "-o", "x.json"],
    ],
)
def test_words_that_no_command_takes_are_told_without_secrets(
    arguments, url, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)

    assert main([*arguments, url]) == 2

    printed = "".join(capsys.readouterr())
    assert not [secret for secret in SECRETS if secret in printed], printed


@pytest.mark.parametrize(
    "address",
    [
        "tcp://user:s3cret@host:x",
        "tcp//user:s3cret@host",
        "http\uff1a//u:s3cret@host",
        "user:s3cret@h",
    ],
)
@pytest.mark.parametrize("named_in", ["command line", "configuration file"])
def test_the_address_of_a_scheduler_is_shown_without_its_secrets(
    address, named_in, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt.json").write_text('{"n": 1}')
    words = ["eval", "gt.json", "gt.json", "--engine", "dask"]
    if named_in == "command line":
        words += ["--scheduler", address]
    else:
        (tmp_path / "stickler.toml").write_text(f"scheduler = {json.dumps(address)}\n")

    assert main(words) == 2
    printed = "".join(capsys.readouterr())
    assert "the scheduler does not answer" in printed
    assert "s3cret" not in printed


def test_paths_and_values_that_are_no_urls_stay():
    for text in ("az/a@b.json", "mail me@x.org at 10:30", "s3://bucket/a@b.json", "x: a//b@c"):
        assert hide_secrets(text) == text


def test_a_command_that_is_proposed_has_no_secrets():
    words = ["stickler", "errors", "s3://KEY:abc/def@bucket/gt?signature=3f", "a b"]
    words += ["--endpoint", "openai:judge=https://me:secret@host/v1"]

    proposed = shell_command(words)

    command = "stickler errors s3://bucket/gt 'a b' --endpoint openai:judge=https://host/v1"
    assert proposed == command
