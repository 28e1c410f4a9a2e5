"""What comes with an extra, and is loaded only where it is used."""

from importlib.util import find_spec

from .problems import Problem, UnavailableError


def require(module: str, what: str, extra: str, source: str = "") -> None:
    """Raise UnavailableError, with what to install, if something has no module that it needs."""
    name, _, _ = module.partition(".")
    if find_spec(name) is None or find_spec(module) is None:
        found = f"{what} needs {module}, which is not installed"
        raise UnavailableError([Problem(source, found, "", f"pip install 'stickler-cli[{extra}]'")])


def require_pyarrow(what: str = "Parquet") -> None:
    """Raise UnavailableError if nothing is installed that reads and writes Parquet and Arrow."""
    require("pyarrow", what, "parquet")
