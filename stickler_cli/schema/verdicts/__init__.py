"""Verdicts: which values are valid under a schema, by the one engine that judges them."""
