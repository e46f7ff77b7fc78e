"""What floe learns from a model's SQL: its columns, where they come from, and what smells."""
