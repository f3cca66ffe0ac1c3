"""The workload of `smgrnn bench`: grown networks, a stream, and three ways to train on it."""

from collections.abc import Callable

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from smgrnn.arrays import Floats, Ints
from smgrnn.config import PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.graph.state import Graph
from smgrnn.nn import SMGrNN, StructuralPlasticity
from smgrnn.rules import Relay, Weak

N_INPUTS, N_OUTPUTS = 4, 2

Run = Callable[[int], object]


def active_rules(n_edges: int) -> PlasticityConfig:
    """Return rules that edit at every call and keep the network's size.

    Every second call removes one edge picked from all, and the node this may orphan; the others add
    a relay and then random edges until the former number of edges is reached.
    """
    return PlasticityConfig(
        growth=Relay(scale="update", max_relays=1, explore_probability=1.0),
        pruning=Weak(prune_fraction=1 / n_edges, weight_threshold=1e9, update_threshold=1e9),
        interval=100,
        prune_period=2,
        full_window=False,
        max_edges=n_edges,
    )


def grown_graph(n_edges: int) -> Graph:
    """Return a graph such as growth makes: direct edges, a relay per hidden node, random edges."""
    rng = np.random.default_rng(n_edges)
    n_nodes = max(n_edges // 3, N_INPUTS + N_OUTPUTS)
    pairs = {(u, N_INPUTS + v) for u in range(N_INPUTS) for v in range(N_OUTPUTS)}
    for relay in range(N_INPUTS + N_OUTPUTS, n_nodes):
        pairs.add((int(rng.integers(N_INPUTS)), relay))
        pairs.add((relay, N_INPUTS + int(rng.integers(N_OUTPUTS))))
    while len(pairs) < n_edges:
        u, v = int(rng.integers(n_nodes)), int(rng.integers(N_INPUTS, n_nodes))
        if u != v:
            pairs.add((u, v))
    n_hidden = n_nodes - N_INPUTS - N_OUTPUTS
    edges = [(u, v, 0.1 + 0.1 * float(rng.random())) for u, v in sorted(pairs)]
    return Graph.from_edges(N_INPUTS, N_OUTPUTS, n_hidden, edges)


def stream(n: int) -> tuple[Floats, Ints]:
    """Return observations and the labels of a simple teacher."""
    observations = np.random.default_rng(0).normal(size=(n, N_INPUTS))
    return observations, (observations[:, 0] > 0).astype(np.int64)


def eager_loop(graph: Graph, iterations: int, observations: Floats, labels: Ints) -> torch.Tensor:
    """Train as a PyTorch user would write it, and return the weights: the frozen baseline."""
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


def torch_engine(graph: Graph, iterations: int, plasticity: PlasticityConfig | None) -> Run:
    """Return the loop of a user of SMGrNN and StructuralPlasticity."""
    net = SMGrNN(
        N_INPUTS, N_OUTPUTS, preset="paper", readout="state", graph=graph, iterations=iterations
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    spm = StructuralPlasticity(net, optimizer, plasticity) if plasticity else None

    def run(n: int) -> None:
        for row, number in zip(*stream(n), strict=True):
            outputs = net(torch.as_tensor(row, dtype=torch.float32))
            loss = cross_entropy(outputs, torch.tensor(number))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if spm is not None:
                spm.step()

    return run


def compiled_engine(graph: Graph, iterations: int, plasticity: PlasticityConfig | None) -> Run:
    """Return the compiled engine on the whole stream."""
    learner = new_learner(graph, iterations, plasticity)
    observations, labels = stream(100_000)
    return lambda n: learner.learn_stream(observations[:n], labels[:n])


def called_from_python(graph: Graph, iterations: int) -> Run:
    """Return the compiled engine called once per step."""
    learner = new_learner(graph, iterations, None)

    def run(n: int) -> None:
        for row, number in zip(*stream(n), strict=True):
            learner.learn(row, number)

    return run


def new_learner(graph: Graph, iterations: int, plasticity: PlasticityConfig | None) -> Learner:
    """Return a compiled learner of this graph; with None it has no plasticity."""
    sizes, rules = (N_INPUTS, N_OUTPUTS), plasticity or PlasticityConfig.static(interval=10**9)
    return Learner(
        *sizes,
        preset="paper",
        readout="state",
        iterations=iterations,
        plasticity=rules,
        graph=graph,
    )
