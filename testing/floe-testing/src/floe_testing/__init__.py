"""floe-testing: the conformance kit for plugin authors, real services, and a proxy that injects faults."""

__version__ = "0.1.0"

__all__ = ["__version__"]
