"""Propose thresholds that fit the similarities of pairs, and write them into the schema."""
