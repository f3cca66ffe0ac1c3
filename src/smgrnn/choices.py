"""Names that settings choose from; a command line that only shows its help needs nothing else."""

from typing import Literal

Method = Literal["neat", "ndp"]
Preset = Literal["frugal", "paper", "as_printed"]
USUAL_PRESET: Preset = "frugal"
"""The preset of `smgrnn distill` and `smgrnn.distill`; the paper's experiments use "paper"."""
Student = Literal["smgrnn", "static", "growth-only", "mlp-100", "mlp-200", "mlp-pruned"]
EnvBackend = Literal["compiled", "gymnasium"]
HandOver = Literal["best", "final"]
