"""Classes and functions with the names of stickler-eval, and with results in its formats."""
