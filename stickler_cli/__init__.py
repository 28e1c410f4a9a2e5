"""Field-by-field evaluation of extracted JSON documents, driven by an annotated JSON Schema."""

__all__ = ["__version__"]
__version__ = "0.1.0"
