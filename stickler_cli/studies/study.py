"""What a study is: its command, its options, and where its answer is worked out."""

from collections.abc import Sequence
from typing import Any, Final

from stickler_cli.core.values import dataclass

FORMATS: Final = ("table", "json", "markdown", "html", "csv", "tsv", "jsonl", "parquet", "arrow")
"""The formats that the report of every study has."""


@dataclass(frozen=True, slots=True)
class Study:
    """A question about documents.

    In the folder of its settings, `answer.py` has `answer(settings, schema, tell)`, `record.py` the
    record that its JSON is, and `sections.py` what people read of that.
    """

    settings: Any
    """The class of its settings."""
    record: str
    """The name of the type of the record."""
    help: str
    examples: str
    gate: str = ""
    """When its gate fails; empty where it has none."""
    incomplete: str = ""
    """When documents could not be studied; empty where that is no matter."""
    inputs: Sequence[tuple[str, str]] = (("the schema", "schema"), ("GT", "gt"), ("PRED", "pred"))
    """What no output may overwrite: how messages call it, and the option that names it."""
    formats: Sequence[str] = FORMATS

    @property
    def folder(self) -> str:
        """The package of the study."""
        module: str = self.settings.__module__
        return module.rpartition(".")[0]
