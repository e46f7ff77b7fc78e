"""floe-spark: runs data products on Spark and Iceberg."""

__version__ = "0.1.0"
