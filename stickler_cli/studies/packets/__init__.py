"""Packets: many documents scanned as one, and how well they were split and told apart."""
