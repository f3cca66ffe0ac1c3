"""What the reproduction adds to the command line, which finds it through an entry point."""

from typing import Any

COMMANDS = {
    "evolve": "Evolve a controller by NEAT or NDP.",
    "reproduce": "Run the paper's experiments, except runs that are in the store.",
    "report": "Report on experiments, beside the paper's numbers.",
    "frontier": "Show return against parameters of runs.",
    "bench": "Measure the engines against a plain PyTorch loop.",
}
"""The purpose of each command; its options and its body are in `commands`."""


def listed() -> dict[str, dict[str, Any]]:
    """Return what `smgrnn list` shows of this package: methods and experiments."""
    from smgrnn_paper.evolution.config import METHODS
    from smgrnn_paper.experiments import EXPERIMENTS, STUDIES

    experiments = {id: each.question for id, each in (EXPERIMENTS | STUDIES).items()}
    return {"methods": METHODS, "experiments": experiments}
