"""Adam, AdamW, SGD with momentum and RMSprop as torch.optim defines them.

Each moves the weights of the edges [first, last) and writes what they moved by into `delta`.
`moments` (2, n_edges) is the optimizer's memory of each edge; `step` counts from 1 and is shared by
all edges, as torch's is.  With `moments` (4, n_edges) Adam corrects each edge by its own age: the
two further rows are the averages that a gradient of 1 at every step would have had.
"""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined

OPTIMIZERS = ("adam", "adamw", "sgd", "rmsprop")
ADAM, ADAMW, SGD = 0, 1, 2
# places in `hyper`
LEARNING_RATE, BETA1, BETA2, EPSILON, WEIGHT_DECAY, MOMENTUM, ALPHA = range(7)


@inlined
def optimize(
    optimizer: int,
    hyper: Floats,
    step: int,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    """Take one step of the optimizer with this place in OPTIMIZERS."""
    if optimizer in (ADAM, ADAMW):
        _adam(optimizer == ADAMW, hyper, step, weight, gradient, moments, delta, first, last)
    elif optimizer == SGD:
        _sgd(hyper, weight, gradient, moments, delta, first, last)
    else:
        _rmsprop(hyper, weight, gradient, moments, delta, first, last)


@inlined
def _adam(
    is_decoupled: bool,
    hyper: Floats,
    step: int,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    beta1, beta2, epsilon = hyper[BETA1], hyper[BETA2], hyper[EPSILON]
    coupled = 0.0 if is_decoupled else hyper[WEIGHT_DECAY]
    shrink = 1.0 - hyper[LEARNING_RATE] * hyper[WEIGHT_DECAY] if is_decoupled else 1.0
    step_size = hyper[LEARNING_RATE] / (1.0 - beta1**step)
    root_correction = np.sqrt(1.0 - beta2**step)
    has_ages = moments.shape[0] == 4
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + coupled * old
        moments[0, edge] += (g - moments[0, edge]) * (1.0 - beta1)
        moments[1, edge] = moments[1, edge] * beta2 + g * g * (1.0 - beta2)
        if has_ages:
            moments[2, edge] += (1.0 - moments[2, edge]) * (1.0 - beta1)
            moments[3, edge] = moments[3, edge] * beta2 + (1.0 - beta2)
            step_size = hyper[LEARNING_RATE] / moments[2, edge]
            root_correction = np.sqrt(moments[3, edge])
        denominator = np.sqrt(moments[1, edge]) / root_correction + epsilon
        weight[edge] = old * shrink - step_size * (moments[0, edge] / denominator)
        delta[edge] = weight[edge] - old


@inlined
def _sgd(
    hyper: Floats,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + hyper[WEIGHT_DECAY] * old
        moments[0, edge] = hyper[MOMENTUM] * moments[0, edge] + g
        weight[edge] = old - hyper[LEARNING_RATE] * moments[0, edge]
        delta[edge] = weight[edge] - old


@inlined
def _rmsprop(
    hyper: Floats,
    weight: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    first: int,
    last: int,
) -> None:
    alpha = hyper[ALPHA]
    for edge in range(np.uint64(first), np.uint64(last)):
        old = weight[edge]
        g = gradient[edge] + hyper[WEIGHT_DECAY] * old
        moments[0, edge] = moments[0, edge] * alpha + g * g * (1.0 - alpha)
        moments[1, edge] = hyper[MOMENTUM] * moments[1, edge] + g / (
            np.sqrt(moments[0, edge]) + hyper[EPSILON]
        )
        weight[edge] = old - hyper[LEARNING_RATE] * moments[1, edge]
        delta[edge] = weight[edge] - old
