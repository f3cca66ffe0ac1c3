"""Optimizers as torch.optim defines them, the learning rate over a run, and averaged weights."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined, kernel
from smgrnn.learning.settings import ADAM, ADAMW, MOMENTUM, RMSPROP, LearningNumbers, Rate

FALLS_FROM, FALLS_TO = 0.5, 0.05  # fraction of a run where the rate starts to fall; its last value
MEAN, AGE = 0, 1  # rows of an average


@inlined
def optimize(
    learning: LearningNumbers,
    step: int,
    rate: float,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    """Move the weights of the edges [first, last) and write the changes into `delta`.

    The `step` counts from 1.  `moments` (2, n_edges) is the optimizer's memory.  With `moments`
    (4, n_edges) Adam corrects each edge by its age: two more rows hold the averages that a gradient
    of 1 would have had.
    """
    decay, momentum = learning.weight_decay, learning.momentum
    epsilon, alpha = learning.epsilon, learning.alpha
    if learning.optimizer in (ADAM, ADAMW):
        _adam(learning, step, rate, weight, gradient, moments, delta, first, last)
    elif learning.optimizer == MOMENTUM:
        for edge in range(np.uint64(first), np.uint64(last)):
            old = weight[edge]
            moments[0, edge] = momentum * moments[0, edge] + (gradient[edge] + decay * old)
            weight[edge] = old - rate * moments[0, edge]
            delta[edge] = weight[edge] - old
    elif learning.optimizer == RMSPROP:
        for edge in range(np.uint64(first), np.uint64(last)):
            old = weight[edge]
            g = gradient[edge] + decay * old
            moments[0, edge] = moments[0, edge] * alpha + g * g * (1.0 - alpha)
            scaled = g / (np.sqrt(moments[0, edge]) + epsilon)
            moments[1, edge] = momentum * moments[1, edge] + scaled
            weight[edge] = old - rate * moments[1, edge]
            delta[edge] = weight[edge] - old


@inlined
def _adam(
    learning: LearningNumbers,
    step: int,
    rate: float,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    """Take a step of Adam or AdamW; a separate kernel, so that its loop is vectorized."""
    is_decoupled, has_ages = learning.optimizer == ADAMW, moments.shape[0] == 4
    beta1, beta2, epsilon = learning.beta1, learning.beta2, learning.epsilon
    coupled = 0.0 if is_decoupled else learning.weight_decay
    shrink = 1.0 - rate * learning.weight_decay if is_decoupled else 1.0
    step_size = rate / (1.0 - beta1**step)
    root_correction = np.sqrt(1.0 - beta2**step)
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + coupled * old
        moments[0, edge] += (g - moments[0, edge]) * (1.0 - beta1)
        moments[1, edge] = moments[1, edge] * beta2 + g * g * (1.0 - beta2)
        if has_ages:
            moments[2, edge] += (1.0 - moments[2, edge]) * (1.0 - beta1)
            moments[3, edge] = moments[3, edge] * beta2 + (1.0 - beta2)
            step_size = rate / moments[2, edge]
            root_correction = np.sqrt(moments[3, edge])
        denominator = np.sqrt(moments[1, edge]) / root_correction + epsilon
        weight[edge] = old * shrink - step_size * (moments[0, edge] / denominator)
        delta[edge] = weight[edge] - old


def rate_at(schedule: Rate, progress: float) -> float:
    """Return the fraction of the learning rate that applies now."""
    if schedule == "constant" or progress <= FALLS_FROM:
        return 1.0
    fraction = (progress - FALLS_FROM) / (1.0 - FALLS_FROM)
    return 1.0 - (1.0 - FALLS_TO) * min(fraction, 1.0)  # a loop may run for longer than announced


@inlined
def average(rows: Floats, weight: Floats, least: float, first: int, last: int) -> None:
    """Move the running mean (2, n_edges) of the weights of [first, last) on by one update.

    The mean is over all updates of an edge, and later over about the last 1 / `least`.
    """
    for edge in range(np.uint64(first), np.uint64(last)):
        rows[AGE, edge] += 1.0
        fraction = max(least, 1.0 / rows[AGE, edge])
        rows[MEAN, edge] += (weight[edge] - rows[MEAN, edge]) * fraction


average_update = kernel(average)  # the same, to call from Python


def averaged(rows: Floats, weight: Floats) -> Floats:
    """Return the mean weights; an edge that was never updated has the weight it has."""
    return np.where(rows[AGE] > 0.0, rows[MEAN], weight)
