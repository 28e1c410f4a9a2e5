"""How fast the tool is, as ratios within one run: see benchmarks/README.md."""
