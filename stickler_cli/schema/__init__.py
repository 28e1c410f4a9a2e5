"""The compiler: makes a plan of an annotated JSON Schema."""
