"""Record types for the files that this package writes and later reads.

The module `codec` decodes the records of all types.
"""
