"""The basic terms of all rooms: JSON values, field paths, problems, options, sections."""
