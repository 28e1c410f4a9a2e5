"""Executors. They compare the documents of a run in this process, in several, or on a cluster."""
