"""Edits, copies and state dicts of an SMGrNN, and how it shows itself."""

import copy
import io
import pickle
import re
from typing import Any

import pytest
import torch
from torch import nn

from smgrnn import SMGrNN
from smgrnn.errors import GraphError
from smgrnn.graph import EditDraft
from support.flat import paper_net
from support.networks import LOOP, cyclic_net, grown, train


def test_an_edit_keeps_weights_gradients_and_states_by_id() -> None:
    net = cyclic_net(6, iterations=2)
    net(torch.ones(3)).sum().backward()

    def by_id() -> tuple[dict[int, tuple[float, float]], dict[int, float]]:
        graph, gradient, state = net.graph, net.weight.grad, net.state
        assert gradient is not None
        assert state is not None
        edges = zip(net.weight.tolist(), gradient.tolist(), strict=True)
        nodes = dict(zip(graph.node_ids[3:].tolist(), state.tolist(), strict=True))
        return dict(zip(graph.edge_ids.tolist(), edges, strict=True)), nodes

    edges, nodes = by_id()
    draft = EditDraft(net.graph)
    draft.remove_node(6)
    node = draft.add_node()
    edge = draft.add_edge(node, 4, 0.125)
    net.restructure(draft.finish())
    edges_after, nodes_after = by_id()
    assert edges_after.pop(edge) == (0.125, 0.0)
    assert nodes_after.pop(node) == 0.0
    assert 6 not in nodes_after
    assert edges_after.items() <= edges.items()
    assert nodes_after.items() <= nodes.items()
    assert len(edges) > len(edges_after) > 0


def test_a_batched_state_of_several_features_is_carried_through_an_edit() -> None:
    net = cyclic_net(6, state_dim=2)
    net(torch.ones(4, 3, 2))
    before = net.state
    grown(net)
    after = net.state
    assert before is not None
    assert after is not None
    assert torch.equal(after[:, :-1], before)
    assert (after[:, -1] == 0).all()
    assert net(torch.ones(4, 3, 2)).shape == (4, 2, 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_graphs_are_copies_of_the_weights(dtype: torch.dtype) -> None:
    """In double precision the parameter was made of the memory of Applied.graph."""
    net = cyclic_net(6, dtype=dtype)
    draft = EditDraft(net.graph)
    draft.add_edge(0, draft.add_node(), 0.5)
    graphs = [net.restructure(draft.finish()).graph, net.graph]
    before = [graph.weight.copy() for graph in graphs]
    with torch.no_grad():
        net.weight.add_(1)
    assert all((graph.weight == same).all() for graph, same in zip(graphs, before, strict=True))
    graphs[1].weight[:] = 0
    assert (net.weight != 0).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_is_independent(copied: Any) -> None:
    net = cyclic_net(7, iterations=2)
    net(torch.ones(3))
    twin = copied(net)
    assert torch.equal(twin(torch.ones(3)), net(torch.ones(3)))
    before = list(net.graph.edges())
    grown(twin)
    train(twin, torch.optim.SGD(twin.parameters(), lr=0.1), 2)
    assert list(net.graph.edges()) == before
    net(torch.ones(3)).sum().backward()


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    loaded: dict[str, Any] = torch.load(buffer, weights_only=True)
    return loaded


def test_a_state_dict_loads_into_a_network_of_another_topology() -> None:
    def model(layer: SMGrNN) -> nn.Module:
        return nn.Sequential(nn.Linear(3, 3, dtype=torch.float64), layer)

    big, small = grown(grown(cyclic_net(8, n_hidden=4))), cyclic_net(9, n_hidden=0)
    parameter, whole, loaded = small.weight, model(big), model(small)
    state = through_a_file(whole.state_dict())
    assert str(loaded.load_state_dict(state)) == "<All keys matched successfully>"
    assert small.weight is parameter
    assert small.graph == big.graph
    x = torch.ones(3, dtype=torch.float64)
    assert torch.equal(loaded(x), whole(x))
    train(small, torch.optim.Adam(small.parameters()), 2)
    grown(small)


def test_loading_resets_state_and_gradient_keeps_the_precision_and_shares_no_weights() -> None:
    """`target.load_state_dict(net.state_dict())` tied the two networks together for good."""
    net, double = cyclic_net(8, n_hidden=0, dtype=torch.float32), grown(cyclic_net(8))
    net(torch.ones(3)).sum().backward()
    net.load_state_dict(double.state_dict())
    assert net.state is None
    assert net.weight.grad is None
    assert torch.equal(net.weight, double.weight.float())
    target, before = cyclic_net(9), double.weight.detach().clone()
    target.load_state_dict(double.state_dict())
    for each in (net, target):
        train(each, torch.optim.SGD(each.parameters(), lr=0.1), 1)
    assert torch.equal(double.weight, before)


@pytest.mark.parametrize("widths", [(3, 3), (2, 1)])
def test_a_state_dict_of_other_widths_is_refused(widths: tuple[int, int]) -> None:
    """A state dict of 4 inputs and 2 outputs was read as 3 and 3: an input became an output."""
    sentence = f"The graph has 4 inputs and 2 outputs; the network has {widths[0]} and {widths[1]}."
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        paper_net(*widths).load_state_dict(paper_net(4, 2).state_dict())


def test_the_state_dict_holds_weights_and_graph_but_not_the_states_of_nodes() -> None:
    net = cyclic_net(8)
    net(torch.ones(3))
    state = copy.deepcopy(net.state_dict())
    assert [*state] == ["weight", "node_ids", "source", "target", "edge_ids", "numbers"]
    graph = net.graph
    numbers = [graph.n_inputs, graph.n_outputs, graph.next_node_id, graph.next_edge_id]
    assert state["numbers"].tolist() == numbers
    broken = state | {"source": state["target"]}
    with pytest.raises(GraphError, match=r"^The graph has an edge from a node to itself\.$"):
        net.load_state_dict(broken)
    del state["edge_ids"]
    with pytest.raises(RuntimeError, match="edge_ids"):
        net.load_state_dict(state)


def test_the_html_shows_the_repr_over_a_drawing_unless_it_is_large() -> None:
    net = paper_net(1, 1, graph=LOOP, output_activation="identity")
    expected = "SMGrNN(1 inputs, 1 hidden, 1 outputs, 4 edges, iterations=1, tanh -> identity)"
    assert repr(net) == expected
    html = net._repr_html_()
    assert "1 inputs, 1 hidden, 1 outputs, 4 edges" in html
    assert "tanh -&gt; identity" in html
    assert html.count("<svg") == html.count("</svg>") == 1
    large = paper_net(20, 20, density=1.0)._repr_html_()
    assert "400 edges" in large
    assert "<svg" not in large
