"""Find, read and pair documents.

A bad document becomes a `Problem` in the stream of pairs, never an exception. Only a source that
cannot be used at all raises an exception, before the first pair.
"""
