"""Run against run: what changed from one run to the next, and whether that is more than chance."""
