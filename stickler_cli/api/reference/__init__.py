"""Classes and functions of stickler-eval, which show results of this package in its forms."""
