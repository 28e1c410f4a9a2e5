"""How a report is to be drawn: what the program that prints it knows of terminal and wishes."""

from collections.abc import Sequence
from dataclasses import dataclass

from stickler_cli.score.non_matches import NonMatch


@dataclass(frozen=True, slots=True)
class TableStyle:
    """What a report depends on besides the run; most reports for programs ignore it."""

    width: int | None = None
    """Columns of the terminal, above 0; None draws at full width and cuts nothing."""
    color: bool = False
    plain: bool = True
    """For pipes and files: full paths, one row a line, no colour, no width."""
    show_non_matches: int = 0
    """How many non-matches to list."""
    non_matches: Sequence[tuple[str, NonMatch]] = ()
    """Those to choose from, in order, each with the id of its document."""

    junit_fields: bool = False
    """Whether JUnit XML has a case for each field."""

    def chosen(self) -> Sequence[tuple[str, NonMatch]]:
        """Give the non-matches to list."""
        return self.non_matches[: self.show_non_matches]
