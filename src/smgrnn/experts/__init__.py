"""Experts: the frozen policies that students learn from."""

from smgrnn.experts.evaluation import Score, check_expert, evaluate_expert, score_expert
from smgrnn.experts.files import read_expert, write_expert
from smgrnn.experts.function import FunctionExpert, Teacher, function_name, is_function_name
from smgrnn.experts.library import (
    ExpertSource,
    TeacherId,
    find_expert,
    find_teacher,
    find_teacher_again,
    load_expert,
    shipped_experts,
    shipped_name,
)
from smgrnn.experts.mlp import Expert

__all__ = [
    "Expert",
    "ExpertSource",
    "FunctionExpert",
    "Score",
    "Teacher",
    "TeacherId",
    "check_expert",
    "evaluate_expert",
    "find_expert",
    "find_teacher",
    "find_teacher_again",
    "function_name",
    "is_function_name",
    "load_expert",
    "read_expert",
    "score_expert",
    "shipped_experts",
    "shipped_name",
    "write_expert",
]
