"""Figures: each of the paper's drawn from our runs, and those that we add."""

import smgrnn.plotting  # noqa: F401  (first: the figures import matplotlib)
