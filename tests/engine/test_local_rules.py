"""Local learning rules: the oracle of loops, the torch engine and the compiled one."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from smgrnn.learning.rule import LearningRule

from smgrnn import (
    Graph,
    Learner,
    LearningConfig,
    NetworkConfig,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
)
from smgrnn.errors import ConfigError, GraphError, ShapeError
from smgrnn.learning import LEARNING
from support.flat import frugal_rules, rules
from support.flat import learning as learning_config
from support.learners import Stream, memory, stream
from support.local_oracle import SlowLocalLearner
from support.oracle import to_slow
from support.parts import SIGNS

WITH_FEEDBACK = ("feedback", "hebbian")
LOCAL = (*WITH_FEEDBACK, "outputs")
STATIC = PlasticityConfig.static()
GROWING = rules(
    window=5,
    interval=3,
    interval_width=0.55,  # at 0.5 one update among four zeros is a tie, which rounding decides
    prune_period=4,
    scale="update",
    full_window=False,
    max_relays=1,
)


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.7, "weight_std": 0.6}
    return NetworkConfig(**{**sizes, **changes})


def learning(rule: str, **changes: Any) -> LearningConfig:
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.05}
    return learning_config(**{"rule": rule, **plain, **changes})


def teach(net: SMGrNN, optimizer: torch.optim.Optimizer, observation: Any, label: Any) -> None:
    optimizer.zero_grad()
    outputs = net(torch.from_numpy(observation))
    torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
    optimizer.step()


KINDS: list[dict[str, Any]] = [
    {},
    {"readout": "sum"},
    {"activation": "sigmoid", "readout": "sum"},
    {"activation": "relu", "carry_state": False},
]


@pytest.mark.parametrize(("rule", "iterations", "kind"), list(product(LOCAL, (1, 2, 3), KINDS)))
def test_both_engines_agree_with_the_oracle(
    rule: str, iterations: int, kind: dict[str, Any]
) -> None:
    network = config(iterations=iterations, **kind)
    made = Learner(network, learning(rule, trace_decay=0.7), STATIC, seed=1)
    net = SMGrNN(
        **network.to_dict(), seed=1, learning_rule=rule, trace_decay=0.7, dtype=torch.float64
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    graph, drawn = made.graph, made._state.feedback
    slow = SlowLocalLearner(
        to_slow(graph),
        rule,
        {(3 + o, h): weight for o, row in enumerate(drawn) for h, weight in enumerate(row)},
        iterations,
        0.05,
        trace_decay=0.7,
        activation=network.activation,
        reads_sums=network.readout == "sum",
        carries_state=network.carry_state,
    )
    for observation, label, is_last in zip(*stream(30), strict=True):
        made.learn(observation, int(label))
        teach(net, optimizer, observation, label)
        slow.learn(observation.tolist(), int(label))
        if is_last:
            made.end_episode()
            net.reset_state()
            slow.start_episode()
        weights = [slow.graph.edges[pair].weight for pair in slow.graph.pairs()]
        np.testing.assert_allclose(made.graph.weight, weights, rtol=0, atol=1e-9)
        np.testing.assert_allclose(net.graph.weight, weights, rtol=0, atol=1e-9)
    is_inner = graph.target >= 5
    moved = made.graph.weight != graph.weight
    learns_inner = rule == "hebbian" and (iterations > 1 or network.carry_state)
    learns_inner |= rule == "feedback" and iterations > 1
    assert moved[~is_inner].any()
    assert moved[is_inner].any() == learns_inner


def test_the_error_reaches_a_hidden_node_by_its_feedback() -> None:
    """By hand: h = u · x, o = v · h, and the error 2 (o - y) comes back times b instead of v."""
    u, v, x, y = 0.5, 2.0, 3.0, 1.0
    graph = Graph.from_edges(1, 1, 1, [(0, 2, u), (2, 1, v)])
    network = NetworkConfig(
        n_inputs=1, n_outputs=1, iterations=2, activation="identity", output_activation="identity"
    )
    error = 2 * (v * u * x - y)
    for rule in WITH_FEEDBACK:
        made = Learner(network, learning(rule, loss="mse"), STATIC, graph=graph)
        b = made._state.feedback[0, 2]
        made.learn([x], [y])
        ends = [(edge.source, edge.target) for edge in graph.edges()]
        found = dict(zip(ends, made._state.room.gradient.tolist(), strict=True))
        assert found == pytest.approx({(2, 1): error * u * x, (0, 2): error * b * x})


def test_a_trace_decays_from_call_to_call() -> None:
    """By hand, with one iteration: what was seen two calls ago counts by the decay."""
    graph = Graph.from_edges(1, 1, 1, [(0, 2, 0.5), (2, 1, 2.0)])
    network = NetworkConfig(
        n_inputs=1, n_outputs=1, activation="identity", output_activation="identity"
    )
    still = learning("hebbian", loss="mse", learning_rate=1e-12, trace_decay=0.25)
    made = Learner(network, still, STATIC, graph=graph)
    for seen in (3.0, 7.0, 100.0):
        made.learn([seen], [0.0])
    error, b = 2 * (2.0 * 0.5 * 7.0), made._state.feedback[0, 2]
    inner = int(np.flatnonzero(graph.target == 2)[0])
    assert made._state.room.gradient[inner] == pytest.approx(error * b * (7.0 + 0.25 * 3.0))
    made.end_episode()
    assert not made._state.credit.any()


@pytest.mark.parametrize("readout", ["state", "sum"])
def test_with_one_iteration_backpropagation_is_feedback_alignment_and_the_delta_rule(
    readout: Any,
) -> None:
    weights = []
    for rule in ("backprop", "feedback", "outputs"):
        made = Learner(config(readout=readout), learning(rule), STATIC, seed=1)
        made.learn_stream(*stream(40))
        weights.append(made.graph.weight.tolist())
    assert weights[0] == weights[1] == weights[2]


# --- growing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", LOCAL)
@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize("growth", ["relay", "frugal"])
def test_both_engines_grow_alike(rule: str, iterations: int, growth: str) -> None:
    network = config(iterations=iterations, weight_std=0.3)
    rules = rules(**GROWING.to_dict() | {"max_edges": 60})
    if growth == "frugal":
        rules = frugal_rules(interval=20, n_candidates=4, size=40)
    made = Learner(network, learning_config(rule=rule, learning_rate=1e-3), rules, seed=3)
    net = SMGrNN(**network.to_dict(), seed=3, learning_rule=rule, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    spm = StructuralPlasticity(net, optimizer, rules, seed=3)
    rows = stream(200)
    for observation, label, is_last in zip(*rows, strict=True):
        teach(net, optimizer, observation, label)
        spm.step()
        if is_last:
            spm.end_episode()
            net.reset_state()
    made.learn_stream(*rows)
    assert made.log.n_changes > 1
    assert made.graph.edge_ids.tolist() == net.graph.edge_ids.tolist()
    np.testing.assert_allclose(made.graph.weight, net.graph.weight, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(made._state.feedback, net.feedback.numpy())


def test_new_nodes_draw_their_feedback_and_old_ones_keep_it() -> None:
    rules = replace(GROWING, pruning="none", orphan_removal=False)
    made = Learner(config(), learning("feedback"), rules, seed=3)
    before = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    made.learn_stream(*stream(100))
    after = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    kept, new = before.keys() & after.keys(), after.keys() - before.keys()
    assert len(kept) >= 5
    assert len(new) >= 3
    assert all(before[node] == after[node] for node in kept)
    assert len({tuple(after[node]) for node in after}) == len(after)


# --- saving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", LOCAL)
def test_a_learner_that_is_restored_amid_an_episode_goes_on_bit_for_bit(rule: str) -> None:
    made, twin = (Learner(config(), learning(rule), GROWING, seed=seed) for seed in (1, 2))
    rows = Stream(*stream(90)[:2], np.arange(1, 91) % 30 == 0)
    made.learn_stream(*rows.rows(0, 44))
    twin.restore({name: array.copy() for name, array in made.arrays().items()})
    assert memory(made) == memory(twin)
    for either in (made, twin):
        either.learn_stream(*rows.rows(44, 90))
    assert made.log.n_changes > 0
    assert memory(made) == memory(twin)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feedback", lambda array: array[:, 1:]),
        ("feedback", lambda array: array[:1]),
        ("feedback", lambda array: array.astype(np.float32)),
        ("credit", lambda array: array[:, 1:]),
    ],
)
def test_a_damaged_memory_is_refused(name: str, change: Any) -> None:
    made = Learner(config(), learning("hebbian"), STATIC)
    arrays = made.arrays()
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    with pytest.raises(ShapeError, match="other settings"):
        made.restore(arrays)


@pytest.mark.parametrize("rule", WITH_FEEDBACK)
def test_a_network_is_saved_with_its_feedback(rule: str) -> None:
    first, twin = (
        SMGrNN(**config(iterations=2).to_dict(), seed=seed, learning_rule=rule) for seed in (1, 2)
    )
    assert not torch.equal(first.feedback, twin.feedback)
    twin.load_state_dict(first.state_dict())
    for net in (first, twin):
        net(torch.ones(3)).square().sum().backward()
    assert first.weight.grad is not None
    assert twin.weight.grad is not None
    assert torch.equal(first.weight.grad, twin.weight.grad)


def test_a_network_that_learns_by_backpropagation_has_nothing_else_to_save() -> None:
    names = set(SMGrNN(3, 2).state_dict())
    assert names == {"weight", "node_ids", "source", "target", "edge_ids", "numbers"}


# --- in torch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", LOCAL)
def test_a_batch_is_its_rows(rule: str) -> None:
    settings: dict[str, Any] = {"learning_rule": rule, "dtype": torch.float64, "seed": 1}
    one, two = (SMGrNN(**config(iterations=2).to_dict(), **settings) for _ in range(2))
    rows = torch.from_numpy(stream(8).observations.reshape(4, 2, 3))
    for pair in rows:
        two.weight.grad = None
        two(pair).square().sum().backward()
    total = torch.zeros_like(one.weight)
    for column in (0, 1):
        one.reset_state()
        for pair in rows:
            one.weight.grad = None
            one(pair[column]).square().sum().backward()
        assert one.weight.grad is not None
        total += one.weight.grad
    assert two.weight.grad is not None
    torch.testing.assert_close(two.weight.grad, total, rtol=0, atol=1e-12)


def test_a_rule_of_ones_own_acts_in_backward() -> None:
    LEARNING.add(SIGNS)
    try:
        made = Learner(config(), learning("signs"), STATIC, seed=1)
        net = SMGrNN(**config().to_dict(), seed=1, learning_rule="signs", dtype=torch.float64)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        for observation, label, _ in zip(*stream(20), strict=True):
            made.learn(observation, int(label))
            teach(net, optimizer, observation, label)
        np.testing.assert_allclose(made.graph.weight, net.graph.weight, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(made._state.credit, net.traces[0].numpy())
    finally:
        del LEARNING._items[SIGNS.name]


def test_a_call_from_before_an_edit_gives_no_gradient() -> None:
    net = SMGrNN(**config().to_dict(), learning_rule="feedback")
    loss = net(torch.ones(3)).sum()
    net.load_state_dict(SMGrNN(**config().to_dict(), learning_rule="feedback").state_dict())
    with pytest.raises(GraphError, match="edited between"):
        loss.backward()


# --- what is refused -----------------------------------------------------------------------------


def test_a_rule_that_cannot_drive_the_network_is_refused_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^There is no learning rule 'hebian'\. Did you mean"):
        SMGrNN(3, 2, learning_rule="hebian")
    with pytest.raises(ConfigError) as caught:
        SMGrNN(3, 2, learning_rule="feedback", state_dim=2)
    sentence = "The learning rule 'feedback' is for scalar node states; use state_dim=1."
    assert str(caught.value) == sentence
    with pytest.raises(ConfigError) as caught:
        SMGrNN(3, 2, learning_rule="feedback")(torch.ones(3, requires_grad=True))
    sentence = "The learning rule 'feedback' gives no gradient to the network's input; detach() it."
    assert str(caught.value) == sentence
    with pytest.raises(ConfigError) as caught:
        Learner(config(), learning_config(rule="hebbian", through_time=3))
    sentence = (
        "learning.through_time 3 is of backpropagation, and the learning rule is 'hebbian': it "
        "must be 0."
    )
    assert str(caught.value) == sentence


def test_growth_that_reads_errors_needs_a_rule_that_gives_them() -> None:
    LEARNING.add(SIGNS)
    sentence = (
        "The growth rule 'frugal' reads errors of nodes, which the learning rule 'signs' does not "
        "give: choose another of the two."
    )
    try:
        with pytest.raises(ConfigError) as caught:
            Learner(config(), learning("signs"))
        assert str(caught.value) == sentence
        with pytest.raises(ConfigError) as caught:
            StructuralPlasticity(SMGrNN(3, 2, learning_rule="signs"))
        assert str(caught.value) == sentence
        Learner(config(), learning("signs"), STATIC)
    finally:
        del LEARNING._items[SIGNS.name]
    assert isinstance(SIGNS, LearningRule)
