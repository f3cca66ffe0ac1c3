"""Statistics that rules ask for: what they are, and that nobody else pays for them."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import Graph, Learner, NetworkConfig, PlasticityConfig, SMGrNN
from smgrnn.errors import ConfigError
from smgrnn.graph import GraphEdit
from smgrnn.rules import GROWTH, PRUNING
from support.flat import learning as learning_config
from support.flat import rules
from support.learners import stream


def config(**changes: Any) -> NetworkConfig:
    return NetworkConfig(**{"n_inputs": 3, "n_outputs": 2, "iterations": 2, **changes})


NEVER = rules(growth="gradient", interval=10**6)


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("carry_state", [True, False])
def test_a_product_is_the_gradient_of_an_edge_of_weight_zero(
    iterations: int, carry_state: bool
) -> None:
    """The reference is autograd on a graph that has all absent edges, with weights of 0."""
    network = config(iterations=iterations, n_hidden=3, density=0.4, carry_state=carry_state)
    made = Learner(network, learning_config(learning_rate=1e-12), NEVER, seed=1)
    present = {(edge.source, edge.target) for edge in made.graph.edges()}
    sources, targets = (0, 1, 2, 5, 6, 7), range(3, 8)
    pairs = [(u, v) for v, u in product(targets, sources) if u != v and (u, v) not in present]
    edges = [(e.source, e.target, e.weight) for e in made.graph.edges()]
    full = Graph.from_edges(3, 2, 3, [*edges, *((u, v, 0.0) for u, v in pairs)])
    net = SMGrNN(**network.to_dict(), graph=full, dtype=torch.float64)
    places = {(e.source, e.target): k for k, e in enumerate(full.edges())}
    total, rows = np.zeros(len(pairs)), stream(20)
    for observation, label, is_last in zip(*rows, strict=True):
        net.zero_grad()
        outputs = net(torch.from_numpy(observation))
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        assert net.weight.grad is not None
        total += net.weight.grad.numpy()[[places[pair] for pair in pairs]]
        if is_last:
            net.reset_state()
    made.learn_stream(*rows)
    statistics = made._state.watched.statistics
    assert statistics.absent.T.tolist() == [[u, v] for u, v in pairs]
    assert np.abs(total).max() > 0.1
    np.testing.assert_allclose(statistics.products, total, rtol=1e-7, atol=1e-9)


def test_means_of_nodes_are_those_of_their_states_and_errors() -> None:
    made = Learner(config(n_hidden=2, density=1.0), plasticity=NEVER, seed=1)
    sums = np.zeros((4, 7))
    for observation, label, _ in zip(*stream(40), strict=True):
        made.learn(observation, int(label))
        heard, error = made._state.trace[1], made._state.workspace.errors.sum(axis=0)
        sums += np.stack([heard, heard**2, error, error**2])
    np.testing.assert_allclose(made._state.watched.statistics.nodes, sums, rtol=1e-12)


class Ask:
    """A rule of one's own that asks for statistics and notes what it was given."""

    def __init__(self, *statistics: str) -> None:
        self.statistics, self.seen = statistics, []  # type: ignore[var-annotated]

    def decide(self, evidence: Any, rng: Any) -> GraphEdit:
        self.seen.append(evidence)
        return GraphEdit.empty()


KEPT: list[tuple[Any, Any, int, int, int]] = [
    ("gradient", "weak", 5, 4, 0),
    ("candidates", "none", 5, 0, 32),
    ("frugal", "contribution", 5, 4, 32),
    ("relay", "contribution", 5, 0, 0),
    (Ask("nodes"), None, 5, 0, 0),
    (Ask("absent_edges"), None, 0, 4, 0),
    (Ask(), None, 0, 0, 0),
]
KEPT += [
    (growth, pruning, 0, 0, 0)
    for growth, pruning in product((*GROWTH, "none"), (*PRUNING, "none"))
    if growth not in ("gradient", "candidates", "frugal") and pruning != "contribution"
]


@pytest.mark.parametrize(("growth", "pruning", "n_nodes", "n_pairs", "n_candidates"), KEPT)
def test_a_learner_keeps_what_its_rules_read(
    growth: Any, pruning: Any, n_nodes: int, n_pairs: int, n_candidates: int
) -> None:
    graph = Graph.from_edges(3, 2, edges=[(0, 3, 1.0), (1, 4, 1.0)])
    plasticity = PlasticityConfig(growth=growth, pruning=pruning)
    made = Learner(config(), plasticity=plasticity, graph=graph)
    history, statistics, candidates = made._state.watched
    assert history.window == 100
    assert statistics.nodes.shape == (4, n_nodes)
    assert statistics.absent.shape == (2, n_pairs)
    assert candidates.weights.shape[1] == n_candidates
    made.learn_stream(*stream(50))
    keeps = bool(n_nodes or n_pairs or n_candidates)
    assert statistics.n_updates == (50 if keeps else 0)  # not even counted
    assert bool(made._state.workspace.errors.size) == keeps


def test_statistics_are_of_the_updates_since_the_last_call() -> None:
    rule = Ask("nodes", "absent_edges")
    plasticity = PlasticityConfig(growth=rule, interval=10, prune_period=100)
    made = Learner(config(), plasticity=plasticity)
    made.learn_stream(*stream(35))
    assert [(each.call, each.n_updates) for each in rule.seen] == [(1, 10), (2, 10), (3, 10)]
    assert made._state.watched.statistics.n_updates == 5
    for each in rule.seen:
        assert each.absent.shape[1] == each.absent_gradient.size == 6 - made.graph.n_edges
        assert not each.graph.weight.flags.writeable


@pytest.mark.parametrize(
    ("plasticity", "sentence"),
    [
        (
            lambda: PlasticityConfig(growth=_any("relai")),
            r"no growth rule 'relai'\. Did you mean 'relay'\?",
        ),
        (
            lambda: PlasticityConfig(pruning=_any("x")),
            r"no pruning rule 'x'\. There are ",
        ),
        (lambda: PlasticityConfig(growth=_any(3)), "A growth rule is an object with `decide"),
        (lambda: PlasticityConfig(growth=_any(Ask)), "A growth rule is an object with `decide"),
    ],
)
def test_what_is_no_rule_is_refused(plasticity: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        plasticity()


def _any(value: Any) -> Any:
    return value
