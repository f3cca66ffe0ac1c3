"""Open questions of the paper: which edit, credit, rule and settings, and more than one task."""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.beyond import (
    credit_assignment,
    growth_operators,
    local_learning,
    self_tuning,
    task_sequences,
)

BEYOND: dict[str, Experiment] = {
    module.EXPERIMENT.id: module.EXPERIMENT
    for module in (
        growth_operators,
        credit_assignment,
        local_learning,
        task_sequences,
        self_tuning,
    )
}
"""Experiments beyond the paper by id; `smgrnn reproduce beyond` runs them."""
