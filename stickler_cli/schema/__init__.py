"""The compiler: turns an annotated JSON Schema into a plan for comparing documents."""
