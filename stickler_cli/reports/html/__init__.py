"""The HTML report: one self-contained file in which people browse a run."""
