"""A GRU as rival on tasks that need memory: PyTorch's own, small, trained as the students are.

It acts, the expert labels, and gradients flow back through at most `through_time` steps.
"""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.experts import find_teacher
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task, make_env

MOST_EPISODES = 500
"""Episodes of a run at most: a step takes a thousand times as long as a compiled one."""


class GRU(nn.Module):
    """A GRU cell and a linear layer of logits.

    >>> sum(each.numel() for each in GRU(2, 4, 2).parameters())
    106
    """

    def __init__(self, n_inputs: int, n_hidden: int, n_outputs: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(n_inputs, n_hidden)
        self.read = nn.Linear(n_hidden, n_outputs)

    def forward(self, observation: Any, state: Any) -> tuple[Any, Any]:
        """Return the logits, and the state after the step."""
        state = self.cell(observation, state)
        return self.read(state), state


def distil_gru(
    task: str,
    *,
    seed: int = 0,
    episodes: int = MOST_EPISODES,
    n_hidden: int = 4,
    through_time: int = 16,
    learning_rate: float = 0.01,
) -> Floats:
    """Return the return of each training episode of a GRU that learns a task from its expert.

    >>> distil_gru("recall,delay=1", episodes=2).shape
    (2,)
    """
    if not 1 <= episodes <= MOST_EPISODES:
        raise ConfigError(
            f"The episodes of a GRU must be an int in [1, {MOST_EPISODES}]. Got {episodes} instead."
        )
    found = find_task(task)
    _, expert = find_teacher(None, found)
    if expert is None or not found.is_discrete:
        raise ConfigError(f"A GRU learns choices from an expert, and {task} has none.")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = GRU(found.n_inputs, n_hidden, found.n_outputs)
    optimizer, env = torch.optim.Adam(net.parameters(), lr=learning_rate), make_env(found)
    returns = np.zeros(episodes)
    for number in range(episodes):
        observation, _ = env.reset(seed=episode_seed(seed, number, "train"))
        state, losses, is_over = torch.zeros(n_hidden), [], False
        while not is_over:
            logits, state = net(torch.as_tensor(observation, dtype=torch.float32), state)
            label = expert.action(getattr(env, "whole", observation))
            losses.append(cross_entropy(logits, torch.tensor(label)))
            observation, reward, *ends, _ = env.step(int(logits.argmax()))
            returns[number] += float(reward)
            is_over = any(ends)
            if is_over or len(losses) == through_time:
                optimizer.zero_grad()
                torch.stack(losses).mean().backward()
                optimizer.step()
                state, losses = state.detach(), []
    env.close()
    return returns
