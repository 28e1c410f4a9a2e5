"""All options with type, default, help and values; every reader of options uses these classes.

There is a class for each group of options that belong together, and one for each command.
"""
