"""The classes and functions of stickler-eval, as thin views of results."""
