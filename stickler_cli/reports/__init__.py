"""Reports, with one module for each output format. All formats present the same run record."""
