"""All options with type, default, help and valid values; all readers of options use these classes.

There is a class for each group of options that belong together, and one for each command.
"""
