"""Experts: the frozen policies that students learn from."""

from smgrnn.experts.evaluation import Score, check_expert, evaluate_expert, score_expert
from smgrnn.experts.files import read_expert, write_expert
from smgrnn.experts.library import load_expert, shipped_experts
from smgrnn.experts.mlp import Expert

__all__ = [
    "Expert",
    "Score",
    "check_expert",
    "evaluate_expert",
    "load_expert",
    "read_expert",
    "score_expert",
    "shipped_experts",
    "write_expert",
]
