"""Local learning rules, by hand and in torch; `test_learner_oracle` has the oracle of loops."""

from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import Graph, Learner, LearningConfig, NetworkConfig, PlasticityConfig, SMGrNN
from smgrnn.errors import ConfigError, GraphError
from smgrnn.learning import Hebbian
from support.flat import growing_rules
from support.flat import learning as learning_config
from support.learners import stream

LOCAL = ("feedback", "hebbian", "outputs")
STATIC = PlasticityConfig.static()


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.7, "weight_std": 0.6}
    return NetworkConfig(**{**sizes, **changes})


def learning(rule: str, **changes: Any) -> LearningConfig:
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.05}
    decay = {"trace_decay": 0.7} if rule == "hebbian" else {}
    return learning_config(**{"rule": rule, **plain, **decay, **changes})


LINEAR: dict[str, Any] = {"activation": "identity", "output_activation": "identity"}
CHAIN = Graph.from_edges(1, 1, 1, [(0, 2, 0.5), (2, 1, 2.0)])


def test_the_error_reaches_a_hidden_node_by_its_feedback() -> None:
    """By hand: h = u · x, o = v · h, and the error 2 (o - y) comes back times b instead of v."""
    u, v, x, y = 0.5, 2.0, 3.0, 1.0
    network = NetworkConfig(n_inputs=1, n_outputs=1, iterations=2, **LINEAR)
    error = 2 * (v * u * x - y)
    for rule in ("feedback", "hebbian"):
        made = Learner(network, learning(rule, loss="mse"), STATIC, graph=CHAIN)
        b = made._state.feedback[0, 2]
        made.learn([x], [y])
        ends = [(edge.source, edge.target) for edge in CHAIN.edges()]
        found = dict(zip(ends, made._state.workspace.gradient.tolist(), strict=True))
        assert found == pytest.approx({(2, 1): error * u * x, (0, 2): error * b * x})


def test_a_trace_decays_from_call_to_call() -> None:
    """By hand, with one iteration: what was seen two calls ago counts by the decay."""
    network = NetworkConfig(n_inputs=1, n_outputs=1, **LINEAR)
    still = learning("hebbian", loss="mse", learning_rate=1e-12, trace_decay=0.25)
    made = Learner(network, still, STATIC, graph=CHAIN)
    for seen in (3.0, 7.0, 100.0):
        made.learn([seen], [0.0])
    error, b = 2 * (2.0 * 0.5 * 7.0), made._state.feedback[0, 2]
    inner = int(np.flatnonzero(CHAIN.target == 2)[0])
    assert made._state.workspace.gradient[inner] == pytest.approx(error * b * (7.0 + 0.25 * 3.0))
    made.end_episode()
    assert not made._state.credit.any()


def test_new_nodes_draw_their_feedback_and_old_ones_keep_it() -> None:
    often = growing_rules(window=5, interval=3, scale="update", full_window=False, max_relays=1)
    made = Learner(config(), learning("feedback"), often, seed=3)
    before = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    made.learn_stream(*stream(100))
    after = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    kept, new = before.keys() & after.keys(), after.keys() - before.keys()
    assert len(kept) >= 5
    assert len(new) >= 3
    assert all(before[node] == after[node] for node in kept)
    assert len({tuple(after[node]) for node in after}) == len(after)


# --- in torch ------------------------------------------------------------------------------------


def test_a_network_is_saved_with_its_feedback() -> None:
    assert not {"feedback", "traces"} & set(SMGrNN(3, 2).state_dict())
    first, twin = (
        SMGrNN(**config(iterations=2).to_dict(), seed=seed, learning_rule=Hebbian(trace_decay=0.3))
        for seed in (1, 2)
    )
    assert not torch.equal(first.feedback, twin.feedback)
    twin.load_state_dict(first.state_dict())
    for net in (first, twin):
        net(torch.ones(3)).square().sum().backward()
    assert first.weight.grad is not None
    assert twin.weight.grad is not None
    assert torch.equal(first.weight.grad, twin.weight.grad)


@pytest.mark.parametrize(
    "settings", [*({"learning_rule": rule} for rule in LOCAL), {"through_time": 3}]
)
def test_a_batch_is_its_rows(settings: dict[str, Any]) -> None:
    network = config(iterations=2).to_dict()
    one, two = (SMGrNN(**network, seed=1, dtype=torch.float64, **settings) for _ in range(2))
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


def test_a_call_from_before_an_edit_gives_no_gradient() -> None:
    net = SMGrNN(**config().to_dict(), learning_rule="feedback")
    loss = net(torch.ones(3)).sum()
    net.load_state_dict(SMGrNN(**config().to_dict(), learning_rule="feedback").state_dict())
    with pytest.raises(GraphError, match="edited between"):
        loss.backward()


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (lambda: SMGrNN(3, 2, learning_rule="hebian"), "Got 'hebian' instead"),
        (lambda: SMGrNN(3, 2, learning_rule="feedback", state_dim=2), "use state_dim=1"),
        (
            lambda: SMGrNN(3, 2, learning_rule="feedback")(torch.ones(3, requires_grad=True)),
            "gives no gradient to the network's input",
        ),
        (
            lambda: Learner(config(), learning_config(rule="hebbian", through_time=3)),
            "through_time 3 .*'hebbian'",
        ),
    ],
)
def test_a_rule_that_cannot_drive_the_network_is_refused(refused: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        refused()
