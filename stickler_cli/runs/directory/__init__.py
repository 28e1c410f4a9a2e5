"""Run directories: everything of a run in files, and a journal to continue it from."""
