"""floe-dbt: a dbt project in, manifest and runs out."""

__version__ = "0.1.0"
