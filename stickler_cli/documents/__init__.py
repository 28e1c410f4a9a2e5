"""Find, read and pair documents.

A bad document is a `Problem` in the stream of pairs, never an exception; only a source that
cannot be used at all raises, before the first pair.
"""
