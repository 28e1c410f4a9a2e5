"""Classes and functions of stickler-eval, as thin views of the results of this package."""
