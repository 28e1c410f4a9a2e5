"""`stickler comparators`: what there is, with keywords and defaults."""

import textwrap

from stickler_cli.cli.console import write_result
from stickler_cli.comparators.registry import describe, plugin_names
from stickler_cli.core.json_values import brief


def list_comparators() -> None:
    """List the comparators with their keywords and defaults."""
    blocks = []
    for entry in describe():
        names = " = ".join((entry.name, *entry.aliases))
        lines = [names, textwrap.indent(textwrap.fill(entry.summary, 76), "  ")]
        lines += (
            f"  - {each.name} ({'required' if each.default is each.empty else brief(each.default)})"
            for each in entry.keywords
        )
        blocks.append("\n".join(lines))
    plugins = plugin_names()
    if plugins:
        blocks.append("From installed packages: " + ", ".join(plugins))
    write_result("\n\n".join(blocks) + "\n")
