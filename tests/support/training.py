"""Training beside a StructuralPlasticity: optimizers, examples and scripted rules to test with."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn, optim

from smgrnn import Graph, GraphEdit, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.graph import EditDraft
from smgrnn.rules import Evidence
from support.flat import paper_net, rules, table

Parameters = Iterable[nn.Parameter]

OPTIMIZERS: dict[str, Callable[[Parameters], optim.Optimizer]] = {
    "SGD momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
    "SGD nesterov": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "Adam amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "Adam fused": lambda p: optim.Adam(p, lr=0.01, fused=True),
    "Adam foreach": lambda p: optim.Adam(p, lr=0.01, foreach=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05, initial_accumulator_value=0.125),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
}

BUSY = rules(
    window=5,
    interval=3,
    prune_period=4,
    scale="update",
    explore_probability=0.5,
    explore_ratio=0.1,
    max_relays=2,
    weight_threshold=0.05,
    update_threshold=0.01,
)
"""Edits often and in every way, so that a short run grows, explores and prunes."""


def network(seed: int = 0, **settings: Any) -> SMGrNN:
    defaults: dict[str, Any] = {"n_hidden": 2, "weight_std": 0.5, "dtype": torch.float64}
    return paper_net(3, 2, seed=seed, **{**defaults, **settings})


def beside_adam(config: PlasticityConfig, seed: int = 0, **settings: Any) -> StructuralPlasticity:
    """Return the plasticity module of a network of two iterations that Adam trains."""
    net = network(iterations=2, **settings)
    return StructuralPlasticity(net, optim.Adam(net.parameters(), lr=0.01), config, seed=seed)


def moments(spm: StructuralPlasticity) -> Tensor:
    """Return the mean gradients that Adam keeps."""
    assert spm.optimizer is not None
    found: Tensor = spm.optimizer.state[spm.network.weight]["exp_avg"]
    return found


def examples(seed: int = 0, dtype: torch.dtype = torch.float64) -> Iterator[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    while True:
        x = torch.randn(3, dtype=torch.float64, generator=generator)
        yield x.to(dtype), torch.stack([x[0] * x[1], x[2]]).tanh().to(dtype)


def learn(model: nn.Module, optimizer: optim.Optimizer, x: Tensor, y: Tensor) -> Tensor:
    optimizer.zero_grad()
    loss: Any = (model(x) - y).square().sum()
    loss.backward()
    optimizer.step()
    return cast(Tensor, loss)


def run(
    spm: StructuralPlasticity, steps: int, data: Iterator[tuple[Tensor, Tensor]]
) -> list[GraphEdit]:
    assert spm.optimizer is not None
    edits = []
    for _ in range(steps):
        learn(spm.network, spm.optimizer, *next(data))
        edits.append(spm.step())
    return edits


class By:
    """A rule of one's own, made of a function."""

    def __init__(self, decide: Callable[[Evidence, np.random.Generator], Any]) -> None:
        self.decide = decide


def by(decide: Callable[[Evidence, np.random.Generator], Any], **settings: Any) -> PlasticityConfig:
    """Return settings by which a function decides at every call."""
    rule = By(decide)
    return table(growth=rule, pruning=rule, orphan_removal=False, **settings)


def scripted(*edits: Callable[[EditDraft, Graph], None], **settings: Any) -> PlasticityConfig:
    """Return settings by which the n-th call drafts the n-th edit, and none after the last."""
    waiting = list(edits)

    def decide(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        draft = EditDraft(evidence.graph)
        if waiting:
            waiting.pop(0)(draft, evidence.graph)
        return draft.finish()

    return by(decide, **settings)


def swap_some(draft: EditDraft, graph: Graph) -> None:
    """Remove two edges, from the middle and the front, and add a node with two."""
    draft.remove_edge(int(graph.edge_ids[graph.n_edges // 2]))
    draft.remove_edge(int(graph.edge_ids[0]))
    node = draft.add_node()
    draft.add_edge(1, node, 0.3)
    draft.add_edge(node, 4, -0.2)


def add_idle_path(draft: EditDraft, graph: Graph) -> None:
    """Add a path input -> new node -> output of weight 0, which moves nothing."""
    node = draft.add_node()
    draft.add_edge(0, node, 0.0)
    draft.add_edge(node, 3, 0.0)


def state_by_id(
    net: SMGrNN, optimizer: optim.Optimizer
) -> tuple[dict[int, dict[str, float]], dict[str, float]]:
    """Return the optimizer's state of every edge by id, and the state of the whole parameter."""
    ids = net.graph.edge_ids.tolist()
    per_edge: dict[int, dict[str, float]] = {edge: {} for edge in ids}
    shared: dict[str, float] = {}
    for name, value in optimizer.state[net.weight].items():
        if isinstance(value, Tensor) and value.ndim:
            for edge, entry in zip(ids, value.tolist(), strict=True):
                per_edge[edge][name] = entry
        else:
            shared[name] = float(value)
    return per_edge, shared
