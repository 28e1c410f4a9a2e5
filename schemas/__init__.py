"""The JSON Schemas of what is written, and the program that makes them of its types."""
