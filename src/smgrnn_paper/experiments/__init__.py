"""Experiments: the paper's questions and ours, as data."""

from smgrnn_paper.experiments.registry import (
    EXPERIMENTS,
    STUDIES,
    choose_experiments,
    find_experiment,
)

__all__ = ["EXPERIMENTS", "STUDIES", "choose_experiments", "find_experiment"]
