"""What a comparison is: a plan of nodes, run over two JSON values, gives one Comparison."""
