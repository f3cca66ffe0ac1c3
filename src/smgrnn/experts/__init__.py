"""Experts: the frozen policies that students learn from."""

from smgrnn.experts.evaluation import evaluate_expert
from smgrnn.experts.files import read_expert, write_expert
from smgrnn.experts.function import FunctionExpert, Teacher
from smgrnn.experts.library import (
    ExpertSource,
    TeacherId,
    find_expert,
    find_teacher,
    find_teacher_again,
    load_expert,
    shipped_experts,
)
from smgrnn.experts.mlp import Expert
