"""The report: the paper's printed numbers, its claims, and the statistics that decide them."""

from smgrnn.errors import needs

with needs("This"):
    import scipy  # noqa: F401  (first: its extra has all that a report imports)
