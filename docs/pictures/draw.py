"""Draw the pictures of README and docs: `python docs/pictures/draw.py`.

The terminal is drawn by rich as SVG, from what `stickler` prints; the pages by the Chromium that
`STICKLER_CHROMIUM` names, or one on the path, through Playwright (`pip install playwright`).
"""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURES = Path(__file__).parent
ROOT = PICTURES.parents[1]
STICKLER = (sys.executable, "-m", "stickler_cli")
SCHEMA = "receipt.json"
RECEIPTS = ROOT / "fixtures" / "receipt"
"""Ground truths in `gt`, predictions in `pred` and `pred-next`: 7 documents."""

ERROR = "unit_price"
"""Text of the row in the list of errors whose panel is drawn."""

COLUMNS = 80
WINDOW = {"width": 1200, "height": 760}
TALL_WINDOW = {"width": 1200, "height": 960}

SVG_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect fill="#292929" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's drawing of a terminal without its window, and without a font from elsewhere."""


def run_in_terminal(folder: Path, *arguments: str) -> str:
    """Return what `stickler` prints in a terminal of 80 columns, with its colours."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    controller, terminal = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - this project's own command
        [*STICKLER, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,  # the progress bar, which a terminal clears
        cwd=folder,
        env=environment,
    )
    os.close(terminal)

    printed = b""
    while chunk := _read_available(controller):
        printed += chunk
    os.close(controller)
    process.wait()
    return printed.decode().replace("\r\n", "\n")


def _read_available(controller: int) -> bytes:
    """Return the output that a terminal has; empty after its program has ended."""
    try:
        return os.read(controller, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def draw_terminal(folder: Path, command: str, max_lines: int) -> None:
    """Draw a command and the first lines that it prints."""
    printed = run_in_terminal(folder, *command.split()[1:])
    lines = printed.rstrip().split("\n")[:max_lines]
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text(f"$ {command}", style="bold"), soft_wrap=False)
        console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)
        drawing = console.export_svg(
            title="", theme=MONOKAI, code_format=SVG_FORMAT, unique_id="terminal"
        )
    (PICTURES / "terminal.svg").write_text(drawing)


def run(folder: Path, command: str) -> None:
    """Run a command in a folder; an error of it ends the drawing."""
    subprocess.run(  # noqa: S603 - this project's own command
        [*STICKLER, *command.split()[1:]], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


def draw_report(page: Page, folder: Path) -> None:
    """Draw the first screen of the report of the receipts, and the panel of an error."""
    run(folder, f"stickler eval {SCHEMA} gt pred -q -o report.html")
    page.goto((folder / "report.html").as_uri())
    page.screenshot(path=PICTURES / "report.png")

    page.set_viewport_size(TALL_WINDOW)
    page.locator("#errors-find").fill(ERROR)
    page.wait_for_selector("html:not([data-busy])", state="attached")
    page.locator("#errors-list .row:not(.group)", has_text=ERROR).first.click()
    page.locator("#panel[open]").screenshot(path=PICTURES / "error.png")


def draw_difference(page: Page, folder: Path) -> None:
    """Draw the first screen of the difference between two runs of the receipts."""
    run(folder, f"stickler eval {SCHEMA} gt pred -q --run-dir base")
    run(folder, f"stickler eval {SCHEMA} gt pred-next -q --run-dir new")
    run(folder, "stickler diff base new -q -o diff.html")
    page.set_viewport_size(WINDOW)
    page.goto((folder / "diff.html").as_uri())
    page.screenshot(path=PICTURES / "diff.png")


def main() -> None:
    """Draw all pictures."""
    chromium = os.environ.get("STICKLER_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("no Chromium on the path: name one in STICKLER_CHROMIUM")

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name, "receipts")
        shutil.copytree(RECEIPTS, folder)
        shutil.copy(ROOT / "schemas" / SCHEMA, folder)
        draw_terminal(folder, f"stickler eval {SCHEMA} gt pred", max_lines=24)

        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, device_scale_factor=1.5)
        draw_report(page, folder)
        draw_difference(page, folder)
        browser.close()


if __name__ == "__main__":
    main()
