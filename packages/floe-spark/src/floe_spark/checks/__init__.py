"""Contract checks: from metadata where it is exact, in one pass for the rest, and only over what is new."""

from floe_spark.checks.execute import Located, Subject, check_contracts, open_source
from floe_spark.checks.source import SparkSource

__all__ = ["Located", "SparkSource", "Subject", "check_contracts", "open_source"]
