"""Make the relative links of README.md absolute, as a package index shows it without the files.

`python .ci/absolute_links.py REPOSITORY TAG` changes README.md in the current directory.
REPOSITORY is the URL of the repository, such as https://github.com/OWNER/stickler.
"""

import re
import sys
from pathlib import Path

PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")
RELATIVE_LINK = re.compile(r"""(\]\(|\b(?:src|srcset|href)=")(?!https?:|mailto:|\#)([^)"#]+)""")


def make_links_absolute(text: str, repository: str, tag: str) -> str:
    """Return a page of Markdown whose links and pictures lead to the repository at a tag."""

    def absolute_link(match: re.Match[str]) -> str:
        start, path = match.groups()
        kind = "raw" if path.endswith(PICTURES) else "blob"
        return f"{start}{repository.rstrip('/')}/{kind}/{tag}/{path}"

    return RELATIVE_LINK.sub(absolute_link, text)


if __name__ == "__main__":
    readme = Path("README.md")
    absolute_text = make_links_absolute(readme.read_text(encoding="utf-8"), *sys.argv[1:])
    readme.write_text(absolute_text, encoding="utf-8")
