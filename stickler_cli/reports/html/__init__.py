"""The HTML report: one file that shows a run and lets people browse it, with nothing to load."""
