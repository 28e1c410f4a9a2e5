"""The studies: commands that answer other questions than "how good is this run?".

Each study has a folder.
"""
