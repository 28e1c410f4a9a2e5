"""Find better thresholds from the similarities of pairs of values, and write them to the schema."""
