"""From an annotated JSON Schema to a plan."""
