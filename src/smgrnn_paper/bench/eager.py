"""The loop a PyTorch user would write, frozen: the baseline that the engines are compared with."""

import torch
from torch.nn.functional import cross_entropy

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.state import Graph


def eager_loop(graph: Graph, iterations: int, observations: Floats, labels: Ints) -> torch.Tensor:
    """Train online with index_add, cross_entropy, backward and Adam; return the weights."""
    source, target = torch.tensor(graph.source), torch.tensor(graph.target)
    weight = torch.tensor(graph.weight, dtype=torch.float32, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.01)
    states = torch.zeros(graph.n_nodes)
    first, last = graph.n_inputs, graph.n_inputs + graph.n_outputs
    for row, number in zip(observations, labels, strict=True):
        observation, label = torch.as_tensor(row, dtype=torch.float32), torch.tensor(number)
        states = torch.cat([observation, states[first:]])
        for _ in range(iterations):
            message = weight * states[source]
            total = torch.zeros(graph.n_nodes).index_add(0, target, message)
            states = torch.cat([observation, torch.tanh(total[first:])])
        loss = cross_entropy(states[first:last], label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        states = states.detach()
    return weight.detach()
