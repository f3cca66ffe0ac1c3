"""A GRU as rival on tasks that need memory: PyTorch's own, as small as the students are.

    python benchmarks/gru.py > src/smgrnn_paper/report/gru.toml

It acts, the expert labels, and gradients flow back through at most 16 steps.  Its returns are no
records of the store, so reports read them from that file.
"""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smgrnn.arrays import Floats
from smgrnn.experts import find_teacher
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task, make_env
from smgrnn_paper.experiments.beyond import CREDIT_EPISODES

MOST_EPISODES = 500
"""Episodes of a run at most: a step takes a thousand times as long as a compiled one."""
N_HIDDEN, THROUGH_TIME, RATE = 7, 16, 0.03
"""States, about as many parameters as the students have edges, steps that gradients flow back
through, and the learning rate.  Chosen on seeds from 100 on."""
SEEDS = tuple(range(10))


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


def distill_gru(task: str, *, seed: int = 0, episodes: int = MOST_EPISODES) -> Floats:
    """Return the return of each training episode of a GRU that learns a task from its expert.

    Observations are in units of their root mean square so far.

    >>> distill_gru("recall,delay=1", episodes=2).shape
    (2,)
    """
    found = find_task(task)
    _, expert = find_teacher(None, found)
    assert expert is not None
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = GRU(found.n_inputs, N_HIDDEN, found.n_outputs)
    optimizer, env = torch.optim.Adam(net.parameters(), lr=RATE), make_env(found)
    returns, square, n_steps = np.zeros(episodes), np.zeros(found.n_inputs), 0
    for number in range(episodes):
        observation, _ = env.reset(seed=episode_seed(seed, number, "train"))
        state, losses, is_over = torch.zeros(N_HIDDEN), [], False
        while not is_over:
            n_steps += 1
            square += (np.square(observation) - square) / n_steps
            scaled = observation / np.sqrt(np.maximum(square, 1e-12))
            logits, state = net(torch.as_tensor(scaled, dtype=torch.float32), state)
            label = expert.action(getattr(env, "whole", observation))
            losses.append(cross_entropy(logits, torch.tensor(label)))
            observation, reward, *ends, _ = env.step(int(logits.argmax()))
            returns[number] += float(reward)
            is_over = any(ends)
            if is_over or len(losses) == THROUGH_TIME:
                optimizer.zero_grad()
                torch.stack(losses).mean().backward()
                optimizer.step()
                state, losses = state.detach(), []
    env.close()
    return returns


def late_returns(task: str) -> list[float]:
    """Return the mean return over the final quarter of the episodes, one for each seed."""
    quarter = MOST_EPISODES // 4
    return [round(float(distill_gru(task, seed=seed)[-quarter:].mean()), 3) for seed in SEEDS]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("[late_return]")
    for name in CREDIT_EPISODES:
        print(f'"{name}" = {late_returns(name)}', flush=True)
