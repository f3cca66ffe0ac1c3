"""Graphs and networks to test with: small, recurrent, grown and trained ones."""

from typing import Any

import torch
from torch import nn

from smgrnn import Graph, SMGrNN
from smgrnn.graph import EditDraft
from support.flat import paper_net

# 1 input (0), 1 output (1), 1 hidden node (2), with a cycle 1 <-> 2.
LOOP = Graph.from_edges(1, 1, 1, edges=[(0, 1, 0.5), (0, 2, -0.4), (2, 1, 0.8), (1, 2, 0.3)])

# 2 inputs (0, 1), 1 output (2), 2 hidden nodes (3, 4); edge ids in array order.
SMALL = Graph.from_edges(
    2, 1, 2, edges=[(0, 2, 0.5), (4, 2, -1.0), (1, 3, 0.25), (3, 4, 2.0), (2, 4, -0.125)]
)


def cyclic_net(seed: int, **settings: Any) -> SMGrNN:
    """Return a double-precision network with recurrent edges and weights far from zero."""
    defaults: dict[str, Any] = {"n_hidden": 3, "density": 0.7, "weight_std": 0.8}
    return paper_net(3, 2, seed=seed, **{"dtype": torch.float64, **defaults, **settings})


def grown(net: SMGrNN) -> SMGrNN:
    """Give a network one more hidden node, with a path through it, and one edge less."""
    draft = EditDraft(net.graph)
    node = draft.add_node()
    draft.add_edge(0, node, 0.25)
    draft.add_edge(node, net.config.n_inputs, -0.75)
    draft.remove_edge(int(net.graph.edge_ids[0]))
    net.restructure(draft.finish())
    return net


def train(net: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    inputs = torch.tensor([0.5, -1.0, 0.8], dtype=next(net.parameters()).dtype)
    for _ in range(steps):
        optimizer.zero_grad()
        (net(inputs) - 0.5).square().sum().backward()
        optimizer.step()
