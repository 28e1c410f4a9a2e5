"""Typed records of all files that are written and read back, decoded by one codec."""
