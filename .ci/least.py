"""Print the least version of each requirement, as constraints for pip.

A requirement may have an upper end too, as in `jsonschema-rs>=0.58.6,<0.62`: both hold.
"""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    print(requirement.replace(">=", "=="))  # noqa: T201
