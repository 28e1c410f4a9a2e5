"""Basic types for all packages: JSON values, field paths, problems, options and report sections."""
