"""Runs are staged: built in a private catalog, checked there, then published as a whole."""

from floe_spark.staging.catalog import Staging
from floe_spark.staging.sweep import sweep

__all__ = ["Staging", "sweep"]
