"""The studies: commands that answer other questions than "how good is this run", one a folder."""
