"""Types of the records in all files that are written and read back.

One codec decodes all of them.
"""
