"""Names that settings of a run choose from; the command line needs them before all else."""

from typing import Literal

Method = Literal["neat", "ndp"]
Preset = Literal["frugal", "paper", "as_printed"]
USUAL_PRESET: Preset = "frugal"
"""The preset of `smgrnn distill` and `smgrnn.distill`; the paper's experiments use "paper"."""
Student = Literal["smgrnn", "static", "growth-only", "mlp-100", "mlp-200", "mlp-pruned"]
EnvBackend = Literal["compiled", "gymnasium"]
HandOver = Literal["best", "final"]
RECORDINGS = (".npz", ".csv", ".safetensors")
"""Endings of the name of a task that is a file of recorded examples."""
