"""Compare two runs of the same documents, or several runs of two systems, and test each change."""
