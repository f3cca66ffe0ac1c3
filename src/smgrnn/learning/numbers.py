"""The settings of learning as numbers, the form in which kernels take them."""

from typing import NamedTuple, Self, get_args

from smgrnn.config import LearningConfig, Loss, Optimizer, Rate
from smgrnn.learning.rules import LEARNING

OPTIMIZERS: tuple[Optimizer, ...] = get_args(Optimizer)
ADAM, ADAMW, SGD, RMSPROP = range(len(OPTIMIZERS))
"""Codes of the optimizers, their places in OPTIMIZERS."""
LOSSES: tuple[Loss, ...] = get_args(Loss)
CROSS_ENTROPY, MSE, ONE_HOT, PLUS_MINUS = range(len(LOSSES))
"""Codes of the losses, their places in LOSSES."""
RATES: tuple[Rate, ...] = get_args(Rate)
CONSTANT, FALLING = range(len(RATES))
"""Codes of the schedules of the learning rate, their places in RATES."""


class LearningNumbers(NamedTuple):
    """A LearningConfig as numbers; its own docstrings explain them."""

    loss: int
    """Place in LOSSES."""
    credit: int
    """Address of the learning rule's function; 0 is backpropagation, which is built in."""
    optimizer: int
    """Place in OPTIMIZERS."""
    n_moments: int
    """Rows of the optimizer's memory."""
    learning_rate: float
    beta1: float
    beta2: float
    alpha: float
    epsilon: float
    momentum: float
    weight_decay: float
    schedule: int
    """Place in RATES."""
    averaging: float
    through_time: int
    trace_decay: float
    forgets: bool
    """Whether the learning rule's memory is set to zero at the start of an episode."""

    @classmethod
    def of(cls, config: LearningConfig) -> Self:
        """Translate the settings."""
        resolved = config.resolved()
        numbers = resolved.to_dict() | {
            "loss": LOSSES.index(config.loss),
            "credit": LEARNING[config.rule].address,
            "forgets": LEARNING[config.rule].forgets,
            "optimizer": OPTIMIZERS.index(config.optimizer),
            "schedule": RATES.index(config.schedule),
            "n_moments": 4 if config.bias_correction == "edge" else 2,
        }
        return cls(**{name: numbers[name] for name in cls._fields})
