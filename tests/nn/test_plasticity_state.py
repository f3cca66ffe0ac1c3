"""What is kept beside a network through edits and checkpoints: optimizer, history, counters."""

import copy
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn, optim

from smgrnn import Graph, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.errors import AttachmentError, GraphError
from smgrnn.graph import EditDraft, check
from support.flat import rules
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


@pytest.mark.parametrize(
    ("on_edit", "edit", "expected"),
    [
        ("keep", swap_some, {0, 2}),
        ("reset", swap_some, {0}),
        ("reset", add_idle_path, {0}),
        ("reset_on_removal", swap_some, {0}),
        ("reset_on_removal", add_idle_path, {0, 2}),
    ],
)
def test_history_on_edit_keeps_or_empties_the_windows_of_survivors(
    on_edit: str, edit: Any, expected: set[int]
) -> None:
    spm = beside_adam(scripted(edit, interval=2, history_on_edit=on_edit))
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


@pytest.mark.parametrize("interval", [3, "episode"])
@pytest.mark.parametrize("name", ["Adam", "SGD momentum", "RMSprop"])
def test_a_run_resumed_from_its_three_state_dicts_is_the_uninterrupted_run(
    name: str, interval: int | str
) -> None:
    config = PlasticityConfig.from_dict({**BUSY.to_dict(), "interval": interval})

    def build(n_hidden: int, seed: int) -> StructuralPlasticity:
        net = network(seed, iterations=2, n_hidden=n_hidden)
        return StructuralPlasticity(net, OPTIMIZERS[name](net.parameters()), config, seed=seed)

    def episodes(spm: StructuralPlasticity, data: Iterator[tuple[Tensor, Tensor]]) -> list[str]:
        edits = []
        for _ in range(12):
            spm.network.reset_state()
            edits += [*run(spm, 4, data), spm.end_episode()]
        return [str(list(edit.changes())) for edit in edits]

    original, data = build(2, 0), examples()
    episodes(original, data)
    assert original.optimizer is not None
    buffer = io.BytesIO()
    torch.save(
        [original.network.state_dict(), original.optimizer.state_dict(), original.state_dict()],
        buffer,
    )
    later = [next(data) for _ in range(48)]
    expected = episodes(original, iter(later))

    resumed = build(0, 5)  # a small network from another seed
    assert resumed.optimizer is not None
    buffer.seek(0)
    network_state, optimizer_state, state = torch.load(buffer, weights_only=True)
    resumed.network.load_state_dict(network_state)
    resumed.optimizer.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert episodes(resumed, iter(later)) == expected
    assert any("ADD_NODE" in edit for edit in expected)
    assert any("REMOVE_EDGE" in edit for edit in expected)
    assert torch.equal(resumed.network.weight, original.network.weight)
    assert list(resumed.network.graph.edges()) == list(original.network.graph.edges())
    assert resumed.calls == original.calls
    assert resumed.history.n_updates == original.history.n_updates
    for mine, yours in zip(
        resumed.history.statistics(), original.history.statistics(), strict=True
    ):
        assert np.array_equal(mine, yours)


def test_the_state_dict_is_a_copy() -> None:
    spm = beside_adam(BUSY)
    run(spm, 4, examples())
    state = spm.state_dict()
    frozen = copy.deepcopy(state)
    run(spm, 10, examples())
    watched, kept = state.pop("watched"), frozen.pop("watched")
    for now, then in ((state, frozen), (watched, kept)):
        assert all(np.array_equal(now[name], then[name]) for name in then)


def test_a_history_of_another_window_or_of_as_many_other_edges_is_refused() -> None:
    """Loaded before the network's own state, a history of as many edges met the wrong ones."""
    spm = StructuralPlasticity(network(), None, rules(window=7))
    sentence = "The saved history has a window of 7; the settings have 100."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(network()).load_state_dict(spm.state_dict())
    saved = StructuralPlasticity(network(), None, scripted(swap, interval=1))
    assert saved.step()
    other = StructuralPlasticity(network(), None, rules(interval=1))
    assert other.network.graph.n_edges == saved.network.graph.n_edges
    before = other.state_dict()
    sentence = "The saved history belongs to a different graph; load the network first."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        other.load_state_dict(saved.state_dict())
    assert (other.calls, other.state_dict()["rng"]) == (0, before["rng"])
    other.network.load_state_dict(saved.network.state_dict())
    other.load_state_dict(saved.state_dict())
    assert other.calls == 1


def swap(draft: EditDraft, graph: Graph) -> None:
    """Replace an edge by one between the same nodes, which has another id."""
    first = next(graph.edges())
    draft.remove_edge(first.id)
    draft.add_edge(*first[1:])


def test_a_graph_replaced_from_outside_starts_a_new_history() -> None:
    net = network(n_hidden=0)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    spm = StructuralPlasticity(net, optimizer, rules(interval=2))
    data = examples()
    run(spm, 1, data)
    net.load_state_dict(network(3).state_dict())
    learn(net, optimizer, *next(data))
    assert not spm.step()
    assert spm.history.n_updates == 0
    learn(net, optimizer, *next(data))
    spm.step()
    assert spm.history.counts().tolist() == [1] * net.graph.n_edges
    spm.detach()
    # Loading a checkpoint between the last step and end_episode raised, or edited old ids.
    config = rules(interval="episode", explore_probability=1.0, explore_ratio=1.0)
    spm = StructuralPlasticity(net, None, config)
    net.load_state_dict(network(4, n_hidden=0).state_dict())
    spm.end_episode()
    check(net.graph)
