"""Real services for tests: fetched from package registries, on 127.0.0.1, gone when the test process is."""

from floe_testing.services.process import ServiceError, ServiceUnavailable, required

__all__ = ["ServiceError", "ServiceUnavailable", "required"]
