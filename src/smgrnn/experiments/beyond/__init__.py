"""Questions that the paper leaves open: which edit, which credit, which rule, which settings."""

from smgrnn.experiments.beyond import (
    credit_assignment,
    growth_operators,
    local_learning,
    self_tuning,
)
from smgrnn.experiments.experiment import Experiment

BEYOND: dict[str, Experiment] = {
    module.EXPERIMENT.id: module.EXPERIMENT
    for module in (growth_operators, credit_assignment, local_learning, self_tuning)
}
"""Experiments beyond the paper by id; `smgrnn reproduce beyond` runs them."""
