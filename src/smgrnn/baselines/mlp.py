"""MLP: the fixed-size student the growing one is compared with.  Paper: Sec. IV-A4.

One hidden layer of tanh units with biases and linear outputs, trained online exactly as the growing
student is: the student acts, the expert labels, one Adam step per environment step.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.engine.optimizers import ADAM, optimize
from smgrnn.experts.mlp import Expert, expert_action
from smgrnn.graph.state import Floats, Ints
from smgrnn.kernels import inlined, kernel
from smgrnn.tasks import compiled


class MLP(NamedTuple):
    """The network and its optimizer's memory over flat arrays; kernels read the same object."""

    sizes: Ints
    """Inputs, hidden units and outputs (3,)."""
    weight: Floats
    """Hidden weights (hidden, inputs), hidden biases, output weights (outputs, hidden), biases."""
    gradient: Floats
    """dL/dw of the last step."""
    delta: Floats
    """Δw of the last step."""
    moments: Floats
    """Adam's moments (2, n_parameters)."""
    states: Floats
    """Hidden states, then outputs."""
    clock: Ints
    """Adam's steps (1,)."""

    @classmethod
    def start(cls, n_inputs: int, n_hidden: int, n_outputs: int, rng: np.random.Generator) -> Self:
        """Return an untrained network, initialised as torch.nn.Linear is."""
        layers = ((n_hidden, n_inputs), (n_outputs, n_hidden))
        parts = [
            rng.uniform(-1, 1, shape) / np.sqrt(fan_in)
            for fan_out, fan_in in layers
            for shape in (fan_out * fan_in, fan_out)
        ]
        weight = np.concatenate(parts)
        return cls(
            sizes=np.array([n_inputs, n_hidden, n_outputs]),
            weight=weight,
            gradient=np.zeros(weight.size),
            delta=np.zeros(weight.size),
            moments=np.zeros((2, weight.size)),
            states=np.zeros(n_hidden + n_outputs),
            clock=np.zeros(1, dtype=np.int64),
        )


@inlined
def forward(network: MLP, observation: Floats) -> int:
    """Fill the states from an observation; return the greedy action."""
    n_inputs, n_hidden, n_outputs = network.sizes[0], network.sizes[1], network.sizes[2]
    weight, states = network.weight, network.states
    biases = n_hidden * n_inputs
    for unit in range(n_hidden):
        total = weight[biases + unit]
        for k in range(n_inputs):
            total += weight[unit * n_inputs + k] * observation[k]
        states[unit] = np.tanh(total)
    first = biases + n_hidden
    action = 0
    for output in range(n_outputs):
        total = weight[first + n_outputs * n_hidden + output]
        for unit in range(n_hidden):
            total += weight[first + output * n_hidden + unit] * states[unit]
        states[n_hidden + output] = total
        if total > states[n_hidden + action]:
            action = output
    return action


@inlined
def learn_mlp(network: MLP, observation: Floats, label: int, hyper: Floats) -> tuple[int, float]:
    """Take one Adam step on the cross-entropy of an example; return the action and the loss."""
    action = forward(network, observation)
    n_inputs, n_hidden, n_outputs = network.sizes[0], network.sizes[1], network.sizes[2]
    weight, states, gradient = network.weight, network.states, network.gradient
    largest, total = states[n_hidden + action], 0.0
    for output in range(n_outputs):
        total += np.exp(states[n_hidden + output] - largest)
    loss = np.log(total) - (states[n_hidden + label] - largest)
    biases = n_hidden * n_inputs
    first = biases + n_hidden
    for unit in range(n_hidden):
        gradient[biases + unit] = 0.0
    for output in range(n_outputs):
        share = np.exp(states[n_hidden + output] - largest) / total
        error = share - 1.0 if output == label else share
        gradient[first + n_outputs * n_hidden + output] = error
        for unit in range(n_hidden):
            gradient[first + output * n_hidden + unit] = error * states[unit]
            gradient[biases + unit] += error * weight[first + output * n_hidden + unit]
    for unit in range(n_hidden):
        gradient[biases + unit] *= 1.0 - states[unit] ** 2
        for k in range(n_inputs):
            gradient[unit * n_inputs + k] = gradient[biases + unit] * observation[k]
    network.clock[0] += 1
    optimize(
        ADAM,
        hyper,
        network.clock[0],
        weight,
        gradient,
        network.moments,
        network.delta,
        0,
        weight.size,
    )
    return action, loss


@kernel
def distill_mlp(
    network: MLP,
    hyper: Floats,
    task: int,
    starts_of_episodes: Floats,
    max_steps: int,
    expert: Expert,
    returns: Floats,
) -> None:
    """Distil as many episodes of a compiled task as there are starting states."""
    sizes, parameters = expert.sizes, expert.parameters
    scratch = np.empty((2, int(sizes.max())), dtype=np.float32)
    observation = np.zeros(network.sizes[0])
    for episode in range(len(starts_of_episodes)):
        world = starts_of_episodes[episode].copy()
        returns[episode] = 0.0
        for _ in range(max_steps):
            compiled.observe(task, world, observation)
            label = expert_action(sizes, parameters, scratch, observation)
            action, _loss = learn_mlp(network, observation, label, hyper)
            reward, is_terminal = compiled.step(task, world, action)
            returns[episode] += reward
            if is_terminal:
                break
