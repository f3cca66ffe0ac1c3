"""SMGrNN as a PyTorch module: its function, its gradient, its state, its files' worth of state."""

import math
import re
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from smgrnn import Graph, SMGrNN
from smgrnn.errors import ConfigError, GraphError, NonFiniteError, ShapeError
from smgrnn.graph import EditDraft, to_networkx
from support.flat import paper_net
from support.networks import LOOP, cyclic_net, train


def hidden_edges(net: SMGrNN) -> Tensor:
    """Mask the edges that end in a hidden node."""
    return torch.as_tensor(net.graph.target >= net.config.n_inputs + net.config.n_outputs)


# --- the function, by hand ------------------------------------------------------------------------


def test_iterations_compute_the_hand_worked_values() -> None:
    once, twice = (paper_net(1, 1, graph=LOOP, iterations=n, dtype=torch.float64) for n in (1, 2))
    output, hidden = math.tanh(0.5), math.tanh(-0.4)
    first, second = once(torch.tensor([1.0])), once(torch.tensor([2.0]))
    assert first.item() == pytest.approx(output, abs=1e-15)
    assert second.item() == pytest.approx(math.tanh(0.5 * 2 + 0.8 * hidden), abs=1e-15)
    assert once.state is not None
    assert once.state[1].item() == pytest.approx(math.tanh(-0.4 * 2 + 0.3 * output), abs=1e-15)
    expected = math.tanh(0.5 + 0.8 * hidden), math.tanh(-0.4 + 0.3 * output)
    assert twice(torch.tensor([1.0])).item() == pytest.approx(expected[0], abs=1e-15)
    assert twice.state is not None
    assert twice.state.tolist() == pytest.approx(expected, abs=1e-15)


def test_a_bias_is_an_edge_from_a_constant_that_the_network_adds() -> None:
    graph = Graph.from_edges(2, 1, edges=[(0, 2, 0.5), (1, 2, -0.2)])
    net = paper_net(1, 1, bias=True, graph=graph, dtype=torch.float64)
    assert net(torch.tensor([[2.0], [3.0]])).flatten().tolist() == pytest.approx(
        [math.tanh(0.8), math.tanh(1.3)], abs=1e-15
    )
    assert paper_net(4, 2, bias=True, density=1.0).graph.n_edges == 10
    with pytest.raises(GraphError, match=r"network has 2 and 1, of which one is its bias"):
        paper_net(1, 1, bias=True, graph=LOOP)


@pytest.mark.parametrize("batch", [(), (5,)])
def test_each_feature_computes_what_a_network_of_one_feature_computes(
    batch: tuple[int, ...],
) -> None:
    graph = cyclic_net(1).graph
    wide = paper_net(3, 2, graph=graph, iterations=2, state_dim=4, dtype=torch.float64)
    x = torch.randn(
        2, *batch, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    outputs = torch.stack([wide(x[0]), wide(x[1])])
    assert outputs.shape == (2, *batch, 2, 4)
    for feature in range(4):
        narrow = paper_net(3, 2, graph=graph, iterations=2, dtype=torch.float64)
        expected = torch.stack([narrow(x[0, ..., feature]), narrow(x[1, ..., feature])])
        torch.testing.assert_close(outputs[..., feature], expected, rtol=1e-14, atol=1e-14)
    state = wide.state
    assert state is not None
    assert state.shape == (*batch, 5, 4)


def test_edges_into_inputs_do_nothing() -> None:
    dead = Graph.from_edges(2, 1, edges=[(1, 0, 5.0), (2, 1, -3.0), (0, 2, 0.5), (1, 2, 0.25)])
    live = Graph.from_edges(2, 1, edges=[(0, 2, 0.5), (1, 2, 0.25)])
    nets = [paper_net(2, 1, graph=graph, iterations=3) for graph in (dead, live)]
    x = torch.tensor([0.7, -0.2])
    assert torch.equal(nets[0](x), nets[1](x))
    nets[0](x).sum().backward()
    gradient = nets[0].weight.grad
    assert gradient is not None
    assert gradient[:2].tolist() == [0.0, 0.0]
    assert (gradient[2:] != 0).all()


# --- shapes and precision -------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_batch_agrees_with_single_inputs(iterations: int, dtype: torch.dtype) -> None:
    nets = [cyclic_net(2, iterations=iterations, dtype=dtype) for _ in range(2)]
    generator = torch.Generator().manual_seed(0)
    calls = torch.randn(3, 8, 3, dtype=dtype, generator=generator)  # 3 calls of a batch of 8
    flat = torch.stack([nets[0](x) for x in calls])
    assert flat.shape == (3, 8, 2)
    assert flat.dtype == dtype
    for row in range(8):
        nets[1].reset_state()
        single = torch.stack([nets[1](x) for x in calls[:, row]])
        torch.testing.assert_close(single, flat[:, row], rtol=1e-6, atol=1e-7)


def test_integer_inputs_are_read_in_the_precision_of_the_weights() -> None:
    net = paper_net(2, 1, seed=1, carry_state=False)
    assert torch.equal(net(torch.tensor([1, -2])), net(torch.tensor([1.0, -2.0])))
    assert net(torch.zeros(0, 2)).shape == (0, 1)  # an empty batch


def test_every_tensor_of_the_network_follows_it_to_another_device_or_precision() -> None:
    net = paper_net(3, 2, n_hidden=2, iterations=2, seed=4)
    parameter, x = net.weight, torch.tensor([0.1, 0.2, 0.3])
    single = net(x)
    net.to(torch.float64)
    assert net.weight is parameter
    assert net.state is not None
    assert net.weight.dtype == net.state.dtype == torch.float64
    net.reset_state()
    torch.testing.assert_close(net(x), single.double(), rtol=1e-6, atol=1e-7)
    net.to("meta")
    assert {tensor.device.type for tensor in (*net.parameters(), *net.buffers())} == {"meta"}
    placed = paper_net(3, 2, device="meta", dtype=torch.float16)
    assert (placed.weight.device.type, placed.weight.dtype) == ("meta", torch.float16)


# --- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_agree_with_finite_differences(seed: int, iterations: int) -> None:
    mixed = {"activation": "sigmoid", "output_activation": "identity"} if seed % 2 else {}
    net = cyclic_net(seed, iterations=iterations, **mixed)
    assert not nx.is_directed_acyclic_graph(to_networkx(net.graph))
    generator = torch.Generator().manual_seed(seed)
    first, second = torch.randn(2, 2, 3, dtype=torch.float64, generator=generator)

    def outputs(weight: Tensor, x: Tensor) -> Tensor:
        net.reset_state()
        with torch.no_grad():
            net(first)  # so that the carried states are not zero
        result: Tensor = functional_call(net, {"weight": weight}, (x,))
        return result

    weight = net.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(outputs, (weight, second.requires_grad_()))


@pytest.mark.parametrize(
    ("iterations", "optimizer_type", "hidden_edges_move"),
    [(1, torch.optim.Adam, False), (1, torch.optim.AdamW, True), (2, torch.optim.Adam, True)],
)
def test_at_one_iteration_only_weight_decay_moves_edges_into_hidden_nodes(
    iterations: int, optimizer_type: Any, hidden_edges_move: bool
) -> None:
    net = cyclic_net(0, iterations=iterations, density=1.0)
    before = net.weight.detach().clone()
    train(net, optimizer_type(net.parameters(), lr=0.01), 20)
    moved = net.weight != before
    assert moved[~hidden_edges(net)].all()
    assert moved[hidden_edges(net)].tolist() == [hidden_edges_move] * int(hidden_edges(net).sum())


# --- carried state --------------------------------------------------------------------------------


def test_state_is_carried_between_calls_and_reset_by_reset_state() -> None:
    net, x = cyclic_net(3), torch.tensor([0.5, -1.0, 0.8])
    assert net.state is None
    first, second = net(x), net(x)
    assert not torch.equal(first, second)
    net.reset_state()
    assert net.state is None
    assert torch.equal(net(x), first)
    assert torch.equal(net(x), second)
    forgetting = cyclic_net(3, carry_state=False)
    for _ in range(3):
        assert torch.equal(forgetting(x), first)
    assert forgetting(torch.ones(7, 3)).shape == (7, 2)
    sentence = (
        "The carried node states are for inputs of batch shape () and the input has (5,); call "
        "reset_state() first, or build the network with carry_state=False."
    )
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        net(torch.zeros(5, 3))


def test_the_carried_state_is_detached() -> None:
    net, x = cyclic_net(3, iterations=2), torch.ones(3, dtype=torch.float64, requires_grad=True)
    net(x)
    assert net.state is not None
    assert not net.state.requires_grad
    net(torch.ones(3)).sum().backward()
    assert x.grad is None
    with torch.inference_mode():  # which does not hinder later training
        net(torch.ones(3))
    net.weight.grad = None
    net(torch.ones(3)).sum().backward()
    assert net.weight.grad is not None


def test_changing_the_output_in_place_does_not_change_the_carried_state() -> None:
    """`action = net(x).clamp_(-1, 1)` while acting silently rewrote the output nodes' states."""
    net = cyclic_net(0)
    with torch.no_grad():
        output = net(torch.ones(3))
        expected = output.clone()
        output.fill_(9.0)
    assert net.state is not None
    assert torch.equal(net.state[:2], expected)


def test_an_input_or_a_graph_that_does_not_fit_is_refused() -> None:
    for value in (math.nan, -math.inf):
        with pytest.raises(NonFiniteError, match=r"^The input holds a NaN or an infinity\.$"):
            paper_net(2, 1)(torch.tensor([0.0, value]))
    for state_dim, shape, wanted in (
        (1, (3, 4), "..., 3"),
        (1, (), "..., 3"),
        (2, (2, 3), "..., 3, 2"),
    ):
        sentence = f"Expected an input of shape ({wanted}). Got {shape} instead."
        with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
            paper_net(3, 2, state_dim=state_dim)(torch.zeros(shape))
    with pytest.raises(GraphError, match="0 -> 6 of the graph ends in a node that does not exist"):
        paper_net(1, 1, graph=LOOP._replace(target=LOOP.target + 5))
    with pytest.raises(GraphError, match="The graph has 1 inputs and 1 outputs; the network has 2"):
        paper_net(2, 1, graph=LOOP)
    with pytest.raises(ConfigError, match=r"^A seed must be an int in \[0, inf\)\. Got True inst"):
        paper_net(2, 1, seed=True)


def test_torchs_seed_governs_a_network_without_one() -> None:
    nets = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        nets.append(SMGrNN(4, 2, n_hidden=3))
    assert nets[0].graph == nets[1].graph != nets[2].graph


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_sequence_is_its_steps_with_gradients_through_all_of_them(batch_first: bool) -> None:
    memory: Any = {"n_hidden": 3, "carry_state": True, "seed": 0, "dtype": torch.float64}
    whole = SMGrNN(3, 2, **memory, batch_first=batch_first)
    by_step = SMGrNN(3, 2, **memory, through_time=5)
    rows = torch.randn(5, 4, 3, dtype=torch.float64)  # five steps of a batch of four
    outputs = whole(rows.transpose(0, 1) if batch_first else rows)
    outputs = outputs.transpose(0, 1) if batch_first else outputs
    for step, row in enumerate(rows):
        output = by_step(row)
        torch.testing.assert_close(outputs[step], output)
    outputs[-1].sum().backward()
    output.sum().backward()
    assert whole.weight.grad is not None
    assert whole.weight.grad.abs().max() > 0
    torch.testing.assert_close(whole.weight.grad, by_step.weight.grad)


def test_a_sequence_is_asked_for_by_name_and_needs_memory() -> None:
    with pytest.raises(ShapeError, match="batch_first=True for \\(batch, time, n_inputs\\), or"):
        SMGrNN(3, 2)(torch.zeros(5, 4, 3))
    with pytest.raises(ShapeError, match="at most one axis"):
        SMGrNN(3, 2, carry_state=True, batch_first=True)(torch.zeros(2, 5, 4, 3))
    with pytest.raises(ConfigError, match="use carry_state=True"):
        SMGrNN(3, 2, batch_first=True)


@pytest.mark.parametrize("settings", [{}, {"carry_state": False, "readout": "sum"}])
def test_torch_compiles_the_network_whole_between_edits(settings: dict[str, Any]) -> None:
    """Looking for NaN by `.item()` used to break the graph."""
    nets = [paper_net(4, 2, n_hidden=3, iterations=2, seed=0, **settings) for _ in range(2)]
    plain, compiled = nets[0], torch.compile(nets[1], fullgraph=True, backend="eager")
    torch.manual_seed(0)
    for _ in range(3):
        inputs = torch.randn(4)
        outputs = plain(inputs), compiled(inputs)
        assert torch.equal(*outputs)
        for output in outputs:
            output.sum().backward()
        assert torch.equal(*(net.weight.grad for net in nets if net.weight.grad is not None))
        for net in nets:
            net.weight.grad = None
            draft = EditDraft(net.graph)
            draft.remove_edge(int(net.graph.edge_ids[-1]))
            net.restructure(draft.finish())
