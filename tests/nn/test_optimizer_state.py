"""What an edit does to the optimizer: every edge keeps its own state, in the same parameter."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn, optim

from smgrnn import EditDraft, Graph, StructuralPlasticity
from smgrnn.errors import GraphError
from support.training import (
    BUSY,
    OPTIMIZERS,
    Parameters,
    add_idle_path,
    beside_adam,
    examples,
    learn,
    moments,
    network,
    run,
    scripted,
    state_by_id,
    swap_some,
)


@pytest.mark.parametrize("build", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
def test_surviving_edges_keep_their_optimizer_state_and_new_edges_start_from_none(
    build: Callable[[Parameters], optim.Optimizer],
) -> None:
    net, data = network(iterations=2), examples()
    optimizer = build(net.parameters())
    spm = StructuralPlasticity(net, optimizer, scripted(swap_some, interval=4))
    run(spm, 3, data)
    learn(net, optimizer, *next(data))
    before, shared_before = state_by_id(net, optimizer)
    spm.step()
    after, shared_after = state_by_id(net, optimizer)

    new = after.keys() - before.keys()
    assert len(new) == 2
    assert len(before.keys() - after.keys()) == 2
    assert all(after[edge] == before[edge] for edge in after.keys() - new)
    assert any(any(entries.values()) for entries in before.values())
    fresh = {"step_size": 0.01}  # Rprop's start at the learning rate
    fresh["sum"] = optimizer.defaults.get("initial_accumulator_value", 0.0)  # Adagrad's
    for edge in new:
        assert after[edge] == {name: fresh.get(name, 0.0) for name in before[0]}
    assert shared_after == shared_before
    if "step" in shared_after:
        assert shared_after["step"] == 4

    weight = net.weight.detach().clone()
    run(spm, 8, data)
    assert (net.weight != weight).all()
    if "step" in shared_after:
        assert state_by_id(net, optimizer)[1]["step"] == 12


# Adafactor scales every update by the root mean square of the whole parameter.
@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "Adafactor"])
def test_an_edit_that_moves_nothing_leaves_the_training_of_other_edges_as_it_was(name: str) -> None:
    build = OPTIMIZERS[name]
    untouched, edited = network(), network()
    plain = build(untouched.parameters())
    data = examples()
    for _ in range(12):
        learn(untouched, plain, *next(data))
    optimizer = build(edited.parameters())
    twice = scripted(add_idle_path, add_idle_path, interval=3)
    spm = StructuralPlasticity(edited, optimizer, twice)
    run(spm, 12, examples())

    assert edited.graph.n_edges == untouched.graph.n_edges + 4
    expected, actual = state_by_id(untouched, plain)[0], state_by_id(edited, optimizer)[0]
    weights = {edge.id: edge.weight for edge in edited.graph.edges()}
    for edge in untouched.graph.edges():
        assert weights[edge.id] == pytest.approx(edge.weight, rel=1e-12)
        assert actual[edge.id] == pytest.approx(expected[edge.id], rel=1e-12)


def test_an_edge_put_back_does_not_find_its_old_state() -> None:
    net = network(n_hidden=0, density=1.0)
    optimizer = optim.Adam(net.parameters(), lr=0.01)

    def remove_first(draft: EditDraft, graph: Graph) -> None:
        draft.remove_edge(0)

    def put_back(draft: EditDraft, graph: Graph) -> None:
        draft.add_edge(0, 3, 0.5)

    spm = StructuralPlasticity(net, optimizer, scripted(remove_first, put_back, interval=2))
    data = examples()
    run(spm, 3, data)
    learn(net, optimizer, *next(data))
    spm.step()
    back = net.graph.edge_ids.tolist().index(6)
    assert (net.graph.source[back], net.graph.target[back]) == (0, 3)
    assert state_by_id(net, optimizer)[0][6] == {"exp_avg": 0.0, "exp_avg_sq": 0.0}
    assert spm.history.counts()[back] == 0
    assert set(spm.history.counts().tolist()) == {0, 4}


def test_reset_forgets_the_state_of_the_network_and_of_nothing_else() -> None:
    net, head = network(), nn.Linear(2, 2, dtype=torch.float64)
    model = nn.Sequential(net, head)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    once = scripted(swap_some, interval=2, optimizer_on_edit="reset")
    spm, data, steps = StructuralPlasticity(net, optimizer, once), examples(), []
    for _ in range(4):  # the second call, after the fourth update, edits nothing
        learn(model, optimizer, *next(data))
        spm.step()
        steps.append(
            [
                int(optimizer.state[w]["step"])
                for w in (net.weight, head.weight)
                if w in optimizer.state
            ]
        )
    assert steps == [[1, 1], [2], [1, 3], [2, 4]]


@pytest.mark.parametrize(("on_edit", "expected"), [("keep", {0, 2}), ("reset", {0})])
def test_history_on_edit_keeps_or_empties_the_windows_of_survivors(
    on_edit: str, expected: set[int]
) -> None:
    spm = beside_adam(scripted(swap_some, interval=2, history_on_edit=on_edit))
    run(spm, 2, examples())
    assert set(spm.history.counts().tolist()) == expected
    assert spm.history.n_updates == 2


def test_the_parameter_stays_the_same_object_while_former_losses_are_alive() -> None:
    """A kept loss keeps autograd's accumulator of the old shape; a new backward met it."""
    spm, data, losses, sizes = beside_adam(BUSY), examples(), [], set()
    net, optimizer, parameter = spm.network, spm.optimizer, spm.network.weight
    assert optimizer is not None
    seen: list[int] = []
    parameter.register_hook(lambda gradient: seen.append(gradient.numel()))  # survives, too
    for _ in range(40):
        losses.append(learn(net, optimizer, *next(data)))
        assert seen[-1] == net.graph.n_edges
        spm.step()
        sizes.add(net.graph.n_edges)
    assert len(sizes) > 5
    assert all(loss.grad_fn is not None for loss in losses)
    assert net.weight is optimizer.param_groups[0]["params"][0] is parameter
    assert list(optimizer.state) == [parameter]
    assert parameter.is_leaf
    assert parameter.shape == moments(spm).shape == (net.graph.n_edges,)


@pytest.mark.parametrize("iterations", [1, 2])
def test_a_loss_from_before_an_edit_cannot_be_differentiated_after_it(iterations: int) -> None:
    """At K = 1 autograd saves no weight, so nothing noticed that the edges had been renumbered."""
    net = network(iterations=iterations)
    spm = StructuralPlasticity(net, None, scripted(swap_some, interval=1))
    loss: Any = net(torch.ones(3)).sum()
    assert spm.step()
    with pytest.raises((GraphError, RuntimeError), match=r"edited between|has been modified"):
        loss.backward()
    assert net.weight.grad is None
    net(torch.ones(3)).sum().backward()
    assert net.weight.grad is not None
