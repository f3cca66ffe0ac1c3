"""The report: the paper's printed numbers, its claims, and the statistics that decide them."""
