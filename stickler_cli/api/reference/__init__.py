"""Classes and functions of stickler-eval under their own names, with results in its formats."""
