"""Write the pages of the documentation that are generated from the code.

Run `python docs/reference.py`. A test fails if the written pages differ from the generated ones.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from textwrap import fill

from stickler_cli import __version__
from stickler_cli.cli.command import PANELS
from stickler_cli.cli.commands import USUAL, Command, settings_of_commands
from stickler_cli.cli.commands import commands as all_commands
from stickler_cli.cli.console import MEANINGS
from stickler_cli.core.option import Option, Settings, options_of

PAGES = Path(__file__).parent
WIDTH = "80"


def commands() -> Iterator[str]:
    """Yield the lines of the page commands.md: the help of each command.

    An option that several commands share is on the page once.
    """
    helps = {name: _help(name) for name in ("", *settings_of_commands())}
    shared = {**_entries(helps[""]), **_entries(helps["eval"])}
    others = Counter(
        entry for name, text in helps.items() if name not in COMPLETE for entry in _entries(text)
    )
    common = {entry: entry for entry, times in others.items() if times > 2 and entry not in shared}
    yield "# Commands"
    yield ""
    yield "This page shows what `--help-all` prints for `stickler` and `stickler eval`. For the"
    yield "other commands it shows only what differs: options with the same description in `eval`"
    yield "are listed by name, and so are whole groups of them. Exit codes that mean the same"
    yield "everywhere stand once, below `stickler`. The page linked above each command explains its"
    yield "use."
    yield ""
    everywhere, nearly = ([f"`{name}`" for name in names] for names in (EVERYWHERE, NEARLY))
    yield f"All commands have {', '.join(everywhere)}."
    yield f"All but `init` and `check` also have {' and '.join(nearly)}."
    yield "[Configuration](configuration.md) lists the options that a file can set."
    groups = _groups(helps["eval"])
    for name, text in helps.items():
        yield ""
        yield f"## stickler {name}".rstrip()
        yield ""
        if name not in COMPLETE:
            title, _, place = ABOUT[name].partition(": ")
            yield f"See [{title}]({place})."
            yield ""
        yield "```text"
        without_codes = text.partition("\n\nExit codes:")[0] if name else text
        yield without_codes if name in COMPLETE else _without(shared, common, groups, text)
        yield "```"
    yield ""
    yield "## What commands share"
    yield ""
    yield "```text"
    for text in helps.values():
        for entry in _ENTRY.findall(text):
            if common.pop(" ".join(entry.split()), None):
                yield entry.rstrip()
    yield "```"


COMPLETE = ("", "eval")
ABOUT = {
    "compare": "One comparison, explained: compare.md",
    "errors": "Where is it wrong?: evaluating.md#where-is-it-wrong",
    "init": "Without a schema: inference.md#without-a-schema",
    "check": "Gate a pipeline: evaluating.md#gate-a-pipeline",
    "show": "See how each field is compared: schema.md#see-how-each-field-is-compared",
    "merge": "Shards: results.md#shards",
    "report": "A report of a finished run: html-report.md#a-report-of-a-finished-run",
    "view": "A page for a run of any size: html-report.md#a-page-for-a-run-of-any-size",
    "diff": "Compare two runs: diff.md",
    "lint": "Look at the ground truth first: lint.md",
    "accept": "Accepting values unseen: accepting.md",
    "tune": "Thresholds from evidence: tuning.md",
    "judge-check": "Can the judge be trusted?: judges.md",
    "split": "Packets: packets.md",
    "places": "Places: places.md",
    "plan": "How many documents: planning.md",
    "audit": "Which labels are wrong: auditing.md",
}
"""For each command, the title of the section about it, and the page and anchor of the section."""
EVERYWHERE = ("--quiet", "--debug", "--no-config", "--config", "--help", "--url-timeout")
NEARLY = ("--verbose", "--no-color")  # init and check have nothing to draw
_ENTRY = re.compile(r"^  (?:-\S|\d+  |\[?[A-Z]+\]?  ).*\n?(?:^ {4,}\S.*\n?)*", re.MULTILINE)
_HEADING = re.compile(r"^(\w[\w ]*):\n", re.MULTILINE)


def _entries(text: str) -> dict[str, str]:
    """Return the entries of a help text: its options, arguments and exit codes.

    The result maps the text of each entry, on one line, to the name of the option or code.
    """
    return {" ".join(entry.split()): _name(entry) for entry in _ENTRY.findall(text)}


def _name(entry: str) -> str:
    names = re.match(r"  (?:-\w, )?([-\w\[\]]+)", entry)
    return names[1] if names else ""


def _groups(text: str) -> dict[str, list[str]]:
    """Return a dict from each heading of a help text to the names of its options.

    Options that all or nearly all commands have are left out.
    """
    _, *headings_and_entries = _HEADING.split(text)
    return {
        heading: [
            name
            for name in map(_name, _ENTRY.findall(entries))
            if name not in (*EVERYWHERE, *NEARLY)
        ]
        for heading, entries in zip(
            headings_and_entries[::2], headings_and_entries[1::2], strict=True
        )
    }


def _without(
    shared: dict[str, str], common: dict[str, str], groups: dict[str, list[str]], text: str
) -> str:
    """Return a help text in which shared options are only listed by name.

    `shared` maps the entries that `eval` also has to their names. The keys of `common` are the
    entries that stand once at the end of the page. `groups` has the names of the options of `eval`
    by heading.
    """
    title, *headings_and_entries = _HEADING.split(text)
    title = title.partition("\n\n")[0] + "\n\n"  # the page about it has the description
    options: list[str] = []
    at_end: list[str] = []
    for heading, entries in zip(headings_and_entries[::2], headings_and_entries[1::2], strict=True):
        differing = entries
        for entry in _ENTRY.findall(entries):
            words = " ".join(entry.split())
            if words in common:
                differing = differing.replace(entry, "", 1)
                at_end.append(_name(entry))
            elif name := shared.get(words):
                differing = differing.replace(entry, "", 1)
                options += [] if name.isdigit() else [name]
        if differing.strip() and heading != "Examples":  # how-to pages have them
            title += f"{heading}:\n{differing.strip(chr(10))}\n\n"
    end = f" As at the end of this page: {', '.join(at_end)}." if at_end else ""
    return title + fill(
        f"As for eval: {', '.join(_in_groups(options, groups))}.{end}",
        width=int(WIDTH),
        break_on_hyphens=False,
    )


def _in_groups(options: list[str], groups: dict[str, list[str]]) -> Iterator[str]:
    """Yield the names of options.

    If most options of a group are among them, yield the name of the group instead.
    """
    left = [name for name in options if name not in (*EVERYWHERE, *NEARLY)]
    for heading, names in groups.items():
        missing = [name for name in names if name not in left]
        if len(missing) + 4 < len(names) - len(missing):
            left = [name for name in left if name not in names]
            yield f"all {heading} options" + (f" (not {', '.join(missing)})" if missing else "")
    yield from left


def _help(command: str) -> str:
    option = "--help-all" if command in USUAL else "--help"
    result = subprocess.run(  # noqa: S603 - this project's own command
        [sys.executable, "-m", "stickler_cli", *command.split(), option],
        env={**os.environ, "COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.rstrip().replace("python -m stickler_cli", "stickler")


def configuration() -> Iterator[str]:
    """Yield the lines of the page configuration.md: a row for each group of options."""
    yield "# Configuration"
    yield ""
    yield "Every command reads `stickler.toml`, or the table `[tool.stickler]` of `pyproject.toml`,"
    yield "from the working directory, or else from the nearest directory above it."
    yield "`--config FILE` reads another file, and `--no-config` reads none. A file that belongs to"
    yield "another user, or that others may write, is ignored with a warning, unless `--config`"
    yield "names it. [Options in a file](evaluating.md#options-in-a-file) has an example."
    yield ""
    options = _in_files()
    alone = ", ".join(f"`{name}`" for name, option in options.items() if option.in_file == "eval")
    yield "- Options on the command line take precedence over those in the file."
    yield "- Paths in the file are relative to the file."
    yield "- A key is the name of an option, with underscores: `run_dir` is `--run-dir`."
    yield "  [Commands](commands.md) has the values and the default of each option."
    yield "- If an option takes no value, write `true` or `false`. If it can be repeated, write a"
    yield "  list."
    yield "- A key applies to every command that has the option. But only `eval` reads these keys:"
    yield f"  {alone}."
    yield ""
    yield "The table lists all keys, under the headings of `--help-all`. Below *Options* are"
    yield "options of single commands."
    yield ""
    yield "| heading | keys |"
    yield "|---|---|"
    names_by_panel: dict[str, list[str]] = {panel: [] for panel in PANELS}
    for name, option in options.items():
        panel = "arguments" if option.argument else option.panel or "options"
        names_by_panel[panel].append(f"`{name}`")
    for panel, names in names_by_panel.items():
        yield f"| {panel.capitalize()} | {', '.join(names)} |"


def _in_files() -> dict[str, Option]:
    """Return a dict from name to option, for all options that a configuration file can set."""
    in_files: dict[str, Option] = {}
    for command, settings in settings_of_commands().items():
        for name, option in options_of(settings).items():
            if option.in_file == "all" or (option.in_file == "eval" and command == "eval"):
                in_files.setdefault(name, option)
    return in_files


def manual() -> Iterator[str]:
    """Yield the lines of the man page, in the language of roff. Source: groff_man(7)."""
    yield f'.TH STICKLER 1 "" "stickler {__version__}" "User Commands"'
    yield from (".SH NAME", roff("stickler - compare predicted JSON documents with ground truth"))
    yield from (".SH SYNOPSIS", ".B stickler", roff("COMMAND [OPTIONS] [ARGUMENTS]"))
    yield ".SH DESCRIPTION"
    yield roff("Evaluate extracted JSON documents against ground truth, field by field, driven by")
    yield roff("an annotated JSON Schema. stickler COMMAND --help prints the same descriptions.")
    yield ".SH COMMANDS"
    for name, command in all_commands().items():
        yield from _manual_of(f"stickler {name}", command, settings_of_commands().get(name))
    yield ".SH EXIT STATUS"
    for code, meaning in MEANINGS.items():
        yield from (".TP", f".B {code.value}", roff(meaning))
    yield ".SH FILES"
    yield from (".TP", ".I stickler.toml", roff("Options of all commands, found upwards from the"))
    yield roff("working directory; or the table [tool.stickler] of a pyproject.toml.")
    yield ".SH ENVIRONMENT"
    for variable, meaning in ENVIRONMENT.items():
        yield from (".TP", f".B {variable}", roff(meaning))


def _manual_of(name: str, command: Command, settings: type[Settings] | None) -> Iterator[str]:
    options = options_of(settings).values() if settings else ()
    arguments = [option.metavar or "" for option in options if option.argument]
    yield f".SS {roff(' '.join([name, *arguments]))}"
    yield from map(roff, cleandoc(command.help).splitlines())
    for panel in PANELS:
        in_panel = [
            option
            for option in options
            if not option.argument and (option.panel or "options") == panel
        ]
        if in_panel:
            yield from (".PP", f".I {panel.capitalize()}")
        for option in in_panel:
            flags = ", ".join(filter(None, (option.short, option.flag)))
            yield from (".TP", f".B {roff(' '.join(filter(None, (flags, option.metavar))))}")
            yield roff(option.help)
    yield from (".PP", ".I Exit codes:")
    yield roff(
        "; ".join(f"{code.value} {meaning}" for code, meaning in command.exit_codes.items()) + "."
    )
    if command.examples:
        yield from (".PP", ".EX", *map(roff, command.examples.strip("\n").splitlines()), ".EE")


def roff(text: str) -> str:
    """Return a line of text for the man page, escaped so that roff prints it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text or ".PP"


ENVIRONMENT = {
    "NO_COLOR": "If set, output has no colour.",
    "FORCE_COLOR": "If set, output has colour even if it does not go to a terminal.",
    "SOURCE_DATE_EPOCH": "Seconds since 1970 that a run states as the time of its start.",
    "GITHUB_STEP_SUMMARY": "The file to which --format github appends a summary.",
}

GENERATED = {"commands.md": commands, "configuration.md": configuration, "stickler.1": manual}


def main() -> None:
    """Write all generated pages to the directory of the documentation."""
    for name, lines in GENERATED.items():
        (PAGES / name).write_text("\n".join(lines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
