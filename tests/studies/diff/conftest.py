from tests.cli.conftest import data, stickler

__all__ = ["data", "stickler"]
