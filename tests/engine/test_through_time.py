"""Gradients through the states carried from earlier calls, against autograd over all of them."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import (
    EditDraft,
    Graph,
    Learner,
    LearningConfig,
    NetworkConfig,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
)
from smgrnn.errors import ConfigError, ShapeError
from smgrnn.learning.through_time import KEPT
from support.flat import learning as learning_config
from support.flat import rules
from support.learners import Stream, memory, stream

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
PHI: dict[str, Any] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "identity": lambda total: total,
}


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.7, "weight_std": 0.6}
    return NetworkConfig(**{**sizes, **changes})


def learning(n: int, **changes: Any) -> LearningConfig:
    return learning_config(**{"learning_rate": 0.02, "through_time": n, **changes})


class Unrolled:
    """A network as dense matrices, one for each call, all of which autograd goes through."""

    def __init__(self, network: NetworkConfig, n: int) -> None:
        self.network, self.n = network, n
        self.start_episode()

    def start_episode(self) -> None:
        self.calls: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        self.state: torch.Tensor | None = None

    def gradient(self, graph: Graph, observation: Any, label: int) -> Any:
        """Return dL/dw of each edge, summed over this call and the n before it."""
        n_free = graph.n_nodes - graph.n_inputs
        start = torch.zeros(n_free, dtype=torch.float64) if self.state is None else self.state
        weight = torch.tensor(graph.weight, requires_grad=True)
        self.calls = [*self.calls[max(len(self.calls) - self.n, 0) :]]
        self.calls.append((weight, torch.tensor(observation), start))
        state = self.calls[0][2]
        for weight, inputs, _ in self.calls:
            state, sums = self._run(graph, weight, inputs, state)
        self.state = state.detach()
        outputs = (sums if self.network.readout == "sum" else state)[: graph.n_outputs]
        torch.nn.functional.cross_entropy(outputs, torch.tensor(label)).backward()
        found = [weight.grad for weight, _, _ in self.calls if weight.grad is not None]
        total = torch.stack(found).sum(dim=0).numpy()
        for weight, _, _ in self.calls:
            weight.grad = None
        return total

    def _run(self, graph: Graph, weight: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
        matrix = torch.zeros(graph.n_nodes, graph.n_nodes, dtype=torch.float64)
        matrix = matrix.index_put((torch.tensor(graph.target), torch.tensor(graph.source)), weight)
        for _ in range(self.network.iterations):
            sums = (matrix @ torch.cat([inputs, state]))[graph.n_inputs :]
            outputs, hidden = sums[: graph.n_outputs], sums[graph.n_outputs :]
            phi, phi_out = PHI[self.network.activation], PHI[self.network.output_activation]
            state = torch.cat([phi_out(outputs), phi(hidden)])
        return state, sums


KINDS: list[dict[str, Any]] = [
    {},
    {"readout": "sum"},
    {"activation": "relu", "output_activation": "sigmoid"},
    {"readout": "sum", "activation": "sigmoid", "output_activation": "identity"},
]


@pytest.mark.parametrize(("iterations", "n", "kind"), list(product((1, 2, 3), (1, 4, 16), KINDS)))
def test_both_engines_give_the_gradient_of_autograd_over_the_unrolled_calls(
    iterations: int, n: int, kind: dict[str, Any]
) -> None:
    network = config(iterations=iterations, **kind)
    made = Learner(network, learning(n), STATIC, seed=1)
    net = SMGrNN(**network.to_dict(), seed=1, through_time=n, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    reference, largest = Unrolled(network, n), 0.0
    rows = stream(60)
    ends = np.arange(1, 61) % 25 == 0
    for observation, label, is_last in zip(rows.observations, rows.labels, ends, strict=True):
        expected = reference.gradient(made.graph, observation, int(label))
        made.learn(observation, int(label))
        optimizer.zero_grad()
        outputs = net(torch.from_numpy(observation))
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        optimizer.step()
        assert net.weight.grad is not None
        np.testing.assert_allclose(made._state.room.gradient, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(net.weight.grad.numpy(), expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(made.graph.weight, net.graph.weight, rtol=0, atol=1e-9)
        largest = max(largest, float(np.abs(expected).max()))
        if is_last:
            made.end_episode()
            net.reset_state()
            reference.start_episode()
    assert largest > 0.1


def test_credit_goes_to_what_was_seen_one_call_ago() -> None:
    """By hand: the output is v · h, and h is the u · x of the call before."""
    u, v, first, second, target = 0.5, 2.0, 3.0, 7.0, 1.0
    graph = Graph.from_edges(1, 1, 1, [(0, 2, u), (2, 1, v)])
    network = NetworkConfig(
        n_inputs=1, n_outputs=1, activation="identity", output_activation="identity"
    )
    found = []
    for n in (0, 1):
        made = Learner(network, learning(n, loss="mse", learning_rate=1e-9), STATIC, graph=graph)
        made.learn([first], [target])
        made.learn([second], [target])
        ends = [(edge.source, edge.target) for edge in graph.edges()]
        found.append(dict(zip(ends, _gradient(made), strict=True)))
    error = 2 * (v * u * first - target)
    assert found[0] == pytest.approx({(2, 1): error * u * first, (0, 2): 0.0})
    assert found[1] == pytest.approx({(2, 1): error * u * first, (0, 2): error * v * first})


def _gradient(made: Learner) -> Any:
    return made._state.room.gradient.tolist()


@pytest.mark.parametrize("n", [0, 1])
def test_edges_into_hidden_nodes_learn_with_one_iteration_only_through_time(n: int) -> None:
    made = Learner(config(), learning(n), STATIC, seed=1)
    before = made.graph
    made.learn_stream(*stream(30))
    moved = made.graph.weight != before.weight
    is_inner = before.target >= 5
    assert moved[~is_inner].all()
    assert moved[is_inner].any() == (n > 0)


def after(steps: str, n: int = 4) -> tuple[Learner, Any]:
    """Take steps -- learn, act, end, edit -- and learn again; return the learner and gradient."""

    def relay(graph: Graph, history: Any, rng: Any) -> Any:
        draft = EditDraft(graph)
        node = draft.add_node()
        draft.add_edge(0, node, 0.0)
        return draft.finish()

    never = rules(interval=10**9)
    made = Learner(config(), learning(n, learning_rate=1e-12), never, seed=1, rule=relay)
    for step, observation in zip(steps, stream(len(steps)).observations, strict=True):
        if step == "l":
            made.learn(observation, 0)
        elif step == "a":
            made.act(observation)
        elif step == "e":
            made.end_episode()
        else:
            made._restructure()
    made.learn([0.3, -0.5, 0.2], 1)
    ids = made.graph.edge_ids.tolist()
    return made, dict(zip(ids, _gradient(made), strict=True))


@pytest.mark.parametrize(("steps", "n_kept"), [("lll", 4), ("lle", 1), ("lla", 1), ("llx", 1)])
def test_the_window_is_cut_at_an_episodes_start_by_an_act_and_by_an_edit(
    steps: str, n_kept: int
) -> None:
    """After a cut, gradients are those of the present call alone, as without a window."""
    made, found = after(steps)
    assert made._state.past.clock[KEPT] == n_kept
    _, alone = after(steps, n=0)
    is_same = all(abs(found[edge] - alone[edge]) < 1e-9 for edge in found)
    assert is_same == (n_kept == 1)


def test_a_call_without_gradients_and_an_edit_cut_the_window_in_torch_too() -> None:
    x = torch.tensor([0.3, -0.5, 0.2], dtype=torch.float64)
    for cut in ("none", "no_grad", "reset", "load", "move"):
        nets = [
            SMGrNN(**config().to_dict(), seed=1, through_time=n, dtype=torch.float64)
            for n in (0, 4)
        ]
        for net in nets:
            for _ in range(3):
                net(x)
            if cut == "no_grad":
                with torch.no_grad():
                    net(x)
            elif cut == "reset":
                net.reset_state()
            elif cut == "load":
                net.load_state_dict(net.state_dict())
            elif cut == "move":
                net.to(torch.float64)
            net(x).square().sum().backward()
        first, second = (net.weight.grad for net in nets)
        assert first is not None
        assert second is not None
        assert torch.equal(first, second) == (cut != "none")


@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize("interval", [3, "episode"])
def test_both_engines_agree_while_edits_cut_the_window(iterations: int, interval: Any) -> None:
    network = config(iterations=iterations, weight_std=0.3, n_hidden=1)
    rules = rules(**GROWING.to_dict() | {"interval": interval, "max_edges": 60})
    made = Learner(network, learning(4, learning_rate=1e-3), rules, seed=3)
    net = SMGrNN(**network.to_dict(), seed=3, through_time=4, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    spm = StructuralPlasticity(net, optimizer, rules, seed=3)
    rows = stream(150)
    for observation, label, is_last in zip(*rows, strict=True):
        optimizer.zero_grad()
        outputs = net(torch.from_numpy(observation))
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        optimizer.step()
        spm.step()
        if is_last:
            spm.end_episode()
            net.reset_state()
    made.learn_stream(*rows)
    assert len(list(made.log.edits())) > 5
    assert made.graph.edge_ids.tolist() == net.graph.edge_ids.tolist()
    np.testing.assert_allclose(made.graph.weight, net.graph.weight, rtol=0, atol=1e-9)


def test_a_batch_goes_back_row_by_row() -> None:
    one, two = (
        SMGrNN(**config(iterations=2).to_dict(), seed=1, through_time=3, dtype=torch.float64)
        for _ in range(2)
    )
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


def test_a_learner_that_is_restored_amid_an_episode_goes_on_bit_for_bit() -> None:
    made, twin = (Learner(config(), learning(5), GROWING, seed=seed) for seed in (1, 2))
    rows = Stream(*stream(90)[:2], np.arange(1, 91) % 30 == 0)
    made.learn_stream(*rows.rows(0, 44))
    assert made._state.past.clock[KEPT] > 1
    twin.restore({name: array.copy() for name, array in made.arrays().items()})
    assert memory(made) == memory(twin)
    for either in (made, twin):
        either.learn_stream(*rows.rows(44, 90))
    assert made.log.n_changes > 0
    assert memory(made) == memory(twin)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("past.traces", lambda array: array[:, :, 1:]),
        ("past.traces", lambda array: array.astype(np.float32)),
        ("past.weights", lambda array: array[1:]),
        ("past.clock", lambda array: array + 99),
        ("past.clock", lambda array: np.zeros(3, np.int64)),
    ],
)
def test_a_damaged_window_is_refused(name: str, change: Any) -> None:
    made = Learner(config(), learning(5), STATIC)
    arrays = made.arrays()
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    with pytest.raises(ShapeError, match="other settings"):
        made.restore(arrays)


def test_a_learner_saved_without_a_window_is_restored_with_an_empty_one() -> None:
    made = Learner(config(), learning(0), STATIC, seed=1)
    made.learn_stream(*stream(10))
    arrays = {n: a for n, a in made.arrays().items() if not n.startswith("past.")}
    twin = Learner(config(), learning(0), STATIC, seed=2)
    twin.restore(arrays)
    assert memory(made) == memory(twin)


def test_a_window_that_cannot_be_is_refused_in_one_sentence() -> None:
    refused: list[tuple[NetworkConfig, LearningConfig, str]] = [
        (
            config(carry_state=False),
            learning(4),
            "learning.through_time 4 needs node states that are carried from call to call, and "
            "carry_state is off: turn that on, or leave through_time at 0.",
        ),
        (
            config(),
            learning(10**6),
            "learning.through_time 1000000 takes 894 GB for a network of up to 10000 nodes and "
            "100000 edges, and may take 2: lower it, or max_nodes and max_edges.",
        ),
    ]
    for network, how, sentence in refused:
        with pytest.raises(ConfigError) as caught:
            Learner(network, how)
        assert str(caught.value) == sentence
    with pytest.raises(ConfigError, match="carry_state is off"):
        SMGrNN(3, 2, carry_state=False, through_time=1)
    with pytest.raises(ConfigError, match="through_time' parameter of LearningConfig"):
        SMGrNN(3, 2, through_time=-1)
