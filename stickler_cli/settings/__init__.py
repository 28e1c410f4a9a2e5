"""All options, with their types, defaults, help texts and valid values.

Everything that reads options uses these classes: one class for each group of options that belong
together, and one for each command.
"""
