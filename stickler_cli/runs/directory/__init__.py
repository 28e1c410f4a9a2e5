"""Run directories: the files of a run, and a journal from which an interrupted run continues."""
