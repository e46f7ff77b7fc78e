"""What every catalog plugin must do, shown on the real catalog.

    pytest --pyargs floe_testing.conformance.catalog --floe-catalog=NAME --floe-config=FILE

The catalog is written to: products of a domain with a random name are registered and stay. Take one that can be
thrown away.
"""
