"""Adam, AdamW, SGD with momentum and RMSprop as torch.optim defines them."""

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
    """Move the weights of the edges [first, last) and write the changes into `delta`.

    `moments` (2, n_edges) is the optimizer's memory of each edge; all edges share the step, as in
    torch.  With `moments` (4, n_edges) Adam corrects each edge by its own age: the two further rows
    are the averages that a gradient of 1 at every step would have had.
    """
    rate, decay, momentum = pace.rate, learning.weight_decay, learning.momentum
    epsilon, alpha = learning.epsilon, learning.alpha
    if learning.optimizer in (ADAM, ADAMW):
        is_decoupled, has_ages = learning.optimizer == ADAMW, moments.shape[0] == 4
        beta1, beta2 = learning.beta1, learning.beta2
        coupled = 0.0 if is_decoupled else decay
        shrink = 1.0 - rate * decay if is_decoupled else 1.0
        step_size = rate / (1.0 - beta1**pace.step)
        root_correction = np.sqrt(1.0 - beta2**pace.step)
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
    elif learning.optimizer == SGD:
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
