"""The settings of learning as numbers, the form in which kernels take them."""

from typing import Any, NamedTuple, Self, get_args

from smgrnn.learning.settings import LEARNING, OPTIMIZERS, LearningConfig, Loss

ADAM, ADAMW, SGD, RMSPROP = range(len(OPTIMIZERS))
"""Codes of the optimizers, in the order of OPTIMIZERS."""
BACKPROP, FEEDBACK, HEBBIAN, OUTPUTS = range(len(LEARNING))
"""Codes of the learning rules, in the order of LEARNING."""
LOSSES: tuple[Loss, ...] = get_args(Loss)
CROSS_ENTROPY, MSE, ONE_HOT, PLUS_MINUS = range(len(LOSSES))
"""Codes of the losses, their indices in LOSSES."""


class LearningNumbers(NamedTuple):
    """A LearningConfig as numbers; a setting that the optimizer does not have is 0."""

    loss: int
    """Index in LOSSES."""
    credit: int
    """Code of the learning rule."""
    optimizer: int
    """Code of the optimizer."""
    n_moments: int
    """Rows of the optimizer's memory."""
    learning_rate: float
    beta1: float
    beta2: float
    alpha: float
    epsilon: float
    momentum: float
    weight_decay: float
    averaging: float
    through_time: int
    trace_decay: float
    forgets: bool
    """Whether the learning rule's memory is set to zero at the start of an episode."""

    @classmethod
    def of(cls, config: LearningConfig) -> Self:
        """Translate the settings."""
        optimizer: Any = config.optimizer
        own = {
            name: float(getattr(optimizer, name, 0.0))
            for name in ("beta1", "beta2", "alpha", "epsilon", "momentum", "weight_decay")
        }
        is_corrected_by_edge = getattr(optimizer, "bias_correction", "shared") == "edge"
        return cls(
            loss=LOSSES.index(config.loss),
            credit=list(LEARNING).index(config.rule.name),
            optimizer=list(OPTIMIZERS).index(optimizer.name),
            n_moments=4 if is_corrected_by_edge else 2,
            learning_rate=config.learning_rate,
            averaging=config.averaging,
            through_time=config.through_time,
            trace_decay=getattr(config.rule, "trace_decay", 0.0),
            forgets=config.rule.forgets,
            **own,
        )
