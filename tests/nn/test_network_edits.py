"""What an edit does to an SMGrNN: weights, gradients and states stay with their edges and nodes."""

import pytest
import torch

from smgrnn import EditDraft, Graph, GraphEdit
from support.networks import cyclic_net, grown


def relay_edit(graph: Graph, weight: float) -> GraphEdit:
    draft = EditDraft(graph)
    for edge in graph.edges():
        relay = draft.add_node()
        draft.add_edge(edge.source, relay, weight)
        draft.add_edge(relay, edge.target, weight)
    return draft.finish()


@pytest.mark.parametrize(
    ("weight", "largest_difference"), [(1e-3, 1e-4), (1e-6, 1e-10), (0.0, 0.0)]
)
def test_relays_of_vanishing_weight_do_not_change_the_output(
    weight: float, largest_difference: float
) -> None:
    plain, relayed = cyclic_net(5, iterations=2), cyclic_net(5, iterations=2)
    inputs = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for x in inputs[:2]:
        plain(x), relayed(x)
    relayed.restructure(relay_edit(relayed.graph, weight))
    assert relayed.graph.n_edges == 3 * plain.graph.n_edges
    differences = [(plain(x) - relayed(x)).abs().max().item() for x in inputs[2:]]
    assert max(differences) <= largest_difference
    assert weight == 0 or max(differences) > 0


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
    graphs = [net.restructure(relay_edit(net.graph, 0.5)).graph, net.graph]
    before = [graph.weight.copy() for graph in graphs]
    with torch.no_grad():
        net.weight.add_(1)
    assert all((graph.weight == same).all() for graph, same in zip(graphs, before, strict=True))
    graphs[1].weight[:] = 0
    assert (net.weight != 0).all()
