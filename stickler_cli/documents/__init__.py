"""Find, read and pair documents.

A bad document becomes a `Problem` in the stream of pairs, never an exception. Only an unusable
source raises, before the first pair.
"""
