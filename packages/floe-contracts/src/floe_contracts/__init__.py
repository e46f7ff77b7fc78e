"""floe-contracts: what an ODCS contract promises, and which version bump a change needs."""

__version__ = "0.1.0"
