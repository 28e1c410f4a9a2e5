"""Comparing: a plan of nodes, run over two JSON values, gives one Comparison."""
