"""Classes and functions that have the names and the result formats of stickler-eval."""
