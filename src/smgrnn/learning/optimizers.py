"""Adam, AdamW, SGD with momentum and RMSprop as torch.optim defines them.

Each moves the weights of the edges [first, last) and writes the changes into `delta`.
`moments` (2, n_edges) is the optimizer's memory of each edge; a step counts from 1 and is shared by
all edges, as torch's is.  With `moments` (4, n_edges) Adam corrects each edge by its own age: the
two further rows are the averages that a gradient of 1 at every step would have had.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.learning.numbers import ADAM, ADAMW, RMSPROP, SGD, LearningNumbers


class Pace(NamedTuple):
    """The number of a step, from 1, and its learning rate."""

    step: int
    rate: float


@inlined
def optimize(
    learning: LearningNumbers,
    pace: Pace,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    """Take one step of the chosen optimizer."""
    if learning.optimizer in (ADAM, ADAMW):
        _adam(learning, pace, weight, gradient, moments, delta, first, last)
    elif learning.optimizer == SGD:
        _sgd(learning, pace, weight, gradient, moments, delta, first, last)
    elif learning.optimizer == RMSPROP:
        _rmsprop(learning, pace, weight, gradient, moments, delta, first, last)


@inlined
def _adam(
    learning: LearningNumbers,
    pace: Pace,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    is_decoupled = learning.optimizer == ADAMW
    beta1, beta2, epsilon = learning.beta1, learning.beta2, learning.epsilon
    coupled = 0.0 if is_decoupled else learning.weight_decay
    shrink = 1.0 - pace.rate * learning.weight_decay if is_decoupled else 1.0
    step_size = pace.rate / (1.0 - beta1**pace.step)
    root_correction = np.sqrt(1.0 - beta2**pace.step)
    has_ages = moments.shape[0] == 4
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + coupled * old
        moments[0, edge] += (g - moments[0, edge]) * (1.0 - beta1)
        moments[1, edge] = moments[1, edge] * beta2 + g * g * (1.0 - beta2)
        if has_ages:
            moments[2, edge] += (1.0 - moments[2, edge]) * (1.0 - beta1)
            moments[3, edge] = moments[3, edge] * beta2 + (1.0 - beta2)
            step_size = pace.rate / moments[2, edge]
            root_correction = np.sqrt(moments[3, edge])
        denominator = np.sqrt(moments[1, edge]) / root_correction + epsilon
        weight[edge] = old * shrink - step_size * (moments[0, edge] / denominator)
        delta[edge] = weight[edge] - old


@inlined
def _sgd(
    learning: LearningNumbers,
    pace: Pace,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + learning.weight_decay * old
        moments[0, edge] = learning.momentum * moments[0, edge] + g
        weight[edge] = old - pace.rate * moments[0, edge]
        delta[edge] = weight[edge] - old


@inlined
def _rmsprop(
    learning: LearningNumbers,
    pace: Pace,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    alpha = learning.alpha
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + learning.weight_decay * old
        moments[0, edge] = moments[0, edge] * alpha + g * g * (1.0 - alpha)
        moments[1, edge] = learning.momentum * moments[1, edge] + g / (
            np.sqrt(moments[0, edge]) + learning.epsilon
        )
        weight[edge] = old - pace.rate * moments[1, edge]
        delta[edge] = weight[edge] - old
