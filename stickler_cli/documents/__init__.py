"""Find, read and pair documents."""
