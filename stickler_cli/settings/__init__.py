"""Every option, once: its type, default, help and values, which all who take options read here.

A class for each group of options that go together, and one for each command.
"""
