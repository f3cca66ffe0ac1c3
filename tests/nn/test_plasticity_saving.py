"""Stopping and going on: a plasticity module saved and resumed, or left behind by its network."""

import copy
import io
import re
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, optim

from smgrnn import EditDraft, Graph, PlasticityConfig, StructuralPlasticity
from smgrnn.errors import AttachmentError
from smgrnn.graph import check
from support.flat import rules
from support.training import BUSY, OPTIMIZERS, beside_adam, examples, learn, network, run, scripted


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


def test_a_history_of_another_window_is_refused() -> None:
    spm = StructuralPlasticity(network(), None, rules(window=7))
    sentence = "The saved history has a window of 7; the settings have 100."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(network()).load_state_dict(spm.state_dict())


def test_a_history_of_other_edges_is_refused_even_if_they_are_as_many() -> None:
    """Loaded before the network's own state, a history of as many edges met the wrong ones."""
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
