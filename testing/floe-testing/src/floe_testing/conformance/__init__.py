"""Suites that a plugin must pass, for authors inside and outside of floe."""
