"""Judges held against pairs of values that people have labelled."""
