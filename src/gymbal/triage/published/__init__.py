"""A run against a published number, or two of those: totals only, so other checks than for two runs."""
