"""The torch engine and the compiled engine are one network: same decisions, same weights.

Learning amplifies rounding: with K = 3 and a step size of 0.01 on a task it cannot learn, the last
bit doubles about every 25 updates, and no two programs agree after 2,000.  So the runs compared
here take small steps on a stream that can be learned, where agreement means something.
"""

from dataclasses import replace
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
import torch

from smgrnn import NetworkConfig, PlasticityConfig, SMGrNN, StructuralPlasticity
from smgrnn.config import Loss, OnEdit, Optimizer, Readout, Scale
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError
from smgrnn.graph import Graph, GraphEdit
from support.flat import learning as learning_config
from support.flat import rules

N_UPDATES = 2000
EPISODE = 40
LEARNING_RATE: dict[Optimizer, float] = {"adam": 1e-3, "adamw": 1e-3, "sgd": 1e-2, "rmsprop": 3e-4}
N_INPUTS, N_OUTPUTS = 4, 3
TORCH_OPTIMIZERS: dict[Optimizer, tuple[Any, dict[str, float]]] = {
    "adam": (torch.optim.Adam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "sgd": (torch.optim.SGD, {"momentum": 0.9}),
    "rmsprop": (torch.optim.RMSprop, {}),
}
assert set(TORCH_OPTIMIZERS) == set(LEARNING_RATE) == set(get_args(Optimizer))
Stream = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


def recorded_stream(seed: int = 0) -> Stream:
    """Smooth observations, the labels of a linear teacher, and where episodes end."""
    rng = np.random.default_rng(seed)
    observations = np.sin(0.3 * np.cumsum(rng.normal(size=(N_UPDATES, N_INPUTS)), axis=0))
    teacher = np.array([[1, -1, 0], [0, 1, -1], [0.5, 0, 1], [0, 0.3, 0]])
    labels = np.argmax(observations @ teacher, axis=1)
    is_last = np.arange(1, N_UPDATES + 1) % EPISODE == 0
    return observations, labels, is_last


def settings(iterations: int, plasticity: dict[str, Any]) -> tuple[NetworkConfig, PlasticityConfig]:
    network = NetworkConfig(
        n_inputs=N_INPUTS, n_outputs=N_OUTPUTS, n_hidden=5, density=0.4, iterations=iterations
    )
    defaults: dict[str, Any] = {
        "window": 20,
        "interval": 10,
        "prune_period": 3,
        "max_relays": 1,
        "explore_ratio": 0.1,
        "initial_weight": 0.05,
    }
    return network, rules(**(defaults | plasticity))


def torch_loss(loss: Loss, outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    if loss == "cross_entropy":
        return torch.nn.functional.cross_entropy(outputs, target)
    if loss != "mse":
        one_hot = torch.nn.functional.one_hot(target, N_OUTPUTS).double()
        target = one_hot if loss == "one_hot" else 2 * one_hot - 1
    return torch.nn.functional.mse_loss(outputs, target)


def run_torch(
    network: NetworkConfig,
    plasticity: PlasticityConfig,
    optimizer: Optimizer,
    stream: Stream,
    loss: Loss = "cross_entropy",
    **options: Any,
) -> tuple[Graph, list[tuple[int, GraphEdit]], list[int]]:
    net = SMGrNN(**network.to_dict(), seed=7, dtype=torch.float64)
    make, defaults = TORCH_OPTIMIZERS[optimizer]
    made = make(net.parameters(), lr=LEARNING_RATE[optimizer], **(defaults | options))
    spm = StructuralPlasticity(net, made, plasticity, seed=7)
    edits, actions = [], []
    for update, (observation, label, is_last) in enumerate(zip(*stream, strict=True), start=1):
        outputs = net(torch.from_numpy(observation))
        actions.append(int(outputs.argmax()))
        target = torch.as_tensor(label)
        lost = torch_loss(loss, outputs, target)
        net.weight.grad = None  # what zero_grad does, in a tenth of its time
        lost.backward()
        made.step()
        edit = spm.step()
        if is_last:
            edit = spm.end_episode() or edit
            net.reset_state()
        if edit:
            edits.append((update, edit))
    return net.graph, edits, actions


def assert_same_run(learner: Learner, expected: tuple[Graph, Any, list[int]], actions: Any) -> None:
    graph, edits, torch_actions = expected
    assert actions.tolist() == torch_actions
    found = list(learner.log.edits())
    assert [update for update, _ in found] == [update for update, _ in edits]
    for (_, mine), (_, other) in zip(found, edits, strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        np.testing.assert_allclose(mine.weight, other.weight, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(learner.graph.edge_ids, graph.edge_ids)
    np.testing.assert_allclose(learner.graph.weight, graph.weight, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("optimizer", "iterations", "scale", "history", "memory"),
    list(
        product(
            TORCH_OPTIMIZERS,
            (1, 3),
            ("update", "variance_to_mean", "weight"),
            ("keep", "reset"),
            ("keep", "reset"),
        )
    ),
)
def test_both_engines_take_the_same_decisions_and_hold_the_same_weights(
    optimizer: Optimizer, iterations: int, scale: Scale, history: OnEdit, memory: OnEdit
) -> None:
    plasticity = {
        "scale": scale,
        "history_on_edit": history,
        "optimizer_on_edit": memory,
        "full_window": history == "keep",  # windows never fill when every edit empties them
    }
    network, rules = settings(iterations, plasticity)
    expected = run_torch(network, rules, optimizer, recorded_stream())
    learning = learning_config(optimizer=optimizer, learning_rate=LEARNING_RATE[optimizer])
    learner = Learner(network, learning, rules, seed=7)
    outcome = learner.learn_stream(*recorded_stream())
    assert len(expected[1]) >= 100
    assert_same_run(learner, expected, outcome.actions)


@pytest.mark.parametrize(
    ("network_changes", "plasticity_changes"),
    [
        ({"activation": "sigmoid", "output_activation": "identity"}, {}),
        ({"activation": "relu"}, {}),
        ({"carry_state": False}, {}),
        ({"readout": "sum"}, {}),
        ({"readout": "sum", "activation": "relu", "output_activation": "sigmoid"}, {}),
        ({}, {"interval": "episode", "explore_ratio": 0.3}),
        ({}, {"explore_inputs": True}),
        ({}, {"growth": "exploration"}),
        ({}, {"growth": "relay-random"}),
        ({}, {"growth": "split"}),
        ({}, {"growth": "duplicate", "max_edges": 90}),
        ({}, {"pruning": "random"}),
        ({}, {"growth": "relay-alone", "interval": 1, "scale": "update"}),
        ({}, {"growth": "relay-alone", "orphan_removal": False, "interval": 1, "scale": "update"}),
    ],
)
@pytest.mark.parametrize("iterations", [1, 2])
def test_both_engines_agree_on_every_kind_of_network_and_rule(
    iterations: int, network_changes: dict[str, Any], plasticity_changes: dict[str, Any]
) -> None:
    network, rules = settings(iterations, plasticity_changes)
    network = NetworkConfig(**(network.to_dict() | network_changes))
    stream: Stream = tuple(column[:600] for column in recorded_stream(1))  # type: ignore[assignment]
    expected = run_torch(network, rules, "adam", stream)
    learner = Learner(network, learning_config(learning_rate=LEARNING_RATE["adam"]), rules, seed=7)
    outcome = learner.learn_stream(*stream)
    assert expected[1]
    assert_same_run(learner, expected, outcome.actions)


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        ("adam", {"weight_decay": 0.1}),
        ("sgd", {"weight_decay": 0.1, "momentum": 0.5}),
        ("rmsprop", {"weight_decay": 0.1, "momentum": 0.5, "alpha": 0.9}),
        ("adamw", {"weight_decay": 0.5}),
    ],
)
@pytest.mark.parametrize("iterations", [1, 2])
def test_every_option_of_an_optimizer_means_what_it_means_in_torch(
    iterations: int, optimizer: Optimizer, options: dict[str, Any]
) -> None:
    network, rules = settings(iterations, {})
    stream: Stream = tuple(column[:300] for column in recorded_stream(2))  # type: ignore[assignment]
    expected = run_torch(network, rules, optimizer, stream, **options)
    learning = learning_config(
        optimizer=optimizer, learning_rate=LEARNING_RATE[optimizer], **options
    )
    learner = Learner(network, learning, rules, seed=7)
    outcome = learner.learn_stream(*stream)
    assert_same_run(learner, expected, outcome.actions)


@pytest.mark.parametrize("iterations", [1, 3])
def test_both_engines_agree_on_continuous_targets(iterations: int) -> None:
    network, rules = settings(iterations, {})
    observations, _, is_last = (column[:600] for column in recorded_stream(3))
    targets = np.tanh(observations[:, :N_OUTPUTS] - 0.5 * observations[:, 1:])
    stream = (observations, targets, is_last)
    expected = run_torch(network, rules, "adam", stream, loss="mse")
    learning = learning_config(loss="mse", learning_rate=LEARNING_RATE["adam"])
    learner = Learner(network, learning, rules, seed=7)
    outcome = learner.learn_stream(*stream)
    assert_same_run(learner, expected, outcome.actions)


@pytest.mark.parametrize("readout", get_args(Readout))
@pytest.mark.parametrize("loss", ["one_hot", "plus_minus"])
def test_both_engines_agree_on_squared_errors_of_choices(loss: Loss, readout: Readout) -> None:
    network, rules = settings(2, {"new_weights": "sign"})
    network = replace(network, readout=readout)
    stream = recorded_stream(5)
    expected = run_torch(network, rules, "adam", stream, loss=loss)
    learning = learning_config(loss=loss, learning_rate=LEARNING_RATE["adam"])
    learner = Learner(network, learning, rules, seed=7)
    outcome = learner.learn_stream(*stream)
    assert len(learner.log) > 0
    assert_same_run(learner, expected, outcome.actions)


def test_sums_are_read_before_the_activation_and_states_carried_after_it() -> None:
    """An input feeds the first output and that the second: (0.5, 0), then (0.5, 2 tanh 0.5)."""
    graph = Graph.from_edges(1, 2, edges=[(0, 1, 0.5), (1, 2, 2.0)])
    network = NetworkConfig(n_inputs=1, n_outputs=2, readout="sum")
    net = SMGrNN(**network.to_dict(), graph=graph, dtype=torch.float64)
    learner = Learner(network, graph=graph)
    for expected in ([0.5, 0.0], [0.5, 2 * np.tanh(0.5)]):
        sums = net(torch.ones(1, dtype=torch.float64)).detach().numpy()
        np.testing.assert_allclose(sums, expected, atol=1e-12)
        assert net.state is not None
        np.testing.assert_allclose(net.state.numpy(), np.tanh(expected), atol=1e-12)
        assert learner.act([1.0]) == np.argmax(expected)
        np.testing.assert_allclose(learner.outputs, np.tanh(expected), atol=1e-12)


def test_sums_are_for_choices() -> None:
    network = NetworkConfig(n_inputs=1, n_outputs=1, readout="sum")
    with pytest.raises(ConfigError, match=r"^The compiled engine reads sums as the logits of choi"):
        Learner(network, learning_config(loss="mse"))


@pytest.mark.parametrize("iterations", [1, 3])
def test_learning_row_by_row_from_python_is_learning_the_stream(iterations: int) -> None:
    network, rules = settings(iterations, {"interval": "episode"})
    stream = recorded_stream(4)
    at_once = Learner(network, plasticity=rules, seed=1)
    outcome = at_once.learn_stream(*stream)
    by_row = Learner(network, plasticity=rules, seed=1)
    actions = []
    for observation, label, is_last in zip(*stream, strict=True):
        actions.append(by_row.learn(observation, int(label)))
        if is_last:
            by_row.end_episode()
    assert actions == outcome.actions.tolist()
    np.testing.assert_array_equal(by_row.graph.weight, at_once.graph.weight)
    np.testing.assert_array_equal(by_row.graph.edge_ids, at_once.graph.edge_ids)
    assert list(map(repr, by_row.log.edits())) == list(map(repr, at_once.log.edits()))
