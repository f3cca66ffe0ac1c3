"""Figures: each of the paper's drawn from our runs, and those that we add."""
