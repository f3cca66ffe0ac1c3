"""Learning rules and gradients through time: by hand, by autograd, and in torch.

`test_learner_oracle` compares local rules with an oracle of loops.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import Graph, Learner, SMGrNN
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.errors import ConfigError
from smgrnn.graph import EditDraft
from smgrnn.learning import Hebbian
from smgrnn.learning.credit import KEPT
from support.engines import both_engines
from support.flat import growing_rules, learner_of, network_config, paper_net
from support.flat import learning as learning_config
from support.learners import stream
from support.training import by

LOCAL = ("feedback", "hebbian", "outputs")
STATIC = PlasticityConfig.static()
LINEAR: dict[str, Any] = {"activation": "identity", "output_activation": "identity"}
CHAIN = Graph.from_edges(1, 1, 1, [(0, 2, 0.5), (2, 1, 2.0)])


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.7, "weight_std": 0.6}
    return network_config(**{**sizes, **changes})


def local(rule: str, **changes: Any) -> LearningConfig:
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.05}
    return learning_config(**{"rule": rule, **plain, **changes})


def through(n: int, **changes: Any) -> LearningConfig:
    return learning_config(**{"learning_rate": 0.02, "through_time": n, **changes})


def gradient_of(made: Learner) -> dict[tuple[int, int], float]:
    """Return the last gradient of each edge by its ends."""
    ends = [(edge.source, edge.target) for edge in made.graph.edges()]
    return dict(zip(ends, made._state.workspace.gradient.tolist(), strict=True))


# --- local rules ---------------------------------------------------------------------------------


def test_the_error_reaches_a_hidden_node_by_its_feedback() -> None:
    """By hand: h = u · x, o = v · h, and the error 2 (o - y) comes back times b instead of v."""
    u, v, x, y = 0.5, 2.0, 3.0, 1.0
    network = network_config(n_inputs=1, n_outputs=1, iterations=2, **LINEAR)
    error = 2 * (v * u * x - y)
    for rule in ("feedback", "hebbian"):
        made = learner_of(network, local(rule, loss="mse"), STATIC, graph=CHAIN)
        b = made._state.feedback[0, 2]
        made.learn([x], [y])
        assert gradient_of(made) == pytest.approx({(2, 1): error * u * x, (0, 2): error * b * x})


def test_new_nodes_draw_their_feedback_and_old_ones_keep_it() -> None:
    often = growing_rules(window=5, interval=3, scale="update", full_window=False, max_relays=1)
    made = learner_of(config(), local("feedback"), often, seed=3)
    before = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    made.learn_stream(*stream(100))
    after = dict(zip(made.graph.node_ids.tolist(), made._state.feedback.T.tolist(), strict=True))
    kept, new = before.keys() & after.keys(), after.keys() - before.keys()
    assert len(kept) >= 5
    assert len(new) >= 3
    assert all(before[node] == after[node] for node in kept)
    assert len({tuple(after[node]) for node in after}) == len(after)


def test_a_network_is_saved_with_its_feedback() -> None:
    assert not {"feedback", "traces"} & set(paper_net(3, 2).state_dict())
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


# --- through time --------------------------------------------------------------------------------


class Unrolled:
    """A network as dense matrices, one for each call, all of which autograd goes through."""

    def __init__(self, network: NetworkConfig, n: int) -> None:
        self.network, self.n = network, n
        self.start_episode()

    def start_episode(self) -> None:
        self.calls: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.starts: list[Any] = [None]

    def gradient(self, graph: Graph, observation: Any, label: int) -> Any:
        """Return dL/dw of each edge, summed over this call and the n before it."""
        state = self.starts[-1]
        if state is None:
            state = torch.zeros(graph.n_nodes - graph.n_inputs, dtype=torch.float64)
            self.starts = [state]
        self.calls = [*self.calls[max(len(self.calls) - self.n, 0) :]]
        self.calls.append((torch.tensor(graph.weight), torch.tensor(observation)))
        state = self.starts[-len(self.calls)]
        ends = torch.tensor(graph.target), torch.tensor(graph.source)
        for weight, inputs in self.calls:
            weight.requires_grad_().grad = None
            matrix = torch.zeros(graph.n_nodes, graph.n_nodes, dtype=torch.float64)
            matrix = matrix.index_put(ends, weight)
            for _ in range(self.network.iterations):
                sums = (matrix @ torch.cat([inputs, state]))[graph.n_inputs :]
                outputs, hidden = sums[: graph.n_outputs], sums[graph.n_outputs :]
                names = self.network.output_activation, self.network.activation
                phi_out, phi = (getattr(torch, name, torch.clone) for name in names)
                state = torch.cat([phi_out(outputs), phi(hidden)])
        self.starts.append(state.detach())
        read = (sums if self.network.readout == "sum" else state)[: graph.n_outputs]
        torch.nn.functional.cross_entropy(read, torch.tensor(label)).backward()
        found = [weight.grad for weight, _ in self.calls if weight.grad is not None]
        return torch.stack(found).sum(dim=0).numpy()


KINDS: list[dict[str, Any]] = [
    {},
    {"readout": "sum"},
    {"activation": "relu", "output_activation": "sigmoid"},
    {"readout": "sum", "activation": "sigmoid", "output_activation": "identity"},
]


@pytest.mark.parametrize(("iterations", "n", "kind"), list(product((1, 3), (1, 4, 16), KINDS)))
def test_both_engines_give_the_gradient_of_autograd_over_the_unrolled_calls(
    iterations: int, n: int, kind: dict[str, Any]
) -> None:
    network = config(iterations=iterations, **kind)
    made, theirs = both_engines(network, through(n), STATIC, 1)
    reference, largest = Unrolled(network, n), 0.0
    rows = stream(60)
    ends = np.arange(1, 61) % 25 == 0
    for observation, label, is_last in zip(rows.observations, rows.labels, ends, strict=True):
        expected = reference.gradient(made.graph, observation, int(label))
        made.learn(observation, int(label))
        theirs.learn(observation, label)
        gradient = theirs.net.weight.grad
        assert gradient is not None
        for found in (made._state.workspace.gradient, gradient.numpy()):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(made.graph.weight, theirs.net.graph.weight, rtol=0, atol=1e-9)
        largest = max(largest, float(np.abs(expected).max()))
        if is_last:
            made.end_episode()
            theirs.end_episode()
            reference.start_episode()
    assert largest > 0.1


def test_credit_goes_to_what_was_seen_one_call_ago() -> None:
    """By hand: the output is v · h, and h is the u · x of the call before."""
    u, v, first, second, target = 0.5, 2.0, 3.0, 7.0, 1.0
    network, found = network_config(n_inputs=1, n_outputs=1, **LINEAR), []
    for n in (0, 1):
        made = learner_of(network, through(n, loss="mse", learning_rate=1e-9), STATIC, graph=CHAIN)
        made.learn([first], [target])
        made.learn([second], [target])
        found.append(gradient_of(made))
    error = 2 * (v * u * first - target)
    assert found[0] == pytest.approx({(2, 1): error * u * first, (0, 2): 0.0})
    assert found[1] == pytest.approx({(2, 1): error * u * first, (0, 2): error * v * first})


def add_idle_node(evidence: Any, rng: Any) -> Any:
    draft = EditDraft(evidence.graph)
    draft.add_edge(0, draft.add_node(), 0.0)
    return draft.finish()


def after(steps: str, n: int = 4) -> tuple[Learner, Any]:
    """Take steps -- learn, act, end, x: edit -- and learn again; return learner and gradient."""
    never = by(add_idle_node, interval=10**9)
    made = learner_of(config(), through(n, learning_rate=1e-12), never, seed=1)
    does: dict[str, Any] = {"l": lambda row: made.learn(row, 0), "a": made.act}
    does |= {"e": lambda _: made.end_episode(), "x": lambda _: made.settle()}
    for step, observation in zip(steps, stream(len(steps)).observations, strict=True):
        does[step](observation)
    made.learn([0.3, -0.5, 0.2], 1)
    return made, gradient_of(made)


@pytest.mark.parametrize(("steps", "n_kept"), [("lll", 4), ("lle", 1), ("lla", 1), ("llx", 1)])
def test_the_window_is_cut_at_an_episodes_start_by_an_act_and_by_an_edit(
    steps: str, n_kept: int
) -> None:
    """After a cut, gradients are those of the present call alone, as without a window."""
    made, found = after(steps)
    assert made._state.past.clock[KEPT] == n_kept
    assert made.graph.n_hidden == 3 + steps.count("x")
    _, alone = after(steps, n=0)
    is_same = all(abs(found[edge] - alone[edge]) < 1e-9 for edge in found)
    assert is_same == (n_kept == 1)


CUTS: dict[str, Any] = {
    "none": lambda net, x: None,
    "no_grad": torch.no_grad()(lambda net, x: net(x)),
    "reset": lambda net, x: net.reset_state(),
    "load": lambda net, x: net.load_state_dict(net.state_dict()),
    "move": lambda net, x: net.to(torch.float64),
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_call_without_gradients_and_an_edit_cut_the_window_in_torch_too(cut: str) -> None:
    x, gradients = torch.tensor([0.3, -0.5, 0.2], dtype=torch.float64), []
    for n in (0, 4):
        net = SMGrNN(**config().to_dict(), seed=1, through_time=n, dtype=torch.float64)
        for _ in range(3):
            net(x)
        CUTS[cut](net, x)
        net(x).square().sum().backward()
        assert net.weight.grad is not None
        gradients.append(net.weight.grad)
    assert torch.equal(*gradients) == (cut != "none")


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (lambda: paper_net(3, 2, learning_rule="hebian"), "Got 'hebian' instead"),
        (lambda: paper_net(3, 2, learning_rule="feedback", state_dim=2), "use state_dim=1"),
        (
            lambda: paper_net(3, 2, learning_rule="feedback")(torch.ones(3, requires_grad=True)),
            "gives no gradient to the network's input",
        ),
        (lambda: learner_of(config(), through(3, rule="hebbian")), "through_time 3 .*'hebbian'"),
        (lambda: learner_of(config(carry_state=False), through(4)), "carry_state"),
        (lambda: learner_of(config(), through(10**6)), "up to 10000 nodes .* would take 960.0 GB"),
        (lambda: paper_net(3, 2, carry_state=False, through_time=1), "carry_state"),
        (lambda: paper_net(3, 2, through_time=-1), "through_time' parameter of LearningConfig"),
    ],
)
def test_learning_that_cannot_drive_the_network_is_refused(refused: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        refused()
